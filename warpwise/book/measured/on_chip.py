"""Charts of what happens on a multiprocessor: how long a load takes, warps that go several ways, lanes that meet in a bank."""

from __future__ import annotations

from warpwise.book.measured import model
from warpwise.book.measured.plot import Axis, Line, Plot, Value, ns_per_step
from warpwise.devices import KB
from warpwise.kernels.banks import wavefronts

LATENCY = Plot(
    "Time of a load over the memory that it runs through", "bytes", Value(Axis("ns from a load to its value", "ns"), ns_per_step),
    (Line("pointers chased", ("pointer_chase_1_*",), model.chased_ns),),
    at=tuple(4 * KB * 2 ** (step / 8) for step in range(8 * 20 + 1)), x=Axis("memory that is run through", "bytes", log=2),
)  # fmt: skip

DIVERGENCE = Plot(
    "Time of a kernel over the ways that its threads go", "paths",
    Value(Axis("times as long as one way", "times as long"), lambda row, _: row.median_ms, relative=True),
    (
        Line("each lane chooses", ("divergence_1_*",), lambda device, paths: paths),
        Line("each warp chooses", ("divergence_2_*",), model.constant(1.0)),
    ),
    at=tuple(range(1, 33)), x=Axis("ways", "a count of {}"),
)  # fmt: skip

BANKS = Plot(
    "Time of a load from shared memory over the stride of its lanes", "stride",
    Value(Axis("times as long as stride 0", "times as long"), ns_per_step, relative=True),
    (Line("4-byte words", ("banks_1_*",), lambda device, stride: wavefronts(int(stride))),),
    at=tuple(range(34)), x=Axis("stride, in words", "stride {}"),
)  # fmt: skip
