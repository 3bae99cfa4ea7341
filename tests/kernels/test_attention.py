"""The float32 attention kernels against float64: all steps, ragged lengths, late maxima."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import trace
from warpwise.kernels import attention_tf32
from warpwise.kernels.attention import FLASH, UNFUSED, D, rows, tiled, unfused

# Races would otherwise only be warned of.
pytestmark = pytest.mark.filterwarnings("error::warpwise.cuda.RaceWarning")
HEADS = 2
STEPS = (*UNFUSED, *FLASH, *attention_tf32.STEPS)
# A block of step 2 and of step 3 has 128 queries: 64 are half of one, and 192 one and a half.
SIZES = [
    (step, n)
    for step in STEPS
    for n in (64, 192)
    if not (step.name == "attention_2_flash" and n == 192)
]


def inputs(n: int, heads: int = HEADS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw inputs whose keys grow, so that nearly every tile brings a much larger score."""
    rng = np.random.default_rng(n)
    query, key, value = (rng.normal(size=(heads, n, D)).astype("f4") for _ in range(3))
    return query, key * np.linspace(0.2, 3, n, dtype="f4")[:, None], value


def right(query, key, value) -> tuple[np.ndarray, np.ndarray]:
    """Return the results and the logarithms of the sums, in float64."""
    s = query.astype(float) @ key.astype(float).swapaxes(1, 2) / np.sqrt(D)
    largest = s.max(axis=2, keepdims=True)
    p = np.exp(s - largest)
    return p @ value / p.sum(axis=2, keepdims=True), (
        largest + np.log(p.sum(axis=2, keepdims=True))
    )[..., 0]


def computed(step, query, key, value) -> tuple[np.ndarray, np.ndarray]:
    heads, n, _ = query.shape
    out, lse = np.full(query.shape, np.nan, "f4"), np.full(query.shape[:2], np.nan, "f4")
    workspace = (np.full(heads * n * n, np.nan, "f4"),) if step in UNFUSED else ()
    step.run(
        n, *(a.ravel() for a in (query, key, value)), *workspace, lse.reshape(-1), out.reshape(-1)
    )
    return out, lse


@pytest.mark.slow
@pytest.mark.parametrize(("step", "n"), SIZES, ids=lambda it: getattr(it, "name", it))
def test_attention_is_what_float64_says(step, n):
    given = inputs(n)
    for got, want in zip(computed(step, *given), right(*given), strict=True):
        assert np.abs(got - want).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_score_far_above_all_others_takes_all_the_weight(step):
    """Scores are 900 and -900: e to the power of either is no float32."""
    query, key, value = inputs(64, heads=1)
    query[:], key[:] = 0, 0
    query[..., 0], key[..., 0], key[:, 50, 0] = 60, -120, 120
    out, lse = computed(step, query, key, value)
    assert np.abs(out - value[:, 50:51]).max() < 1e-6
    assert np.abs(lse - 900).max() < 1e-3


def test_steps_are_three_kernels_and_then_one():
    assert [len(step.built) for step in UNFUSED] == [3]
    assert [len(step.built) for step in FLASH] == [1] * len(FLASH)


# Required traffic. Rows have 256 bytes: a matrix of n rows is 256 n bytes a head, scores are 4 n^2,
# logarithms 4 n.


def traced(kernel, grid, threads: int, n: int, workspace: bool = False):
    query, key, value = (a.ravel() for a in inputs(n))
    out, lse = np.zeros_like(query), np.zeros(HEADS * n, "f4")
    if workspace:
        return trace(
            kernel,
            grid,
            threads,
            query,
            key,
            np.zeros(HEADS * n * n, "f4"),
            np.uint32(n),
            record=(),
        ).metrics
    return trace(
        kernel, grid, threads, query, key, value, lse, out, np.uint32(n), record=()
    ).metrics


def test_the_first_of_three_kernels_touches_all_scores():
    m = traced(unfused.attention_1_scores, (4, 4, HEADS), 256, 128, workspace=True)
    assert m.global_bytes_distinct == HEADS * (2 * 256 * 128 + 4 * 128**2)
    assert m.global_store_sectors == HEADS * 4 * 128**2 // 32


TILED = [
    (tiled.attention_4_tiled, tiled.PAIR),
    (tiled.attention_5_async, tiled.PAIR),
    (attention_tf32.attention_6_tensor, 128),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "threads"), TILED, ids=lambda it: getattr(it, "name", it))
def test_tiles_touch_no_scores_and_read_keys_once_for_64_queries(kernel, threads):
    n = 128
    m = traced(kernel, (n // 64, HEADS), threads, n)
    assert m.global_bytes_distinct == HEADS * (4 * 256 * n + 4 * n)
    assert m.global_load_bytes == HEADS * (256 * n + n // 64 * 2 * 256 * n)
    assert m.global_store_bytes == HEADS * (256 * n + 4 * n)


def test_the_first_flash_kernel_moves_its_results_once_for_32_keys():
    n = 64
    m = traced(rows.attention_2_flash, 1, rows.ROWS, n)  # of one head
    assert m.global_store_bytes == n // 32 * (256 * n + 4 * n)
    assert m.global_bytes_distinct == 4 * 256 * n + 4 * n
