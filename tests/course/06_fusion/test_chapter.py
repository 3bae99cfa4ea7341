"""Chapter 6: its form, and its claims on bytes, launches, variances and a profile."""

from __future__ import annotations

import re
from math import sqrt

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number, run

from warpwise.toolchain import missing

pytestmark = pytest.mark.slow  # its cells are run

STEM = "06_fusion"
BANDWIDTH, PEAK = 3350e9, 67e12  # an H100 SXM: bytes and float32 operations a second
A100_40 = 1555e9
LAUNCH = 4e-6


class TestForm(ChapterForm):
    stem = STEM
    sourced = {
        "5070": "susun_launch",
        "6": "susun_launch",
        "20": "nsight_overhead",
        "0.15": "llmc_profile",
        "0.25": "llmc_profile",
        "0.275": "in the middle of 0.25 and 0.3",
        "0.3": "llmc_profile",
        "16": "llmc_profile",
        "40": "GB of the A100, llmc_profile",
        "70": "llmc_profile",
        "100": "the lab's minutes; ms of a step, llmc_profile",
        "1,024": "llmc_code",
        "3": "llmc_code",
        "768": "gpt2_config",
        "12": "gpt2_config",
    }
    chosen = {
        "50": "minutes",
        "75": "the lab's minutes",
        "4": "µs of a launch",
        "8": "bytes of an element, in and out",
        "2": "bytes of a bfloat16",
        "10,000": "a mean, in the cell above",
        "1": "a number of the worked example",
        "1.5": "a mean of the worked example",
        "0": "an m2 of the worked example",
    }


@pytest.fixture(scope="module")
def chapter():
    return run(STEM)


def test_accesses_of_the_five_and_of_the_one(chapter):
    by_hand = [1 + 1, 1 + 1, 1 + 1, 1 + 1, 2 + 1]
    assert number(chapter.glued["eager"]) == sum(by_hand) == 11
    assert number(chapter.glued["second"]) == 1 + 1
    assert number(chapter.glued["first"]) == 2 + 1
    assert number(chapter.glued["between"]) == 11 - 2
    assert chapter.glued["bound"] == chapter.glued["more"] == f"{11 / 2:.1f}"
    assert "together 11n" in chapter.printed and "(11, 2)" in chapter.printed


def test_intensities_are_three_operations_over_the_bytes(chapter):
    assert f"five kernels {3 / 44:.3f} FLOP/byte" in chapter.printed
    assert f"one kernel   {3 / 8:.3f} FLOP/byte" in chapter.printed
    assert number(chapter.glued["knee"]) == round(PEAK / BANDWIDTH)
    # 33.5 * 10**12 instructions of a lane each second
    assert number(chapter.glued["slots"]) == round(8 * PEAK / 2 / BANDWIDTH) == 80


@pytest.mark.skipif(bool(missing()), reason="no compiler here")
def test_a_sine_and_a_cosine_are_not_free_and_ten_additions_are(chapter):
    roof = 8 * 2**28 / BANDWIDTH
    times = {
        name: float(us) * 1e-6
        for name, us in re.findall(r"^(ten_additions|trig_2): ([\d.]+) us", chapter.printed, re.M)
    }
    assert times["ten_additions"] < 1.15 * roof < 1.2 * roof < times["trig_2"]
    assert number(chapter.glued["fused_ms"]) == pytest.approx(1e3 * times["trig_2"], abs=0.006)
    assert number(chapter.glued["fused_roof"]) == pytest.approx(1e3 * roof, abs=0.006)
    assert number(chapter.glued["ten_ms"]) == pytest.approx(1e3 * times["ten_additions"], abs=0.006)


def test_an_epilogue_saves_a_third_of_product_and_gelu(chapter):
    rows, inside, wide = 16 * 1024, 768, 4 * 768
    product = 2 * rows * inside * wide / 312e12
    gelu = 2 * 2 * rows * wide / A100_40
    assert number(chapter.glued["fc_ms"]) == pytest.approx(1e3 * product, abs=0.005)
    assert number(chapter.glued["gelu_ms"]) == pytest.approx(1e3 * gelu, abs=0.005)
    assert number(chapter.glued["epilogue_saved"]) == round(100 * gelu / (gelu + product))


def test_launches_cost_more_than_bytes_below_the_crossing(chapter):
    crossing = LAUNCH * BANDWIDTH / (4 * 2)
    assert chapter.glued["crossing"] == f"{crossing / 1e6:.1f}" == "1.7"
    assert chapter.glued["small_ratio"] == "5" and chapter.glued["large_ratio"] == "5.5"
    assert f"2^28 elements: {11 * 4 * 2**28 / BANDWIDTH * 1e6:7.1f} us" in chapter.printed
    assert f"2^10 elements: {5 * LAUNCH * 1e6:7.1f} us" in chapter.printed


