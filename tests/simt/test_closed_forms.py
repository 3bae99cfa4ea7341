"""Counters against closed formulas, each derived in a comment.

The simulator must count what a reader can work out with a pencil. No formula goes through the
addresses one by one: it says sectors, wavefronts or efficiency from stride, width, mask and shape
alone. The rules behind them: an aligned base, 32-byte sectors, 32 banks of 4 bytes, warps of 32
threads numbered x first."""

from __future__ import annotations

from math import gcd

import numpy as np
import pytest
from support.text_kernels import ceil, kernel

from warpwise import trace
from warpwise.metrics import Metrics

DTYPES = {1: "int8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}
WIDTHS = list(DTYPES)


# --- global memory: strides ---
# Lane i names byte w*(o + s*i). With s*w >= 32 no two lanes share a sector: as many sectors as
# lanes. With s*w < 32 each lane's sector is its neighbour's or the next one, so none is left out:
# last sector - first sector + 1. (Aligned: no element crosses.)

GLOBAL = """
@cuda.jit
def run(src, dst, stride, offset):
    i = cuda.grid(1)
    if MASK:
        LEFT = RIGHT
"""


def sectors_of_stride(lanes: int, stride: int, width: int, offset: int = 0) -> int:
    if lanes == 0:
        return 0
    if stride * width >= 32:
        return lanes
    return (offset + stride * (lanes - 1)) * width // 32 - offset * width // 32 + 1


def on_global(
    width: int,
    stride: int,
    offset: int,
    mask: str = "i >= 0",
    loads: bool = True,
    threads: int = 32,
) -> Metrics:
    """Return the counts of a strided load, or of a strided store of a number."""
    pattern = "[offset + stride * i]"
    run = kernel(
        GLOBAL,
        MASK=mask,
        LEFT="dst[i]" if loads else "dst" + pattern,
        RIGHT="src" + pattern if loads else "stride",
    )
    size = offset + stride * (threads - 1) + 1
    arrays = np.zeros(size, DTYPES[width]), np.zeros(max(size, threads), DTYPES[width])
    return trace(run, 1, threads, *arrays, stride, offset, record=()).metrics


STRIDES = [
    (w, s, o)
    for w in WIDTHS
    for s, o in [
        (0, 0),
        (0, 3),
        (1, 0),
        (1, 1),
        (1, 32 // w),
        (2, 0),
        (2, 1),
        (3, 5),
        (5, 2),
        (8, 0),
    ]
]
STRIDES += [(4, s, 0) for s in (4, 6, 7, 9, 16, 31, 32, 33, 63, 64)] + [
    (w, s, 1) for w in (1, 2, 8) for s in (4, 7, 12, 31, 64)
]


@pytest.mark.parametrize(("width", "stride", "offset"), STRIDES)
def test_sectors_of_a_strided_load(width, stride, offset):
    m = on_global(width, stride, offset)
    assert (m.global_load_requests, m.global_load_bytes) == (1, 32 * width)
    assert m.global_load_sectors == sectors_of_stride(32, stride, width, offset)


@pytest.mark.parametrize(
    ("width", "stride", "offset"),
    [(w, s, o) for w in WIDTHS for s in (1, 2, 5, 16) for o in (0, 1, 7)],
)
def test_sectors_of_a_strided_store(width, stride, offset):
    m = on_global(width, stride, offset, loads=False)
    assert (m.global_store_requests, m.global_store_bytes, m.global_load_requests) == (
        1,
        32 * width,
        0,
    )
    assert m.global_store_sectors == sectors_of_stride(32, stride, width, offset)


# --- global memory: masks ---
# The first k lanes are a shorter warp. Every k-th lane from lane 0 on: ceil(32/k) lanes with k
# times the stride. One lane: one sector.


@pytest.mark.parametrize("lanes", [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32])
@pytest.mark.parametrize(("width", "stride"), [(4, 1), (8, 1), (2, 3)])
def test_the_first_lanes_of_a_warp(lanes, width, stride):
    m = on_global(width, stride, 0, f"i < {lanes}")
    assert (m.global_load_requests, m.global_load_bytes) == (int(lanes > 0), lanes * width)
    assert m.global_load_sectors == sectors_of_stride(lanes, stride, width)
    assert m.divergent_branches == int(0 < lanes < 32)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 8, 11, 16, 31, 32])
