"""Labs in an nbgrader course: made, validated and graded by nbgrader itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import nbformat
import pytest
from support.nbgrader_command import PATH, nbgrader
from support.paths import ROOT
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.errors import LabError
from warpwise.grading.notebook import answers, read
from warpwise.labs import leaks
from warpwise.labs.nbgrader import strict
from warpwise.labs.source import load_lab, role, unmarked
from warpwise.labs.versions import digests

pytestmark = [pytest.mark.slow, pytest.mark.unix("its course has symbolic links")]

STEM = "01_why_gpus"
LAB = load_lab(STEM)
POINTS = {exercise.id: exercise.points for exercise in LAB.exercises}
WRONG = "choose_launch"
CHOICE = "19_capstone"
WORDS = ["Success", "VALIDATION FAILED ON 6 CELL(S)"]


@pytest.fixture(scope="module")
def handed(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("nbgrader") / "labs"
    done = CliRunner().invoke(app, ["release", "--nbgrader", str(target), "--term", "Spring 2027"])
    assert (
        done.exit_code == 0
        and f"without {CHOICE}" in done.output
        and "WITH SOLUTIONS" in done.output
    ), done.output
    return target


@pytest.fixture(scope="module")
def course(handed, tmp_path_factory) -> Path:
    """An nbgrader course with a lab that three students handed in and nbgrader graded."""
    root = tmp_path_factory.mktemp("course")
    (root / "source").mkdir()
    (root / "source" / STEM).symlink_to(handed / "source" / STEM)
    (root / "nbgrader_config.py").write_text((handed / "nbgrader_config.py").read_text())
    nbgrader(root, "generate_assignment", STEM)
    released = root / f"release/{STEM}/{STEM}.ipynb"
    right = {
        cell.metadata["warpwise"]["id"]: unmarked(cell.source)
        for cell in LAB.cells
        if role(cell) == "exercise"
    }
    for student, answered in {
        "solved": right,
        "untouched": {},
        "one_wrong": right | {WRONG: f"def {WRONG}(n, sms):\n    return np.array([n // 32, 32])\n"},
    }.items():
        hand_in(released, root / f"submitted/{student}/{STEM}/{STEM}.ipynb", answered)
    nbgrader(root, "autograde", STEM)
    return root


def hand_in(released: Path, target: Path, answered: dict[str, str]) -> None:
    """Hand in a released notebook with some answers, and with all checks emptied.

    nbgrader must put the checks back."""
    notebook = nbformat.read(released, 4)
    for cell in notebook.cells:
        about = cell.metadata.get("warpwise", {})
        cell.source = answered.get(about.get("id"), cell.source)
        if "check" in about:
            cell.source = "pass"
    target.parent.mkdir(parents=True)
    nbformat.write(notebook, target)


def scores(course: Path, student: str, monkeypatch) -> dict[str, float]:
    """Return points by exercise, from nbgrader's own database."""
    from nbgrader.api import Gradebook

    monkeypatch.setenv("PATH", PATH)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        submission = gradebook.find_submission(STEM, student)
        grades = {
            grade.name.removeprefix("check-"): grade.score
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
        assert submission.score == sum(grades.values()) and submission.max_score == sum(
            POINTS.values()
        )
        assert not submission.needs_manual_grade
        return grades


def test_a_solved_lab_gets_all_points(course, monkeypatch):
    assert scores(course, "solved", monkeypatch) == POINTS


def test_an_untouched_lab_gets_none(course, monkeypatch):
    assert scores(course, "untouched", monkeypatch) == dict.fromkeys(POINTS, 0)


def test_a_wrong_exercise_costs_its_points(course, monkeypatch):
    assert scores(course, "one_wrong", monkeypatch) == POINTS | {WRONG: 0}


def test_nbgrader_validates_the_source_and_not_the_untouched_release(course, handed):
    said = nbgrader(
        course,
        "validate",
        str(handed / f"source/{STEM}/{STEM}.ipynb"),
        str(course / f"release/{STEM}/{STEM}.ipynb"),
    )
    assert [word for word in WORDS if word in said] == WORDS
    assert said.count("not done yet") >= len(POINTS)


def test_what_nbgrader_releases_has_no_solution_and_is_one_of_our_labs(course):
    (course / "alone").mkdir()
    released = course / f"release/{STEM}/{STEM}.ipynb"
    (course / "alone/lab.ipynb").write_bytes(released.read_bytes())
    assert leaks.find(course / "alone", leaks.secrets(ROOT)) == ()
    notebook = read(released)
    assert notebook.lab == STEM
    assert all(
        f"def {e.name}(" in a.text
        for e, a in zip(LAB.exercises, answers(notebook, LAB.exercises).values(), strict=True)
    )


def test_every_lab_has_its_marks(handed):
    stems = {path.stem for path in (ROOT / "solutions").glob("*.md")} - {CHOICE}
    assert {path.name for path in (handed / "source").iterdir()} == stems
    for stem in stems:
        lab, notebook = load_lab(stem), nbformat.read(handed / f"source/{stem}/{stem}.ipynb", 4)
        marks = [
            cell.metadata["nbgrader"] for cell in notebook.cells if "nbgrader" in cell.metadata
        ]
        assert len({mark["grade_id"] for mark in marks}) == len(marks)
        graded = {
            mark["grade_id"].removeprefix("check-"): mark["points"]
            for mark in marks
            if mark["grade"]
        }
        assert graded == {exercise.id: exercise.points for exercise in lab.exercises}
        assert {
            mark["grade_id"].removeprefix("exercise-") for mark in marks if mark["solution"]
        } == set(graded)
        assert all(
            mark["schema_version"] == 3 and mark["locked"] != mark["solution"] for mark in marks
        )
        assert notebook.metadata["warpwise"] == {
            "lab": stem,
            "title": lab.title,
            "version": lab.version,
            "exercises": digests(lab),
            "term": "Spring 2027",
        }


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('check("f", cases)', 'check("f", cases, strict=True)'),
        (
            'x = 1\ncheck(\n    "é", [f(é) for é in "é"],\n)\n',
            'x = 1\ncheck(\n    "é", [f(é) for é in "é"],\nstrict=True)\n',
        ),
        ('check("f", [g(")")])  # é', 'check("f", [g(")")], strict=True)  # é'),
    ],
)
def test_checks_are_made_strict(source, wanted):
    assert strict(source) == wanted
    ast.parse(wanted)


@pytest.mark.parametrize("source", ["pass", "check(1)\ncheck(2)", "if x:\n    check(1)"])
def test_a_check_cell_that_cannot_be_made_strict_is_refused(source):
    with pytest.raises(LabError, match="should call check"):
        strict(source)


def test_help_and_readme_say_whom_nbgrader_believes(handed):
    said = " ".join(CliRunner().invoke(app, ["release", "--help"]).output.split())
    assert "nbgrader trusts the process that runs student code" in said and "WITH SOLUTIONS" in said
    readme = (handed / "README.md").read_text("utf-8")
    assert "not safe from a student" in readme and CHOICE in readme
    [wheel] = (handed / "dist").iterdir()
    assert f"dist/{wheel.name}[labs]" in readme
    assert json.loads((handed / "release.json").read_text())["labs"].keys() == {
        path.name for path in (handed / "source").iterdir()
    }
