"""``trace(..., blocks_traced=n)``: a few blocks count what all of them do, or are refused."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from warpwise import Trace, cuda, trace
from warpwise.errors import LaunchError, TraceError
from warpwise.kernels.sgemm import simple
from warpwise.metrics import DISTINCT
from warpwise.simt.sampling import ADDITIVE

TILE = 32


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def transpose(x, y):
    tile = cuda.shared.array((TILE, TILE), np.float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    tile[j, i] = x[row, column]
    cuda.syncthreads()
    y[cuda.blockIdx.x * TILE + j, cuda.blockIdx.y * TILE + i] = tile[i, j]


@cuda.jit
def five_points(x, y):
    i, j = cuda.grid(2)
    if 0 < i < x.shape[1] - 1 and 0 < j < x.shape[0] - 1:
        y[j, i] = x[j, i - 1] + x[j, i + 1] + x[j - 1, i] + x[j + 1, i]


@cuda.jit
def looked_up(table, x, y):
    i = cuda.grid(1)
    y[i] = table[cuda.threadIdx.x] + x[i]


@cuda.jit
def rows_by_columns(a, b, c):
    """A product whose blocks are numbered along one axis: 4 x 4 tiles of 8 x 8."""
    i = cuda.blockIdx.x % 4 * 8 + cuda.threadIdx.x
    j = cuda.blockIdx.x // 4 * 8 + cuda.threadIdx.y
    total = np.float32(0)
    for k in range(32):
        total += a[j, k] * b[k, i]
    c[j, i] = total


@cuda.jit
def warp_sums(x, out):
    value = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@cuda.jit
def gather(x, places, y):
    i = cuda.grid(1)
    y[i] = x[places[i]]


@cuda.jit
def prefixes(x, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(i):
        total += x[k]
    out[i] = total


@cuda.jit
def every_other(x):
    if cuda.blockIdx.x % 2 == 0:
        x[cuda.grid(1)] = 1


@cuda.jit
def racing(x):
    shared = cuda.shared.array(1, np.float32)
    shared[0] = cuda.threadIdx.x
    x[cuda.grid(1)] = shared[0]


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def product(n: int):
    sizes = (np.uint32(n),) * 3
    matrices = (ones(n * n), ones(n * n), ones(n * n))
    return simple.sgemm_3_shared, (-(-n // 32),) * 2, (32, 32), *sizes, *matrices


LAUNCHES = {
    "whole blocks": (add, 40, 64, *[ones(40 * 64)] * 3),
    "a ragged end": (add, 40, 64, *[ones(39 * 64 + 5)] * 3),
    "transpose": (transpose, (6, 5), (32, 32), ones(160, 192), ones(192, 160)),
    "matrix product": product(192),
    "ragged matrix product": product(180),
    "a table that all read": (looked_up, 32, 64, ones(64), ones(32 * 64), ones(32 * 64)),
    "tiles along one axis": (rows_by_columns, 16, (8, 8), *[ones(32, 32)] * 3),
    "shuffles and one atomic": (warp_sums, 32, 64, ones(32 * 64), ones(1)),
    "three axes": (add, (4, 5, 3), 32, *[ones(32 * 4)] * 3),
}


def both(kernel, blocks, threads, *arguments, wanted: int = 4, **options) -> tuple[Trace, Trace]:
    """Return the trace of all blocks, and that of some."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    some = trace(kernel, blocks, threads, *copies, blocks_traced=wanted, **options)
    return trace(kernel, blocks, threads, *arguments, **options), some


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=list(LAUNCHES))
def test_a_few_blocks_count_what_all_do(launch):
    whole, some = both(*launch)
    assert some.partial and not whole.partial
    assert len(some.sample.blocks) < some.sample.of and some.sample.spread == 0
    assert asdict(some.metrics) == asdict(whole.metrics) and some.by_line == whole.by_line


def test_edges_are_kinds_of_their_own():
    one, two, four = (
        both(*LAUNCHES[name])[1].sample.kinds
        for name in ("whole blocks", "a ragged end", "ragged matrix product")
    )
    assert (one, two, four) == (1, 2, 4)


def test_halos_count_but_distinct_bytes_are_a_little_too_many():
    """A block in the middle touches a frame that the grid has not."""
    whole, some = both(five_points, (8, 9), (32, 8), ones(67, 255), ones(67, 255))
    assert some.sample.kinds == 9
    for name in ADDITIVE:
        assert getattr(some.metrics, name) == getattr(whole.metrics, name), name
    for name in DISTINCT:
        exact, found = (getattr(t.metrics, name) for t in (whole, some))
        assert exact <= found < 1.05 * exact, name