@pytest.mark.parametrize(("width", "stride"), [(4, 1), (1, 1), (8, 2)])
def test_every_kth_lane(step, width, stride):
    lanes = ceil(32, step)
    for loads in (True, False):
        m = on_global(width, stride, 0, f"i % {step} == 0", loads)
        found = (
            (m.global_load_requests, m.global_load_sectors)
            if loads
            else (m.global_store_requests, m.global_store_sectors)
        )
        assert found == (1, sectors_of_stride(lanes, step * stride, width))


@pytest.mark.parametrize("lane", [0, 1, 13, 31])
@pytest.mark.parametrize("width", WIDTHS)
def test_one_lane_costs_one_sector(lane, width):
    m = on_global(width, 1, 0, f"i == {lane}")
    assert (m.global_load_requests, m.global_load_sectors, m.global_load_bytes) == (1, 1, width)


# --- block shapes ---
# Block of T threads in a line, thread t of block b naming element T*b + t: warp j of the block has
# min(32, T - 32j) lanes and begins at element T*b + 32j.


@pytest.mark.parametrize("threads", [1, 7, 31, 32, 33, 64, 100, 1024])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_warps_begin_anew_in_every_block(threads, width):
    blocks = 3
    run = kernel(GLOBAL, MASK="i >= 0", LEFT="dst[i]", RIGHT="src[i]")
    src, dst = np.zeros(threads * blocks, DTYPES[width]), np.zeros(threads * blocks, DTYPES[width])
    m = trace(run, blocks, threads, src, dst, 1, 0, record=()).metrics
    warps = [
        (threads * b + 32 * j, min(32, threads - 32 * j))
        for b in range(blocks)
        for j in range(ceil(threads, 32))
    ]
    assert m.global_load_requests == m.global_store_requests == len(warps)
    assert (
        m.global_load_sectors
        == m.global_store_sectors
        == sum(sectors_of_stride(lanes, 1, width, first) for first, lanes in warps)
    )
    assert m.warp_efficiency == threads / (32 * ceil(threads, 32))


# A block of X x Y with X dividing 32: a warp is 32/X rows of X neighbours. Rows of the matrix begin
# on sectors and are far apart, so a row of the warp costs ceil(X*w/32). Columns: X lanes far apart,
# each with 32/X neighbours below it: X * ceil((32/X)*w/32).

COPY = """
@cuda.jit
def run(src, dst):
    col, row = cuda.grid(2)
    dst[row, col] = src[INDEX]
"""


