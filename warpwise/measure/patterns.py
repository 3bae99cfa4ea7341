"""Access patterns whose simulated counters are compared with a GPU's: small kernels, one each.

Every pattern is launched once. Its kernel leaves the compiler nothing to fold: another thread reads
after a barrier what one thread wrote to shared memory, strides and offsets are arguments, and no
load in a loop is the same in every iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from warpwise import cuda

SHARED_BYTES = 32_768  # of the shared arrays below
TWO_ACCESSES = "the compiler makes two accesses of 8 bytes"
DTYPES = {1: np.int8, 2: np.int16, 4: np.float32, 8: np.float64, 16: np.complex128}


@dataclass(frozen=True)
class Pattern:
    """One launch. ``width``: bytes of an element. ``want``: the last array afterwards. ``even``:
    all instructions of a warp have the same active lanes, so that warp efficiency does not depend
    on the compiler's instructions. ``note``: the reason why a difference is expected.
    """

    name: str
    kernel: Any
    blocks: int | tuple[int, int]
    threads: int | tuple[int, int]
    args: tuple[Any, ...]
    want: np.ndarray
    width: int = 4
    even: bool = True
    note: str = ""

    @property
    def function(self) -> str:
        return name_of(self.kernel)

    @property
    def must_agree(self) -> bool:
        return not self.note


def name_of(kernel: Any) -> str:
    """Return a kernel's name, whichever backend made it."""
    return str(getattr(kernel, "name", "") or kernel.py_func.__name__)


# --- global memory ---


@cuda.jit
def strided_load(src, stride, offset, out):
    i = cuda.grid(1)
    out[i] = src[offset + stride * i]


@cuda.jit
def strided_store(src, stride, offset, out):
    i = cuda.grid(1)
    out[offset + stride * i] = src[i]


@cuda.jit
def first_lanes(src, n, out):
    i = cuda.grid(1)
    if i < n:
        out[i] = src[i]


@cuda.jit
def every_kth_lane(src, k, out):
    i = cuda.grid(1)
    if i % k == 0:
        out[i] = src[i]


@cuda.jit
def gather(src, index, out):
    i = cuda.grid(1)
    out[i] = src[index[i]]


@cuda.jit
def copy_rows(src, out):
    col, row = cuda.grid(2)
    out[row, col] = src[row, col]


@cuda.jit
def copy_columns(src, out):
    col, row = cuda.grid(2)
    out[col, row] = src[col, row]


@cuda.jit
def own_trips(src, out):
    """Thread t sums t % 32 + 1 elements of its column."""
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(t % 32 + 1):
        total += src[k, t]
    out[t] = total


def numbers(dtype: npt.DTypeLike, *shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape, dtype=int)) % 97).astype(dtype).reshape(shape)


def strided(
    kind: Any, width: int, stride: int, offset: int, blocks: int = 2, threads: int = 128
) -> Pattern:
    n = blocks * threads
    places = offset + stride * np.arange(n)
    dtype, size = DTYPES[width], int(places.max()) + 1
    note = TWO_ACCESSES if width == 16 else ""
    size_of_block = f", {threads} threads" if threads != 128 else ""
    name = f"{name_of(kind)} {width} B, stride {stride}, offset {offset}{size_of_block}"
    if kind is strided_load:
        src, out = numbers(dtype, size), np.zeros(n, dtype)
        want = src[places]
    else:
        src, out = numbers(dtype, n), np.zeros(size, dtype)
        want = out.copy()
        want[places] = src
    return Pattern(name, kind, blocks, threads, (src, stride, offset, out), want, width, note=note)


def masked(kind: Any, parameter: int) -> Pattern:
    src, out = numbers(np.float32, 256), np.zeros(256, np.float32)
    lanes = np.arange(256) < parameter if kind is first_lanes else np.arange(256) % parameter == 0
    name, want = f"{name_of(kind)} {parameter}", np.where(lanes, src, 0)
    return Pattern(name, kind, 2, 128, (src, parameter, out), want, even=False)


