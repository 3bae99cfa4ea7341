"""Feedback: findings on a page and in text, and no number of a hidden case anywhere."""

from __future__ import annotations

import json
import os
import re
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.feedback_pages import cases, given, graded, of_every_kind
from support.few_wrong_answers import few
from support.wrong_answers import wrong_answer

from warpwise import cuda, trace
from warpwise.errors import GradingError
from warpwise.grading import assignment, feedback, grade, notebook, record, shares
from warpwise.grading.behaviour import EVERY, FIRST, UNCLEAR, Probe, behaviour, explanations
from warpwise.grading.feedback import html, values
from warpwise.grading.feedback.explained import SAVE_AGAIN, remedy
from warpwise.grading.record import Counter, Finding, Record, Result
from warpwise.grading.simulate import summary
from warpwise.labs import still
from warpwise.labs.exercise import Call, Launch, Out, Reason
from warpwise.labs.judge import REASONS, judge
from warpwise.labs.source import load_lab, solved_notebook
from warpwise.labs.values import judge_value
from warpwise.simt.launch import dimensions

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
SMALL = 32  # a warp's size: what is not larger tells no size of the data


class Page(HTMLParser):
    """The parts of a page that tests look at."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.words, self.suspicious, self.ids, self.links = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.suspicious += [
            a for a in attributes if a[0] in ("src", "action") or a[0].startswith("on")
        ]
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name == "href"]

    def handle_data(self, data):
        self.words.append(data)


def words(page: str) -> str:
    """Return the words on a page outside pictures."""
    return " ".join(Page(re.sub(r"<(svg|style)\b.*?</\1>", "", page, flags=re.S)).words)


# Secrets that no page may tell.


def numbers(text: str) -> set[str]:
    return {found.replace(",", "") for found in NUMBER.findall(text)}


def secret(stem: str, exercise: str) -> set[str]:
    """Return every number above 32 of an exercise's hidden cases.

    These are sizes, arguments, blocks and the numbers in labels."""
    found = set()
    for case in cases(stem, exercise):
        arguments = [getattr(argument, "start", argument) for argument in case.args]
        shapes = [
            np.atleast_1d(argument.shape)
            for argument in arguments
            if isinstance(argument, (Out, np.ndarray))
        ]
        found |= {str(n) for shape in shapes for n in (*shape, shape.prod())} | numbers(case.label)
        found |= {str(argument) for argument in arguments if type(argument) in (int, float)}
        if isinstance(case, Launch):
            found |= {str(n) for n in dimensions(case.blocks, "blocks")}
    return {one for one in found if float(one) > SMALL}


@pytest.mark.slow
@pytest.mark.parametrize(
    "stem", ["02_simt", "03_memory_hierarchy", "08_coalescing", "11_online_softmax"]
)
def test_no_page_tells_a_number_of_a_hidden_case(stem: str):
    """Numbers that the answer, the lab or the launch itself has may appear."""
    lab = load_lab(stem)
    for answer in few(stem, 4):
        if answer.name == "never_ends":
            continue  # takes seconds to give up, and its message is tested below
        exercise, found = answer.exercise, graded(stem, answer.exercise, answer.text)
        records = [Record("s", "s.ipynb", stem, (Result(exercise, 1, found),))]
        told = words(feedback.page("s", records, {stem: lab})) + feedback.text(
            "s", records, {stem: lab}
        )
        own = numbers(
            answer.text + "\n".join(given(stem)) + "\n".join(cell.source for cell in lab.cells)
        )
        leaked = numbers(re.sub(r"\d+%|[Ll]ine \d+", "", told)) & (secret(stem, exercise) - own)
        assert not leaked, (answer.name, leaked, told)
        assert found.case and (found.case not in told or found.case in answer.text), answer.name
        assert "should be" not in found.detail and "expected" not in found.detail, answer.name
        assert found.behaviour.startswith("fails "), answer.name


@pytest.mark.slow
@pytest.mark.parametrize(
    "stem",
    ["01_why_gpus", "04_roofline", "05_precision", "06_fusion", "09_tiling", "12_flash_attention"],
)
def test_behaviour_has_no_number_but_those_of_warp_and_block(stem: str):
    for exercise in load_lab(stem).exercises:
        drawn = cases(stem, exercise.id)
        blocks = {
            str(n)
            for case in drawn
            if isinstance(case, Launch)
            for n in dimensions(case.threads, "threads")
        }
        for failed in range(len(drawn)):
            right = drawn[:failed] + drawn[failed + 1 :]
            for one in explanations([drawn[failed]], right):
                assert numbers(one.words) <= {"32", *blocks}, one.words
                assert one.words.startswith("fails ") and len(one.words) < 250, one.words


@cuda.jit
def copied_badly(src, dst):
    rows, columns = src.shape
    i = cuda.grid(1)
    if i < rows * columns:
        dst[i % rows, i // rows] = src[i % rows, i // rows]


def test_a_picture_looks_the_same_whatever_the_row_length():
    """Lanes a row apart: the start of the next row would tell the length of rows."""
    drawn = {
        still.picture(trace(copied_badly, 1, 64, *2 * [np.zeros((64, columns), np.float32)]))
        for columns in (64, 96, 160)
    }
    assert len(drawn) == 1
    assert "32 sectors" in drawn.pop()


def test_pictures_of_global_memory_have_no_address():
    for columns in (8, 64):
        figure = still.picture(
            trace(copied_badly, 1, 64, *2 * [np.zeros((64, columns), np.float32)])
        )
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure)
        assert texts[0].endswith(": a warp reads src")
        assert all(int(text) <= SMALL for text in texts if text.isdigit()) and not any(
            "byte " in text for text in texts
        )


# Differences between cases.


def launch(shape, values=None, threads=64, budget=None, **more) -> Launch:
    array = (
        np.ones(shape, np.float32) * 0.5
        + np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7
        if values is None
        else values
    )
    return Launch(
        "secret 4711", 1 << 20, threads, (array, Out(array.shape)), (array,), budget or {}, **more
    )


def call(*args) -> Call:
    return Call("secret", args, 0)


MASKED = np.array([[1, 2, -np.inf], [-np.inf] * 3, [0, 1, 2]], np.float32)
DESCENDING = np.array([0.5, 0.4, 0.1])
EXPLAINED = [
    (
        [launch(64), launch(128)],
        [launch(130), launch(70)],
        "the number of elements is not a multiple of the block's 64 threads",
    ),
    ([launch(33), launch(64)], [launch(1)], "there is only one element"),
    (
        [launch((64, 64)), launch((32, 64))],
        [launch((64, 50))],
        "the number of columns is not a multiple of the block's 64 threads",
    ),
    ([launch((64, 64))], [launch((50, 64))], "the number of rows is not a multiple of 32"),
    ([launch((3, 3))], [launch((3, 3), MASKED)], "a whole row is infinite"),
    (
        [launch(9)],
        [launch(9, np.linspace(90, 100, 9, dtype=np.float32))],
        "values are so large that exp overflows or vanishes",
    ),
    (
        [call(np.array([3, 1, 2]))],
        [call(np.array([1, 1, 2]))],
        "neighbours in an ascending array are equal",
    ),
    ([launch(9)], [launch(9, np.full(9, np.nan, np.float32))], "there is a nan"),
    ([call(2, 3), call(2, 4)], [call(2, 0)], "the second argument is zero"),
    ([call(np.ones(3))], [call(np.ones(0))], "an array has no element"),
    (
        [launch((64, 64)), launch((128, 128))],
        [launch((64, 50)), launch((50, 64))],
        "the number of columns or of rows is not a multiple of 32",
    ),
    (
        [launch((1, 1))],
        [launch((1, 5)), launch((5, 1))],
        "there is more than one column or more than one row",
    ),
    ([call(4, 8), call(6, 8)], [call(4, 5), call(4, 7)], "the second argument is odd"),
    (
        [call(np.array([0.1, 0.4])), call(np.array([0.2, 0.3]))],
        [call(DESCENDING), call(2 * DESCENDING)],
        "values descend",
    ),
    # what fits by chance
    ([call(4, 8)], [call(4, 5)], None),
    ([call(np.array([0.5, 0.7, 2]))], [call(np.array([0.5, 0.5, 2]))], None),
    ([launch(40), launch(41)], [launch(44)], None),
    ([launch(64), launch(130)], [launch(70)], None),  # a right one has the feature too
]


@pytest.mark.parametrize(
    ("right", "failed", "said"),
    EXPLAINED,
    ids=[(said or "nothing")[-30:] for *_, said in EXPLAINED],
)
def test_an_explanation_holds_for_every_failed_case_and_for_no_right_one(right, failed, said):
    found = [one.words for one in explanations(failed, right)]
    assert said is None or f"fails where {said}" in found[:3]
    assert said is not None or not found


def ragged(case: Launch) -> bool:
    return case.want[0].size % 64 != 0


def probe(passes, *fresh: Launch) -> Probe:
    """Return a probe of these cases, judged by a rule."""
    return Probe(lambda: fresh, lambda cases: map(passes, cases))


NEW = [launch(n) for n in (192, 256, 77, 200)]
HALF = [launch(64), launch(130), launch(128), launch(70)], [True, False, True, False]
OF_64 = "fails where the number of elements is not a multiple of the block's 64 threads"


def test_a_behaviour_is_claimed_only_if_new_cases_confirm_it():
    assert behaviour(*HALF, "wrong result", probe(lambda case: not ragged(case), *NEW)) == OF_64
    for passes in (lambda case: True, lambda case: False, ragged):
        assert behaviour(*HALF, "wrong result", probe(passes, *NEW)) == UNCLEAR
    assert behaviour(*HALF, "wrong result") == UNCLEAR
    assert behaviour(*HALF, "wrong result", probe(lambda case: not ragged(case), *NEW[:2])) == (
        UNCLEAR
    )


def test_new_cases_tell_one_explanation_from_another():
    """Both failed cases are larger than a block and ragged; a new one is only one of the two."""
    cases, passed = [launch(64), launch(32), launch(130), launch(70)], [True, True, False, False]
    larger = probe(lambda case: case.want[0].size <= 64, launch(50), launch(128), launch(64))
    assert behaviour(cases, passed, "", larger).startswith(
        "fails where the number of elements is larger than a block"
    )


def test_a_failure_in_every_case_has_nothing_to_set_it_apart():
    cases = [launch(64), launch(40, budget={"barriers": 1}), launch(50, budget={"barriers": 1})]
    assert behaviour(cases, [False] * 3, "wrong result") == EVERY
    of_budget = behaviour(cases, [True, False, False], "over budget: barriers")
    assert of_budget == f"{EVERY} with a budget on barriers"
    assert behaviour(cases, [False], "too slow") == FIRST
    assert behaviour(cases, [True, False], "too slow", probe(ragged, *NEW)) == UNCLEAR


# Student-safe verdict messages.


@cuda.jit
def before_the_start(x, out):
    out[cuda.grid(1)] = x[cuda.grid(1) - 200]


@cuda.jit
def parted_barrier(x, out):
    if cuda.grid(1) < x.size:
        cuda.syncthreads()


@cuda.jit
def no_end(x, out):
    while x[0] > -1:
        pass


@cuda.jit
def shared_unwritten(x, out):
    s = cuda.shared.array(64, np.float32)
    out[cuda.grid(1)] = s[cuda.threadIdx.x]


@cuda.jit
def holds_not(x, out):
    assert x.size < 50


TOLD = {
    before_the_start: [
        "an index is outside x\n",
        "it must be within the array for every thread",
    ],
    parted_barrier: ["only some threads of a block reach this barrier"],
    no_end: ["the kernel did not end within 10 steps: some threads are still in this loop"],
    shared_unwritten: ["an element of s is read", "write that element of s first"],
    holds_not: ["assert x.size < 50 does not hold"],
}


@pytest.mark.parametrize("kernel", TOLD, ids=lambda kernel: kernel.name)
def test_an_error_is_told_without_numbers_of_the_data(kernel):
    case = Launch(
        "secret", 3, 50, (np.ones(143, np.float32), Out(150)), (np.ones(150, np.float32),)
    )
    (verdict,) = judge(kernel, [case], max_steps=10)
    told = summary([verdict], [case])
    said = f"{told.detail}\nTry: {told.advice}"
    for part in TOLD[kernel]:
        assert part in said
    assert f"at {Path(__file__).name}:" in said and not numbers(said) & {"143", "150", "93"}, said


def test_shapes_are_told_as_dimensions():
    call = Call("a", (7,), (np.ones((7, 3)), 7))
    verdict = judge_value(np.ones((2, 2)), call)
    told = summary([verdict], [call])
    assert told.detail == (
        "the function returned an array of float64 with two dimensions; "
        "a tuple of an array of float64 with two dimensions, an int was asked for"
    )
    assert "shape (2, 2)" in verdict.detail and "shape (7, 3)" in verdict.detail


def test_counters_are_told_as_shares_and_no_figure_of_them():
    counters = (
        Counter("global_load_bytes", 9182, 4591),
        Counter("sectors_per_request_load", 16.5, 4.1),
        Counter("op_fp64", 777, 0),
    )
    records = [
        Record(
            "s",
            "s.ipynb",
            "",
            (Result("e", 1, Finding(False, "over budget: op_fp64", counters=counters)),),
        )
    ]
    for said in (words(feedback.page("s", records, {})), feedback.text("s", records, {})):
        assert (
            "about 2.0 times the budget" in said
            and "about 4.0 times the budget" in said
            and "some; the budget allows none" in said
        )
        assert not numbers(said) & {"9182", "4591", "777", "16.5", "4.1"}


@pytest.mark.parametrize(
    ("value", "limit", "said"),
    [
        (0, 40, "none"),
        (1, 40, "about 5% of the budget"),
        (37, 40, "about 90% of the budget"),
        (399, 400, "about 95% of the budget"),
        (40, 40, "exactly what the budget allows"),
        (401, 400, "about 1.1 times the budget"),
        (136, 100, "about 1.4 times the budget"),
        (1234, 100, "10 times the budget or more"),
        (0, 0, "none, as the budget asks"),
    ],
)
def test_a_share_is_coarse_and_on_its_side_of_the_budget(value, limit, said):
    assert shares.against(Counter("global_load_bytes", value, limit)) == said


def test_a_share_of_what_should_be_large_is_of_what_is_asked_for():
    assert shares.against(Counter("warp_efficiency", 0.63, 0.9)) == "about 70% of what is asked for"
    assert shares.against(Counter("warp_efficiency", 0.97, 0.9)) == "as much as asked for"


def test_few_shares_can_be_told_apart_whatever_the_sizes():
    """A kernel can make its loads depend on the size; what it is told must not give that away."""
    told = {
        shares.against(Counter("global_load_requests", loads, size))
        for size in range(1, 200)
        for loads in range(1, 20 * size)
    }
    assert len(told) <= 110
    page = {
        html.length(values._bar(Counter("global_load_requests", loads, size)))
        for size in range(1, 200)
        for loads in range(1, size)
    }
    assert len(page) <= 20


# Pictures.


@pytest.mark.parametrize(
    ("stem", "name", "shows"),
    [
        ("08_coalescing", "uncoalesced_copy", "Line 8: a warp reads src"),
        ("08_coalescing", "bank_conflicts_left_in", "31 bank conflicts"),
        ("02_simt", "slow_stereo_unchanged", "runs with a part of the lanes"),
        ("08_coalescing", "guard_of_particles", "a warp reads particles"),
    ],
)
def test_a_failed_kernel_has_the_picture_that_its_reason_asks_for(stem: str, name: str, shows: str):
    answer = wrong_answer(stem, name)
    found = graded(stem, answer.exercise, answer.text)
    assert shows in found.picture
    assert 'role="img"' in found.picture and len(found.picture.encode()) <= still.MOST_BYTES
    assert not {"script", "img", "link"} & set(Page(found.picture).tags)


def test_a_right_kernel_has_no_picture_and_one_without_requests_none_either():
    solution = next(
        c.source
        for c in solved_notebook(load_lab("08_coalescing")).cells
        if "def copy_matrix" in c.source
    )
    found = graded("08_coalescing", "copy_matrix", solution)
    assert found.passed and found.picture == "" and found.behaviour == ""

    @cuda.jit
    def idle(x):
        pass

    assert "<script" not in still.picture(trace(idle, 1, 32, np.zeros(4)))


def test_text_of_the_kernel_is_escaped_in_its_picture():
    @cuda.jit
    def marked(x):
        if cuda.grid(1) < 5:
            x[cuda.grid(1)] = 1  # <script> </figure>

    for reason in ("", "over budget: warp_efficiency"):
        drawn = still.picture(trace(marked, 1, 32, np.zeros(32, np.float32)), reason)
        assert "<script>" not in drawn and drawn.count("</figure>") == 1


# Pages.


def test_a_page_tells_all_that_the_issue_asks_for():
    records, labs = of_every_kind()
    page, text = (
        say("Ada", records, labs, {"08_coalescing": ["Two days late: 20 % off."]})
        for say in (feedback.page, feedback.text)
    )
    for said in (words(page), re.sub(r"\s+", " ", text)):
        said = re.sub(r"\s+", " ", said)
        for wanted in (
            "Lab 8: Coalescing",
            "Give neighbouring lanes neighbouring elements",
            "4 of 9 right: it fails",
            "Two days late: 20 % off.",
            "about 7.8 times the budget",
            "neighbouring lanes should access",
            "Hint 2: which threads are neighbours",
            "all 7 right",
            "could not be graded",
            "Race",
            "an index is outside x",
            "a warp reads src",
            "The file was cut off",
        ):
            assert wanted.lower() in said.lower(), wanted


def test_pages_run_nothing_load_nothing_and_escape_what_came_from_outside():
    records, labs = of_every_kind()
    page = Page(
        text := feedback.page(
            "<script>alert(1)</script>", records, labs, {"08_coalescing": ["<i>"]}
        )
    )
    assert not {"script", "img", "link", "iframe", "object", "i>"} & set(page.tags)
    assert (
        page.suspicious == []
        and "default-src 'none'" in text
        and "&lt;script&gt;" in text
        and "&lt;i&gt;" in text
    )
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids) and len(
        page.links
    ) == len(set(page.links)) > 10
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))


def test_text_has_80_columns_and_nothing_that_moves_a_cursor():
    records, labs = of_every_kind()
    still = "<figcaption>a &lt; b <code>x</code></figcaption>"
    odd = Finding(False, "race", "race on \x1b[2J\u202ex\n    line " + 100 * "y", picture=still)
    text = feedback.text("Ada \x07", [*records, Record("s", "s", "", (Result("e", 1, odd),))], labs)
    assert max(map(len, text.splitlines())) <= 80
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "a < b x" in text


PROBLEMS = {
    "empty": b"",
    "cut off": b'{"nbformat": 4, "cells": [',
    "latin": b"\xff\xfe\x00",
    "a list": b"[]",
    "old": b'{"nbformat": 3}',
    "no cells": b'{"nbformat": 4}',
    "deep": b"[" * 100_000,
    "large": b" " * (notebook.MOST_BYTES + 1),
}


def problem_of(path: Path) -> str:
    with pytest.raises(GradingError) as caught:
        notebook.read(path)
    return str(caught.value)


def test_each_malformed_file_gets_advice_of_its_own(tmp_path: Path):
    said = {}
    for name, content in PROBLEMS.items():
        (tmp_path / name).write_bytes(content)
        said[name] = problem_of(tmp_path / name)
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    os.mkfifo(tmp_path / "pipe")
    said |= {
        "link": problem_of(tmp_path / "link"),
        "pipe": problem_of(tmp_path / "pipe"),
        "unknown": assignment.UNKNOWN_LAB,
        "elsewhere": assignment.ELSEWHERE.format("01_why_gpus", "08_coalescing"),
    }
    said |= {
        "second": "a second notebook for this lab; a.ipynb was graded",
        "nothing": "handed in nothing: an empty folder or archive",
    }
    advice = {name: remedy(problem) for name, problem in said.items()}
    assert all(one != SAVE_AGAIN for one in advice.values()), advice
    # Three files are JSON, but no notebooks.
    assert len(set(advice.values())) >= len(advice) - 2, advice
    for name, problem in said.items():
        for say in (feedback.page, feedback.text):
            told = " ".join(say("s", [Record("s", "s", problem=problem)], {}).split())
            assert escape(advice[name]) in told and "could not be graded" in told


def test_every_reason_has_an_explanation():
    reasons = {value for name, value in vars(Reason).items() if name.isupper()} - {
        Reason.OVER_BUDGET
    }
    assert reasons | set(REASONS.values()) | set(record.STOPPED.values()) <= set(feedback.EXPLAINED)


def test_a_graded_submission_keeps_behaviour_and_picture(sandbox, tmp_path: Path):
    made = json.loads(json.dumps(solved_notebook(load_lab("08_coalescing"))))
    for cell in made["cells"]:
        if cell["metadata"].get("warpwise", {}).get("id") == "copy_matrix":
            cell["source"] = wrong_answer("08_coalescing", "uncoalesced_copy").text
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "ada.ipynb").write_text(json.dumps(made), "utf-8")
    (found,) = grade(tmp_path / "s", tmp_path / "out", lab="08_coalescing", seed=SMALL)
    failed = next(result.finding for result in found.results if not result.finding.passed)
    assert (
        failed.behaviour.startswith("fails in every case with a budget on")
        and "<svg" in failed.picture
    )
    page = next((tmp_path / "out" / "feedback").glob("*.html")).read_text("utf-8")
    assert "<svg" in page and failed.case not in words(page)