@pytest.mark.parametrize(
    "shape", [(32, 1), (32, 4), (16, 16), (8, 4), (4, 8), (2, 32), (1, 32), (32, 32)]
)
@pytest.mark.parametrize("width", [1, 4, 8])
def test_blocks_of_two_dimensions(shape, width):
    x, _ = shape
    rows = columns = 64
    warps = rows * columns // 32
    for index, sectors in [
        ("row, col", 32 // x * ceil(x * width, 32)),
        ("col, row", x * ceil(32 // x * width, 32)),
    ]:
        src, dst = (
            np.zeros((rows, columns), DTYPES[width]),
            np.zeros((rows, columns), DTYPES[width]),
        )
        m = trace(
            kernel(COPY, INDEX=index),
            (columns // shape[0], rows // shape[1]),
            shape,
            src,
            dst,
            record=(),
        ).metrics
        assert (m.global_load_requests, m.global_load_sectors) == (warps, warps * sectors)
        assert m.global_store_sectors == warps * (32 // x) * ceil(x * width, 32)


# A block of 7 x 3 x 2: thread number n = x + 7y + 21z. x is n mod 7, y is n div 7 mod 3, z is n div
# 21; on neighbouring numbers each takes min(its extent, its steps + 1) values, one sector each when
# an element is 32 bytes from the next.

AXIS = """
@cuda.jit
def run(src, dst):
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    dst[z, y, x] = src[8 * (INDEX)]
"""
WARPS_OF_42 = [(0, 31), (32, 41)]  # first and last thread number


@pytest.mark.parametrize(
    ("axis", "period", "extent"),
    [("x", 1, 7), ("y", 7, 3), ("z", 21, 2), ("x + 7 * y + 21 * z", 1, 42)],
)
def test_threads_of_a_block_are_numbered_x_first(axis, period, extent):
    m = trace(
        kernel(AXIS, INDEX=axis),
        1,
        (7, 3, 2),
        np.zeros(8 * 42, np.float32),
        np.zeros((2, 3, 7), np.float32),
        record=(),
    ).metrics
    assert m.global_load_sectors == sum(
        min(extent, last // period - first // period + 1) for first, last in WARPS_OF_42
    )
    assert (m.global_store_requests, m.global_store_sectors) == (
        2,
        ceil(32 * 4, 32) + ceil(10 * 4, 32),
    )


# --- shared memory: strides ---
# Words of 4 bytes: lanes i and j meet in a bank when s(i - j) is a multiple of 32, so each bank in
# use has gcd(s, 32) lanes, all with different words: that many wavefronts. Stride 0 is a broadcast.
# Of k lanes, 32/gcd banks take turns: ceil(k * gcd / 32).
# 8 bytes: half a warp at a time, 16 pairs of banks: 2 * gcd(s, 16).
# 16 bytes: a quarter at a time, 8 groups of four banks: 4 * gcd(s, 8).
# 2 bytes, even stride: words of half the stride. Odd stride: 32 lanes in 64 half words, all in
# different ones, so at most two in a bank. Those two are lanes i and i + d with s * d = 1 (mod 64),
# and such lanes exist in a warp unless d = 33, which is s = 33 (mod 64). They name the same word
# only for s = 1.

SHARED = """
@cuda.jit
def run(out, stride, offset):
    s = cuda.shared.array(SIZE, np.DTYPE)
    t = cuda.threadIdx.x
    if MASK:
        s[offset + stride * t] = t
        out[t] = s[offset + stride * t]
"""


def wavefronts_of_stride(stride: int, width: int, lanes: int = 32) -> int:
    if width == 2 and stride % 2:
        return 1 if stride == 1 or stride % 64 == 33 else 2
    if width < 4 and stride * width < 4:
        return 1  # neighbours in neighbouring words
    groups = max(1, width // 4)
    per_group, stride = 32 // groups, stride * width // 4 // groups
    if stride == 0:
        return groups
    return groups * ceil(min(lanes, per_group) * gcd(stride, per_group), per_group)


def on_shared(width: int, stride: int, offset: int = 0, mask: str = "t >= 0") -> Metrics:
    run = kernel(SHARED, SIZE=32_768 // width, DTYPE=DTYPES[width], MASK=mask)
    return trace(run, 1, 32, np.zeros(32, DTYPES[width]), stride, offset, record=()).metrics


BANKS = [(4, s) for s in (*range(13), 15, 16, 17, 24, 31, 32, 33, 48, 63, 64)]
BANKS += [(8, s) for s in (0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 31, 32, 33, 64)] + [
    (16, s) for s in (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33)
]
BANKS += [(2, s) for s in (0, 1, 2, 3, 4, 5, 7, 8, 16, 32, 33, 64, 65, 97)] + [
    (1, s) for s in (0, 1, 2, 4, 8, 12, 64, 128)
]


@pytest.mark.parametrize(("width", "stride"), BANKS)
def test_wavefronts_of_a_stride(width, stride):
    m = on_shared(width, stride)
    wavefronts, fewest = wavefronts_of_stride(stride, width), max(1, width // 4)
    # where all lanes load one element, twice as many are served at a time
    loads = wavefronts // 2 if stride == 0 and width > 4 else wavefronts
    assert (m.shared_load_requests, m.shared_load_wavefronts) == (1, loads)
    assert m.shared_load_bank_conflicts == m.shared_store_bank_conflicts == wavefronts - fewest
    assert (m.shared_store_requests, m.shared_store_wavefronts) == (1, wavefronts)


@pytest.mark.parametrize("offset", [1, 5, 31, 32])
@pytest.mark.parametrize("stride", [1, 2, 8, 32])
def test_an_offset_moves_the_banks_and_no_more(offset, stride):
    assert on_shared(4, stride, offset).shared_load_wavefronts == wavefronts_of_stride(stride, 4)
    assert on_shared(8, stride, offset).shared_load_wavefronts == wavefronts_of_stride(stride, 8)


@pytest.mark.parametrize("lanes", [1, 4, 15, 16, 17, 32])
@pytest.mark.parametrize("stride", [1, 4, 6, 32])
def test_fewer_lanes_meet_less_often(lanes, stride):
    assert on_shared(4, stride, 0, f"t < {lanes}").shared_load_wavefronts == wavefronts_of_stride(
        stride, 4, lanes
    )


@pytest.mark.parametrize("step", [2, 3, 4, 8, 16, 31])
@pytest.mark.parametrize("stride", [1, 2, 5])
def test_every_kth_lane_is_a_longer_stride(step, stride):
    m = on_shared(4, stride, 0, f"t % {step} == 0")
    assert m.shared_load_wavefronts == wavefronts_of_stride(step * stride, 4, ceil(32, step))


# --- shared memory: tiles ---
# A column of a 32-wide tile with pitch P is a stride of P. With tile[y][x ^ (y & m)], m + 1 a power
# of two, a column's word x*32 + (c ^ (x & m)) lies in one of m + 1 banks, 32/(m + 1) lanes in each.

TILE = """
@cuda.jit
def run(out):
    tile = cuda.shared.array((SIDE, PITCH), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x ^ (y & SWIZZLE)] = x
    cuda.syncthreads()
    out[y, x] = tile[x, y ^ (x & SWIZZLE)]
"""


def columns(side: int, pitch: int, swizzle: int = 0) -> Metrics:
    run = kernel(TILE, SIDE=side, PITCH=pitch, SWIZZLE=swizzle)
    return trace(run, 1, (side, side), np.zeros((side, side), np.float32), record=()).metrics


@pytest.mark.parametrize("pitch", [32, 33, 34, 35, 36, 40, 48, 64])
def test_the_columns_of_a_padded_tile(pitch):
    m = columns(32, pitch)
    assert (m.shared_store_wavefronts, m.shared_store_bank_conflicts) == (32, 0)
    assert (m.shared_load_wavefronts, m.shared_load_bank_conflicts) == (
        32 * gcd(pitch, 32),
        32 * (gcd(pitch, 32) - 1),
    )


@pytest.mark.parametrize("swizzle", [0, 1, 3, 7, 15, 31])
def test_the_columns_of_a_swizzled_tile(swizzle):
    m = columns(32, 32, swizzle)
    assert m.shared_store_bank_conflicts == 0
    assert m.shared_load_wavefronts == 32 * 32 // (swizzle + 1)


# A 16 x 16 block: a warp reads two neighbouring columns, words P*x + c and P*x + c + 1 for x < 16.
# Even P: the two lie in banks of different parity, and each is a stride of P over half a warp:
# gcd(P, 32)/2, at least 1. Odd P: each column alone is free of conflicts, but lane x of one meets
# lane x' of the other where P(x - x') = 1 or -1 (mod 32); one of the two solutions, d and 32 - d,
# is below 16: 2. One more column does not end every conflict.


@pytest.mark.parametrize("pitch", [16, 17, 18, 19, 20, 23, 24, 32])
def test_the_columns_of_a_tile_of_half_a_warp(pitch):
    assert columns(16, pitch).shared_load_wavefronts == 8 * (
        2 if pitch % 2 else max(1, gcd(pitch, 32) // 2)
    )
