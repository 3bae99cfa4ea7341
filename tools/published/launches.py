"""The published launches: a few traced blocks, the whole grid, and the work of the rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any

import numpy as np

from published import memory_twins, twins
from warpwise import cuda, trace
from warpwise.simt.frontend.kernel import Kernel
from warpwise.stopwatch.cards import Card
from warpwise.traces import Trace

Grid = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """A published launch, and a trace of a few of its blocks.

    ``work``: the operations or bytes of the published rate. ``longer``: trips of the long loop over
    the traced ones. ``slots``: the blocks that an SM holds, where other means limit them.
    ``touched`` and ``stored``: bytes of a launch before which L2 was filled with dirty lines."""

    twin: Kernel
    made: Trace
    grid: Grid
    work: float
    longer: float = 1.0
    slots: int = 0
    touched: int = 0
    stored: int = 0

    def slowed(self, card: Card) -> Card:
        """Return the card with as much less bandwidth as lines take that L2 writes back for it.

        Each line that the launch touches drives out one: dirty ones first, then its own."""
        if not self.touched:
            return card
        kept = min(self.touched, card.device.l2_bytes)
        written = kept + (self.touched - kept) * self.stored / self.touched
        share = self.touched / (self.touched - self.stored + written)
        rate = card.device.dram_gb_per_s * share
        return replace(card, device=replace(card.device, dram_gb_per_s=rate))


def launch(kernel: str, size: int, device: str) -> Launch:
    """Return a published launch, by the device too where its grid follows that."""
    if kernel in PRODUCTS:
        return _product(kernel, size)
    if kernel in TRANSPOSES:
        return _transpose(kernel, size)
    name = kernel.partition("_")[0]
    return _BY_NAME[name](kernel, size, device)


def twin_of(kernel: str) -> Kernel:
    """Return the kernel for the simulator that stands for one of CUDA C++."""
    if kernel in TRANSPOSES:
        return getattr(memory_twins, TRANSPOSES[kernel][0])
    name = _SHARED_TWINS.get(kernel, kernel.rstrip("_0123456789"))
    found = getattr(twins, kernel, None) or getattr(memory_twins, kernel, None)
    return found or getattr(memory_twins, name)


#: Of copies of 16 bytes, arithmetic without any, and sums by 16 bytes.
_SHARED_TWINS = {
    "copy_16": "copy_fours",
    "arithmetic_0": "arithmetic_none",
    "total_12_wide": "total_wide",
}


def _traced(twin: Kernel, blocks: Any, threads: Any, *arguments: Any, **options: Any) -> Trace:
    return trace(twin, blocks, threads, *arguments, sanitize=False, progress=False, **options)


def _ones(count: int, many: int = 1, kind: Any = np.float32) -> list[np.ndarray]:
    return [np.ones(count, kind) for _ in range(many)]


PRODUCTS = {  # threads of a block, its rows and columns, and whether rows run along x
    "sgemm_naive": ((32, 32), 32, 32, True),
    "sgemm_coalesced": (1024, 32, 32, True),
    "sgemm_shared": (1024, 32, 32, True),
    "sgemm_tile_1d": (512, 64, 64, False),
    "sgemm_tile_2d": (256, 128, 128, False),
    "sgemm_tile_2d_deep": (256, 128, 128, False),
    "sgemm_vectorised": (256, 128, 128, False),
}
#: Columns of A that are traced, 256 unless said; the rest is extrapolated.
DEPTHS = {"sgemm_naive": 512, "sgemm_coalesced": 512, "sgemm_shared": 512}


def _product(kernel: str, size: int) -> Launch:
    _, rows, columns, along_x = PRODUCTS[kernel]
    down, across = ceil(size / rows), ceil(size / columns)
    depth = DEPTHS.get(kernel, 256)
    twin = twin_of(kernel)
    made = _block_of_product(kernel, size, depth)
    grid = (down, across, 1) if along_x else (across, down, 1)
    return Launch(twin, made, grid, 2.0 * size**3, size / depth)


@cache
def _block_of_product(kernel: str, size: int, depth: int) -> Trace:
    """Trace one block. Rows are as far apart as in the whole product."""
    a, b, c = (cuda.device_array((size, size), np.float32) for _ in range(3))
    threads, *_ = PRODUCTS[kernel]
    return _traced(twin_of(kernel), 1, threads, depth, a[:, :depth], b[:depth], c)


STREAM_ITEMS = 128 * 2**20  #: doubles; each SM holds two blocks
STREAMS_READ = {"init": 1, "read": 1, "scale": 2, "triad": 3, "3pt": 2, "5pt": 2}


@cache
def _stream(kernel: str, threads: int, device: str = "") -> Launch:
    """Trace the second of three blocks, which is like all that are not at an edge."""
    twin = twin_of(kernel)
    made = _traced(twin, 3, threads, *_ones(3 * threads, 3, np.float64), record=(1,))
    work = 8.0 * STREAM_ITEMS * STREAMS_READ[kernel.removeprefix("stream_")]
    return Launch(twin, made, (STREAM_ITEMS // threads, 1, 1), work, slots=2)


@cache
def _add(kernel: str, size: int, device: str = "") -> Launch:
    twin, each = twin_of(kernel), 1024 if kernel == "add_float4" else 256
    made = _traced(twin, 4, 256, *_ones(each * 4, 3))
    return Launch(twin, made, (size // each, 1, 1), 12.0 * size)


ITEMS_OF_REDUCTION = {"reduce_modulo": 256, "reduce_strided": 256, "reduce_halves": 256}


@cache
def _reduce(kernel: str, size: int, device: str = "") -> Launch:
    twin, out = twin_of(kernel), np.zeros(4, np.float32)
    if kernel == "reduce_many_loads":  # 1,024 blocks, of which each adds up 64 times 512 numbers
        made = _traced(twin, 4, 256, *_ones(size // 1024 * 4), out)
        return Launch(twin, made, (1024, 1, 1), 4.0 * size)
    each = ITEMS_OF_REDUCTION.get(kernel, 512)
    made = _traced(twin, 4, 256, *_ones(4 * each), out)
    return Launch(twin, made, (size // each, 1, 1), 4.0 * size)


COPIED = {1: np.int8, 2: np.int16, 4: np.float32, 8: np.float64}


@cache
def _copy(kernel: str, size: int, device: str = "") -> Launch:
    """``size``: elements of 1, 2, 4, 8 or 16 bytes, one of each of 1,024 threads."""
    width = int(kernel.removeprefix("copy_"))
    kind, many = COPIED.get(width, np.float32), 4 if width == 16 else 1
    twin = twin_of(kernel)
    made = _traced(twin, 4, 1024, *_ones(4096 * many, 2, kind))
    return Launch(twin, made, (size // 1024, 1, 1), 2.0 * width * size)


BLOCKS_OF_ARITHMETIC = {"A100 40 GB SXM": 864, "L40": 852, "H200 SXM": 1056}
ITEMS, TRACED_ITEMS = 4000, 64


@cache
def _arithmetic(kernel: str, steps: int, device: str) -> Launch:
    """``size``: multiply-adds with each pair of numbers, of which a thread loads 4,000."""
    twin, arrays = twin_of(kernel), _ones(256 * TRACED_ITEMS, 2)
    made = _traced(twin, 1, 256, *arrays, *_ones(1), TRACED_ITEMS, steps)
    blocks = BLOCKS_OF_ARITHMETIC[device]
    work = blocks * 256.0 * ITEMS * (2 + 2 * steps)
    return Launch(twin, made, (blocks, 1, 1), work, ITEMS / TRACED_ITEMS)


TRANSPOSES = {  # twin, threads of a block, side of its tile
    "transpose_scatter": ("transpose_scatter", (32, 32), 32),
    "transpose_scatter_16": ("transpose_scatter", (16, 16), 16),
    "transpose_gather_16": ("transpose_gather", (16, 16), 16),
    "transpose_tiled": ("transpose_tiled", (32, 32), 32),
    "transpose_padded": ("transpose_padded", (32, 32), 32),
    "transpose_rows_2": ("transpose_padded", (32, 16), 32),
    "transpose_rows_4": ("transpose_padded", (32, 8), 32),
    "transpose_rows_8": ("transpose_padded", (32, 4), 32),
    "transpose_wide": ("transpose_wide", (8, 32), 32),
    "transpose_wide_4": ("transpose_wide", (8, 8), 32),
    "transpose_wide_64": ("transpose_wide", (16, 32), 64),
    "transpose_wide_64_4": ("transpose_wide", (16, 8), 64),
}
TRACED_SIDE = 256  #: of a matrix; rows of the published ones are longer, and as many sectors apart


@cache
def _transpose(kernel: str, size: int) -> Launch:
    _, threads, side = TRANSPOSES[kernel]
    twin, grid = twin_of(kernel), (size // side, size // side, 1)
    arrays = [np.ones((TRACED_SIDE, TRACED_SIDE), np.float32) for _ in range(2)]
    traced = (TRACED_SIDE // side, TRACED_SIDE // side)
    made = _traced(twin, traced, threads, *arrays, record=(1,))
    return Launch(twin, made, grid, 8.0 * size**2)


ROWS, COLUMNS = 8192, 768


@cache
def _norm(kernel: str, threads: int, device: str = "") -> Launch:
    """``size``: threads of a block. A row takes a warp, or a block in norm_blocks."""
    twin = twin_of(kernel)
    of_block = 1 if kernel == "norm_blocks" else threads // 32
    in_shared = kernel.startswith("norm_shared")
    to, source = (np.ones((4 * of_block, COLUMNS), np.float32) for _ in range(2))
    arrays = [to, *_ones(4 * of_block, 2), source, *_ones(COLUMNS, 2)]
    shared = 4 * (2 + of_block) * COLUMNS if in_shared else 0
    block = (32, of_block) if in_shared else threads
    made = _traced(twin, 4, block, *arrays, shared_bytes=shared)
    size = 4 * ROWS * COLUMNS  # the original fills L2 by cudaMemset before each launch
    grid = (ROWS // of_block, 1, 1)
    return Launch(twin, made, grid, 2.0 * size, touched=2 * size, stored=size)


@cache
def _total(kernel: str, size: int, device: str = "") -> Launch:
    items = int(kernel.split("_")[1])
    twin = twin_of(kernel)
    made = _traced(twin, 4, 512, np.ones(4 * 512 * items, np.int32), np.zeros(1, np.int32), items)
    return Launch(twin, made, (ceil(size / (512 * items)), 1, 1), 4.0 * size)


_BY_NAME: dict[str, Callable[[str, int, str], Launch]] = {
    "stream": _stream,
    "add": _add,
    "reduce": _reduce,
    "copy": _copy,
    "arithmetic": _arithmetic,
    "norm": _norm,
    "total": _total,
}
