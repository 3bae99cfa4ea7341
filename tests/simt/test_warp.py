"""Warp-level operations against plain Python, one warp after the other; types and masks."""

import re

import numpy as np
import pytest
from numba import cuda
from numba.core.target_extension import target_override
from numba.cuda import types
from numba.cuda.descriptor import cuda_target

from warpwise import trace
from warpwise.errors import KernelTypeError, UnsupportedError, WarpMaskError
from warpwise.simt import kernels_in
from warpwise.simt.compiler.function_compiler import compile_function
from warpwise.simt.types import ArrayType

FULL = 0xFFFFFFFF
BLOCKS = [(1, 32), (3, 64), (2, (8, 8)), (2, (96, 1, 2)), (5, 128)]
PARTIAL = [(3, 40), (2, 7), (2, (5, 9)), (1, 1)]


def by_warp(values: np.ndarray, threads: int) -> list[np.ndarray]:
    """Split values by warp; there is one value for each thread of the launch."""
    return [
        row[at : at + 32] for row in values.reshape(-1, threads) for at in range(0, threads, 32)
    ]


def size(threads) -> int:
    return int(np.prod(threads))


@cuda.jit(device=True)
def number():
    inner = cuda.threadIdx.x + cuda.blockDim.x * (
        cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
    )
    return inner + cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


@cuda.jit
def shuffles(x, lanes, out):
    i = number()
    v, at = x[i], lanes[i]
    out[0, i] = cuda.shfl_sync(0xFFFFFFFF, v, at)
    out[1, i] = cuda.shfl_up_sync(0xFFFFFFFF, v, at)
    out[2, i] = cuda.shfl_down_sync(0xFFFFFFFF, v, at)
    out[3, i] = cuda.shfl_xor_sync(0xFFFFFFFF, v, at)
    out[4, i] = cuda.shfl_sync(0xFFFFFFFF, v, 5)
    out[5, i] = cuda.shfl_up_sync(0xFFFFFFFF, v, 3)
    out[6, i] = cuda.shfl_down_sync(0xFFFFFFFF, v, 33)
    out[7, i] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 16)


def shuffled(kind: str, v: np.ndarray, at) -> list:
    lane = np.arange(32)
    at = np.broadcast_to(at, 32) % 32
    source = {"idx": at, "up": lane - at, "down": lane + at, "xor": lane ^ at}[kind]
    return [v[s] if 0 <= s < 32 else v[own] for own, s in zip(lane, source, strict=True)]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(("blocks", "threads"), BLOCKS)
def test_a_shuffle_reads_the_lane_it_names(blocks, threads, dtype):
    rng, n = np.random.default_rng(1), blocks * size(threads)
    x, lanes, out = (
        (rng.standard_normal(n) * 99).astype(dtype),
        rng.integers(0, 64, n),
        np.zeros((8, n), dtype),
    )
    trace(shuffles, blocks, threads, x, lanes, out)
    at = by_warp(lanes, size(threads))
    for w, v in enumerate(by_warp(x, size(threads))):
        got = [by_warp(row, size(threads))[w] for row in out]
        asked = [(kind, at[w]) for kind in ("idx", "up", "down", "xor")] + [
            ("idx", 5),
            ("up", 3),
            ("down", 33),
            ("xor", 16),
        ]
        for row, (kind, by) in enumerate(asked):
            np.testing.assert_array_equal(got[row], shuffled(kind, v, by), err_msg=f"{kind} {by}")


