"""The steps of the float32 product as they are predicted: each helps that the course says helps."""

from __future__ import annotations

from itertools import pairwise

import predictions as tool
import pytest
from support.paths import ROOT

from warpwise.benchmark_records import FOLDER
from warpwise.book.charts.predicted import predictions
from warpwise.devices import H200
from warpwise.kernels import sgemm
from warpwise.stopwatch import find
from warpwise.toolchain import missing

APART = 1.1  #: ratio of two times below which the stopwatch cannot tell them apart
STEPS = [step.name for step in sgemm.STEPS]
#: Chapter 9 says that of these the stopwatch sees no gain.
NO_GAIN = ("sgemm_8_wide_thread", "sgemm_9_async")


@pytest.fixture(scope="module")
def times() -> dict[str, float]:
    found = predictions("sgemm_ladder", H200.name, ROOT / FOLDER)
    assert found is not None
    return {row.variant: row.median_ms or 0 for row in found.rows if row.case == "sgemm 4096"}


def test_every_step_is_predicted(times):
    assert list(times) == STEPS and min(times.values()) > 0


@pytest.mark.parametrize(("before", "after"), list(pairwise(STEPS[: -len(NO_GAIN)])))
def test_a_step_is_predicted_to_help(times, before, after):
    assert times[before] > APART * times[after]


@pytest.mark.parametrize("step", NO_GAIN)
def test_the_last_steps_are_predicted_to_gain_nothing(times, step):
    ratio = times[step] / times["sgemm_7_warp_tile"]
    assert 1 / APART < ratio < APART**2


def test_no_step_is_faster_than_the_peak(times):
    least_ms = 1e3 * 2 * 4096**3 / H200.fp32_flops_per_s
    assert min(times.values()) > least_ms


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_a_sample_of_what_is_kept_is_what_the_stopwatch_says_today(times):
    """`make predictions` keeps them anew."""
    step = sgemm.STEPS[1]
    today = tool.timed(step, find("H200")).seconds
    assert times[step.name] == pytest.approx(1e3 * today, rel=0.02)


#: Ladders as `warpwise measure --predict H200` keeps them: suite, case, and the steps each of which
#: helps. Chapter 12 says of float32 attention that moving fewer bytes does not make step 2 fast.
KEPT = {
    "hgemm": ("sgemm_ladder", "hgemm 8192", ("hgemm_1_mma", "hgemm_2_shared", "hgemm_3_async")),
    "attention in bfloat16": (
        "attention",
        "attention bfloat16, 4096 keys",
        ("flash_bf16_1_mma", "flash_bf16_2_shared", "flash_bf16_3_async"),
    ),
    "attention in float32": (
        "attention",
        "attention 512 float32",
        ("attention_2_flash", "attention_3_rows", "attention_4_tiled"),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_step_on_tensor_cores_or_of_attention_is_predicted_to_help(name: str):
    suite, case, steps = KEPT[name]
    found = predictions(suite, H200.name, ROOT / FOLDER)
    assert found is not None
    kept = {row.variant: row.median_ms or 0 for row in found.rows if row.case == case}
    assert all(kept[before] > APART * kept[after] for before, after in pairwise(steps))