def test_blocks_that_differ_a_little_are_near_and_say_so():
    """Lanes read at random: now and then two of a warp read one sector."""
    places = np.random.default_rng(1).integers(0, 4096, 64 * 256).astype(np.int32)
    whole, some = both(gather, 64, 256, ones(4096), places, ones(64 * 256), wanted=8)
    assert 0 < some.sample.spread < 0.05 and "differ by up to" in str(some.sample)
    exact, found = (t.metrics.global_load_sectors for t in (whole, some))
    assert found != exact and found == pytest.approx(exact, rel=0.02)
    assert some.metrics.global_load_requests == whole.metrics.global_load_requests


@pytest.mark.parametrize(
    ("launch", "says"),
    [
        ((prefixes, 64, 32, ones(64 * 32), ones(64 * 32)), r"blocks .* differ: on line \d+"),
        ((every_other, 64, 32, ones(64 * 32)), r"leave out blocks_traced"),
    ],
    ids=["a triangle", "every other block"],
)
def test_blocks_that_differ_are_refused(launch, says):
    with pytest.raises(TraceError, match=says):
        trace(*launch, blocks_traced=4)


def test_blocks_that_wait_for_one_another_are_refused():
    @cuda.jit
    def together(x):
        cuda.cg.this_grid().sync()
        x[cuda.grid(1)] = 1

    with pytest.raises(LaunchError, match="wait for one another"):
        trace(together, 8, 32, ones(256), blocks_traced=4)


@pytest.mark.parametrize("wanted", [0, -1, 2.0, "four"])
def test_what_is_no_number_of_blocks_is_refused(wanted: object):
    with pytest.raises(LaunchError, match="blocks_traced is a positive integer"):
        trace(add, 40, 64, *[ones(40 * 64)] * 3, blocks_traced=wanted)


def test_few_blocks_all_run():
    found = trace(add, 4, 64, *[ones(256)] * 3, blocks_traced=1)
    assert found.sample is None and "sample" not in repr(found)


def test_more_blocks_are_spread_over_the_grid():
    few, many = (both(*LAUNCHES["whole blocks"], wanted=n)[1].sample.blocks for n in (1, 12))
    assert set(few) < set(many) and len(few) == 4 and len(many) in (11, 12)
    assert few == (19, 20, 0, 39)
    assert max(np.diff(sorted(many))) < 9


def test_the_recorded_block_is_the_middle_one_or_that_which_is_named():
    launch = LAUNCHES["whole blocks"]
    middle, named = (trace(*launch, blocks_traced=4, **o) for o in ({}, {"record": (7, 9)}))
    assert {event.block[0] for event in middle.events} == {19}
    assert {event.block[0] for event in named.events} == {7, 9}
    assert {7, 9} < set(named.sample.blocks)


def test_results_are_partial():
    a, b, c = (ones(40 * 64) for _ in range(3))
    found = trace(add, 40, 64, a, b, c, blocks_traced=4)
    written = np.flatnonzero(c.reshape(40, 64)[:, 0] == 2)
    assert written.tolist() == sorted(found.sample.blocks)


def test_races_within_the_blocks_are_found():
    assert trace(racing, 40, 64, ones(40 * 64), blocks_traced=4).races


def test_it_says_what_it_stands_on(tmp_path: Path):
    found = trace(*LAUNCHES["whole blocks"], blocks_traced=4)
    assert "(4 blocks traced)" in repr(found)
    report = str(found.show())
    assert "from a sample" in report and "4 of 40 blocks ran" in report
    found.save(tmp_path / "some.npz")
    assert Trace.load(tmp_path / "some.npz") == found
    trace(add, 4, 64, *[ones(256)] * 3).save(tmp_path / "all.npz")
    assert Trace.load(tmp_path / "all.npz").sample is None


def test_a_large_product_needs_a_few_blocks_only():
    """Counters in closed form: 2 n^3 operations, three matrices of distinct bytes."""
    n = 1024
    sizes, matrices = (np.uint32(n),) * 3, [np.zeros(n * n, np.float32) for _ in range(3)]
    launch = simple.sgemm_3_shared, (n // 32, n // 32), (32, 32), *sizes, *matrices
    found = trace(*launch, blocks_traced=4, sanitize=False, record=()).metrics
    assert found.flops == 2 * n**3 and found.global_bytes_distinct == 12 * n * n
    assert found.global_load_sectors == 2 * n**3 // 32 // 8
