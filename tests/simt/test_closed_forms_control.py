"""Counters of branches, loops and whole kernels against closed formulas, derived in comments.

The companion of ``test_closed_forms.py``, which does the same for one access to memory."""

from __future__ import annotations

import numpy as np
import pytest
from support.matmuls import in_tiles_of_16
from support.text_kernels import ceil, kernel, of_lines

from warpwise import trace

# --- divergence ---
# Two sides with the same statement, r times on one: n lanes do r, 32 - n do one. Efficiency is
# (n*r + (32 - n)) / (32 * (r + 1)), whatever the statement costs.

PARTED = """
@cuda.jit
def run(out, n):
    t = cuda.threadIdx.x
    total = np.float32(t)
    if t < n:
SIDE
    else:
        total = total * total
    out[t] = total
"""


@pytest.mark.parametrize("lanes", [1, 5, 16, 31])
@pytest.mark.parametrize("repeats", [1, 3, 10])
def test_efficiency_of_two_sides(lanes, repeats):
    run = kernel(PARTED, SIDE="\n".join(["        total = total * total"] * repeats))
    t = trace(run, 1, 32, np.zeros(32, np.float32), lanes, record=())
    assert of_lines(t, "total * total").warp_efficiency == (lanes * repeats + 32 - lanes) / (
        32 * (repeats + 1)
    )
    assert (t.metrics.branches, t.metrics.divergent_branches) == (1, 1)
    assert t.metrics.flops_fp32 == lanes * repeats + 32 - lanes


# A way for each remainder of t by m, m dividing 32, the same statement on each: each runs with 32/m
# lanes. Efficiency 1/m, and m - 1 branches part.

WAYS = """
@cuda.jit
def run(out):
    t = cuda.threadIdx.x
    total = np.float32(t)
    way = t % COUNT
BRANCHES
    out[t] = total
"""


@pytest.mark.parametrize("ways", [2, 4, 8, 16, 32])
def test_efficiency_of_many_ways(ways):
    parts = [
        f"    {'elif' if w else 'if'} way == {w}:\n        total = total * total"
        for w in range(ways)
    ]
    t = trace(
        kernel(WAYS, COUNT=ways, BRANCHES="\n".join(parts)),
        1,
        64,
        np.zeros(64, np.float32),
        record=(),
    )
    assert of_lines(t, "total * total").warp_efficiency == 1 / ways
    assert t.metrics.divergent_branches == 2 * (ways - 1)


@pytest.mark.parametrize("n", [0, 1, 32, 33, 64, 100, 127, 128])
def test_one_warp_at_most_parts_at_a_bound(n):
    m = trace(
        kernel(PARTED, SIDE="        total = total + total"),
        1,
        128,
        np.zeros(128, np.float32),
        n,
        record=(),
    ).metrics
    assert (m.branches, m.divergent_branches) == (4, int(n % 32 > 0))


# --- loops ---
# Lane t makes f(t) trips: the warp makes max f, its lanes sum f between them. In the body
# efficiency is sum f / (32 * max f); a load in it is max f requests.

LOOP = """
@cuda.jit
def run(src, out):
    t = cuda.threadIdx.x
    total = np.float32(0)
HEAD
        total += src[t]
    out[t] = total
"""
FOR = "    for k in range(TRIPS):"
WHILE = "    k = 0\n    while k < TRIPS:\n        k += 1"
BREAK = "    k = 0\n    while True:\n        if k >= TRIPS:\n            break\n        k += 1"
# (trips, their sum over a warp, the most)
TRIPS = [
    ("t", 496, 31),
    ("t + 1", 528, 32),
    ("32 - t", 528, 32),
    ("t % 4", 48, 3),
    ("t // 8", 48, 3),
    ("7 * (t == 9)", 7, 7),
]
TRIPS += [("5 + 0 * t", 160, 5)]


@pytest.mark.parametrize("head", [FOR, WHILE, BREAK], ids=["for", "while", "break"])
@pytest.mark.parametrize(("trips", "total", "most"), TRIPS)
def test_a_loop_runs_as_often_as_its_longest_lane(head, trips, total, most):
    run = kernel(LOOP, HEAD=head.replace("TRIPS", trips))
    t = trace(run, 1, 32, np.ones(32, np.float32), np.zeros(32, np.float32), record=())
    body = of_lines(t, "total += src[t]")
    assert (body.global_load_requests, body.global_load_bytes, body.flops_fp32) == (
        most,
        4 * total,
        total,
    )
    assert body.warp_efficiency == total / (32 * most)


@pytest.mark.parametrize("warps", [1, 3, 8])
def test_each_warp_runs_its_own_longest_lane(warps):
    """Trips t // 32: the same for all lanes of a warp."""
    run = kernel(LOOP, HEAD=FOR.replace("TRIPS", "t // 32"))
    t = trace(
        run,
        1,
        32 * warps,
        np.ones(32 * warps, np.float32),
        np.zeros(32 * warps, np.float32),
        record=(),
    )
    assert of_lines(t, "total += src[t]").global_load_requests == warps * (warps - 1) // 2
    assert t.metrics.divergent_branches == 0 and t.metrics.warp_efficiency == 1


# --- whole kernels ---
# Matrix product of side N, X x Y blocks with X dividing 32: of a[row, k] a warp sees 32/X rows, one
# sector each; of b[k, col] X neighbours, ceil(4X/32) sectors. N trips of N*N/32 warps.

MATMUL = """
@cuda.jit
def run(a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total
"""


