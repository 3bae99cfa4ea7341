"""The memory-bound reference kernels against float64, and their traffic by closed formulas.

A lane's access of 16 bytes is one request, as on a GPU."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpwise.cuda.launches
from warpwise import trace
from warpwise.kernels import elementwise, fusion, recompute, reduction, softmax, transpose
from warpwise.kernels.recompute import ACCESSES
from warpwise.measure.correctness import OnDevice
from warpwise.measure.place import in_simulator

# Races would otherwise only be warned of.
pytestmark = pytest.mark.filterwarnings("error::warpwise.cuda.RaceWarning")
QUAD_BYTES, SECTOR_BYTES, BANKS_BYTES = 16, 32, 128


def numbers(
    n: int, dtype: str = "f4", low: float = -1.0, high: float = 1.0, seed: int = 0
) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, n).astype(dtype)


def empty(n: int, dtype: str = "f4") -> np.ndarray:
    """Return an array of NaN, so that what is not written is found out."""
    return np.full(n, np.nan, dtype)


def name(it) -> str:
    return getattr(it, "name", str(it))


@pytest.fixture
def launched(monkeypatch) -> list:
    """The traces of all launches."""
    found = []

    def traced(*arguments, **more):
        found.append(trace(*arguments, **more))
        return found[-1]

    monkeypatch.setattr(warpwise.cuda.launches, "trace", traced)
    return found


def loaded(traces) -> int:
    """Return the bytes loaded from global memory."""
    return sum(t.metrics.global_load_bytes for t in traces)


def stored(traces) -> int:
    return sum(t.metrics.global_store_bytes for t in traces)


# --- a x + y ---

# 2,048 elements are one block's of step 3: more, fewer, and a second half that is partly there.
SCALED = [
    *((elementwise.SINGLE[0], "f4", n) for n in (1, 257, 1000)),
    (elementwise.SINGLE[0], "f8", 300),
    *((elementwise.SINGLE[1], "f4", n) for n in (4, 1028)),
    *((elementwise.SINGLE[2], "f4", n) for n in (4, 1028, 1100, 2048, 3080)),
    *((elementwise.HALF[0], "f2", n) for n in (2, 514)),
    *((elementwise.HALF[1], "f2", n) for n in (2, 514)),
    *((elementwise.HALF[2], "f2", n) for n in (8, 2056)),
]


@pytest.mark.parametrize(("step", "dtype", "n"), SCALED, ids=name)
def test_scaling_and_adding_is_what_float64_says_and_moves_three_numbers_an_element(
    step, dtype, n, launched
):
    x, y, z = numbers(n, dtype), numbers(n, dtype, seed=1), empty(n, dtype)
    step.run(*(array.view("u4") if dtype == "f2" else array for array in (x, y, z)))
    want = elementwise.SCALE * x.astype(float) + y.astype(float)
    assert np.abs(z - want).max() <= np.finfo(dtype).eps  # results below 2: one rounding, or two
    assert (loaded(launched), stored(launched)) == (2 * x.nbytes, x.nbytes)


def test_float16_keeps_what_has_no_number_and_what_is_too_small_or_too_large():
    special = np.array([np.inf, -np.inf, np.nan, 65504, -65504, 2.0**-24, -(2.0**-24), -0.0], "f2")
    for step in elementwise.HALF:
        z = empty(8, "f2")
        step.run(special.view("u4"), np.zeros(8, "f2").view("u4"), z.view("u4"))
        assert np.array_equal(
            z, (special.astype("f4") * elementwise.A).astype("f2"), equal_nan=True
        )


# --- fusion ---


@pytest.mark.parametrize("n", (4, 1028))
@pytest.mark.parametrize(
    ("step", "accesses", "launches"),
    [*zip(fusion.STEPS, (11, 11, 2, 2), (5, 5, 1, 1), strict=True)],
    ids=name,
)
def test_five_kernels_move_eleven_numbers_an_element_and_one_moves_two(
    step, accesses, launches, n, launched
):
    x, y = numbers(n, low=-3, high=3), empty(n)
    between = [empty(n) for _ in range(4)]
    step.run(x, *between, y)
    assert np.abs(y - 1).max() < 1e-6
    assert len(launched) == launches
    assert loaded(launched) + stored(launched) == 4 * n * accesses
    if launches > 1:
        sine, cosine = np.sin(x.astype(float)), np.cos(x.astype(float))
        for found, want in zip(between, (sine, cosine, sine**2, cosine**2), strict=True):
            assert np.abs(found - want).max() < 1e-6


@pytest.mark.parametrize("n", (1, 1000))
@pytest.mark.parametrize("step", (fusion.STEPS[0], fusion.STEPS[2]), ids=name)
def test_plain_fusion_takes_any_number_of_elements(step, n):
    y = empty(n)
    step.run(numbers(n), *(empty(n) for _ in range(4)), y)
    assert np.abs(y - 1).max() < 1e-6


# --- recomputation ---


def sigmoids(x, dout):
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    a = sigmoid(x.astype(float))
    b = sigmoid(a)
    c = sigmoid(b)
    return c, dout * c * (1 - c) * b * (1 - b) * a * (1 - a)


@pytest.mark.parametrize("n", (4, 1028))
@pytest.mark.parametrize(
    ("step", "accesses"), [*zip(recompute.STEPS, ACCESSES, strict=True)], ids=name
)
def test_three_sigmoids_forward_and_backward(step, accesses, n, launched):
    x, dout = numbers(n, low=-8, high=8), numbers(n, seed=1)
    between, out, dx = [empty(n) for _ in range(4)], empty(n), empty(n)
    step.run(x, dout, *between, out, dx)
    want, slope = sigmoids(x, dout)
    assert np.abs(out / want - 1).max() < 1e-6
    assert (np.abs(dx - slope) <= 1e-4 * np.abs(slope) + 1e-9).all()
    assert loaded(launched) + stored(launched) == 4 * n * accesses


def test_the_accesses_of_three_sigmoids_are_those_of_chapter_7():
    assert ACCESSES == (15, 9, 8, 5, 5)


def test_shared_reciprocals_hold_for_any_input():
    """Only the first sigmoid sees numbers out of range; it does not share."""
    x = np.array([-80, 80, -30, 30, 0, -1, 1, 10], "f4")
    out, dx = empty(8), empty(8)
    recompute.STEPS[4].run(x, np.ones(8, "f4"), *(empty(8) for _ in range(4)), out, dx)
    want, slope = sigmoids(x, np.ones(8))
    assert np.abs(out / want - 1).max() < 1e-6
    assert np.abs(dx - slope).max() < 1e-7


# --- transposition ---

ANY = ((1, 1), (33, 31), (32, 64), (70, 45))
QUADS = ((4, 4), (60, 68), (64, 128), (132, 76))


@pytest.mark.parametrize(
    ("step", "shape"),
    [
        (step, shape)
        for step in transpose.STEPS
        for shape in (ANY if step in transpose.STEPS[:3] else QUADS)
    ],
    ids=name,
)
def test_a_transpose_is_exact_and_moves_each_number_twice(step, shape, launched):
    source = numbers(math.prod(shape))
    target = empty(source.size)
    step.run(source, shape, target)
    assert np.array_equal(target.reshape(shape[::-1]), source.reshape(shape).T)
    assert (loaded(launched), stored(launched)) == (source.nbytes, source.nbytes)


def turned(step, rows: int = 64, columns: int = 64):
    """Return the trace of one step, with all its events."""
    return trace(
        step.built[0].kernel,
        (columns // 64 * (64 // tile(step)), rows // tile(step)),
        transpose.THREADS,
        numbers(rows * columns),
        empty(rows * columns),
        np.uint32(rows),
        np.uint32(columns),
        record=range(4),
    )


def tile(step) -> int:
    return transpose.TILE if step in transpose.STEPS[:3] else transpose.WIDE_TILE


def test_a_naive_store_touches_a_sector_a_lane_and_a_tile_a_sector_for_eight():
    naive, tiled, padded = (turned(step).metrics for step in transpose.STEPS[:3])
    requests = 64 * 64 // 32
    for metrics in (naive, tiled, padded):
        assert metrics.global_load_requests == metrics.global_store_requests == requests
        assert metrics.global_load_sectors == 4 * requests
    assert naive.global_store_sectors == 32 * requests
    assert tiled.global_store_sectors == padded.global_store_sectors == 4 * requests


def test_a_column_of_the_tile_lies_in_one_bank_and_of_the_padded_tile_in_all():
    tiled, padded = (turned(step).metrics for step in transpose.STEPS[1:3])
    requests = 64 * 64 // 32
    assert (tiled.shared_load_bank_conflicts, tiled.shared_store_bank_conflicts) == (
        31 * requests,
        0,
    )
    assert (padded.shared_load_bank_conflicts, padded.shared_store_bank_conflicts) == (0, 0)
    assert padded.shared_load_wavefronts == padded.shared_store_wavefronts == requests


def quads(t, kind: str, space: str) -> list[np.ndarray]:
    """Return where each lane's 16 bytes begin, for each request, all of which are of 16 bytes."""
    found = [e for e in t.events if e.kind == kind and e.space == space]
    assert {e.itemsize for e in found} == {QUAD_BYTES}
    return [np.array(e.addresses) for e in found]


