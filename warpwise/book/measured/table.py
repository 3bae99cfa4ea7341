"""The table of charts: for each suite of ``warpwise measure``, in its order. What has no times, ``counters``, has a table instead."""

from __future__ import annotations

from warpwise.book.measured.elementwise import FUSION, LAUNCH, LAYERNORM, PRECISION, RECOMPUTE, SOFTMAX
from warpwise.book.measured.memory import COPY, OFFSET, REDUCTION, STRIDE, TRANSPOSE
from warpwise.book.measured.on_chip import BANKS, DIVERGENCE, LATENCY
from warpwise.book.measured.plot import Plot
from warpwise.book.measured.products import ATTENTION, LADDER, LADDER_16, MATMUL, WAVES

PLOTS: dict[str, Plot] = {
    "copy": COPY, "stride": STRIDE, "offset": OFFSET, "latency": LATENCY, "divergence": DIVERGENCE, "banks": BANKS, "fusion": FUSION,
    "recompute": RECOMPUTE, "precision": PRECISION, "reduction": REDUCTION, "transpose": TRANSPOSE, "softmax": SOFTMAX,
    "layernorm": LAYERNORM, "matmul_plot": MATMUL, "waves": WAVES, "sgemm_ladder": LADDER, "hgemm_ladder": LADDER_16,
    "attention": ATTENTION, "launch": LAUNCH,
}  # fmt: skip