@cuda.jit
def votes(x, out):
    i = number()
    yes = x[i] > 2
    out[0, i] = cuda.all_sync(0xFFFFFFFF, yes)
    out[1, i] = cuda.any_sync(0xFFFFFFFF, x[i] // 3)
    out[2, i] = cuda.eq_sync(0xFFFFFFFF, yes)
    out[3, i] = cuda.ballot_sync(0xFFFFFFFF, yes)
    out[4, i] = cuda.match_any_sync(0xFFFFFFFF, x[i])
    out[5, i], same = cuda.match_all_sync(0xFFFFFFFF, x[i])
    out[6, i] = same
    out[7, i] = cuda.activemask()
    out[8, i] = cuda.lanemask_lt()
    out[9, i] = cuda.ballot_sync(0xFFFFFFFF, True)
    out[10, i] = cuda.laneid + cuda.warpsize


def voted(v: np.ndarray) -> list[list[int]]:
    n = len(v)
    word = lambda lanes: int(np.uint32(sum(1 << int(lane) for lane in lanes)).view(np.int32))  # noqa: E731
    yes, everybody = v > 2, word(range(n))
    same = bool((v == v[0]).all())
    of_all = [all(yes), any(v // 3), all(yes) or not any(yes), word(np.flatnonzero(yes))]
    return [
        *([value] * n for value in of_all),
        [word(np.flatnonzero(v == one)) for one in v],
        [everybody if same else 0] * n,
        [same] * n,
        [everybody % 2**32] * n,
        [2**lane - 1 for lane in range(n)],
        [everybody] * n,
        [lane + 32 for lane in range(n)],
    ]


@pytest.mark.parametrize(("blocks", "threads"), BLOCKS + PARTIAL)
@pytest.mark.parametrize("high", [1, 4, 9])
def test_votes_and_matches(blocks, threads, high):
    n = blocks * size(threads)
    x, out = np.random.default_rng(high).integers(0, high, n), np.zeros((11, n), np.int64)
    x[: n // 2] = high - 1
    trace(votes, blocks, threads, x, out)
    for w, v in enumerate(by_warp(x, size(threads))):
        for row, want in enumerate(voted(v)):
            np.testing.assert_array_equal(
                by_warp(out[row], size(threads))[w], want, err_msg=f"row {row}, warp {w}"
            )


@cuda.jit
def groups(x, out):
    i = number()
    mask = cuda.match_any_sync(0xFFFFFFFF, x[i])
    total, lane = 0, 0
    for lane in range(32):
        if mask >> lane & 1:
            total += cuda.shfl_sync(mask, i, lane)
    out[0, i] = total
    out[1, i] = cuda.ballot_sync(mask, i % 2 == 0)
    out[2, i] = cuda.all_sync(mask, i % 5 != 0)
    cuda.syncwarp(mask)


@pytest.mark.parametrize(("blocks", "threads"), BLOCKS + PARTIAL)
def test_groups_of_a_warp_have_masks_of_their_own(blocks, threads):
    n = blocks * size(threads)
    x, out = np.random.default_rng(n).integers(0, 3, n), np.zeros((3, n), np.int64)
    trace(groups, blocks, threads, x, out)
    numbers = np.arange(n)
    for w, (v, i) in enumerate(
        zip(by_warp(x, size(threads)), by_warp(numbers, size(threads)), strict=True)
    ):
        for lane, one in enumerate(v):
            group = np.flatnonzero(v == one)
            even = np.uint32(sum(1 << int(g) for g in group if i[g] % 2 == 0)).view(np.int32)
            want = [i[group].sum(), even, all(i[g] % 5 for g in group)]
            assert [by_warp(row, size(threads))[w][lane] for row in out] == want


@cuda.jit
def in_parts(x, out):
    """Shuffles under masks: by thread, by block, by both, and in loops that warps leave at
    different times."""
    b, i = cuda.blockIdx.x, cuda.grid(1)
    value = x[i]
    if cuda.threadIdx.x < 32:
        out[0, i] = cuda.shfl_xor_sync(0xFFFFFFFF, value, 1)
    if b % 2 == 0:
        out[1, i] = cuda.shfl_xor_sync(0xFFFFFFFF, value, 2)
        out[2, i] = cuda.shfl_sync(0xFFFFFFFF, b, 3)
    trips = x[i // 32 * 32]
    total = 0
    while total < trips:
        total += cuda.shfl_sync(0xFFFFFFFF, 1, 0)
    out[3, i] = total
    if cuda.laneid < 8:
        out[4, i] = cuda.shfl_xor_sync(0xFF, value, 4)
    else:
        out[4, i] = cuda.ballot_sync(0xFFFFFF00, value % 2)


@pytest.mark.parametrize("most", [4, 400])  # trips of the loop: 400 make it go on compacted
def test_shuffles_under_masks_of_every_shape(most):
    rng = np.random.default_rng(most)
    x, out = rng.integers(0, 4, 24 * 64), np.full((5, 24 * 64), -1)
    x[5 * 32] = most
    trace(in_parts, 24, 64, x, out)
    i = np.arange(24 * 64)
    lane, first, even = i % 32, i % 64 < 32, i // 64 % 2 == 0
    odd = np.array(
        [
            np.uint32(sum(1 << n for n in range(8, 32) if w[n] % 2)).view(np.int32)
            for w in x.reshape(-1, 32)
        ]
    )
    np.testing.assert_array_equal(out[0], np.where(first, x[i ^ 1], -1))
    np.testing.assert_array_equal(out[1], np.where(even, x[i ^ 2], -1))
    np.testing.assert_array_equal(out[2], np.where(even, i // 64, -1))
    np.testing.assert_array_equal(out[3], np.repeat(x[::32], 32))
    np.testing.assert_array_equal(out[4], np.where(lane < 8, x[i ^ 4], np.repeat(odd, 32)))


@cuda.jit
def warp_sums(x, out):
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        out[i // 32] = value


def test_a_sum_by_shuffles_and_what_it_counts():
    x, out = np.arange(300), np.zeros(12, np.int64)
    t = trace(warp_sums, 3, 128, x, out)
    np.testing.assert_array_equal(out, np.pad(x, (0, 84)).reshape(12, 32).sum(axis=1))
    assert t.metrics.op_communication == 5 * 3 * 128
    assert (
        t.metrics.lanes_active[32] + t.metrics.lanes_active[1] + t.metrics.lanes_active[12]
        == t.metrics.warp_instructions
    )


@cuda.jit
def bits_compared(x, out):
    i = cuda.grid(1)
    out[i] = cuda.match_any_sync(0xFFFFFFFF, x[i])


def test_matches_compare_bits():
    """A zero differs from a negative one, and NaN is like itself."""
    x, out = np.array([0.0, -0.0, np.nan, np.nan] * 8, np.float32), np.zeros(32, np.int64)
    trace(bits_compared, 1, 32, x, out)
    assert [int(n) % 2**32 for n in out[:4]] == [0x11111111, 0x22222222, 0xCCCCCCCC, 0xCCCCCCCC]


# --- masks that are wrong ---


@cuda.jit
def shuffle_in_a_branch(x, out):
    i = cuda.grid(1)
    if i % 32 < 16 or i < 64:
        out[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 1)


@cuda.jit
def not_in_its_mask(x, out):
    i = cuda.grid(1)
    out[i] = cuda.any_sync(0x0000FFFF, x[i])


@cuda.jit
def two_masks(x, out):
    i = cuda.grid(1)
    cuda.syncwarp(0xFFFFFFFF if i % 32 < 20 else 0xFFFFF000)
    out[i] = x[i]


@cuda.jit
def reads_who_returned(x, out):
    i = cuda.grid(1)
    if i >= 90:
        return
    out[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 4)


@cuda.jit
def reads_outside_its_mask(x, out):
    i = cuda.grid(1)
    mask = 0xFF if i % 32 < 8 else 0xFFFFFF00
    out[i] = cuda.shfl_xor_sync(mask, x[i], 8)


@cuda.jit
def reads_beyond_the_block(x, out):
    i = cuda.grid(1)
    out[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 16)


@cuda.jit
def reads_who_is_elsewhere(x, out):
    i = cuda.grid(1)
    if cuda.laneid < 16:
        out[i] = cuda.shfl_down_sync(0xFFFF, x[i], 8)


@cuda.jit
def match_in_an_uneven_loop(x, out):
    i = cuda.grid(1)
    for _ in range(i % 5):
        out[i] += cuda.match_any_sync(0xFFFFFFFF, x[i])


DEPENDS = ", and what the kernel does depends on such values"
WRONG = [
    (
        shuffle_in_a_branch,
        3,
        64,
        (1, 0, 0),
        (16, 0, 0),
        "lane 16 (thread (16, 0, 0)) is named in the mask 0xffffffff and does not reach "
        "this shuffle: only lanes 0-15 do",
    ),
    (
        not_in_its_mask,
        2,
        32,
        (0, 0, 0),
        (16, 0, 0),
        "lane 16 (thread (16, 0, 0)) makes this vote and is not in its own mask 0x0000ffff",
    ),
    (
        two_masks,
        1,
        64,
        (0, 0, 0),
        (0, 0, 0),
        "lane 0 (thread (0, 0, 0)) makes this syncwarp with the mask 0xffffffff, "
        "which names lane 20, and that lane's mask is 0xfffff000",
    ),
    (
        reads_who_returned,
        2,
        64,
        (1, 0, 0),
        (22, 0, 0),
        "lane 22 (thread (22, 0, 0)) reads from lane 26, whose thread (26, 0, 0) has "
        "returned from the kernel: the value is undefined" + DEPENDS,
    ),
    (
        reads_outside_its_mask,
        1,
        32,
        (0, 0, 0),
        (0, 0, 0),
        "lane 0 (thread (0, 0, 0)) reads from lane 8, which its mask 0x000000ff does not "
        "name: the value is undefined" + DEPENDS,
    ),
    (
        reads_beyond_the_block,
        2,
        40,
        (0, 0, 0),
        (32, 0, 0),
        "lane 0 (thread (32, 0, 0)) reads from lane 16, which is no thread: the block "
        "ends before it: the value is undefined" + DEPENDS,
    ),
    (
        reads_who_is_elsewhere,
        1,
        32,
        (0, 0, 0),
        (8, 0, 0),
        "lane 8 (thread (8, 0, 0)) reads from lane 16, whose thread (16, 0, 0) does not "
        "take part in this shuffle: the value is undefined" + DEPENDS,
    ),
    (
        match_in_an_uneven_loop,
        1,
        32,
        (0, 0, 0),
        (0, 0, 0),
        "lane 0 (thread (0, 0, 0)) is named in the mask 0xffffffff and does not reach "
        "this match: only lanes 1-4, 6-9, 11-14, 16-19, 21-24, 26-29, 31 do",
    ),
]


@pytest.mark.parametrize(
    ("kernel", "blocks", "threads", "block", "thread", "what"),
    WRONG,
    ids=lambda v: getattr(v, "__name__", None),
)
def test_masks_and_lanes_that_do_not_agree(kernel, blocks, threads, block, thread, what):
    n = blocks * threads
    with pytest.raises(WarpMaskError) as caught:
        trace(kernel, blocks, threads, np.arange(n), np.zeros(n, np.int64))
    assert caught.value.what == what
    assert (caught.value.where.block, caught.value.where.thread) == (block, thread)
    assert "_sync(" in caught.value.where.text or "syncwarp" in caught.value.where.text
    assert caught.value.try_this


@cuda.jit
def some_have_returned(x, out):
    i = cuda.grid(1)
    if i >= 90:
        return
    cuda.syncwarp()
    out[i] = cuda.ballot_sync(0xFFFFFFFF, x[i] % 2)


def test_lanes_that_have_returned_need_not_come():
    out = np.zeros(128, np.int64)
    trace(some_have_returned, 2, 64, np.arange(128), out)
    assert (
        out[0] == np.int64(np.uint32(0xAAAAAAAA).view(np.int32))
        and out[89] == 0x02AAAAAA
        and not out[90:].any()
    )


# --- values that are undefined, and thrown away or not ---


@cuda.jit
def sum_of_those_in_a_ballot(x, o):
    t = cuda.threadIdx.x
    mask = cuda.ballot_sync(0xFFFFFFFF, t < 20)
    if t < 20:
        v = x[t]
        for d in (16, 8, 4, 2, 1):
            u = cuda.shfl_down_sync(mask, v, d)
            if t + d < 20:
                v += u
        if t == 0:
            o[0] = v


@cuda.jit
def sum_of_half_a_warp(x, o):
    lane = cuda.laneid
    if lane < 16:
        v = x[cuda.grid(1)]
        for d in (8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFF, v, d)
        if lane == 0:
            o[cuda.blockIdx.x] = v


@cuda.jit
def sum_after_some_have_returned(x, o):
    lane = cuda.laneid
    if lane >= 16:
        return
    v = x[cuda.grid(1)]
    for d in (8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if lane == 0:
        o[cuda.blockIdx.x] = v


@cuda.jit
def sum_of_a_block_that_ends_before_its_warp(x, o):
    t = cuda.threadIdx.x
    v = x[t]
    for d in (16, 8, 4, 2, 1):
        u = cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        v = v + u if t + d < 20 else v
    if t == 0:
        o[0] = v


@cuda.jit(device=True)
def from_above(v, d):
    return cuda.shfl_down_sync(0xFFFF, v, d)


@cuda.jit
def sum_by_a_device_function(x, o):
    if cuda.laneid < 16:
        v = x[cuda.grid(1)]
        for d in (8, 4, 2, 1):
            v = v + from_above(v, d)
        if cuda.laneid == 0:
            cuda.atomic.add(o, cuda.blockIdx.x, v)


@cuda.jit
def maximum_of_half_a_warp(x, o):
    lane = cuda.laneid
    if lane < 16:
        v, at = x[cuda.grid(1)], lane
        for d in (8, 4, 2, 1):
            u, there = cuda.shfl_down_sync(0xFFFF, v, d), cuda.shfl_down_sync(0xFFFF, at, d)
            at = there if u > v else at
            v = max(u, v)
        if lane == 0:
            o[cuda.blockIdx.x] = v + 1000 * at


@cuda.jit
def stored_and_overwritten(x, o):
    lane = cuda.laneid
    if lane < 16:
        o[lane] = cuda.shfl_down_sync(0xFFFF, x[lane], 8)
        if lane >= 8:
            o[lane] = 0


HARMLESS = [
    (sum_of_those_in_a_ballot, 1, 32, lambda x: [x[:20].sum()]),
    (sum_of_those_in_a_ballot, 1, 64, lambda x: [x[:20].sum()]),
    (sum_of_half_a_warp, 1, 32, lambda x: [x[:16].sum()]),
    # more than one batch
    (sum_of_half_a_warp, 600, 32, lambda x: x.reshape(-1, 32)[:, :16].sum(axis=1)),
    (sum_after_some_have_returned, 3, 32, lambda x: x.reshape(-1, 32)[:, :16].sum(axis=1)),
    (sum_of_a_block_that_ends_before_its_warp, 1, 20, lambda x: [x.sum()]),
    (sum_by_a_device_function, 3, 32, lambda x: x.reshape(-1, 32)[:, :16].sum(axis=1)),
    (maximum_of_half_a_warp, 1, 32, lambda x: [x[:16].max() + 1000 * x[:16].argmax()]),
    (stored_and_overwritten, 1, 32, lambda x: [*x[8:16], *[0] * 8]),
]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    ("kernel", "blocks", "threads", "want"), HARMLESS, ids=lambda v: getattr(v, "__name__", None)
)
def test_an_undefined_value_that_is_thrown_away_is_no_mistake(kernel, blocks, threads, want, dtype):
    x = np.random.default_rng(blocks).integers(-99, 99, blocks * threads).astype(dtype)
    o = np.zeros(len(want(x)), dtype)
    trace(kernel, blocks, threads, x, o)
    np.testing.assert_array_equal(o, want(x))


@cuda.jit
def sums_of_half_warps_in_uneven_loops(x, trips, o, kept):
    i = cuda.grid(1)
    lane, total, v = cuda.laneid, 0, 0
    for _ in range(trips[i // 32]):
        if lane < 16:
            v = x[i]
            for d in (8, 4, 2, 1):
                v += cuda.shfl_down_sync(0xFFFF, v, d)
            total += v
    if lane < kept:
        o[i // 32] = total


@pytest.mark.slow
def test_undefined_values_in_loops_that_go_on_compacted():
    x, trips, o = np.arange(24 * 64), np.arange(48) % 3, np.zeros(48, np.int64)
    trips[5] = 400
    trace(sums_of_half_warps_in_uneven_loops, 24, 64, x, trips, o, 1)
    np.testing.assert_array_equal(o, trips * x.reshape(48, 32)[:, :16].sum(axis=1))
    with pytest.raises(WarpMaskError, match=r"lane 8 .* reads from lane 16"):
        trace(sums_of_half_warps_in_uneven_loops, 24, 64, x, trips, o, 9)


def test_a_launch_that_runs_again_is_counted_and_recorded_once():
    x, o = np.arange(64.0), np.zeros(2)
    t = trace(sum_of_half_a_warp, 2, 32, x, o, record=(0, 1))
    assert [(e.kind, e.block[0]) for e in t.accesses()] == [
        ("load", 0),
        ("load", 1),
        ("store", 0),
        ("store", 1),
    ]
    assert t.metrics.op_communication == 2 * 16 * 4
    assert (
        t.metrics.global_load_requests == 2
        and t.metrics.global_bytes_distinct == 2 * 16 * 8 + 2 * 8
    )


def test_a_launch_that_runs_again_starts_from_what_the_arrays_held():
    """The kernel adds to every element of a view with gaps, NaN too."""
    x, held = np.arange(64.0), np.full((2, 3), np.nan)
    held[:, 1] = 100, 200
    trace(sum_by_a_device_function, 2, 32, x, held[:, 1])
    np.testing.assert_array_equal(held[:, 1], [100 + x[:16].sum(), 200 + x[32:48].sum()])
    assert np.isnan(held[:, ::2]).all()


@cuda.jit
def sum_that_prints(x, o):
    lane = cuda.laneid
    if lane < 16:
        v = x[lane]
        for d in (8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFF, v, d)
        if lane == 0:
            print("sum", v, lane)
            o[0] = v


def test_what_a_launch_that_runs_again_prints_comes_once(capsys):
    trace(sum_that_prints, 1, 32, np.arange(32), np.zeros(1, np.int64))
    assert capsys.readouterr().out == "sum 120 0\n"


USES = {
    "an index": "o[int(u)] = 1",
    "an index that stays within": "o[abs(int(u)) % 32] = 1",
    "a condition": "if u > 0: o[lane] = 1",
    "a test for zero": "o[lane] = 1 if u != 0 else 0",
    "an absolute value": "o[lane] = abs(u)",
    "a parity": "o[lane] = int(u) & 1",
    "a remainder": "o[lane] = int(u) % 7",
    "a bit": "o[lane] = int(u) >> 16 & 1",
    "the trips of a loop": (
        "n = 0\n        for _ in range(min(int(u), 5)): n += 1\n        o[lane] = n"
    ),
    "print": "print(u)",
    "a sum by atomics": "cuda.atomic.add(o, 0, u)",
    "a maximum by atomics": "cuda.atomic.max(o, 0, u)",
    "a vote": "o[lane] = cuda.any_sync(0xffff, u > 50)",
    "a match": "o[lane] = cuda.match_any_sync(0xffff, u) == 1 << lane",
    "another shuffle": "o[lane] = cuda.shfl_xor_sync(0xffff, u, 8)",
    "shared memory": (
        "s = cuda.shared.array(32, x.dtype)\n"
        "        s[lane] = u\n"
        "        cuda.syncwarp(0xffff)\n"
        "        o[lane] = s[lane]"
    ),
    "the lane of a shuffle": "o[lane] = cuda.shfl_sync(0xffff, v, int(u) & 7)",
    "an assert": "assert u < 100",
    "two undefined values that are compared": (
        "w = cuda.shfl_down_sync(0xffff, v, 8)\n        o[lane] = u < w"
    ),
}


HARMLESS = {
    "an index of a read within the array": "v = x[int(u) & 31]\n        if lane == 0: o[0] = v",
    "a maximum by a branch": "if u > v: v = u\n        if lane == 0: o[0] = v",
}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("use", HARMLESS)
def test_an_undefined_value_of_which_nothing_comes_is_none(use, dtype):
    o = np.zeros(32, dtype)
    trace(
        kernels_in(UNDEFINED.format(use=HARMLESS[use]))["k"], 1, 32, np.arange(32).astype(dtype), o
    )
    assert o[0] == 8


UNDEFINED = """
from numba import cuda
@cuda.jit
def k(x, o):
    lane = cuda.laneid
    if lane < 16:
        v = x[lane]
        u = cuda.shfl_down_sync(0xffff, v, 8)
        {use}
"""


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("use", USES)
def test_an_undefined_value_that_is_used_is_a_mistake_at_the_shuffle(use, dtype, capsys):
    text = UNDEFINED.format(use=USES[use])
    with pytest.raises(
        WarpMaskError, match=r"lane 8 \(thread \(8, 0, 0\)\) reads from lane 16, whose thread"
    ) as caught:
        trace(
            kernels_in(text)["k"],
            1,
            32,
            np.arange(32).astype(dtype),
            np.zeros(32, dtype),
            progress=False,
        )
    assert (
        caught.value.where.text == "u = cuda.shfl_down_sync(0xffff, v, 8)"
        and caught.value.__context__ is None
    )
    assert capsys.readouterr().out.count("\n") <= 16


@cuda.jit
def sum_of_more_lanes_than_the_mask(x, o):
    lane = cuda.laneid
    if lane < 20:
        v = x[lane]
        for d in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFF, v, d)
        if lane == 0:
            o[0] = v


@cuda.jit
def sum_of_those_that_stay(x, o):
    lane = cuda.laneid
    if lane >= 20:
        return
    v = x[lane]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if lane == 0:
        o[0] = v


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    ("kernel", "threads", "says"),
    [
        (
            sum_of_more_lanes_than_the_mask,
            32,
            "lane 20, whose thread (20, 0, 0) does not take part in this shuffle",
        ),
        (
            sum_of_those_that_stay,
            32,
            "lane 20, whose thread (20, 0, 0) has returned from the kernel",
        ),
        (sum_of_those_that_stay, 20, "lane 20, which is no thread: the block ends before it"),
    ],
)
def test_a_sum_that_an_undefined_value_reaches(kernel, threads, says, dtype):
    with pytest.raises(WarpMaskError) as caught:
        trace(kernel, 1, threads, np.arange(32).astype(dtype), np.zeros(1, dtype))
    assert (
        caught.value.what
        == f"lane 4 (thread (4, 0, 0)) reads from {says}: the value is undefined{DEPENDS}"
    )
    assert "shfl_down_sync" in caught.value.where.text


# --- types ---


def made(body: str):
    """Return a kernel of one line, from text."""
    return kernels_in(
        f"from numba import cuda\n@cuda.jit\ndef k(x, out):\n    i = cuda.grid(1)\n    {body}\n"
    )["k"]


@pytest.mark.parametrize(
    ("body", "dtype", "kind", "says"),
    [
        (
            "out[i] = cuda.shfl_sync(0xffffffff, x[i], 0)",
            np.uint32,
            KernelTypeError,
            "x[i] is uint32, and a shuffle takes",
        ),
        (
            "out[i] = cuda.shfl_sync(0xffffffff, x[i], 0, 16)",
            np.int32,
            UnsupportedError,
            "takes 3 arguments",
        ),
        (
            "out[i] = cuda.shfl_sync(0.5, x[i], 0)",
            np.int32,
            KernelTypeError,
            "a mask of lanes is an integer, and 0.5 is float64",
        ),
        (
            "out[i] = cuda.shfl_down_sync(0xffffffff, 1, x[i])",
            np.float32,
            KernelTypeError,
            "takes a mask, a value and delta, in this order",
        ),
        (
            "out[i] = cuda.ballot_sync(0xffffffff, x[i])",
            np.float32,
            KernelTypeError,
            "a predicate is an integer, and x[i] is float32",
        ),
        (
            "out[i] = cuda.syncthreads_count(x[i] > 3)",
            np.int32,
            KernelTypeError,
            "takes an integer, and x[i] > 3 is a bool",
        ),
        ("cuda.syncwarp(1, 2)", np.int32, UnsupportedError, "takes 1 argument"),
        ("out[i] = cuda.activemask(1)", np.int32, UnsupportedError, "takes no arguments"),
    ],
)
def test_what_numbas_compiler_would_refuse_is_refused(body, dtype, kind, says):
    with pytest.raises(kind, match=re.escape(says)):
        trace(made(body), 1, 32, np.zeros(32, dtype), np.zeros(32, np.int64))


OPERATIONS = {
    "shfl_sync": "cuda.shfl_sync(0xffffffff, x[i], 0)",
    "shfl_xor_sync": "cuda.shfl_xor_sync(0xffffffff, x[i], 1)",
    "ballot_sync": "cuda.ballot_sync(0xffffffff, x[i])",
    "all_sync": "cuda.all_sync(0xffffffff, x[i])",
    "match_any_sync": "cuda.match_any_sync(0xffffffff, x[i])",
    "match_all_sync": "cuda.match_all_sync(0xffffffff, x[i])",
    "syncthreads_and": "cuda.syncthreads_and(x[i])",
    "syncthreads_count": "cuda.syncthreads_count(x[i])",
}


@pytest.mark.parametrize(
    "dtype", "bool int8 uint8 int16 int32 uint32 int64 uint64 float32 float64".split()
)
@pytest.mark.parametrize("name", OPERATIONS)
def test_types_are_those_of_numbas_compiler(name, dtype):
    context = cuda_target.typing_context
    context.refresh()
    t = getattr(types, "boolean" if dtype == "bool" else dtype)
    try:
        with target_override("cuda"):
            signature = context.resolve_function_type(
                getattr(cuda, name),
                (t,)
                if name.startswith("syncthreads")
                else (types.int64, t, types.int64)[: 3 if "shfl" in name else 2],
                {},
            )
        want = str(signature.return_type)
    except Exception:  # Numba has several kinds of refusal
        want = "refused"
    array = ArrayType(np.dtype(dtype), 1, "global")
    try:
        source = (
            "from numba import cuda\n"
            "@cuda.jit(device=True)\n"
            "def k(x, out):\n"
            "    i = cuda.grid(1)\n"
            f"    return {OPERATIONS[name]}\n"
        )
        got = compile_function(kernels_in(source)["k"], (array, array)).result
        got = f"Tuple({', '.join(map(str, got.items))})" if name == "match_all_sync" else str(got)
    except KernelTypeError:
        got = "refused"
    assert got == want
