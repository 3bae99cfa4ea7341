"""Chapter 2: its form, and its claims on lanes, divergence, loops, votes and shuffles.

Claims are checked against arithmetic on thread numbers; the kernels of one claim go through CUDA's
own compiler, where it is installed."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from support.chapter_form import ChapterForm, number, run

from warpwise.benchmark_records import recorded
from warpwise.devices import H100
from warpwise.toolchain import compile_kernel, load, missing

pytestmark = pytest.mark.slow  # its cells are run


class TestForm(ChapterForm):
    stem = "02_simt"
    sourced = {
        "2017": "the year of Volta (nvidia_v100)",
        "45": "minutes",
        "60": "minutes, as the lab says",
        "90": "minutes, as the lab says",
    }
    chosen = {
        "32": "lanes of a warp; a block's width",
        "16": "a block's sides",
        "8": "a block's height",
        "100": "threads of a block that is no whole number of warps",
        "4": "lanes of the lecture's example",
        "28": "its other lanes",
        "0": "a lane; the neutral value",
        "1": "a lane",
        "33": "an element of lane 1",
        "64": "an element of lane 0",
        "65": "an element of lane 1",
        "40": "threads of a block whose second warp is not full",
        "9.0": "compute capability compiled for",
        "128": "rounds of the longer loop",
        "2": "times as many, if all were in the loops",
    }


@pytest.fixture(scope="module")
def chapter():
    return run("02_simt")


def printed(chapter, pattern: str) -> list[tuple[float, ...]]:
    """Return the numbers of each printed line that a pattern finds."""
    return [
        tuple(number(found) for found in groups)
        for groups in re.findall(pattern, chapter.printed, re.MULTILINE)
    ]


def lanes(block: tuple[int, int], thread: tuple[int, int]) -> tuple[int, int]:
    """Return a thread's warp and lane, by counting the threads before it."""
    order = [(x, y) for y in range(block[1]) for x in range(block[0])]
    return divmod(order.index(thread), 32)


def test_both_launches_do_the_same_and_one_issues_nearly_twice_as_much(chapter):
    (square, flat) = printed(
        chapter, r"^\(\d+, \d+\): ([\d,]+) thread operations, ([\d,]+) operations issued"
    )
    assert square[0] == flat[0] == 32 * flat[1]
    assert (
        number(chapter.glued["more"]) == round(square[1] / flat[1], 2) == pytest.approx(2, abs=0.15)
    )
    assert (
        number(chapter.glued["square_share"]) == round(100 * square[0] / (32 * square[1]))
        and chapter.glued["flat_share"] == "100"
    )


def test_a_square_block_puts_two_rows_into_a_warp():
    rows = {
        block: {y for y in range(block[1]) for x in range(block[0]) if lanes(block, (x, y))[0] == 1}
        for block in ((16, 16), (32, 8))
    }
    assert rows == {(16, 16): {2, 3}, (32, 8): {1}}


def test_lanes_of_the_three_blocks(chapter):
    found = printed(
        chapter, r"^block \((\d+), (\d+)\): thread \(7, 3\) is lane (\d+) of warp (\d+)"
    )
    assert len(found) == 3
    assert all(
        lanes((int(wide), int(high)), (7, 3)) == (warp, lane) for wide, high, lane, warp in found
    )


def test_last_warps_that_are_not_full(chapter):
    assert printed(chapter, r"^(\d+) threads: (\d+)% of the lanes work") == [
        (96, 100),
        (100, round(100 * 100 / 128)),
        (128, 100),
    ]


def test_the_lectures_if(chapter):
    n_a, n_b = 3, 2
    share = Fraction(4 * n_a + 28 * n_b, 32 * (n_a + n_b))
    assert printed(chapter, r"^n_A = (\d), n_B = (\d): ([\d.]+)%") == [
        (n_a, n_b, float(100 * share))
    ]
    before_and_after = 5  # grid, load, comparison and branch, store
    whole = Fraction(
        4 * n_a + 28 * n_b + 32 * before_and_after, 32 * (n_a + n_b + before_and_after)
    )
    assert printed(chapter, r"^counted: ([\d.]+)%, and ([\d.]+)% of the whole") == [
        (float(100 * share), float(100 * whole))
    ]
    assert re.findall(r"^(?:if|else) +([01]{32})", chapter.printed, re.MULTILINE) == [
        f"{0b1111:032b}",
        f"{2**32 - 16:032b}",
    ]


