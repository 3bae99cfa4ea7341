"""Labs as a student and as a grader meet them: untouched they fail, solved they pass, and each
known mistake fails for its own reason."""

from __future__ import annotations

import os
from itertools import chain

import numpy as np
import pytest
from support import compiler_verdict, rooms
from support.lab_cases import STEMS, cells, drawn, hidden_cases, lab, module_text, visible_cases
from support.paths import ROOT
from support.share import share_of_kinds
from support.wrong_answers import kind, wrong_answers

from warpwise.errors import LabError
from warpwise.grading import extract
from warpwise.grading.host import judge_function
from warpwise.hopper import TensorMap
from warpwise.labs import Call, InOut, Launch, Program
from warpwise.labs.exercise import LEAST_MOST_BYTES
from warpwise.labs.judge import judge
from warpwise.labs.source import (
    BEGIN,
    END,
    load_lab,
    problems,
    stub,
    student_notebook,
)
from warpwise.simt import kernels_in

pytestmark = pytest.mark.usefixtures("closed_rooms")

WRONG = share_of_kinds((a for stem in STEMS for a in wrong_answers(stem)), kind, one_in=8)
CORRECT = sorted((ROOT / "tests/course").glob("*/correct/*.py"))
#: right answers that are held against visible cases, too
SHOWN = share_of_kinds(CORRECT, lambda path: path.parts[-3], one_in=len(CORRECT))
SEEDS = range(int(os.environ.get("WARPWISE_SEEDS", "1")))  #: `make seeds` takes twenty


def reasons(stem: str, text: str, exercise, seed: int) -> str:
    """Return what the hidden tests say about one exercise of a module: the first reason that is not
    "passed", or "passed"."""
    cases = hidden_cases(stem, exercise.id, seed)
    assert len(cases) >= 5
    return verdict(stem, text, exercise, cases)


def verdict(stem: str, text: str, exercise, cases) -> str:
    """Return the grader's reason for one exercise of a module, given its cases."""
    given = cells(stem, "given")
    if exercise.kind == "kernel":
        kernel = extract.kernel(text, exercise.name, given=given)
        return compiler_verdict.last(kernel, cases, judge(kernel, cases, record=())).reason
    function = extract.host_function(text, exercise.name, given=given)
    mode, warm = rooms.found()  # one sandbox for all of them, as the grader has it
    return judge_function(function, exercise.name, cases, mode, warm=warm).reason


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_hidden_tests_pass_the_solution_and_refuse_the_stub(stem):
    untouched = kernels_in(
        "\n\n".join(c.source for c in student_notebook(lab(stem)).cells if c.cell_type == "code")
    )
    for exercise in lab(stem).exercises:
        for seed in SEEDS:
            assert reasons(stem, module_text(stem, exercise), exercise, seed) == "passed", exercise
        if exercise.kind == "kernel":
            assert judge(untouched[exercise.name], [])[-1].reason == "not done yet"


@pytest.mark.slow
@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: f"{answer.lab}-{answer.name}")
def test_each_wrong_submission_fails_for_its_own_reason(answer):
    text, stem, id = answer.text, answer.lab, answer.exercise
    for exercise in lab(stem).exercises:
        if f"def {exercise.name}(" not in text:
            continue  # it is the solution's
        seeds = SEEDS if exercise.id == id else SEEDS[:1]
        found = {reasons(stem, module_text(stem, exercise, text), exercise, seed) for seed in seeds}
        assert found == ({answer.reason} if exercise.id == id else {"passed"}), exercise.id


@pytest.mark.slow
@pytest.mark.parametrize("path", CORRECT, ids=lambda p: f"{p.parts[-3]}-{p.stem}")
def test_other_right_answers_pass(path):
    text, stem = path.read_text(), path.parts[-3]
    visible = visible_cases(stem)
    for exercise in load_lab(stem).exercises:
        assert f"def {exercise.name}(" in text
        module = module_text(stem, exercise, text)
        asked = [hidden_cases(stem, exercise.id, seed) for seed in SEEDS]
        if path in SHOWN:
            asked.append(visible[exercise.id])
        if exercise.kind == "kernel":
            asked = [[*chain(*asked)]]  # read and compiled once; limits of memory are a call's own
        for cases in asked:
            assert verdict(stem, module, exercise, cases) == "passed", exercise.id


