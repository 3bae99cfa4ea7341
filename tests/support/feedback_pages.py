"""Feedback made from real gradings of wrong answers, which the tests of its pages share."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from support.paths import ROOT
from support.wrong_answers import wrong_answer
from warpwise.grading import extract, hidden, sandbox
from warpwise.grading.host import judge_function
from warpwise.grading.notebook import Answer
from warpwise.grading.record import NOT_GRADED, Finding, Record, Result, Visible
from warpwise.grading.simulate import judge_answer
from warpwise.grading.store import finding
from warpwise.labs.source import Lab, load_lab, role

SEED = 20_26
#: Counters of global and shared memory, lanes, a race, errors, missing elements; the other
#: exercises are right.
KINDS = {
    "08_coalescing": (
        "uncoalesced_copy",
        "half_a_sector",
        "missing_barrier_in_the_sum",
        "guard_of_particles",
        "bank_conflicts_left_in",
    ),
    "02_simt": ("slow_stereo_unchanged", "settle_without_a_guard", "shuffles_under_the_guard"),
}
CUT_OFF = (
    "the file is not a notebook: its JSON breaks off or is wrong "
    "(Expecting value: line 1 column 1 (char 0))"
)


@cache
def given(stem: str) -> tuple[str, ...]:
    return tuple(cell.source for cell in load_lab(stem).cells if role(cell) == "given")


@cache
def hidden_tests(stem: str) -> ModuleType:
    """Return a lab's hidden tests: one module, by which the grader knows the cases it has drawn."""
    return hidden.load(ROOT, stem)


@cache
def cases(stem: str, exercise: str) -> tuple:
    return hidden.cases(hidden_tests(stem), exercise, SEED)


def graded(stem: str, id: str, text: str) -> Finding:
    """Grade an answer to an exercise: kernels simulated, functions in a process of their own."""
    exercise = load_lab(stem).exercise(id)
    if exercise.kind == "host":
        cut = extract.host_function(text, exercise.name, (), given(stem))
        return judge_function(cut, exercise.name, cases(stem, exercise.id), sandbox.NONE)
    answer = Answer(exercise.id, exercise.kind, exercise.name, text)
    return finding(judge_answer(answer, hidden_tests(stem), SEED, given(stem))["finding"])


@cache
def of_every_kind() -> tuple[tuple[Record, ...], dict[str, Lab]]:
    """Grade a student with right and wrong answers of many kinds.

    One file is cut off, and one belongs to no known lab."""
    records = []
    for stem, names in KINDS.items():
        answers = [wrong_answer(stem, name) for name in names]
        found = {a.exercise: graded(stem, a.exercise, a.text) for a in answers}
        rest = Finding(True, "passed", tried=7, cases=7)
        results = [
            Result(e.id, e.points, found.get(e.id, rest), Visible("passes"), e.choice)
            for e in load_lab(stem).exercises
        ]
        records.append(Record("ada", f"ada/{stem}.ipynb", stem, tuple(results)))
    ungraded = tuple(
        Result(e.id, e.points, Finding(False, NOT_GRADED)) for e in load_lab("09_tiling").exercises
    )
    records.append(Record("ada", "ada/09_tiling.ipynb", "09_tiling", ungraded, CUT_OFF))
    records.append(
        Record(
            "ada",
            "ada/<b>&.ipynb",
            "",
            (),
            "which lab this is cannot be told from its name or its content",
        )
    )
    return tuple(records), {stem: load_lab(stem) for stem in (*KINDS, "09_tiling")}
