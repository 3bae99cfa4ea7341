"""Benchmark charts of a multiprocessor: latency of a load, divergence, and bank conflicts."""

from __future__ import annotations

from warpwise.book.charts import model
from warpwise.book.charts.plot import Axis, Line, Plot, Value, milliseconds, ns_per_step
from warpwise.devices import KB
from warpwise.kernels.banks import wavefronts

LATENCY = Plot(
    "Latency of a load over its footprint",
    "bytes",
    Value(Axis("ns from a load to its value", "ns"), ns_per_step),
    (Line("pointers chased", ("pointer_chase_1_*",), model.chased_ns),),
    at=tuple(4 * KB * 2 ** (step / 8) for step in range(8 * 20 + 1)),
    x=Axis("footprint of the loads", "bytes", log=2),
)

DIVERGENCE = Plot(
    "Time of a kernel over the paths that its threads take",
    "paths",
    Value(Axis("times as long as one path", "times as long"), milliseconds, relative=True),
    (
        Line("each lane chooses", ("divergence_1_*",), lambda device, paths: paths),
        Line("each warp chooses", ("divergence_2_*",), model.constant(1.0)),
    ),
    at=tuple(range(1, 33)),
    x=Axis("paths", "a count of {}"),
)

BANKS = Plot(
    "Time of a load from shared memory over the stride of its lanes",
    "stride",
    Value(Axis("times as long as stride 0", "times as long"), ns_per_step, relative=True),
    (Line("4-byte words", ("banks_1_*",), lambda device, stride: wavefronts(int(stride))),),
    at=tuple(range(34)),
    x=Axis("stride, in words", "stride {}"),
)
