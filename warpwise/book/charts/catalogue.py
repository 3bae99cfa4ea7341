"""The charts of benchmark records, one for each timed suite of ``warpwise measure``, in its order.

The suite ``counters`` has no times; ``listings`` shows it as text.
"""

from __future__ import annotations

from dataclasses import replace

from warpwise.book.charts import elementwise, memory, on_chip, products, training
from warpwise.book.charts.plot import Plot

PLOTS: dict[str, Plot] = {
    "copy": memory.COPY,
    "stride": memory.STRIDE,
    "offset": memory.OFFSET,
    "latency": on_chip.LATENCY,
    "divergence": on_chip.DIVERGENCE,
    "banks": on_chip.BANKS,
    "fusion": elementwise.FUSION,
    "recompute": elementwise.RECOMPUTE,
    "precision": elementwise.PRECISION,
    "reduction": memory.REDUCTION,
    "transpose": memory.TRANSPOSE,
    "softmax": elementwise.SOFTMAX,
    "layernorm": elementwise.LAYERNORM,
    "matmul_plot": products.MATMUL,
    "waves": products.WAVES,
    "sgemm_ladder": products.LADDER,
    "hgemm_ladder": products.LADDER_16,
    "attention": products.ATTENTION,
    "launch": elementwise.LAUNCH,
    "gpt2": training.GPT2,
    "gpt2_kernels": replace(training.KERNELS, suite="gpt2"),
    "gpt2_products": replace(training.PRODUCTS, suite="gpt2"),
}
