"""Benchmark charts of GPT-2's training step: tokens a second, its kernels, and its products."""

from __future__ import annotations

from collections.abc import Mapping

from warpwise.benchmark_records import Row
from warpwise.book.charts.model import dram_gb_per_s, of_known
from warpwise.book.charts.plot import GB_PER_S, TFLOP_PER_S, Axis, Line, Plot, Value
from warpwise.model.transformer import GPT2 as SIZES

ROWS = 4096  # tokens of a step, four texts of 1,024
OF_TOKEN = SIZES["124M"].step_flops(ROWS) / ROWS


def tokens_per_s(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.tokens_per_s


at_fp32_peak = of_known(lambda device, x: device.fp32_flops_per_s / OF_TOKEN)
at_tensor_peak = of_known(lambda device, x: 1e12 * device.tensor16_tflops / OF_TOKEN)
FP32, TF32, BF16 = ({"arithmetic": name} for name in ("fp32", "tf32", "bf16"))
GPT2 = Plot(
    "GPT-2 124M in training",
    "",
    Value(Axis("tokens/s", "tokens/s", log=10), tokens_per_s),
    (
        Line("float32", ("gpt2 fp32",), at_fp32_peak),
        Line("float32, a graph", ("gpt2 fp32, graph",), at_fp32_peak),
        Line("float32, PyTorch", ("torch",), None, FP32),
        Line("float32, torch.compile", ("torch compile",), None, FP32),
        Line("products in TF32, a graph", ("gpt2 tf32, graph", "gpt2 tf32")),
        Line("TF32, torch.compile", ("torch compile",), None, TF32),
        Line("products in bfloat16, a graph", ("gpt2 bf16, graph", "gpt2 bf16"), at_tensor_peak),
        Line("bfloat16 in memory, a graph", ("gpt2 bf16 memory, graph", "gpt2 bf16 memory")),
        Line("bfloat16, torch.compile", ("torch compile",), None, BF16),
    ),
)

PEAK = dram_gb_per_s()
KERNELS = Plot(
    "Bandwidth of the kernels of a step that wait for memory",
    "",
    GB_PER_S,
    tuple(
        Line(label, (kernel,), PEAK, {"piece": piece})
        for label, kernel, piece in (
            ("encoder", "encoder", "encoder"),
            ("LayerNorm of a sum", "layernorm_forward", "ln2"),
            ("its backward pass", "layernorm_backward_rows", "ln2 dX"),
            ("classifier", "classifier", "classifier"),
            ("bias gradient, 768", "column_sums", "fcproj db"),
            ("bias gradient, 3,072", "column_sums", "fc db"),
            ("norm", "norm", "norm"),
            ("AdamW", "adamw", "adamw fcw"),
        )
    ),
)

fp32_peak = of_known(lambda device, x: device.fp32_tflops)
tensor_peak = of_known(lambda device, x: device.tensor16_tflops)
PRODUCTS = Plot(
    "Products and attention of a step",
    "",
    Value(Axis("TFLOP/s", "TFLOP/s", log=10), TFLOP_PER_S.of),
    (
        Line("fc, float32", ("matmul fp32",), fp32_peak, {"piece": "fc"}),
        Line("fc, TF32", ("matmul tf32",), None, {"piece": "fc"}),
        Line("fc, bfloat16", ("matmul bf16",), tensor_peak, {"piece": "fc"}),
        Line("fc dW, float32", ("matmul fp32",), fp32_peak, {"piece": "fc dW"}),
        Line("fc dW, bfloat16", ("matmul bf16",), tensor_peak, {"piece": "fc dW"}),
        Line("attention", ("attention_forward",), fp32_peak, {"piece": "attention"}),
        Line("dK and dV", ("attention_*",), fp32_peak, {"piece": "attention dK dV"}),
    ),
)
