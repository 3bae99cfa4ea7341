"""Counters: tables of the counting rules, the rules again with sets, and whole kernels."""

import dataclasses
import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numba import cuda
from numba.cuda import libdevice
from support.matmuls import in_tiles_of_16

from warpwise import trace
from warpwise.cuda.transfers import to_device
from warpwise.metrics import Metrics
from warpwise.simt.lanes.counting import count_sectors, count_wavefronts

WARP = np.arange(32, dtype=np.int64)[None, :]
FOLDER = Path(__file__).parent


@cuda.jit
def strided_copy(src, dst, stride, offset):
    i = cuda.grid(1)
    dst[i] = src[offset + stride * i]


@cuda.jit
def strided_store(dst, stride, offset):
    i = cuda.grid(1)
    dst[offset + stride * i] = 1


@cuda.jit
def copy_where(src, dst, chosen):
    i = cuda.grid(1)
    if chosen[i]:
        dst[i] = src[i]


@cuda.jit
def copy_2d(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[row, col] = src[row, col]


@cuda.jit
def parted(out, n):
    i = cuda.threadIdx.x
    if i < n:
        out[i] = out[i] + 1
    else:
        out[i] = out[i] + 2


LEAST, STEP = -np.inf, 2


@cuda.jit
def constants(out):
    i = cuda.grid(1)
    out[i] = np.float32(-np.inf)
    out[i] = -LEAST * 3.0 + STEP


@cuda.jit
def no_constants(out):
    i = cuda.grid(1)
    out[i] = -out[i]
    out[i] = -(i * 1.5)


def test_arithmetic_on_constants_counts_nothing():
    m = trace(constants, 1, 32, np.zeros(32, np.float32)).metrics
    assert (m.op_fp64, m.op_fp32, m.flops) == (0, 0, 0)
    m = trace(no_constants, 1, 32, np.zeros(32, np.float32)).metrics
    assert (m.op_fp64, m.op_fp32, m.flops_fp64) == (64, 32, 32)


@cuda.jit
def powers(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i] = v**3
    out[i] = v**i
    out[i] = v**v
    out[i] = pow(np.float32(2.7182818), v)


def test_a_power_with_a_float_for_its_exponent_is_a_special_function():
    m = trace(powers, 1, 32, np.ones(32, np.float32), np.zeros(32, np.float32)).metrics
    assert (m.op_special, m.op_fp32 + m.op_fp64) == (2 * 32, 4 * 32)


@cuda.jit
def functions(x, deep, out):
    i = cuda.grid(1)
    out[i] = math.exp(x[i])
    out[i] = math.exp(deep[i])
    out[i] = libdevice.exp(deep[i]) + deep[i] ** deep[i]
    out[i] = math.sqrt(i) + abs(complex(deep[i], 1)) + math.floor(deep[i])
    if deep[i] > 0 and math.log(deep[i]) > 1:
        out[i] = 1


def test_special_functions_of_float64_are_counted_among_the_special_ones():
    x, deep = np.ones(32, np.float32), np.ones(32)
    m = trace(functions, 1, 32, x, deep, np.zeros(32)).metrics
    assert (m.special_fp64, m.op_special) == (6 * 32, 7 * 32)


@cuda.jit
def roots_and_quotients(x, half, out):
    i = cuda.grid(1)
    out[i] = x[i] / x[i]
    out[i] = math.sqrt(x[i])
    out[i] = libdevice.sqrtf(x[i])
    out[i] = libdevice.fsqrt_rn(x[i])
    out[i] = libdevice.frcp_rn(x[i])
    out[i] = cuda.fp16.hsqrt(half[i])
    out[i] = cuda.fp16.hrcp(half[i])
    if x[i] > half[i]:
        out[i] = max(math.exp(x[i]), -x[i])


def test_a_quotient_and_a_root_are_a_flop_in_every_spelling_and_a_comparison_is_none():
    m = trace(
        roots_and_quotients, 1, 32, np.full(32, 2, np.float32), *np.ones((2, 32), "f2")
    ).metrics
    assert (m.flops_fp32, m.flops_fp16) == (5 * 32, 2 * 32)


@cuda.jit
def first_half_doubled(x, out):
    tile, i = cuda.shared.array(32, np.float16), cuda.grid(1)
    tile[i] = x[i]
    cuda.syncthreads()
    if i < 16:
        out[i] = tile[i] + tile[31 - i]


def test_barriers_and_branches_are_control_and_half_the_lanes_move_half_the_bytes():
    m = trace(first_half_doubled, 1, 32, np.ones(32, np.float16), np.ones(32, np.float16)).metrics
    assert (m.shared_store_bytes, m.shared_load_bytes) == (32 * 2, 16 * 2 * 2)
    assert (m.flops_fp16, m.op_control) == (16, 32 + 32)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Metrics)])
