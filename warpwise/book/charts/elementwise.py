"""Benchmark charts of memory-bound work: fusion, recomputation, precision, and launches."""

from __future__ import annotations

from warpwise.book.charts import model
from warpwise.book.charts.plot import (
    GB_PER_S,
    MICROSECONDS,
    Axis,
    Line,
    Plot,
    Value,
    milliseconds,
    times_as_fast_as,
    times_as_long_as,
)
from warpwise.kernels import fusion, recompute

FIVE, REMADE = "fusion_2_five_wide", "recompute_4_all_again"
GAIN = model.constant(fusion.APART / fusion.TOGETHER)
FUSION = Plot(
    "sin² x + cos² x in five kernels and in one",
    "",
    Value(Axis("times as fast as five kernels", "times as fast"), times_as_fast_as(FIVE)),
    (
        Line("five kernels", ("fusion_2_*",), model.constant(1.0)),
        Line("CuPy, five calls", ("cupy",)),
        Line("one kernel", ("fusion_3_*",), GAIN),
        Line("one, 16 bytes an access", ("fusion_4_*",), GAIN),
        Line("CuPy, fused", ("cupy fuse",)),
        Line("torch.compile", ("torch compile",)),
    ),
)

EAGER, STORED, OUT_AGAIN, ALL_AGAIN, _ = recompute.ACCESSES
RECOMPUTE = Plot(
    "Three sigmoids, forward and backward",
    "",
    Value(Axis("times as long as recomputing all", "times as long"), times_as_long_as(REMADE)),
    (
        Line("a kernel each", ("recompute_1_*",), model.constant(EAGER / ALL_AGAIN)),
        Line("all stored", ("recompute_2_*",), model.constant(STORED / ALL_AGAIN)),
        Line("out again", ("recompute_3_*",), model.constant(OUT_AGAIN / ALL_AGAIN)),
        Line("all again", ("recompute_4_*",), model.constant(1.0)),
        Line("fewer reciprocals", ("recompute_5_*",)),
        Line("torch.compile", ("torch compile",)),
    ),
)

PRECISION = Plot(
    "Time over the bytes of a number",
    "bytes of a number",
    Value(Axis("times as long as float16", "times as long"), milliseconds, relative=True),
    (
        Line("a x + y", ("elementwise_half_3_*", "elementwise_2_*", "elementwise_1_*")),
        Line("sum", ("sum_half_1_*", "sum_5_*", "sum_4_*")),
        Line("a x + y, CuPy", ("cupy kernel",)),
    ),
    at=(2, 4, 8),
    x=Axis("bytes of a number", "{} bytes"),
    roofs=(Line("by bytes", (), lambda device, width: width),),
)

SOFTMAX = Plot(
    "Bandwidth of a softmax over the length of a row",
    "columns",
    GB_PER_S,
    (
        Line("safe", ("softmax_1_*",), model.dram_gb_per_s(2 / 4)),
        Line("online", ("softmax_2_*",), model.dram_gb_per_s(2 / 3)),
        Line("kept on the chip", ("softmax_3_*",), model.dram_gb_per_s()),
        Line("kept, 16 bytes", ("softmax_4_*",)),
        Line("PyTorch", ("torch",)),
    ),
    at=(1024, 2048, 4096, 8192),
    x=Axis("elements of a row", "length {}", log=2),
)

PEAK = model.dram_gb_per_s()
LAYERNORM = Plot(
    "Bandwidth of LayerNorm, GELU and AdamW",
    "",
    GB_PER_S,
    (
        Line("LayerNorm, a warp a row", ("layernorm_2_*",), PEAK, {"topic": "layernorm"}),
        Line("LayerNorm, 16 bytes", ("layernorm_3_*",), PEAK, {"topic": "layernorm"}),
        Line("LayerNorm, PyTorch", ("torch",), None, {"topic": "layernorm"}),
        Line("GELU, plain", ("gelu_1_*",), PEAK, {"topic": "gelu"}),
        Line("GELU, 32 bytes", ("gelu_2_*",), PEAK, {"topic": "gelu"}),
        Line("GELU, PyTorch", ("torch",), None, {"topic": "gelu"}),
        Line("AdamW, plain", ("adamw_1_*",), PEAK, {"topic": "adamw"}),
        Line("AdamW, 16 bytes", ("adamw_2_*",), PEAK, {"topic": "adamw"}),
        Line("AdamW, PyTorch", ("torch",), None, {"topic": "adamw"}),
    ),
)

LAUNCH = Plot(
    "Time of a small computation over its size",
    "elements",
    MICROSECONDS,
    (
        Line("five kernels", ("launches_1_five",), model.launched_us(*fusion.FIVE)),
        Line("one kernel", ("launches_2_fused",), model.launched_us(*fusion.ONE)),
        Line("five, as a graph", ("launches_1_five, graph",)),
        Line("CuPy, five calls", ("cupy",)),
        Line("CuPy, as a graph", ("cupy, graph",)),
        Line("PyTorch, five calls", ("torch",)),
    ),
    at=tuple(2 ** (power / 4) for power in range(4 * 12, 4 * 24 + 1)),
    x=Axis("elements", "{} elements", log=2),
)