@pytest.mark.parametrize("stem", STEMS)
def test_there_are_wrong_and_right_submissions_for_each_lab(stem):
    assert len(wrong_answers(stem)) >= 6
    assert len([p for p in CORRECT if p.parts[-3] == stem]) >= 2
    named = {answer.exercise for answer in wrong_answers(stem)}
    assert named == {exercise.id for exercise in load_lab(stem).exercises}


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_hidden_tests_differ_between_seeds_and_repeat_with_one(stem):
    for exercise in load_lab(stem).exercises:
        kept = [case.label for case in hidden_cases(stem, exercise.id)]
        again, others = ([case.label for case in drawn(stem, exercise.id, s)] for s in (0, 1))
        assert kept == again != others


@pytest.mark.parametrize("stem", STEMS)
def test_hidden_cases_are_not_the_visible_ones(stem):
    shown = visible_cases(stem)
    for exercise in load_lab(stem).exercises:
        cases = hidden_cases(stem, exercise.id)
        fresh = [
            case for case in cases if all(asked(case) != asked(one) for one in shown[exercise.id])
        ]
        assert len(fresh) >= 5, exercise.id


@pytest.mark.parametrize("stem", STEMS)
def test_hidden_calls_allow_memory_that_the_grader_can_tell_from_pythons(stem):
    calls = [
        case for exercise in load_lab(stem).exercises for case in hidden_cases(stem, exercise.id)
    ]
    assert all(
        call.most_bytes is None or call.most_bytes >= LEAST_MOST_BYTES
        for call in calls
        if isinstance(call, Call)
    )


def asked(case) -> tuple:
    """Return what makes two cases the same question: the launch's shape, numbers, and the shapes of
    arrays; of a call all its arguments, of a program those of all ranks."""
    if isinstance(case, Launch):
        args = [a.start if isinstance(a, InOut) else a for a in case.args]
        arrays = [a.array if isinstance(a, TensorMap) else a for a in args]
        return case.blocks, case.threads, *(getattr(a, "shape", a) for a in arrays)
    args = [a for each in case.each for a in each] if isinstance(case, Program) else case.args
    return tuple((a.shape, a.tobytes()) if isinstance(a, np.ndarray) else a for a in args)


# The source.


def test_a_stub_keeps_what_stands_around_the_solution():
    solution = f"    {BEGIN}\n    # why\n    y += 1\n\n    y += 2\n    {END}\n"
    source = f"def f(x):\n    y = x\n{solution}    return y"
    assert stub(source) == "def f(x):\n    y = x\n    ...  # roughly 2 lines\n    return y"
    assert stub(f"{BEGIN}\na = 1\n{END}") == "...  # roughly 1 line"


GOOD = (ROOT / "solutions/08_coalescing.md").read_text()
BROKEN = {
    "needs ### BEGIN": GOOD.replace(f"    {END}\n", "", 1),
    "has fewer than two hints": GOOD.replace("<details>", "", 3),
    "needs one exercise cell and one check cell": GOOD.replace(
        "{check: transpose}", "{check: transposed}"
    ),
    "is checked twice": GOOD.replace("{check: transpose}", "{check: column_sums}"),
    "does not define copy_matrix": GOOD.replace(
        "def copy_matrix(src, dst)", "def copy(src, dst)", 1
    ),
    "is of kind 'gpu'": GOOD.replace("kind: host", "kind: gpu"),
    "has none of the tags": GOOD.replace(":tags: [explore]", ":tags: [mine]"),
    "needs a title": GOOD.replace("# Lab 8", "Lab 8"),
    "exercises of choice 'one' need the same points": GOOD.replace(
        "name: transpose}", "name: transpose, choice: one}"
    ).replace("name: sectors_for}", "name: sectors_for, choice: one}"),
    "needs warpwise: id": GOOD.replace("points: 2, kind: host,", "kind: host,"),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_source_is_refused_with_what_is_wrong(message, tmp_path):
    assert BROKEN[message] != GOOD
    (tmp_path / "08_broken.md").write_text(BROKEN[message])
    with pytest.raises(LabError, match=message):
        load_lab(tmp_path / "08_broken.md")


def test_an_unknown_lab_or_exercise_is_named():
    with pytest.raises(LabError, match=r"no solutions/99_nothing\.md"):
        load_lab("99_nothing")
    found = load_lab(ROOT / "labs/08_coalescing.ipynb")
    assert problems(found) == []
    assert found.exercise("transpose").points == 3
    with pytest.raises(LabError, match="no exercise 'matmul'"):
        found.exercise("matmul")
