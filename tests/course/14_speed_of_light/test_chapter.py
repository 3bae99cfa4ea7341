"""Chapter 14: its form, and its claims.

Counts are compared with closed forms worked out here by hand, and what is kept of the compiler and
of the stopwatch with what they say today."""

from __future__ import annotations

import json
import re
from math import sqrt
from typing import ClassVar

import machine_code
import predictions
import pytest
from support import compiler_verdict
from support.chapter_form import ChapterForm, number, run
from support.lab_cases import cells, module_text, names_of, visible_cases
from support.measured import off, record, rows
from support.paths import ROOT
from support.wrong_answers import wrong_answers

from warpwise.grading import extract
from warpwise.kernels import sgemm
from warpwise.labs.compiler_budget import budget_of
from warpwise.labs.source import load_lab
from warpwise.stopwatch import find
from warpwise.toolchain import missing

pytestmark = pytest.mark.slow  # its cells are run

STEM = "14_speed_of_light"
PUBLISHED = {1: 309.0, 2: 1986.5, 3: 2980.3, 4: 8474.7, 5: 15971.7, 6: 18237.3, 7: 21779.3}
CUBLAS = 23249.6
SMS, GHZ = 84, 1.8
KEPT = json.loads((ROOT / "chapters/compiled/sgemm.json").read_text("utf-8"))["steps"]
needs_compiler = pytest.mark.skipif(bool(missing()), reason="no compiler")


def kept(step: int) -> dict:
    return KEPT[sgemm.STEPS[step - 1].name]


def clocks(gflops: float) -> float:
    """Return an SM's clocks for 64 FLOP, those of a warp's multiply-add."""
    return 64 / (gflops / SMS / GHZ)


def test_the_lab_has_the_published_figures_of_the_chapter():
    lab = (ROOT / f"solutions/{STEM}.md").read_text("utf-8")
    told = re.search(r"^published = \{(.*?)^\}", lab, re.DOTALL | re.MULTILINE)[1]
    assert list(map(float, re.findall(r": ([\d.]+)", told))) == [*PUBLISHED.values(), CUBLAS]


