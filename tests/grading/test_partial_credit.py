"""A share of the points for right results over budget: a setting, off unless it is given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support import tiny_course
from support.tiny_course import STEM

from warpwise.errors import GradingError
from warpwise.grading import autograder, feedback, gradescope
from warpwise.grading.record import Finding, Record, Result
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring.overrides import Override
from warpwise.grading.scoring.scores import scores
from warpwise.grading.scoring.standing import standings
from warpwise.labs.source import load_lab

LAB = "08_coalescing"
SETTINGS = """
[partial]
over_budget = 40
[labs.19_capstone]
partial = { over_budget = 75 }
[labs.08_coalescing]
points = 32
"""
OVER = Finding(False, "over budget: barriers", tried=9, cases=9, failed=("a", "b"))
UNKNOWN = replace(OVER, tried=4)
WRONG = Finding(False, "wrong result", tried=9, cases=9, failed=("a",))


def read(folder: Path, text: str) -> courses.Course:
    (folder / "course.toml").write_text(text, "utf-8")
    return courses.load(folder / "course.toml", [LAB, "19_capstone"])


def record(*findings: Finding, choice: str = "") -> Record:
    """Return a record of lab 8: each of its first exercises has 2 points, all have 16."""
    exercises = load_lab(LAB).exercises
    found = (*findings, *[WRONG] * (len(exercises) - len(findings)))
    made = (Result(e.id, e.points, f, choice=choice) for e, f in zip(exercises, found, strict=True))
    return Record("ada", "ada.ipynb", LAB, tuple(made))


def test_the_setting_is_of_all_labs_or_of_one(tmp_path: Path):
    found = read(tmp_path, SETTINGS)
    assert found.lab(LAB).over_budget == found.lab("01_why_gpus").over_budget == 40
    assert found.lab("19_capstone").over_budget == 75
    assert courses.Course().lab(LAB).over_budget == 0
    assert read(tmp_path, "").lab("01_why_gpus").over_budget == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[partial]\nover_budget = 140", "course.toml:2: over_budget is 140; the maximum is 100"),
        ("[partial]\nover = 1", "course.toml:2: 'over' is not a setting of partial credit"),
        ("[labs.08_coalescing]\npartial = 50", "course.toml:2: partial must be a table"),
    ],
)
def test_a_mistake_in_it_is_told_with_its_line(tmp_path: Path, text: str, said: str):
    with pytest.raises(GradingError, match=said):
        read(tmp_path, text)


def test_a_share_is_earned_only_where_every_case_was_judged_and_right(tmp_path: Path):
    course, labs = read(tmp_path, SETTINGS), {LAB: load_lab(LAB)}
    (score,) = scores([record(OVER, UNKNOWN, WRONG)], labs, course)
    assert (score.raw, score.possible) == (1.6, 32)  # 40 % of 2 of 16 points, twice
    assert score.note == "copy_matrix right but over budget: 40 %"
    (score,) = scores([record(OVER, UNKNOWN, WRONG)], labs)
    assert (score.raw, score.note) == (0, "")
    by_hand = Override("ada", LAB, "copy_matrix", 2, "asked")
    (score,) = scores([record(OVER)], labs, course, overrides=[by_hand])
    assert (score.raw, score.note) == (4, "copy_matrix set by hand: asked")


def test_of_a_choice_right_but_over_budget_is_better_than_wrong():
    found = record(WRONG, OVER, choice="project")
    assert [result.finding for result in found.scored] == [OVER] and found.points == 0
    assert record(OVER, replace(WRONG, passed=True, reason="passed"), choice="p").points > 0


def test_the_page_says_what_was_earned_and_why(tmp_path: Path):
    course, labs, records = read(tmp_path, SETTINGS), {LAB: load_lab(LAB)}, [record(OVER)]
    own = standings(scores(records, labs, course), course)
    for say in (feedback.page, feedback.text):
        told = " ".join(say("ada", records, labs, standings=own).split())
        assert "Right in all cases, over budget: 40 % of 2 points." in told
        assert "Partly right" in told and "0.8 of 2 points" in told and "0.8 of 16 points" in told
        assert "1.6 of 32 points" in told
        told = say("ada", records, labs)
        assert "0 of 2 points" in told and "Right in all cases" not in told


def test_gradescope_gives_the_same_share(tmp_path: Path):
    lab = load_lab(tiny_course.course(tmp_path) / "solutions" / f"{STEM}.md")
    (tmp_path / "lab.json").write_text(gradescope.lab_json(lab, (), 1, 50), "utf-8")
    packed = autograder.load(tmp_path)
    first, *others = packed.exercises
    results = [Result(first.id, first.points, OVER)]
    results += [Result(e.id, e.points, WRONG) for e in others]
    made = autograder.report(packed, Record("", "", STEM, tuple(results)))
    assert made["score"] == made["tests"][0]["score"] == first.points / 2
    assert "over budget: 50 % of 3 points" in made["tests"][0]["output"]
    assert made["tests"][0]["status"] == "failed"
    old = json.loads((tmp_path / "lab.json").read_text("utf-8"))
    del old["over_budget"]  # a bundle of an earlier version
    (tmp_path / "lab.json").write_text(json.dumps(old), "utf-8")
    assert (
        autograder.report(autograder.load(tmp_path), Record("", "", STEM, tuple(results)))["score"]
        == 0
    )