def test_a_test_counts_it_by_hand(name):
    assert name in words_of_the_tests(), f"no test of {FOLDER.name} says how much {name} is"


@cache
def words_of_the_tests() -> set[str]:
    return {
        word
        for path in FOLDER.glob("test_*.py")
        for word in re.findall(r"\w+", path.read_text("utf-8"))
    }


def line_of(kernel, text: str) -> int:
    """Return the number of the kernel's line that holds ``text``."""
    first, lines = kernel.py_func.__code__.co_firstlineno, Path(__file__).read_text().splitlines()
    return next(n for n in range(first, len(lines)) if text in lines[n - 1])


# --- sectors ---

SECTORS = {
    ("float32", 0): 1,
    ("float32", 1): 4,
    ("float32", 2): 8,
    ("float32", 3): 12,
    ("float32", 4): 16,
    ("float32", 5): 20,
    ("float32", 6): 24,
    ("float32", 7): 28,
    ("float32", 8): 32,
    ("float32", 9): 32,
    ("float32", 33): 32,
    ("float64", 1): 8,
    ("float64", 2): 16,
    ("float64", 4): 32,
    ("float16", 1): 2,
    ("float16", 2): 4,
    ("float16", 4): 8,
    ("float16", 8): 16,
    ("float16", 16): 32,
}


@pytest.mark.parametrize(("dtype", "stride"), SECTORS)
def test_sectors_of_a_stride(dtype, stride):
    src = np.zeros(32 * max(stride, 1), dtype)
    t = trace(strided_copy, 1, 32, src, np.zeros(32, dtype), stride, 0)
    assert t.metrics.sectors_per_request_load == SECTORS[dtype, stride]
    t = trace(strided_store, 1, 32, src, stride, 0)
    assert t.metrics.sectors_per_request_store == SECTORS[dtype, stride]


@pytest.mark.parametrize(("stride", "sectors"), [(1, 16), (2, 32)])
def test_sectors_of_16_byte_elements(stride, sectors):
    assert count_sectors(16 * stride * WARP, None, 16) == sectors


@pytest.mark.parametrize(("offset", "sectors"), [(0, 4), (1, 5), (7, 5), (8, 4), (9, 5), (16, 4)])
def test_sectors_of_an_offset(offset, sectors):
    t = trace(strided_copy, 1, 32, np.zeros(64, np.float32), np.zeros(32, np.float32), 1, offset)
    assert t.metrics.global_load_sectors == sectors


def test_an_element_across_two_sectors_costs_both():
    assert count_sectors(np.array([[28]], np.int64), None, 8) == 2
    assert count_sectors(np.array([[24]], np.int64), None, 8) == 1