def test_one_kernel_for_the_maximum_of_all_has_a_race_and_one_for_each_row_has_none(chapter):
    told = " ".join(chapter.printed.split())
    assert re.search(
        r"race on top\[0\] in global memory: .* of block \(39, 0, 0\) .* of block \(0, 0, 0\)", told
    )
    assert "2n, 0 races" in chapter.printed


def test_variances_against_float64(chapter):
    rows = re.findall(
        r"mean +([\d,]+): ([\d.]+) right, squares +(-?[\d.]+), Welford ([\d.]+)",
        chapter.printed,
    )
    assert len(rows) == 5
    for mean, right, squares, welford in rows:
        noise = np.random.default_rng(8).normal(size=1000)
        values = (number(mean) + noise).astype(np.float32)
        exact = np.var(values.astype(np.longdouble))
        assert float(right) == pytest.approx(float(exact), abs=1e-4)
        assert float(welford) == pytest.approx(float(exact), rel=1e-3)
        if mean in ("1,000", "10,000"):
            assert abs(float(squares) - float(exact)) > 0.05
    assert number(chapter.glued["squares_far"]) < 0
    assert number(chapter.glued["square_size"]) == 10_000**2 / 1e6


def test_welford_stays_within_what_the_chart_says():
    for mean in np.geomspace(1, 1e5, 16):
        values = (mean + np.random.default_rng(8).normal(size=1000)).astype(np.float32)
        count = middle = m2 = np.float32(0)
        for value in values:
            count += np.float32(1)
            delta = value - middle
            middle += delta / count
            m2 += delta * (value - middle)
        exact = values.astype(np.float64).var()
        assert abs(m2 / count - exact) / exact < 0.005, mean


def test_the_profile_by_hand(chapter):
    gelu = 2 * (16 * 1024 * 3072) * 2  # reads and writes, of 2 bytes
    assert number(chapter.glued["gelu_share"]) == round(100 * gelu / 0.15e-3 / A100_40)
    sums = 2 * 16 * 1024 * (2304 + 768 + 3072 + 768) / 4
    assert [number(chapter.glued[name]) for name in ("bias_low", "bias_high")] == [
        round(100 * sums / ms / A100_40) for ms in (0.3e-3, 0.25e-3)
    ]
    assert number(chapter.glued["at_70"]) == pytest.approx(1e3 * sums / (0.7 * A100_40), abs=0.006)
    saved = 48 * (0.275e-3 - sums / (0.7 * A100_40))
    assert number(chapter.glued["bias_saved"]) == round(1e3 * saved)
    assert number(chapter.glued["gelu_saved"]) == pytest.approx(12 * 0.075)


def test_ways_to_normalise(chapter):
    for name, count in (("a kernel a step", 7), ("add, layer norm", 5), ("all in one", 4)):
        assert f"{name:16} {count}n" in chapter.printed


def test_rows_that_fit_the_l2_cache_are_marked(chapter):
    marked = re.findall(r"^2\^(\d+) elements: .*? times(.*)$", chapter.printed, re.MULTILINE)
    assert {int(k): bool(mark) for k, mark in marked} == {
        k: 3 * 4 * 2**k < 50 * 2**20 for k in (10, 16, 20, 22, 24, 28)
    }


def test_welford_by_hand():
    mean, m2, told = 0.0, 0.0, []
    for count, value in enumerate((1, 2, 6), 1):
        before, mean = mean, mean + (value - mean) / count
        m2 += (value - before) * (value - mean)
        told.append((mean, m2))
    assert told == [(1, 0), (1.5, 0.5), (3, 14)] and np.var([1, 2, 6]) == pytest.approx(14 / 3)


def test_right_answers_are_right(chapter):
    quiz = {name: question.right for name, question in chapter.quiz.items()}
    assert quiz["fusion-silu"] == f"{(1 + 1) + (2 + 1)}, and {1 + 1} when fused"
    assert quiz["fusion-two-results"] == str(1 + 2)
    assert quiz["fusion-small"] == "The launches" and 4 * 10_000 / BANDWIDTH < 20e-9 < LAUNCH
    assert quiz["fusion-matmul"].startswith("One write and one read")
    assert "with rows of 500 elements" in quiz["fusion-which"]
    assert quiz["fusion-variance"].startswith("Two large numbers")


def test_merging_by_hand():
    values = [2, 4, 9]
    assert sum(values) / 3 == 5 and sum((value - 5) ** 2 for value in values) == 26
    assert sqrt(26 / 3) == pytest.approx(np.std(values))