@pytest.mark.parametrize("block", [(32, 1), (32, 8), (16, 16), (8, 4), (4, 8), (1, 32)])
@pytest.mark.parametrize("side", [32, 64])
def test_sectors_of_a_naive_matrix_product(block, side):
    a, b, c = (np.zeros((side, side), np.float32) for _ in range(3))
    m = trace(
        kernel(MATMUL), (side // block[0], side // block[1]), block, a, b, c, record=()
    ).metrics
    assert m.global_load_requests == 2 * side * side**2 // 32
    assert m.global_load_sectors == (32 // block[0] + ceil(4 * block[0], 32)) * side * side**2 // 32
    assert m.flops_fp32 == 2 * side**3


# The same over tiles of T x T, T = 16: a warp loads two half rows of each tile, 2 sectors each, N/T
# times; its 2T shared loads a tile are a word or two broadcast, and T neighbours: one wavefront
# each.


@pytest.mark.parametrize("side", [16, 48, 64])
def test_a_tiled_matrix_product(side):
    a, b, c = (np.zeros((side, side), np.float32) for _ in range(3))
    grid = side // 16, side // 16
    m = trace(in_tiles_of_16, grid, (16, 16), a, b, c, record=()).metrics
    warps, tiles = side**2 // 32, side // 16
    assert (m.global_load_requests, m.global_load_sectors) == (warps * tiles * 2, warps * tiles * 8)
    assert m.shared_load_wavefronts == m.shared_load_requests == warps * tiles * 32
    assert m.shared_store_wavefronts == m.shared_store_requests == warps * tiles * 2
    assert (m.barriers, m.shared_bank_conflicts) == (warps * tiles * 2, 0)


# A tree over T = 2^k >= 64 elements: at step s its s threads read two elements and write one. s =
# T/2 ... 32 takes s/32 warps, together T/32 - 1; s = 16 ... 1 takes one warp each: 5 more.

TREE = """
@cuda.jit
def run(x, out):
    part = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = part[0]
"""


@pytest.mark.parametrize("threads", [64, 128, 256, 1024])
def test_a_reduction_over_a_tree(threads):
    t = trace(
        kernel(TREE, THREADS=threads),
        1,
        threads,
        np.ones(threads, np.float32),
        np.zeros(1, np.float32),
        record=(),
    )
    tree = of_lines(t, "part[t + step]")
    warps = threads // 32 - 1 + 5
    assert (tree.shared_load_wavefronts, tree.shared_store_wavefronts) == (2 * warps, warps)
    assert (tree.flops_fp32, tree.shared_bank_conflicts) == (threads - 1, 0)
    # steps 16 ... 1, and the thread that writes the sum
    assert t.metrics.divergent_branches == 5 + 1


# --- atomics ---
# Thread t adds to bin t % m, m <= 32: of a warp's 32 lanes ceil((32-b)/m) name bin b, so none is
# named by more than the first bin of its sector, which holds 8 neighbours of 4 bytes.

ATOMIC = """
@cuda.jit
def run(out):
    own = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    if t < 32:
        own[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(WHERE, t % COUNT, 1)
    cuda.syncthreads()
    if t < 32:
        cuda.atomic.add(out, t, own[t])
"""


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 8, 11, 16, 31, 32])
@pytest.mark.parametrize("where", ["out", "own"])
def test_lanes_that_add_to_one_bin_take_turns(where, bins):
    out = np.zeros(32, np.int32)
    t = trace(kernel(ATOMIC, WHERE=where, COUNT=bins), 1, 64, out, record=())
    added = of_lines(t, f"t % {bins}")
    assert (added.atomics, added.atomic_passes) == (64, 2 * ceil(32, bins))
    on_global, on_shared = (2, 0) if where == "out" else (0, 2)
    assert (added.global_atomic_requests, added.shared_atomic_requests) == (on_global, on_shared)
    turns = sum(ceil(32 - first, bins) for first in range(0, bins, 8))
    assert added.global_atomic_sectors == on_global * turns
    np.testing.assert_array_equal(out, np.bincount(np.arange(64) % bins, minlength=32))


# --- active lanes ---
# The sides of PARTED hold r and 1 times the same statement: r times as many warp instructions with
# n lanes as with 32 - n, and no others.


@pytest.mark.parametrize("lanes", [1, 5, 12, 31])
@pytest.mark.parametrize("repeats", [1, 4])
def test_the_histogram_of_active_lanes_has_a_bar_for_each_side(lanes, repeats):
    run = kernel(PARTED, SIDE="\n".join(["        total = total * total"] * repeats))
    sides = of_lines(trace(run, 1, 32, np.zeros(32, np.float32), lanes, record=()), "total * total")
    bars = {n: count for n, count in enumerate(sides.lanes_active) if count}
    assert set(bars) == {lanes, 32 - lanes}
    assert bars[lanes] == repeats * bars[32 - lanes]


# --- distinct sectors ---
# However often it is read, an operand of a product of side N, a multiple of 8, has N*N*4/32
# sectors; the loads' line has two of them.


@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("block", [(16, 16), (32, 4)])
def test_distinct_sectors_do_not_depend_on_the_block(side, block):
    a, b, c = (np.zeros((side, side), np.float32) for _ in range(3))
    m = trace(
        kernel(MATMUL), (side // block[0], side // block[1]), block, a, b, c, record=()
    ).metrics
    assert (m.global_load_sectors_distinct, m.global_store_sectors_distinct) == (
        2 * side**2 // 8,
        side**2 // 8,
    )
