"""The command line: its output, its exit status, and one line for bad input.

All but a few are run in this process: starting Python takes longer than most."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from support.paths import ROOT
from support.wrong_answers import wrong_answer
from typer.testing import CliRunner, Result

from warpwise.cli import app

LAB = ROOT / "labs" / "08_coalescing.ipynb"
EXERCISES = ["copy_matrix", "sectors_for", "column_sums", "planes", "transpose", "histogram"]


def warpwise(*arguments: str | Path, cwd: Path = ROOT) -> Result:
    """Run a command in this process."""
    with chdir(cwd):
        return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def as_program(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "warpwise.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files that the commands do not expect."""
    (tmp_path / "text.ipynb").write_text("not a notebook")
    (tmp_path / "truncated.ipynb").write_text(LAB.read_text("utf-8")[:400])
    (tmp_path / "other.ipynb").write_text(
        json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    (tmp_path / "empty").mkdir()
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "ada.ipynb").write_bytes(LAB.read_bytes())
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "no_such.ipynb"], "no_such.ipynb"),
        (["check", "empty"], "folder"),
        (["check", "text.ipynb"], "not a notebook"),
        (["check", "truncated.ipynb"], "not a notebook"),
        (["check", "other.ipynb"], "not one of the labs"),
        (["check", LAB, "no_such_exercise"], "no_such_exercise"),
        (["grade", "no_such", "--out", "grades"], "no_such"),
        (["grade", "empty", "--out", "grades"], "empty"),
        (["grade", "text.ipynb", "--out", "grades"], "text.ipynb"),
        (["grade", "submissions", "--out", "grades", "--lab", "99_nothing"], "99_nothing"),
        (["labs", "build"], "no lab sources"),
        (["labs", "build", "--check"], "no lab sources"),
    ],
    ids=lambda value: (
        " ".join(map(str, value)).replace(f"{ROOT}/", "") if isinstance(value, list) else ""
    ),
)
def test_bad_input_costs_one_line(folder: Path, arguments: list[str], said: str):
    before = contents(folder)
    done = warpwise(*arguments, cwd=folder)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr, done.stderr
    assert contents(folder) == before
    assert not (folder / "grades").exists()


@pytest.mark.parametrize(
    "arguments",
    [["no_such"], ["check"], ["grade", "x"], ["labs"], ["labs", "build", "--no-such"]],
)
def test_a_wrong_command_line_shows_how(arguments: list[str]):
    done = warpwise(*arguments)
    assert done.exit_code == 2
    assert "Usage: " in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["no_such"], ["check", "no_such.ipynb"]])
def test_a_program_says_the_same_and_ends_with_the_same_status(arguments: list[str]):
    done, here = as_program(*arguments), warpwise(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == here.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_help_names_every_command():
    done = warpwise("--help")
    assert done.exit_code == 0
    assert all(f"  {name} " in done.stdout for name in ("doctor", "check", "grade", "labs"))


@pytest.mark.slow
def test_check_says_which_exercises_of_an_untouched_lab_are_not_done():
    done = warpwise("check", LAB)
    name, *rows, total, step = (line.split() for line in done.stdout.splitlines())
    assert name == [str(LAB)] and [row[0] for row in rows] == EXERCISES
    assert all(" ".join(row[2:]) == "points not done yet" for row in rows)
    assert total[:3] == ["0", "of", "6"] and step == ["Next:", "copy_matrix"]
    assert done.exit_code == 1


@pytest.mark.slow
def test_check_of_one_exercise():
    done = warpwise("check", LAB, "transpose")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:-2]] == ["transpose"]
    assert done.exit_code == 1


@pytest.mark.slow
def test_check_shows_where_and_what_to_try_below_the_finding(tmp_path: Path):
    notebook = json.loads(LAB.read_text("utf-8"))
    (cell,) = (
        c for c in notebook["cells"] if c["metadata"].get("warpwise", {}).get("id") == "copy_matrix"
    )
    cell["source"] = wrong_answer("08_coalescing", "guard_off_by_one").text
    (tmp_path / "lab.ipynb").write_text(json.dumps(notebook), "utf-8")
    lines = warpwise("check", tmp_path / "lab.ipynb", "copy_matrix").stdout.splitlines()
    assert lines[1].split() == ["copy_matrix", "2", "points", "out", "of", "bounds"]
    assert all(line.startswith("      ") for line in lines[2:-2])
    assert lines[3] == "        Case: 33 x 50"
    assert "copy_matrix" in lines[4] and lines[-3].startswith("        Try: ")
    assert lines[-1] == "Next: mend copy_matrix, save the notebook, and check again."


@pytest.mark.slow
def test_grade_writes_a_gradebook_and_a_page_for_each_student(folder: Path, sandbox):
    done = warpwise("grade", "submissions", "--out", "grades", "--seed", 7, cwd=folder)
    assert done.exit_code == 0, done.stderr
    assert (folder / "grades" / "grades.csv").read_text("utf-8").count("ada") >= 1
    assert {path.name for path in (folder / "grades" / "feedback").iterdir()} == {
        "ada.html",
        "ada.txt",
    }
    assert "1 submission graded" in done.stdout


@pytest.mark.slow
def test_labs_build_check_finds_a_lab_as_it_is(tmp_path: Path):
    for path in (LAB, ROOT / f"solutions/{LAB.stem}.md"):
        (tmp_path / path.parent.name).mkdir()
        (tmp_path / path.parent.name / path.name).write_bytes(path.read_bytes())
    done = warpwise("labs", "build", "--check", cwd=tmp_path)
    assert done.exit_code == 0, done.stderr
    assert str(LAB.relative_to(ROOT)) in done.stdout


@pytest.mark.slow
def test_a_command_without_its_extra_names_it():
    """An interpreter that can import nothing of the labs' extra."""
    hidden = dict.fromkeys(["nbformat", "nbclient", "jupytext", "anywidget"])
    code = f"import sys; sys.modules.update({hidden}); from warpwise.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", LAB], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install -e '.[labs]'" in done.stderr
