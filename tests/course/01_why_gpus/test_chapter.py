"""Chapter 1: its claims, checked by hand, by the sources' own words, or by counting."""

from __future__ import annotations

import re
from math import isclose
from typing import ClassVar

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number, run

from warpwise import devices

pytestmark = pytest.mark.slow  # its cells are run

STEM = "01_why_gpus"


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "2004": "rupp2022: the last row of steep growth",
        "1988": "rupp2022: the first row",
        "2021": "rupp2022: the last row; 58.2 billion transistors, AMD's MI250X of two dies",
        "128": "SMs of the A100's die (nvidia_a100)",
        "16": "years from 1988 to 2004",
        "17": "years from 2004 to 2021",
        "1974": "dennard1974",
        "7": "nm, of both chips (anandtech_zen2, nvidia_a100)",
        "1,024": "threads in a block at most (cuda_guide)",
        "1.6": "gholami2024, abstract",
        "1.4": "gholami2024, abstract",
        "2010": "rupp2022",
        "4.0": "CC BY 4.0, of rupp2022's data",
        "45": "minutes",
        "80": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "64": "cores of the cell before",
        "20,000": "tasks of the cell before",
        "1,000": "workers of the cell before",
        "1": "unit of time; block",
        "9": "units of time",
        "10": "mm2 of chip drawn",
        "100": "elements",
        "32": "threads of a block",
        "0": "the first thread",
        "70": "the element asked for",
        "2": "of Zen 2, a name",
        "20": "years, as the source has them",
        "4": "bytes of a float32",
        "1792": "where the mystery opens",
        "1794": "the next even size",
        "60": "minutes, as the lab says",
    }


@pytest.fixture
def chapter():
    return run(STEM)


def outputs(chapter):
    return [out for cell in chapter.code for out in cell.outputs if "data" in out]


@pytest.fixture
def glued(chapter):
    return lambda name: number(chapter.glued[name])


# Rupp's files as of commit f2121ab: the highest value to date in 1988, 2004 and 2021.
SPECINT = (83.5362546958, 21096.9051341, 105300)
MEGAHERTZ = (40.3151936286, 3651.74127255, 4655.52593116)
TRANSISTORS = (273.841963426, 273841.963426, 58200000)


def test_growth_is_that_of_the_published_data(chapter, glued):
    assert isclose(glued("thread_before"), SPECINT[1] / SPECINT[0], rel_tol=0.01)
    assert isclose(glued("thread_after"), SPECINT[2] / SPECINT[1], rel_tol=0.01)
    assert isclose(glued("transistors_after"), TRANSISTORS[2] / TRANSISTORS[1], rel_tol=0.01)
    clock = re.search(
        r"^clock +x +([\d.]+) until 2004, x +([\d.]+) since$", chapter.printed, re.MULTILINE
    )
    assert isclose(float(clock[1]), MEGAHERTZ[1] / MEGAHERTZ[0], abs_tol=1)
    assert isclose(float(clock[2]), MEGAHERTZ[2] / MEGAHERTZ[1], abs_tol=0.06)


def test_rates_a_year_compound_to_the_growth(glued):
    assert isclose((1 + glued("year_before") / 100) ** 16, glued("thread_before"), rel_tol=0.05)
    assert isclose((1 + glued("year_after") / 100) ** 17, glued("thread_after"), rel_tol=0.05)


def test_power_stays_with_dennard_and_doubles_without(chapter, glued):
    # A generation: 2 transistors for 1, capacitance / sqrt 2, clock * sqrt 2, so 2 V^2; and V^2 =
    # 1/2 with Dennard.
    table = re.findall(
        r"^transistors x +(\d+): power ([\d.]+), or +([\d.]+) if the voltage stays$",
        chapter.printed,
        re.MULTILINE,
    )
    assert [tuple(map(float, row)) for row in table] == [(2**g, 1, 2**g) for g in range(6)]
    assert glued("stuck_each") == 2 and glued("slow_work") == 64 / 4


def test_slow_cores_do_more_for_the_same_power(chapter):
    rows = re.findall(
        r"^cores +(\d+), clock +([\d.]+): work +([\d.]+), power ([\d.]+)$",
        chapter.printed,
        re.MULTILINE,
    )
    assert len(rows) == 4
    for cores, clock, work, power in (map(float, row) for row in rows):
        assert isclose(work, cores * clock, abs_tol=0.01) and isclose(
            power, cores * clock * clock * clock, abs_tol=0.01
        )
        assert power < 1.03


def greedy(tasks, workers, slowness):
    """Run the queue, searching for the worker that is free first."""
    free = np.zeros(workers)
    for seconds in tasks:
        first = free.argmin()
        free[first] += slowness * seconds
    return free.max()


def test_the_queue_agrees_with_a_plain_one(chapter, glued):
    assert (glued("first_fast"), glued("first_slow"), glued("last_fast"), glued("last_slow")) == (
        1,
        3,
        4,
        3,
    )
    tasks = np.random.default_rng(1).exponential(size=20_000)
    rows = re.findall(
        r"^tasks +([\d,]+): few +([\d,.]+) s, many +([\d,.]+) s$", chapter.printed, re.MULTILINE
    )
    assert len(rows) == 6
    for n, few, many in (map(number, row) for row in rows):
        assert isclose(few, greedy(tasks[: int(n)], 4, 1), abs_tol=0.06)
        assert isclose(many, greedy(tasks[: int(n)], 1_000, 20), abs_tol=0.06)
    assert isclose(glued("gain"), number(rows[-1][1]) / number(rows[-1][2]), abs_tol=0.06)
    assert (
        glued("one_slower") == 20
        and glued("gain_limit") == (1_000 / 20) / 4
        and glued("gain") < glued("gain_limit")
    )


