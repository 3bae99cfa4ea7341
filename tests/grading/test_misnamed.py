"""A function whose name is not that of its exercise: the student is told what was found."""

from __future__ import annotations

import pytest
from support.feedback_pages import given
from support.paths import ROOT

from warpwise.grading import extract, feedback, hidden, notebook, simulate
from warpwise.grading.notebook import Answer, Cell, Notebook
from warpwise.grading.record import NOT_PYTHON
from warpwise.labs.exercise import Reason
from warpwise.labs.source import load_lab

LAB = load_lab("08_coalescing")
KERNEL = "@cuda.jit\ndef {}(src, dst):\n    pass_ = 1\n"


def finding(text: str, name: str = "transpose", kind: str = "kernel") -> dict:
    tests = hidden.load(ROOT, LAB.stem)
    found = simulate.judge_answer(Answer(name, kind, name, text), tests, 1, given(LAB.stem))
    return found["finding"]


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        (
            KERNEL.format("trnspose"),
            "kernel",
            "found `trnspose`; the exercise asks for `transpose`",
        ),
        (
            f"{KERNEL.format('helper')}\n{KERNEL.format('transposed')}",
            "kernel",
            "found `transposed`; the exercise asks for `transpose`",
        ),
        (
            "def f(x):\n    return x\n",
            "host",
            "found `f`; the exercise asks for `transpose`",
        ),
        ("x = 1\n", "kernel", "the exercise's cell has no kernel called transpose"),
        (
            KERNEL.format("a") + KERNEL.format("b"),
            "host",
            "the exercise's cell has no function called transpose",
        ),
        (
            "def transpose(src, dst):\n    dst[0] = 1\n",
            "kernel",
            "`transpose` is a plain function; the exercise asks for a kernel",
        ),
    ],
)
def test_it_is_a_name_that_is_not_defined_with_what_was_found(text, kind, detail):
    found = finding(text, kind=kind)
    assert (found["reason"], found["detail"]) == (Reason.NOT_DEFINED, detail)
    assert found["advice"] in (
        "keep the name that the exercise's cell had: transpose",
        "write @cuda.jit above it",
    )
    assert found["tried"] == 0 and not found["counters"]  # no case had a part in it


def test_what_cannot_be_read_is_still_not_python():
    assert finding("def transpose(:\n")["reason"] == NOT_PYTHON


def test_the_reason_has_a_sentence_of_its_own():
    assert "asked for" in feedback.EXPLAINED[Reason.NOT_DEFINED]


def answered(*texts: str) -> str | None:
    """The text that is taken for the answer to ``transpose``, in cells that claim nothing."""
    made = Notebook(tuple(map(Cell, texts)))
    found = notebook.answers(made, LAB.exercises, given(LAB.stem))["transpose"]
    return found.text if found else None


def test_a_nearly_right_name_in_a_cell_of_ones_own_is_found():
    wrong = KERNEL.format("transpos")
    assert answered("x = 1", wrong) == wrong
    right = KERNEL.format("transpose")
    assert answered(wrong, right) == right


def test_another_exercises_function_a_given_one_and_one_unlike_it_are_no_answer():
    names = [exercise.name for exercise in LAB.exercises if exercise.name != "transpose"]
    assert answered(*(KERNEL.format(name) for name in names)) is None
    assert answered(*given(LAB.stem)) is None
    assert answered(KERNEL.format("mirror")) is None


def test_every_answer_has_the_other_cells_in_their_places():
    cells = tuple(Cell(f"def {one.name}(x):\n    pass\n", one.id) for one in LAB.exercises)
    found = notebook.answers(Notebook(cells), LAB.exercises)
    texts = [cell.text for cell in cells]
    for at, exercise in enumerate(LAB.exercises):
        assert found[exercise.id].others == (*texts[:at], "", *texts[at + 1 :])


def test_a_variable_may_have_the_name_of_a_kernel():
    cell = "def bytes_of(n):\n    transpose = 4 * n\n    return more(transpose)\n"
    others = [KERNEL.format("transpose"), "def more(n):\n    return n + 1\n"]
    found = extract.host_function(cell, "bytes_of", others)
    assert "cuda" not in found
    names: dict = {}
    exec(found, names)
    assert names["bytes_of"](3) == 13
