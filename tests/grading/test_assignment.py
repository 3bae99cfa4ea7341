"""Which labs a folder was assigned, and what becomes of a notebook of another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.files import made

from warpwise.errors import GradingError
from warpwise.grading import assignment, collect
from warpwise.grading.assignment import GRADE, LEAVE_OUT, Assigned

LABS = ("01_why_gpus", "02_simt", "08_coalescing")
WRONG, OTHER, LAB = LABS
IDS = {LAB: {"transpose"}, WRONG: {"square"}, OTHER: {"vote"}}
CLASS = [f"s{n:02}" for n in range(12)]


def text(lab: str) -> str:
    return json.dumps({"nbformat": 4, "metadata": {"warpwise": {"lab": lab}}, "cells": []})


def assigned(folder: Path, lab: str | None = None, choice: str = "") -> Assigned:
    choose = (lambda said: choice) if choice else assignment.refuse
    found = collect.find(folder, folder.parent / "unpacked").submissions
    return assignment.assign_labs(found, LABS, lab, IDS, choose)


def told(found: Assigned) -> dict[str, tuple[str, str]]:
    return {s.student: (s.lab, s.problem) for s in found.submissions}


@pytest.fixture
def class_of_twelve(tmp_path: Path) -> Path:
    """Eleven students handed in lab 8, and one lab 1, under a name that says nothing."""
    files = {f"{name}.ipynb": text(LAB) for name in CLASS}
    return made(tmp_path / "class", files | {"s03.ipynb": text(WRONG)})


def test_an_unexpected_notebook_is_a_question_with_its_name(class_of_twelve: Path):
    with pytest.raises(GradingError) as refused:
        assigned(class_of_twelve)
    assert str(refused.value) == (
        "1 notebook is of another lab than 08_coalescing, which most are of: "
        "'s03.ipynb' (01_why_gpus); name the lab with --lab, or give --unexpected grade (each is "
        "graded as what it is, and counts in nobody's total) or --unexpected leave-out (none is "
        "graded, and who handed in nothing else has 0, with the reason)"
    )


def test_graded_it_is_its_own_labs_and_that_lab_is_not_assigned(class_of_twelve: Path):
    found = assigned(class_of_twelve, choice=GRADE)
    assert told(found)["s03"] == (WRONG, "") and found.labs == (LAB,)
    assert "'s03.ipynb' (01_why_gpus); by --unexpected grade each is" in found.said


@pytest.mark.parametrize(("lab", "choice"), [(LAB, ""), (None, LEAVE_OUT)])
def test_else_it_is_handed_in_for_the_lab_that_was_asked_for(
    class_of_twelve: Path, lab: str | None, choice: str
):
    made(class_of_twelve, {"s05/a.ipynb": text(LAB), "s05/b.ipynb": text(WRONG)})
    (class_of_twelve / "s05.ipynb").unlink()
    found = assigned(class_of_twelve, lab, choice)
    reason = "this is the notebook of 01_why_gpus, not of 08_coalescing"
    assert told(found) == {name: (LAB, reason if name == "s03" else "") for name in CLASS}
    assert found.labs == (LAB,) and len(found.submissions) == 12


def test_labs_that_half_the_class_handed_in_are_assigned(tmp_path: Path):
    files = {f"{name}/{LAB}.ipynb": text(LAB) for name in CLASS}
    files |= {f"{name}/{OTHER}.ipynb": text(OTHER) for name in CLASS[:6]}
    folder = made(tmp_path / "class", files)
    assert assigned(folder).labs == (OTHER, LAB) and not assigned(folder).choice
    (folder / CLASS[0] / f"{OTHER}.ipynb").unlink()
    with pytest.raises(GradingError, match=r"^5 notebooks are of another lab than 08_coalescing"):
        assigned(folder)


def test_of_several_labs_what_is_left_out_is_of_none(tmp_path: Path):
    files = {f"{name}/{lab}.ipynb": text(lab) for name in CLASS[1:] for lab in (LAB, OTHER)}
    folder = made(tmp_path / "class", files | {f"s00/{WRONG}.ipynb": text(WRONG)})
    reason = "this is the notebook of 01_why_gpus, not of 02_simt or 08_coalescing"
    assert told(assigned(folder, choice=LEAVE_OUT))["s00"] == ("", reason)


def test_in_nbgraders_tree_other_assignments_are_no_problem_of_the_one_that_is_graded(
    tmp_path: Path,
):
    files = {f"submitted/{name}/{WRONG}/x.ipynb": text(WRONG) for name in CLASS}
    files |= {f"submitted/{name}/{LAB}/x.ipynb": text(LAB) for name in CLASS[:2]}
    files |= {f"submitted/s05/{LAB}/report.pdf": "", f"submitted/s06/{OTHER}/report.pdf": ""}
    found = assigned(made(tmp_path / "class", files), LAB)
    assert told(found) == {
        "s00": (LAB, ""),
        "s01": (LAB, ""),
        "s05": (LAB, "handed in report.pdf, no notebook"),
    }


def test_of_two_uploads_in_canvas_the_later_number_counts(tmp_path: Path):
    lab = LABS[0]
    names = [
        f"loveada_1_{number}_{lab}{more}.ipynb" for number, more in ((99_999, "-1"), (100_001, ""))
    ]
    others = [f"student{i}_{i}_{i}_{lab}.ipynb" for i in range(10, 14)]
    found = assigned(made(tmp_path / "canvas", dict.fromkeys([*names, *others], text(lab))))
    mine = {s.file: s.problem for s in found.submissions if s.student == "1"}
    assert mine[names[1]] == "" and f"{names[1]} was graded" in mine[names[0]]