def in_two_dimensions(kind: Any, block: tuple[int, int], columns: int = 64) -> Pattern:
    src, out = numbers(np.float32, 64, columns), np.zeros((64, columns), np.float32)
    name, grid = f"{name_of(kind)} by {block[0]} x {block[1]}", (64 // block[0], 64 // block[1])
    return Pattern(name, kind, grid, block, (src, out), src)


def on_global_memory() -> Iterator[Pattern]:
    for stride in (0, 1, 2, 3, 4, 7, 8, 16, 33):
        yield strided(strided_load, 4, stride, 0)
    for stride in (1, 2, 3, 8, 33):
        yield strided(strided_store, 4, stride, 0)
    for offset in (1, 7, 8, 9):
        yield strided(strided_load, 4, 1, offset)
        yield strided(strided_store, 4, 1, offset)
    for width in (1, 2, 8, 16):
        for stride in (1, 2, 5):
            yield strided(strided_load, width, stride, 0)
        yield strided(strided_store, width, 1, 1)
    for threads in (1, 31, 33, 48, 100):
        yield strided(strided_load, 4, 1, 0, threads=threads)
    for parameter in (1, 4, 9, 33, 100):
        yield masked(first_lanes, parameter)
    for parameter in (2, 3, 8, 16):
        yield masked(every_kth_lane, parameter)
    for block in [(32, 4), (16, 16), (8, 4), (4, 8), (1, 32)]:
        yield in_two_dimensions(copy_rows, block)
        yield in_two_dimensions(copy_columns, block)
    index, src = np.random.default_rng(0).integers(0, 4096, 256), numbers(np.float32, 4096)
    args = src, index.astype(np.int32), np.zeros(256, np.float32)
    yield Pattern("gather at random", gather, 2, 128, args, src[index])
    src = numbers(np.float32, 32, 128)
    trips = np.tril(np.ones((32, 32), np.float32)).T  # column t: ones down to row t
    want = (src * np.tile(trips, 4)).sum(axis=0)
    out, name = np.zeros(128, np.float32), "a loop of each lane's own length"
    note = "the compiler unrolls it, and lanes diverge between unrolled iterations and the rest"
    yield Pattern(name, own_trips, 1, 128, (src, out), want, even=False, note=note)


# --- shared memory ---


@lru_cache
def exchange(width: int) -> Any:
    """Return a kernel whose threads write with a stride, and read their neighbour's element."""
    dtype, size = DTYPES[width], SHARED_BYTES // width

    @cuda.jit
    def shared_stride(src, stride, offset, out):
        s = cuda.shared.array(size, dtype)
        t = cuda.threadIdx.x
        s[offset + stride * t] = src[t]
        cuda.syncthreads()
        out[t] = s[offset + stride * ((t + 1) % cuda.blockDim.x)]

    return shared_stride


@cuda.jit
def broadcast(src, which, out):
    s = cuda.shared.array(1024, np.float32)
    t = cuda.threadIdx.x
    s[t] = src[t]
    cuda.syncthreads()
    out[t] = s[which + t // 32]


@lru_cache
def columns_of_a_tile(side: int, pitch: int, swizzle: int) -> Any:
    """Return a kernel that writes a tile by rows and reads it by columns.

    ``pitch``: elements from row to row.
    """

    @cuda.jit
    def tile_columns(src, out):
        tile = cuda.shared.array((side, pitch), np.float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x ^ (y & swizzle)] = src[y, x]
        cuda.syncthreads()
        out[y, x] = tile[x, y ^ (x & swizzle)]

    return tile_columns


def exchanged(width: int, stride: int, offset: int = 0, threads: int = 32) -> Pattern:
    src = numbers(DTYPES[width], threads)
    name = f"shared_stride {width} B, stride {stride}, offset {offset}, {threads} threads"
    args = src, stride, offset, np.zeros(threads, src.dtype)
    note = TWO_ACCESSES if width == 16 else ""
    return Pattern(name, exchange(width), 1, threads, args, np.roll(src, -1), width, note=note)


def tile(side: int, pitch: int, swizzle: int = 0) -> Pattern:
    src = numbers(np.float32, side, side)
    name = f"tile_columns {side} x {side}, pitch {pitch}, swizzle {swizzle}"
    kernel, args = columns_of_a_tile(side, pitch, swizzle), (src, np.zeros_like(src))
    return Pattern(name, kernel, 1, (side, side), args, src.T)


def on_shared_memory() -> Iterator[Pattern]:
    for stride in (1, 2, 3, 4, 8, 16, 31, 32, 33):
        yield exchanged(4, stride)
    yield exchanged(4, 2, 5, 128)
    strides = {1: (1, 4, 128), 2: (1, 2, 3, 64), 8: (1, 2, 4, 16, 17), 16: (1, 2, 3)}
    for width, some in strides.items():
        for stride in some:
            yield exchanged(width, stride)
    src, out = numbers(np.float32, 128), np.zeros(128, np.float32)
    want = src[5 + np.arange(128) // 32]
    yield Pattern("broadcast", broadcast, 1, 128, (src, 5, out), want)
    for pitch in (32, 33, 34, 36):
        yield tile(32, pitch)
    for pitch in (16, 17, 18):
        yield tile(16, pitch)
    for swizzle in (1, 7, 31):
        yield tile(32, 32, swizzle)