def test_a_worker_is_busy_in_proportion_to_its_threads_until_ten(chapter):
    shares = dict(re.findall(r"^threads +(\d+): busy +(\d+)%$", chapter.printed, re.MULTILINE))
    assert {int(n): int(share) for n, share in shares.items()} == {
        n: min(100, 10 * n) for n in (1, 2, 5, 10, 20)
    }


def test_areas(chapter, glued):
    # 74 mm2 with 8 x 16 units, 2 x 16 + 8 x 0.5 MiB and 8 x 32 KiB; 826 mm2 with 108 x 64 units,
    # 40 MiB and 108 x 192 KiB.
    assert isclose(glued("denser"), (108 * 64 / 826) / (128 / 74), abs_tol=0.05)
    assert isclose(glued("cache_ratio"), (36.25 / 128) / (60.25 / (108 * 64)), abs_tol=0.5)
    # 108 register files of 256 KiB
    assert glued("register_mib") == 108 * 256 / 1024 and glued("switched_off") == 128 - 108
    assert isclose(glued("with_registers"), (36.25 / 128) / (87.25 / (108 * 64)), abs_tol=0.5)
    assert (glued("a100_sms"), glued("h100_sms")) == (108, 132)
    assert (glued("h100_each"), glued("h100_all")) == (2048, 132 * 2048)


def test_the_floor_plan_has_the_sms_and_the_parts_of_one(chapter):
    (plan,) = (out["data"]["text/html"] for out in outputs(chapter) if "scheduler" in str(out))
    blue = len(re.findall(r"fill: #2b82c4", plan))
    assert blue == 108 + 4 * 16 and plan.count("scheduler<") == 4
    # An A100's whitepaper: 256 KiB of registers an SM, 192 of L1, two parts of an L2 of 40 MiB.
    assert plan.count("registers, 64 KiB<") == 4 and plan.count("L2, 20 MiB<") == 2
    assert "L1 and shared memory, 192 KiB" in plan


def test_first_kernels(chapter, glued):
    assert (glued("written_1"), glued("missing_1")) == (32, 68)
    assert (
        glued("blocks_needed"),
        glued("threads_there"),
        glued("threads_over"),
        glued("last_block"),
    ) == (4, 128, 28, 100 - 3 * 32)
    assert (glued("owner_block"), glued("owner_thread")) == (2, 6) and 2 * 32 + 6 == 70
    assert (
        "index 100 is outside x, whose size there is 100" in chapter.printed
        and "block (3, 0, 0), thread (4, 0, 0)" in chapter.printed
    )


def test_compute_outgrew_memory(glued):
    grown = {"compute_20": 3.0, "memory_20": 1.6, "links_20": 1.4}
    for name, factor in grown.items():
        product = 1.0
        for _ in range(10):
            product *= factor
        assert glued(name) == round(product)
    assert glued("gap_20") == round(59049 / 1.6**10)


def test_square_is_limited_by_bytes(chapter, glued):
    n = 268_435_456
    assert glued("floats") == n
    assert (
        f"memory          {8 * n / 3350e9 * 1e3:.3f} ms" in chapter.printed
        and f"multiplications {n / 33.5e12 * 1e3:.3f} ms" in chapter.printed
    )
    # 67 TFLOP/s are 33.5 * 10**12 multiplications, each with an addition.
    assert glued("waits") == 8 * 33_500 / 3_350 and glued("per_float") == 4 * 33_500 / 3_350
    assert glued("best_peak") == round(989 / 67)


def test_the_machine_code_of_square_is_still_limited_by_bytes(glued):
    bytes_ms = 8 * 2**28 / 3350e9 * 1e3
    assert bytes_ms * 0.99 < glued("predicted") < 1.3 * bytes_ms


def test_one_size_more_is_several_times_slower(glued):
    # 7 x 14 tiles in one wave against 8 x 15 in two, and an eighth of a load at a time: more than
    # the factor 2 of the waves.
    assert 2 < glued("slower") < 2 * 8
    # Even rows are loaded 4 bytes at a time and not 2.
    # twice the waves for hardly more work; odd sizes pay for their loads too
    assert glued("slower_even") == round(2 * (1792 / 1794) ** 2, 1) < glued("slower")
    assert devices.A100.sms >= 7 * 14 and devices.A100.sms < 8 * 15 <= 2 * devices.A100.sms


def test_quiz_answers_that_are_numbers(chapter):
    assert chapter.quiz["why-blocks"].right == f"{-(-1000 // 256)} blocks, and {-1000 % 256}"
    assert chapter.quiz["why-owner"].right == "Thread {1} of block {0}".format(*divmod(300, 128))
    assert "768" in chapter.quiz["why-blocks"].answers["3 blocks, and none"] and 3 * 256 == 768