class TestForm(ChapterForm):
    stem = STEM
    sourced: ClassVar = {
        "4092": "rows of the matrices measured (boehm2022)",
        "1.80": "GHz, of the data sheet",
        "94": "% of cuBLAS (boehm2022)",
        "758": "TFLOP/s (gordic2025)",
        "764": "TFLOP/s (gordic2025)",
        "295": "TFLOP/s (he2024predictable)",
        "257": "TFLOP/s (he2024predictable)",
        "1.6": "GHz under load (flashmla2025)",
        "2010": "year (volkov2010)",
        "8.6": "compute capability of the A6000",
        "60": "minutes",
        "150": "minutes, as the lab says",
        "210": "minutes, as the lab says",
    }
    chosen: ClassVar = {
        "1": "step",
        "2": "step",
        "3": "step",
        "4": "step; columns of lanes in a warp's tile",
        "5": "step",
        "6": "step",
        "7": "step",
        "8": "step; a side of a patch",
        "9": "a register in a listing",
        "16": "bytes of a wide access; a side of a patch",
        "32": "lanes; columns of a warp's tile",
        "64": "rows of a warp's tile; bits of an address",
        "128": "words of a row; blocks of a wave",
        "512": "bytes of a warp's wide load",
        "4,096": "rows predicted",
    }

    def test_what_one_multiply_add_asks_for_is_the_formula_s(self, chapter):
        told = re.findall(
            r"^ +(\d) (\d+) x *(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$",
            chapter.printed,
            re.MULTILINE,
        )
        assert [int(row[0]) for row in told] == [1, 3, 4, 5, 7, 8]
        for step, r, s, derived, counted, of_patch, from_shared in told:
            assert of_patch == from_shared
            if step != "1":
                assert float(of_patch) == pytest.approx(1 / int(r) + 1 / int(s), abs=1e-4)
            # 32 columns of A, and one tile of 8 too many
            ahead = 40 / 32 if step in "78" else 1
            assert float(counted) == pytest.approx(float(derived) * ahead, abs=1e-4)

    def test_clocks_of_steps_that_can_be_counted_by_hand(self, chapter):
        # Sixteen addresses a clock: two clocks a load. Step 4 loads 9 for 8 products.
        assert number(chapter.glued["l1_naive"]) == 32 + 2
        assert number(chapter.glued["l1_row"]) == number(chapter.glued["clocks_three"]) == 2 + 2
        assert number(chapter.glued["shared_four"]) == 2 * 9 / 8
        # Step 5: 8 loads of A in 2 clocks, 8 of B in 4: 16 words, 8 apart, in 4 banks.
        assert number(chapter.glued["shared_five"]) == (8 * 2 + 8 * 4) / 64
        # Step 6: two loads of A in 2 clocks, two of B in 8. Step 7: all four in 2.
        assert number(chapter.glued["shared_six"]) == round((2 * 2 + 2 * 8) / 64, 2)
        assert number(chapter.glued["shared_seven"]) == 4 * 2 / 64

    def test_published_figures_in_clocks_and_as_shares(self, chapter):
        glued = chapter.glued
        assert number(glued["published_naive"]) == round(clocks(PUBLISHED[1]))
        assert glued["share_naive"] == f"{100 * PUBLISHED[1] / CUBLAS:.1f}"
        assert glued["share_seven"] == "94"
        assert PUBLISHED[7] / PUBLISHED[1] == pytest.approx(70, abs=1)  # "seventyfold"
        gains = {n: PUBLISHED[n] / PUBLISHED[n - 1] for n in range(2, 8)}
        assert sorted(gains, key=gains.get)[-3:] == [5, 4, 2]  # "the two largest after the first"
        for name, step in (("gain_three", 3), ("times_four", 4), ("times_five", 5)):
            assert glued[name] == f"{gains[step]:.1f}"
        assert glued["times_six"] == f"{gains[6]:.2f}" and glued["times_seven"] == f"{gains[7]:.2f}"

    def test_the_first_table_names_the_scarcest(self, chapter):
        rows = re.findall(
            r"^(\d) +([\d.]+) +([\d.]+) +([\d.]+) (\w+) +([\d.]+|-)$",
            chapter.printed,
            re.MULTILINE,
        )
        names = ("L1", "shared", "issue")
        assert [int(row[0]) for row in rows] == list(range(1, 9))
        for _, *takes, scarce, _ in rows:
            assert names[max(range(3), key=lambda i: float(takes[i]))] == scarce
        assert [row[4] for row in rows] == ["L1"] * 2 + ["shared"] * 4 + ["issue"] * 2
        for step, row in enumerate(rows[:7], 1):
            assert float(row[5]) == pytest.approx(clocks(PUBLISHED[step]), abs=0.006)

    def test_compiled_loads_explain_what_is_below_the_count(self, chapter):
        assert (chapter.glued["narrow"], chapter.glued["wide"]) == ("32", "8")
        for step in (3, 4, 5):
            opcodes = kept(step)["opcodes"]
            of_source = opcodes["FFMA"] * {3: 2, 4: 9 / 8, 5: 1 / 4}[step]
            assert opcodes["LDS"] + 4 * opcodes["LDS.128"] == of_source
            assert opcodes["LDS"] + opcodes["LDS.128"] < of_source

    def test_the_loop_that_is_read(self, chapter):
        glued, loop = chapter.glued, kept(2)["loop"]
        counting = [text for line, text in loop if line.startswith("for ")]
        assert int(glued["counting"]) == len(counting) == 4 * (2 + 1 + 2) + 1
        assert sum("ISETP" in text for text in counting) == 8
        assert glued["counting_share"] == f"{100 * len(counting) / len(loop):.0f}"
        assert int(glued["loop_all"]) == 50 and glued["fma_share"] == "8"
        assert number(glued["slots_two"]) == 50 / 4
        listing = " ".join(text for step in (2, 7) for _, text in kept(step)["loop"])
        table = chapter.text[chapter.text.index("| instruction | does |") :].split("\n\n")[0]
        words = re.findall(r"`(?:@P0 )?([A-Z]{3,}\d?)\b", table)
        assert {name for name in words if name not in listing} == {"LEA", "STG"}  # elsewhere
        assert len(set(words)) == 12

    def test_registers_and_occupancy(self, chapter):
        shown = re.findall(
            r"^ +(\d) +(\d+) +0 +(\d+) of 48 +(\d+)%$", chapter.printed, re.MULTILINE
        )
        assert len(shown) == 8
        for step, registers, warps, share in shown:
            opcodes = kept(int(step))["opcodes"]
            assert int(share) == round(100 * opcodes["FFMA"] / sum(opcodes.values()))
            threads = kept(int(step))["threads"]
            by_warps = 48 * 32 // threads
            by_registers = 65536 // (-(-int(registers) * 32 // 256) * 256 * threads // 32)
            assert int(warps) == min(by_warps, by_registers) * threads // 32

    def test_a_scheduler_s_slots_follow_little_s_law(self, chapter):
        for warps in (1, 2, 4):
            told = re.search(rf"^warps {warps}: (.*)$", chapter.printed, re.MULTILINE)[1].split()
            assert [float(one) for one in told] == [min(1, warps * c / 4) for c in (1, 2, 4)]

    def test_the_order_of_blocks(self, chapter):
        glued = chapter.glued
        assert [int(glued[name]) for name in ("row", "grouped", "hilbert")] == [36, 24, 24]
        assert glued["square"] == f"{2 * sqrt(128):.1f}"

    def test_the_speed_of_light(self, chapter):
        glued = chapter.glued
        peak = 2 * SMS * 128 * GHZ / 1e3
        assert f"at 1.80 GHz: {peak:.1f} TFLOP/s" in chapter.printed
        assert glued["at_sheet"] == f"{CUBLAS / 10 / peak:.0f}"
        assert number(glued["least_ghz"]) == pytest.approx(
            CUBLAS / 1e3 / (2 * SMS * 0.128), abs=0.01
        )
        assert (glued["sheet"], glued["bits"]) == ("989", "865")
        assert glued["zeros_gain"] == "15" and glued["order_gain"] == "0.8"

    def test_dares_can_be_met(self):
        assert 132 in [p for p in range(129, 160) if p % 4 == 0 and 4 * p % 32 == 16]
        groups = {g: g + -(-132 // g) for g in range(1, 33)}
        assert min(groups.values()) == groups[11] == groups[12] == 23

    def test_quiz_answers(self, chapter):
        right = {
            name.removeprefix("light-"): question.right for name, question in chapter.quiz.items()
        }
        assert right["patch"] == "5/16" and 1 / 16 + 1 / 4 == 5 / 16
        assert right["sass"] == f"{100 * 512 / (512 + 32 + 31):.0f} %"
        assert right["order"] == f"{1 + 64} and {2 * sqrt(64):.0f}"


def test_an_h200_beside_its_predictions():
    glued = run(STEM).glued
    facts, ladder = record("sgemm_ladder"), rows("sgemm_ladder", "sgemm 4096")
    assert facts["clocks"]["clocks.sm"] == [1980, 1980]
    light = 132 * 128 * 2 * 1.98 / 1e3  # TFLOP/s
    best, library = ladder["sgemm_7_warp_tile"]["TFLOP_per_s"], ladder["cupy"]["TFLOP_per_s"]
    assert number(glued["library"]) == round(100 * library / light)
    assert number(glued["of_library"]) == round(100 * best / library)
    steps = {name: row for name, row in ladder.items() if row["by"] == "numba"}
    slower = steps["sgemm_7_warp_tile"]["median_ms"] / steps["sgemm_8_wide_thread"]["median_ms"]
    assert number(glued["eight"]) == round(100 * (slower - 1)) < 0
    errors = {name: off(row) for name, row in steps.items()}
    assert min(errors, key=errors.get) == "sgemm_2_coalesced"
    assert number(glued["too_short"]) == round(-min(errors.values()))
    assert number(glued["too_long"]) == round(max(errors.values()))
    assert number(glued["seven_short"]) == round(-errors["sgemm_7_warp_tile"])


@needs_compiler
def test_what_is_kept_of_the_compiler_is_what_it_makes_today():
    """`.venv/bin/python tools/machine_code.py` keeps it anew."""
    assert machine_code.FILE.read_text("utf-8") == machine_code.written()


@needs_compiler
def test_a_sample_of_the_predictions_is_what_the_stopwatch_says_today():
    """`make predictions` keeps them anew."""
    rows = json.loads((ROOT / "measurements/predicted/rtx-a6000.json").read_text("utf-8"))["rows"]
    (row,) = (one for one in rows if one["variant"] == "sgemm_2_coalesced")
    today = predictions.timed(sgemm.STEPS[1], find("RTX A6000")).seconds
    assert row["predicted_ms"][0] == pytest.approx(1e3 * today, rel=0.02)


def test_the_lab_s_ladder_lines_up_kernels_on_one_product():
    """Else its columns could not be compared."""
    cases = [visible_cases(STEM)[name][0] for name in ("patch", "turned", "ahead")]
    assert len({(case.label, case.blocks, case.threads) for case in cases}) == 1


@pytest.mark.parametrize(("number", "more"), [(4, "OWN"), (5, "of_b"), (6, "multiply")])
def test_the_lab_gives_the_step_before_as_text(number, more):
    text = names_of(STEM)["published_step"](number)
    assert f"def sgemm_{number}_" in text and more in text


OTHERS = sorted((ROOT / "tests/course" / STEM / "correct").glob("*.py"))


@needs_compiler
@pytest.mark.parametrize("path", [None, *OTHERS], ids=lambda path: path.stem if path else "ours")
def test_right_kernels_keep_far_from_the_budget_of_an_issue_slot(path):
    """The lab says that they get 26 to 45, of which 16 are asked for."""
    slots = [flops_per_issue_slot(e.id, path.read_text() if path else "") for e in KERNELS]
    assert all(25.5 <= value < 45.5 for value in slots), slots


@needs_compiler
def test_a_division_for_each_read_takes_more_than_half_of_the_budget():
    """The lab says that no more than 7 are left."""
    texts = {a.name: (a.exercise, a.text) for a in wrong_answers(STEM) if "divides_by" in a.name}
    assert len(texts) == 2
    for exercise, text in texts.values():
        assert flops_per_issue_slot(exercise, text) < 7.5


KERNELS = [exercise for exercise in load_lab(STEM).exercises if exercise.kind == "kernel"]


def flops_per_issue_slot(id: str, submission: str) -> float:
    """Return what the machine code of one of the lab's kernels has."""
    exercise = load_lab(STEM).exercise(id)
    text = module_text(STEM, exercise, submission)
    kernel = extract.kernel(text, exercise.name, given=cells(STEM, "given"))
    types, _ = budget_of(visible_cases(STEM)[id])
    return compiler_verdict.taken(kernel, types).flops_per_issue_slot