def test_conditions_by_warp_do_not_diverge(chapter):
    found = re.findall(
        r"^(\w[\w ,]+?) +(\d+)% active, (\d) of 2 branches divergent", chapter.printed, re.MULTILINE
    )
    assert {name: int(count) for name, _, count in found} == {
        "every second thread": 2,
        "every second warp": 0,
        "one in twenty, by data": 2,
    }


def diverging(share: Fraction) -> float:
    """Return the chance that 32 lanes part, each on the first side with this share."""
    return float(sum(comb(32, k) * share**k * (1 - share) ** (32 - k) for k in range(1, 32)))


def test_rare_lanes_and_frequent_warps(chapter):
    assert number(chapter.glued["one_percent"]) == round(100 * diverging(Fraction(1, 100)))
    assert number(chapter.glued["ten_percent"]) == round(100 * diverging(Fraction(1, 10)))
    drawn = np.random.default_rng(7).random(32 * 512).reshape(-1, 32)
    rows = printed(chapter, r"^ *([\d.]+)% of lanes: +(\d+)% of warps expected, +(\d+)% counted")
    assert len(rows) == 8
    for lane_share, expected, counted in rows:
        first = (drawn < lane_share / 100).sum(axis=1)
        parted = (first > 0) & (first < 32)
        assert expected == round(
            100 * diverging(Fraction(lane_share).limit_denominator(10_000) / 100)
        )
        assert abs(counted - 100 * parted.mean()) <= 0.5


def test_each_way_of_the_measured_kernel_adds_as_much(chapter):
    rows = recorded("divergence")[0].rows
    ways = [(row.parameters["paths"], row.median_ms) for row in rows if "lanes" in row.case]
    slope, rest = np.polyfit(*zip(*ways, strict=True), 1)
    assert abs(number(chapter.glued["way_us"]) - 1e3 * slope) < 0.1
    assert abs(number(chapter.glued["common_us"]) - 1e3 * rest) < 1
    assert number(chapter.glued["all_ways"]) < 32


def test_sorted_elements_part_one_warp(chapter):
    mixed, after = re.findall(
        r"^(?:as they come|sorted) .*branches: (\d+)$", chapter.printed, re.MULTILINE
    )
    assert int(mixed) > 400 and after == "1"


@pytest.mark.skipif(bool(missing()), reason="no compiler here")
def test_the_repair_pays_where_instructions_are_the_limit(chapter):
    bytes_ms = 1e3 * 8 * 2**28 / 3350e9
    assert f"at least {bytes_ms:.2f} ms for the bytes" in chapter.printed
    rows = re.findall(
        r"^ *(\d+) rounds, \((\d+), \d+\): ([\d.]+) ms, bound by ([\w ]+)$",
        chapter.printed,
        re.MULTILINE,
    )
    times = {(int(rounds), int(wide)): float(ms) for rounds, wide, ms, _ in rows}
    assert len(times) == 4 and min(times.values()) > bytes_ms
    saved = {rounds: 1 - times[rounds, 32] / times[rounds, 16] for rounds in (16, 128)}
    for rounds, name in ((16, "saved_short"), (128, "saved_long")):
        assert number(chapter.glued[name]) == pytest.approx(100 * saved[rounds], abs=1)
    # A round is one multiply-add, and a diverged warp has twice as many of them.
    assert saved[16] < 0.2 < 0.25 < saved[128] < 0.5
    assert chapter.glued["schedulers"] == str(H100.sm.sub_partitions) == "4"


def test_a_warp_loops_for_its_longest_lane(chapter):
    lengths = np.random.default_rng(9).integers(0, 40, 4096).tolist()
    for name, order in (("mixed", lengths), ("sorted", sorted(lengths))):
        trips = sum(max(order[i : i + 32]) for i in range(0, 4096, 32))
        assert printed(chapter, rf"^{name} +(\d+) trips of warps, (\d+)%") == [
            (trips, round(100 * sum(order) / (32 * trips)))
        ]


def test_lanes_that_share_a_loop_differ_by_one_trip_at_most():
    assert all(len({len(range(lane, n, 32)) for lane in range(32)}) <= 2 for n in range(200))
    assert all(
        b - a in (0, 1)
        for n in range(200)
        for b, a in pairwise(len(range(lane, n, 32)) for lane in range(32))
    )


