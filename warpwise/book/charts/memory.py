"""Benchmark charts of memory bandwidth: copies, strides, offsets, transposition and reduction."""

from __future__ import annotations

from warpwise.book.charts import model
from warpwise.book.charts.plot import GB_PER_S, Axis, Line, Model, Plot
from warpwise.devices import Device
from warpwise.kernels.strides import SECTOR_BYTES, WARP, sectors

QUARTERS = [2 ** (power / 4) for power in range(4 * 12, 4 * 30 + 1)]

COPY = Plot(
    "Bandwidth of a copy over the size of the array",
    "bytes",
    GB_PER_S,
    (
        Line("an element a thread", ("copy_1_*",)),
        Line("16 bytes a thread", ("copy_2_*",)),
        Line("CuPy", ("cupy",)),
    ),
    at=tuple(QUARTERS),
    x=Axis("size of the array", "bytes", log=2),
    roofs=(Line("launch, L2, DRAM", (), model.streamed_gb_per_s(2)),),
)


def strided(width: int) -> Model:
    """Return the useful bandwidth of a copy with gaps between reads: whole sectors are read."""

    def useful(device: Device, stride: float) -> float:
        read = SECTOR_BYTES * sectors(width, int(stride)) / WARP  # bytes, for each lane
        return device.dram_gb_per_s * 2 * width / (read + width)

    return model.of_known(useful)


STRIDE = Plot(
    "Useful bytes of a copy over the stride of its reads",
    "stride",
    GB_PER_S,
    tuple(
        Line(name, (step,), strided(width), {"width": width})
        for name, step, width in (
            ("float16", "strides_1_*", 2),
            ("float32", "strides_1_*", 4),
            ("float64", "strides_1_*", 8),
            ("four float32", "strides_2_*", 16),
        )
    ),
    at=tuple(range(1, 41)),
    x=Axis("stride, in elements", "stride {}"),
)


@model.of_known
def shifted(device: Device, offset: float) -> float:
    """Return the useful bandwidth of a shifted float32 copy without reuse of sectors by warps."""
    read = SECTOR_BYTES * sectors(4, 1, int(offset)) / WARP
    return device.dram_gb_per_s * 8 / (read + 4)


OFFSET = Plot(
    "Useful bytes of a copy over the shift of its reads",
    "offset",
    GB_PER_S,
    (Line("float32", ("strides_1_*",), shifted),),
    at=tuple(range(33)),
    x=Axis("offset, in elements", "offset {}"),
    roofs=(Line("each sector once", (), model.dram_gb_per_s()),),
)


def transposed(wavefronts: int) -> Model:
    """Return the rate of a transposition through shared memory.

    ``wavefronts``: of shared memory, for the 32 elements of a warp.
    """

    def rate(device: Device, n: float) -> float:
        through_tile = device.sms * device.clock_hz * 2 * 4 * WARP / wavefronts / 1e9
        return min(device.dram_gb_per_s, through_tile)

    return model.of_known(rate)


TRANSPOSE = Plot(
    "Bandwidth of a transposition",
    "",
    GB_PER_S,
    (
        Line("plain", ("transpose_1_*",), model.dram_gb_per_s(8 / (4 + SECTOR_BYTES))),
        Line("tile", ("transpose_2_*",), transposed(1 + 32)),
        Line("padded tile", ("transpose_3_*",), transposed(1 + 1)),
        Line("16 bytes an access", ("transpose_4_*",), model.dram_gb_per_s()),
        Line("transposed in registers", ("transpose_5_*",), model.dram_gb_per_s()),
        Line("CuPy", ("cupy",)),
        Line("PyTorch", ("torch",)),
    ),
)

REDUCTION = Plot(
    "Bandwidth of a sum over how many numbers there are",
    "n",
    GB_PER_S,
    (
        Line("atomics", ("sum_1_*",)),
        Line("tree", ("sum_2_*",)),
        Line("shuffles", ("sum_3_*",)),
        Line("eight loads", ("sum_4_*",)),
        Line("16 bytes", ("sum_5_*",)),
        Line("CuPy", ("cupy",)),
    ),
    at=tuple(2 ** (power / 4) for power in range(4 * 18, 4 * 28 + 1)),
    x=Axis("float32 numbers", "{} numbers", log=2),
    roofs=(Line("launch, DRAM", (), model.cold_gb_per_s(1, 4)),),
)