@pytest.mark.parametrize("threads", [1, 8, 9, 31, 32, 33, 48, 64, 100])
def test_partial_warps_count_their_own_lanes(threads):
    t = trace(
        strided_copy, 1, threads, np.zeros(threads, np.float32), np.zeros(threads, np.float32), 1, 0
    )
    assert t.metrics.global_load_requests == -(-threads // 32)
    assert t.metrics.global_load_sectors == -(-threads // 8)
    assert t.metrics.global_load_bytes == 4 * threads
    assert t.metrics.warp_efficiency == threads / (32 * -(-threads // 32))


def test_lanes_that_are_not_active_touch_nothing():
    chosen = np.zeros(64, np.bool_)
    chosen[[3, 4, 31]] = True
    t = trace(copy_where, 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32), chosen)
    copy = t.by_line[line_of(copy_where, "dst[i] = src[i]")]
    assert (copy.global_load_requests, copy.global_load_sectors, copy.global_load_bytes) == (
        1,
        2,
        12,
    )
    assert (copy.global_store_requests, copy.global_store_sectors, copy.global_store_bytes) == (
        1,
        2,
        12,
    )
    # A warp reads 32 bytes.
    assert t.by_line[line_of(copy_where, "if chosen[i]")].global_load_sectors == 2


@pytest.mark.parametrize("block", [(32, 8), (8, 4), (16, 16), (5, 7), (33, 3), (1, 64), (7, 9)])
@pytest.mark.parametrize("shape", [(64, 64), (20, 50)])
def test_blocks_of_two_dimensions_form_warps_of_neighbouring_threads(block, shape):
    """Threads are numbered x first; a warp is 32 numbers, whatever the block's width."""
    grid = (-(-shape[1] // block[0]), -(-shape[0] // block[1]))
    t = trace(copy_2d, grid, block, np.zeros(shape, np.float32), np.zeros(shape, np.float32))
    sectors = requests = 0
    for by in range(grid[1]):
        for bx in range(grid[0]):
            for first in range(0, block[0] * block[1], 32):
                touched = set()
                for number in range(first, min(first + 32, block[0] * block[1])):
                    row, col = by * block[1] + number // block[0], bx * block[0] + number % block[0]
                    if row < shape[0] and col < shape[1]:
                        touched.add((row * shape[1] + col) * 4 // 32)
                sectors, requests = sectors + len(touched), requests + bool(touched)
    assert (t.metrics.global_load_sectors, t.metrics.global_load_requests) == (sectors, requests)
    assert (t.metrics.global_store_sectors, t.metrics.global_store_requests) == (sectors, requests)


def test_views_keep_their_pitch_and_their_alignment():
    wide = np.zeros((64, 65), np.float32)
    dst = np.zeros((64, 64), np.float32)
    # 7 rows of 8 begin inside a sector.
    assert (
        trace(copy_2d, (2, 8), (32, 8), wide[:, :64], dst).metrics.sectors_per_request_load == 4.875
    )
    assert (
        trace(
            copy_2d, (2, 8), (32, 8), np.zeros((64, 72), np.float32)[:, :64], dst
        ).metrics.sectors_per_request_load
        == 4
    )
    every_second = np.zeros((1, 64), np.float32)[:, ::2]
    assert (
        trace(
            copy_2d, 1, (32, 1), every_second, np.zeros((1, 32), np.float32)
        ).metrics.global_load_sectors
        == 8
    )
    assert (
        trace(
            strided_copy, 1, 32, to_device(np.zeros(33, np.float32))[1:], dst[0], 1, 0
        ).metrics.global_load_sectors
        == 5
    )
    fortran = np.zeros((64, 64), np.float32, order="F")
    assert trace(copy_2d, (2, 8), (32, 8), fortran, dst).metrics.sectors_per_request_load == 32


def test_writes_to_a_view_land_in_the_callers_array():
    wide = np.zeros((8, 9), np.float32)
    trace(copy_2d, 1, (8, 8), np.ones((8, 8), np.float32), wide[:, 1:])
    np.testing.assert_array_equal(wide, np.hstack([np.zeros((8, 1)), np.ones((8, 8))]))


def sectors_by_sets(addresses, lanes, width) -> int:
    total = 0
    for row, on in zip(addresses, lanes, strict=True):
        for first in range(0, len(row), 32):
            warp = slice(first, first + 32)
            named = [a for a, active in zip(row[warp], on[warp], strict=True) if active]
            total += len({s for a in named for s in range(a // 32, (a + width - 1) // 32 + 1)})
    return total


def wavefronts_by_sets(addresses, lanes, width) -> tuple[int, int]:
    total = fewest = 0
    group = min(32, 128 // max(width, 4))
    for row, on in zip(addresses, lanes, strict=True):
        for first in [
            f for w in range(0, len(row), 32) for f in range(w, min(w + 32, len(row)), group)
        ]:
            lane = slice(first, first + group)
            words = {
                a // 4 + k
                for a, active in zip(row[lane], on[lane], strict=True)
                if active
                for k in range(max(1, width // 4))
            }
            if words:
                total += max(sum(w % 32 == bank for w in words) for bank in range(32))
                fewest += 1
    return total, fewest


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_random_addresses_cost_what_the_rules_say(width):
    rng = np.random.default_rng(width)
    for spread in (4, 40, 400):
        for threads in (7, 32, 50, 96):
            addresses = width * rng.integers(0, spread, (3, threads))
            lanes = rng.random((3, threads)) < rng.choice([0.1, 0.7, 1.0])
            assert count_sectors(addresses, lanes, width) == sectors_by_sets(
                addresses, lanes, width
            )
            assert count_wavefronts(addresses, lanes, width) == wavefronts_by_sets(
                addresses, lanes, width
            )
            # An element that is not on a multiple of its width may reach into the next sector.
            odd = addresses + rng.integers(0, width)
            assert count_sectors(odd, lanes, width) == sectors_by_sets(odd, lanes, width)


# --- banks ---


@cuda.jit
def banks_fp32(out, stride):
    s = cuda.shared.array(1056, np.float32)
    t = cuda.threadIdx.x
    s[stride * t] = 1
    out[t] = s[stride * t]


@cuda.jit
def banks_fp64(out, stride):
    s = cuda.shared.array(1056, np.float64)
    t = cuda.threadIdx.x
    s[stride * t] = 1
    out[t] = s[stride * t]


@cuda.jit
def columns_of_a_tile(out, padded):
    tile = cuda.shared.array((32, 32), np.float32)
    wide = cuda.shared.array((32, 33), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = 1
    wide[y, x] = 1
    cuda.syncthreads()
    out[y, x] = wide[x, y] if padded else tile[x, y]


WAVEFRONTS_FP32 = {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 8: 8, 16: 16, 31: 1, 32: 32, 33: 1}
WAVEFRONTS_FP64 = {1: 2, 2: 4, 4: 8, 16: 32, 17: 2}


@pytest.mark.parametrize("stride", WAVEFRONTS_FP32)
def test_wavefronts_of_a_stride_of_words(stride):
    m = trace(banks_fp32, 1, 32, np.zeros(32, np.float32), stride).metrics
    assert m.shared_load_wavefronts == WAVEFRONTS_FP32[stride]
    assert m.shared_load_bank_conflicts == WAVEFRONTS_FP32[stride] - 1
    assert m.shared_store_wavefronts == WAVEFRONTS_FP32[stride]
    assert m.shared_load_requests == m.shared_store_requests == 1


@pytest.mark.parametrize("stride", WAVEFRONTS_FP64)
def test_wavefronts_of_a_stride_of_doubles(stride):
    m = trace(banks_fp64, 1, 32, np.zeros(32), stride).metrics
    assert m.shared_load_wavefronts == WAVEFRONTS_FP64[stride]
    assert m.shared_load_bank_conflicts == WAVEFRONTS_FP64[stride] - 2


# where lanes name words of 8 or 16 bytes -> wavefronts of a load, and of a store
PAIRED = {
    "all the same": (np.zeros(32, np.int64), {8: (1, 2), 16: (2, 4)}),
    "neighbours the same": (np.arange(32) // 2, {8: (1, 2), 16: (2, 4)}),
    "the next but one the same": (
        np.arange(32) // 4 * 2 + np.arange(32) % 2,
        {8: (1, 2), 16: (2, 4)},
    ),
    "pairs from lane 1 on": ((np.arange(32) + 1) // 2, {8: (2, 2), 16: (4, 4)}),
    "pairs in one bank": (np.arange(32) // 2 * 8, {8: (8, 8), 16: (16, 16)}),
}


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("name", PAIRED)
def test_wide_loads_of_which_neighbours_want_the_same_take_half_the_wavefronts(name, width):
    places, found = PAIRED[name]
    addresses = width * places.astype(np.int64)[None, :]
    load, store = (count_wavefronts(addresses, None, width, loads)[0] for loads in (True, False))
    assert (load, store) == found[width]


@pytest.mark.parametrize("width", [8, 16])
def test_a_neighbour_that_is_inactive_wants_nothing_else(width):
    places, even = width * (WARP // 2), WARP % 2 == 0
    assert count_wavefronts(places, even, width, loads=True)[0] == width // 8
    assert count_wavefronts(places, WARP % 4 == 0, width, loads=True)[0] == width // 8
    assert count_wavefronts(places, even, width)[0] == width // 4


@pytest.mark.parametrize(("stride", "wavefronts"), [(1, 4), (2, 8), (3, 4), (8, 32)])
def test_wavefronts_of_a_stride_of_16_bytes(stride, wavefronts):
    assert count_wavefronts(16 * stride * WARP, None, 16) == (wavefronts, 4)


@pytest.mark.parametrize(("padded", "conflicts"), [(True, 0), (False, 32 * 31)])
def test_one_more_column_ends_the_conflicts_of_a_tile(padded, conflicts):
    m = trace(columns_of_a_tile, 1, (32, 32), np.zeros((32, 32), np.float32), padded).metrics
    assert m.shared_bank_conflicts == m.shared_load_bank_conflicts == conflicts


# --- divergence ---


@pytest.mark.parametrize("n", [1, 4, 16, 31])
def test_efficiency_of_two_sides_of_a_branch(n):
    """Sides of a and b instructions: (n * a + (32 - n) * b) / (32 * (a + b))."""
    t = trace(parted, 1, 32, np.zeros(32), n)
    sides = [t.by_line[line_of(parted, text)] for text in ("out[i] + 1", "out[i] + 2")]
    a, b = (side.warp_instructions for side in sides)
    both = sides[0] + sides[1]
    assert both.warp_efficiency == (n * a + (32 - n) * b) / (32 * (a + b))
    branch = t.by_line[line_of(parted, "if i < n")]
    assert (branch.branches, branch.divergent_branches) == (1, 1)


@pytest.mark.parametrize("n", [0, 32])
def test_a_warp_of_one_mind_does_not_diverge(n):
    m = trace(parted, 1, 32, np.zeros(32), n).metrics
    assert (m.branches, m.divergent_branches, m.warp_efficiency) == (1, 0, 1)


def test_each_warp_diverges_for_itself():
    assert trace(parted, 1, 128, np.zeros(128), 40).metrics.divergent_branches == 1
    assert trace(parted, 1, 128, np.zeros(128), 64).metrics.divergent_branches == 0


@cuda.jit
def own_length(out):
    i = cuda.grid(1)
    total = 0
    for k in range(i):
        total += k
    out[i] = total


def test_a_loop_runs_the_longest_lanes_trips():
    t = trace(own_length, 1, 32, np.zeros(32))
    body = t.by_line[line_of(own_length, "total += k")]
    assert body.warp_instructions == 31
    assert body.thread_instructions == sum(range(32))
    assert t.by_line[line_of(own_length, "for k in")].divergent_branches == 31


# --- whole kernels ---


@cuda.jit
def matmul_naive(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


def matmul(kernel, n: int):
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, n, n)).astype(np.float32)
    c = np.zeros((n, n), np.float32)
    t = trace(kernel, (n // 16, n // 16), (16, 16), a, b, c, record=())
    np.testing.assert_allclose(c, a @ b, atol=1e-3)
    return t.metrics


@pytest.mark.parametrize("n", [32, 256])
def test_tiling_cuts_the_elements_read_by_the_tiles_width(n):
    naive, tiled = matmul(matmul_naive, n), matmul(in_tiles_of_16, n)
    assert naive.global_load_bytes == 4 * 2 * n**3
    assert tiled.global_load_bytes == 4 * 2 * n**3 // 16
    if n == 256:
        assert (naive.global_load_bytes // 4, tiled.global_load_bytes // 4) == (
            33_554_432,
            2_097_152,
        )
    assert naive.flops_fp32 == tiled.flops_fp32 == 2 * n**3
    assert naive.flops_fp64 == tiled.flops_fp64 == 0
    assert naive.global_bytes_distinct == tiled.global_bytes_distinct == 3 * 4 * n**2
    assert tiled.barriers == 2 * (n // 16) * (n // 16) ** 2 * 8
    assert tiled.shared_bank_conflicts == 0


def test_distinct_bytes_count_a_byte_once():
    src = to_device(np.zeros(64, np.float32))
    t = trace(strided_copy, 2, 32, src, np.zeros(64, np.float32), 0, 5)
    assert t.metrics.global_load_bytes == 256
    assert t.metrics.global_bytes_distinct == 4 + 256
    t = trace(strided_copy, 2, 32, src, src, 1, 0)  # read and written: the same bytes
    assert t.metrics.global_bytes_distinct == 256


def test_a_literal_makes_flops_double():
    @cuda.jit
    def scaled(x, out):
        i = cuda.grid(1)
        out[i] = x[i] * 0.5 + np.float32(1)

    m = trace(scaled, 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32)).metrics
    assert (m.flops_fp32, m.flops_fp64) == (0, 64)


SUMMED = [f.name for f in dataclasses.fields(Metrics) if f.name != "global_bytes_distinct"]


def test_the_lines_add_up_to_the_launch():
    for kernel, args in [(parted, (np.zeros(128), 40)), (own_length, (np.zeros(128),))]:
        t = trace(kernel, 1, 128, *args)
        total = sum(t.by_line.values(), Metrics())
        assert {f: getattr(total, f) for f in SUMMED} == {f: getattr(t.metrics, f) for f in SUMMED}


def test_counters_are_the_same_from_run_to_run_and_for_any_batch_size(monkeypatch):
    runs = [matmul(in_tiles_of_16, 64)]
    for lanes in (1, 700, 2**20):
        monkeypatch.setattr("warpwise.simt.machine.batches.BATCH_LANES", lanes)
        runs.append(matmul(in_tiles_of_16, 64))
    runs.append(matmul(in_tiles_of_16, 64))
    assert len(set(runs)) == 1


def test_recording_does_not_change_the_counters():
    args = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    kept = [
        trace(copy_2d, (2, 8), (32, 8), *args, record=blocks).metrics
        for blocks in ((), (0,), range(16))
    ]
    assert len(set(kept)) == 1
