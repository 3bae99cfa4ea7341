"""Layer normalisation, GELU and AdamW against float64, and their reads by closed formulas."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import trace
from warpwise.kernels import adamw, gelu, layernorm

# Races would otherwise only be warned of.
pytestmark = pytest.mark.filterwarnings("error::warpwise.cuda.RaceWarning")


def name(it) -> str:
    return getattr(it, "name", str(it))


# --- layer normalisation ---

# Rows: not a multiple of a block's (128, 4 and 4). Widths: 33 is a warp and one; 100 and 260 leave
# lanes of a last vector without work.
SHAPES = [
    (layernorm.STEPS[0], 130, 33),
    (layernorm.STEPS[0], 5, 1),
    (layernorm.STEPS[1], 6, 33),
    (layernorm.STEPS[1], 5, 7),
    (layernorm.STEPS[2], 6, 100),
    (layernorm.STEPS[2], 3, 260),
    (layernorm.STEPS[2], 5, 768),
    (layernorm.STEPS[2], 1, 1600),
]


def rows_of(rows: int, width: int):
    """Draw rows with means far from 0, a weight, a bias, and room for results.

    A sum of squares alone would lose digits to such means."""
    rng = np.random.default_rng(width)
    x, weight, bias = (
        rng.normal(size=shape).astype("f4") for shape in ((rows, width), width, width)
    )
    return x + np.float32(30), weight, bias, np.full((rows, width), np.nan, "f4")


@pytest.mark.parametrize(("step", "rows", "width"), SHAPES, ids=name)
def test_layernorm_is_what_float64_says(step, rows, width):
    x, weight, bias, out = rows_of(rows, width)
    step.run(x.reshape(-1), weight, bias, out.reshape(-1))
    wide = x.astype(float)
    far = wide - wide.mean(axis=1, keepdims=True)
    want = far / np.sqrt((far**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias
    assert np.abs(out - want).max() < 5e-5


def normalising(kernel, rows: int, width: int, rows_a_block: int):
    x, weight, bias, out = rows_of(rows, width)
    arrays = x.reshape(-1), weight, bias, out.reshape(-1)
    blocks = -(-rows // rows_a_block)
    return trace(
        kernel, blocks, layernorm.THREADS, *arrays, np.uint32(rows), np.uint32(width), record=()
    ).metrics


def test_a_thread_a_row_touches_a_sector_a_lane_and_a_warp_a_row_one_for_eight():
    """Each reads x three times, and weight and bias once.

    Rows of 40 elements are 5 sectors, in which no two lanes meet."""
    plain, warp = (
        normalising(layernorm.layernorm_1_plain, 32, 40, 128),
        normalising(layernorm.layernorm_2_warp, 32, 40, 4),
    )
    assert plain.global_load_sectors == 40 * (3 * 32 + 2)
    assert warp.global_load_sectors == 32 * 5 * (3 + 2)
    assert plain.global_store_sectors == 40 * 32
    assert warp.global_store_sectors == 32 * 5


def test_the_wide_step_reads_a_row_once():
    rows, width = 4, 260
    m = normalising(layernorm.wide(3), rows, width, 4)
    assert m.global_load_bytes == 4 * rows * width * (1 + 2)  # x, weight, bias
    assert m.global_store_bytes == 4 * rows * width
    assert m.global_bytes_distinct == 4 * (2 * rows * width + 2 * width)
    assert normalising(
        layernorm.layernorm_2_warp, rows, width, 4
    ).global_load_bytes == 4 * rows * width * (3 + 2)


# --- GELU ---

# For the wide step a block has 512 vectors of four: one, less than half a block, between a half and
# all of it, more than one block.
LENGTHS = [
    (gelu.STEPS[0], 1),
    (gelu.STEPS[0], 1000),
    *((gelu.STEPS[1], n) for n in (4, 400, 1300, 2052, 4096)),
]


@pytest.mark.parametrize(("step", "n"), LENGTHS, ids=name)
def test_gelu_is_what_float64_says(step, n):
    x, out = np.random.default_rng(n).normal(size=n).astype("f4") * 3, np.full(n, np.nan, "f4")
    step.run(x, out)
    assert np.abs(out - gelu_in_float64(x)).max() < 2e-6


@pytest.mark.parametrize("step", gelu.STEPS, ids=name)
def test_gelu_of_large_numbers_is_the_number_or_nothing(step):
    x, out = np.array([-1e4, -50, -20, 0, 20, 50, 1e4, 1e9], "f4"), np.full(8, np.nan, "f4")
    step.run(x, out)
    assert np.array_equal(out, np.maximum(x, 0))


def gelu_in_float64(x):
    x = x.astype(float)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def test_gelu_reads_and_writes_each_element_once():
    n = 2052
    for step, blocks, count in zip(gelu.STEPS, (9, 2), (n, n // 4), strict=True):
        x, out = np.ones(n, "f4"), np.zeros(n, "f4")
        m = trace(
            step.built[0].kernel, blocks, gelu.THREADS, x, out, np.uint32(count), record=()
        ).metrics
        assert (m.global_load_bytes, m.global_store_bytes, m.global_bytes_distinct) == (
            4 * n,
            4 * n,
            8 * n,
        )


# --- AdamW ---

COUNTS = [(adamw.STEPS[0], 1), (adamw.STEPS[0], 300), (adamw.STEPS[1], 4), (adamw.STEPS[1], 1200)]


@pytest.mark.parametrize(("step", "n"), COUNTS, ids=name)
def test_three_updates_are_what_float64_says(step, n):
    rng = np.random.default_rng(n)
    mean, square, weight = np.zeros(n, "f4"), np.zeros(n, "f4"), rng.normal(size=n).astype("f4")
    wide = [a.astype(float) for a in (mean, square, weight)]
    for count in (1, 2, 3):
        grad = rng.normal(size=n).astype("f4")
        step.run(count, grad, mean, square, weight)
        wide = updated_in_float64(count, grad.astype(float), *wide)
    for got, want in zip((mean, square, weight), wide, strict=True):
        assert np.abs(got - want).max() < 1e-6


def updated_in_float64(count: int, grad, mean, square, weight):
    """Update as in the paper: means, their corrections, and the decay apart from both."""
    mean = 0.9 * mean + 0.1 * grad
    square = 0.999 * square + 0.001 * grad**2
    by = mean / (1 - 0.9**count) / (np.sqrt(square / (1 - 0.999**count)) + 1e-8)
    return mean, square, weight - 1e-3 * by - 1e-3 * 0.01 * weight


def test_an_update_reads_four_arrays_and_writes_three():
    n = 1200
    for step, blocks, count in zip(adamw.STEPS, (5, 2), (n, n // 4), strict=True):
        arrays = [np.ones(n, "f4") for _ in range(4)]
        m = trace(
            step.built[0].kernel,
            blocks,
            adamw.THREADS,
            *arrays,
            *adamw.corrections(1),
            np.uint32(count),
            record=(),
        ).metrics
        assert (m.global_load_bytes, m.global_store_bytes, m.global_bytes_distinct) == (
            16 * n,
            12 * n,
            16 * n,
        )