@pytest.mark.parametrize("kind", ("load", "store"))
def test_the_wide_tile_has_no_bank_conflict(kind):
    """Eight lanes of a 16-byte request are served at a time.

    They must lie in eight different groups of four banks."""
    requests = quads(turned(transpose.STEPS[3]), kind, "shared")
    assert len(requests) == 64 * 64 // 4 // 32
    for addresses in requests:
        for eight in addresses.reshape(4, 8):
            assert len(set(eight % BANKS_BYTES // QUAD_BYTES)) == 8


@pytest.mark.parametrize("kind", ("load", "store"))
@pytest.mark.parametrize("step", transpose.STEPS[3:], ids=name)
def test_wide_transposes_touch_no_sector_in_part(step, kind):
    requests = quads(turned(step), kind, "global")
    assert len(requests) == 64 * 64 // 4 // 32
    assert all(
        len(set(addresses // SECTOR_BYTES)) == 32 * QUAD_BYTES // SECTOR_BYTES
        for addresses in requests
    )


# --- sums ---

# 3 blocks of 256: fewer elements than threads, one or more for each, and eight or four rounds of
# them and a rest.
SUMMED = [
    *(
        (step, "f4", n)
        for step in reduction.SUMS[:4]
        for n in (1, 700, 1000, 6 * 768 + 5, 17 * 768 + 1)
    ),
    *((step, "f8", n) for step in reduction.SUMS[2:4] for n in (300, 9 * 768 + 5)),
    *((reduction.SUMS[4], "f4", n) for n in (4, 3000, 4 * 4 * 768 + 8, 4 * 9 * 768)),
    *((reduction.HALF[0], "f2", n) for n in (8, 8 * 4 * 768 + 16)),
]


@pytest.mark.parametrize(("step", "dtype", "n"), SUMMED, ids=name)
def test_a_sum_is_what_float64_says_and_reads_each_number_once(step, dtype, n, launched):
    x = numbers(n, dtype)
    partials, total = (empty(size, "f8" if dtype == "f8" else "f4") for size in (3, 1))
    step.run(x.view("u4") if dtype == "f2" else x, partials, total)
    allowed = {"f8": 1e-14, "f4": 2e-7, "f2": 2e-7}[dtype] * np.abs(x.astype(float)).sum()
    assert abs(total[0] - x.astype(float).sum()) <= allowed
    if step is not reduction.SUMS[0]:
        assert loaded(launched) == x.nbytes + partials.nbytes
        assert stored(launched) == partials.nbytes + total.nbytes


def test_a_sum_of_one_block_and_of_more_blocks_than_elements():
    x = numbers(40)
    for step in reduction.SUMS:
        for blocks in (1, 5):
            total = empty(1)
            step.run(x, empty(blocks), total)
            assert abs(total[0] - x.astype(float).sum()) < 1e-5, step.name


def test_every_element_is_an_atomic_in_step_1(launched):
    reduction.SUMS[0].run(numbers(1000), empty(3), empty(1))
    assert [t.metrics.atomics for t in launched] == [0, 1000]


def test_a_tree_has_a_barrier_for_each_of_its_levels_and_shuffles_leave_one(launched):
    """256 threads are 8 levels, and a barrier counts once for each of 8 warps.

    Both launches of either step have one block."""
    for step in reduction.SUMS[1:3]:
        step.run(numbers(768), empty(1), empty(1))
    assert [t.metrics.barriers // 8 for t in launched] == [8, 8, 1, 1]


def test_sums_in_float16_stop_growing_at_2048():
    ones, sums = np.ones(2500 * 8, "f2").view("i2"), empty(8)
    reduction.ACCUMULATE[0].run(ones, sums)
    assert (sums == 2048).all()
    reduction.ACCUMULATE[1].run(ones, sums)
    assert (sums == 2500).all()


def test_each_sum_in_float16_is_rounded_as_numpys():
    x, sums = numbers(100 * 40, "f2", low=0).reshape(100, 40), empty(40)
    reduction.ACCUMULATE[0].run(x.reshape(-1).view("i2"), sums)
    want = np.zeros(40, "f2")
    for row in x:
        want = want + row
    assert np.array_equal(sums, want.astype("f4"))


# --- softmax ---

# Rows: not a multiple of a block's eight in step 5. Columns: fewer than threads, and a rest; a last
# warp with idle lanes; the most.
ROWS = [
    *((step, shape) for step in softmax.STEPS[:3] for shape in ((1, 1), (3, 100), (2, 1030))),
    (softmax.STEPS[2], (1, 8192)),
    *(
        (softmax.STEPS[3], shape)
        for shape in ((1, 4), (3, 100), (3, 1024), (2, 1028), (1, 4100), (1, 8192))
    ),
    *((softmax.STEPS[4], shape) for shape in ((1, 4), (9, 100), (3, 1024))),
]


@pytest.mark.parametrize(("step", "shape"), ROWS, ids=name)
def test_softmax_is_what_float64_says_and_reads_a_row_so_many_times(step, shape, launched):
    x, y = numbers(math.prod(shape), low=-20, high=20), empty(math.prod(shape))
    step.run(x, shape, y)
    e = np.exp(x.astype(float).reshape(shape))
    want = e / e.sum(axis=1, keepdims=True)
    assert np.abs(y.reshape(shape) / want - 1).max() < 1e-5
    times = {"softmax_1_safe": 3, "softmax_2_online": 2}.get(step.name, 1)
    assert (loaded(launched), stored(launched)) == (times * x.nbytes, x.nbytes)


@pytest.mark.parametrize("step", softmax.STEPS, ids=name)
def test_softmax_of_numbers_whose_exponential_overflows(step):
    x = np.concatenate([np.full(64, 500, "f4"), np.linspace(-500, -400, 64, dtype="f4")])
    y = empty(128)
    step.run(x, (2, 64), y)
    e = np.exp(x.astype(float).reshape(2, 64) - [[500], [-400]])
    assert np.abs(y.reshape(2, 64) - e / e.sum(axis=1, keepdims=True)).max() < 1e-6


# --- comparing on the device ---


def test_a_share_of_what_is_allowed_finds_errors_missing_numbers_and_leftovers():
    right = np.array([0.0, 1.0, -2.0])
    check = OnDevice(in_simulator(), lambda: (right,), rtol=0.01, atol=0.01)
    array = np.array([0.005, 1.0, -2.015], "f4")
    look = check.left_in(array)
    assert look() == pytest.approx([0.5], rel=1e-4)
    assert np.isnan(array).all()
    assert np.isinf(look()).all()
    wrong = check.returning("wrong", "cupy", lambda: right + 0.05)
    wrong.run()
    assert wrong.result() == pytest.approx([5.0])


def test_where_nothing_is_allowed_any_difference_is_too_much():
    check = OnDevice(in_simulator(), lambda: (np.array([0.0, 3.0]),))
    for value, share in ((3.0, 0.0), (3.0000001, np.inf), (np.nan, np.inf)):
        assert check.share((np.array([0.0, value]),)) == share
    assert check.share((np.zeros(3),)) == np.inf