def test_selects_do_not_diverge_in_the_count(chapter):
    found = re.findall(
        r"^(relu_\w+) +(\d+)% active, (\d) divergent, (\d+) issued", chapter.printed, re.MULTILINE
    )
    assert (
        found[1] == ("relu_max", "100", "0", "8") and int(found[0][2]) == 2 and int(found[0][3]) > 8
    )


@pytest.mark.skipif(bool(missing()), reason="no compiler here")
def test_the_compiler_selects(chapter, tmp_path):
    (cell,) = [cell.source for cell in chapter.code if "def relu_if" in cell.source]
    file = tmp_path / "relu.py"
    file.write_text(
        "import numpy as np\nfrom warpwise import cuda\n\n\n" + cell[: cell.index("signs")]
    )
    shown = re.findall(
        r"^(?:relu_\w+)? +((?:FSETP|FSEL|FMNMX)[^;]*?)   ", chapter.printed, re.MULTILINE
    )
    made = []
    for name in ("relu_if", "relu_max"):
        code = compile_kernel(
            load(file).kernels[name], "float32[::1], float32[::1]", (9, 0)
        ).machine_code
        made += [one.text.rstrip(" ;") for one in code if one.text.startswith("F")]
        assert not [one for one in code if one.opcode.startswith("BRA") and one.line]
    assert [re.sub(r"\bR\d+", "R", text) for text in made] == [
        re.sub(r"\bR\d+", "R", text.strip()) for text in shown
    ]


def test_a_long_side_that_few_warps_need_is_jumped_over(chapter):
    rows = re.findall(
        r"^needed by +(\d+)% of warps, (\w+) +([\d,]+) issued", chapter.printed, re.MULTILINE
    )
    by = {(int(share), name): number(issued) for share, name, issued in rows}
    (often, rare) = sorted({share for share, _ in by}, reverse=True)
    assert (
        by[often, "long_select"] == by[rare, "long_select"] > 5 * by[rare, "long_if"]
        and often == 100 > 10 > rare
    )
    normal = np.random.default_rng(11).standard_normal(4096).astype(np.float32).reshape(-1, 32)
    assert rare == round(100 * (normal.max(axis=1) > 3).mean())


def test_votes_count_what_numpy_counts(chapter):
    signs = np.random.default_rng(10).standard_normal(64).reshape(2, 32)
    found = printed(chapter, r"^any, all, how many: \[\{(\d)\}, \{(\d)\}, \{(\d+)\}\]")
    assert found == [(1, 0, (warp < 0).sum()) for warp in signs]


def test_a_warp_sum_reads_once_and_takes_five_steps(chapter):
    assert (chapter.glued["loads_1"], chapter.glued["loads_2"]) == ("64", "2")
    assert number(chapter.glued["fewer"]) > 5
    values = list(range(100, 132))
    for d in (16, 8, 4, 2, 1):
        values = [v + (values[lane + d] if lane + d < 32 else v) for lane, v in enumerate(values)]
    assert values[0] == sum(range(100, 132)) and values.count(values[0]) == 1


def test_a_lane_that_is_not_there_is_an_error(chapter):
    assert "reads from lane 16, which is no thread" in chapter.printed


def test_lanes_that_meet_see_what_was_stored_and_a_sixth_of_others_do_not(chapter):
    found = re.findall(
        r"^syncwarp (\w+) *: right (\w+), races (\d+)", chapter.printed, re.MULTILINE
    )
    assert found == [("False", "True", "1"), ("True", "True", "0")]
    # Of the 6 orders of two lanes' steps, one has both of this lane's before the other's store.
    assert number(chapter.glued["drifted"]) == pytest.approx(32 / 6, abs=0.3)
    assert chapter.glued["met"] == "0"


def test_numbers_of_the_quiz(chapter):
    quiz = chapter.quiz
    assert quiz["simt-lane-of"].right == "Warp {}, lane {}".format(*lanes((16, 16), (3, 5)))
    assert quiz["simt-equal-sides"].right == f"{Fraction(4 * 10 + 28 * 10, 32 * 20) * 100} %"
    assert quiz["simt-by-block"].right == "None"
    assert quiz["simt-rare"].right == "One in four" and 1 / 5 < 1 - 0.99**32 < 1 / 3
    assert (
        quiz["simt-loop"].right == f"{round(100 * sum(range(1, 33)) / 32**2)} %"
        and sum(range(1, 33)) == 528
    )
    assert quiz["simt-shuffle"].right == "Lane 0 only"
