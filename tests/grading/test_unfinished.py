"""A run that was stopped says so in every file that is made from it, and by the exit status."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support import tiny_course
from typer.testing import CliRunner, Result

from warpwise.cli import app
from warpwise.errors import GradingError
from warpwise.grading import forget, store, unfinished
from warpwise.grading.engine import write
from warpwise.grading.layouts import Submission
from warpwise.grading.record import NOT_YET, Finding, Record
from warpwise.grading.record import Result as Graded
from warpwise.grading.regrade import merge
from warpwise.grading.scoring.folder import gradebook
from warpwise.grading.store import Kept
from warpwise.labs.exercise import Reason
from warpwise.labs.source import load_lab

LAB = "08_coalescing"
POINTS = sum(e.points for e in load_lab(LAB).exercises)
SOURCE = "/class"
ALL = ("ada", "ben", "cyd")


def submission(student: str, lab: str = LAB) -> Submission:
    return Submission(student, Path(SOURCE), f"{student}.ipynb", lab, name=student.title())


def right(student: str, key: str = "key") -> Kept:
    """A record with full points."""
    passed = Finding(True, Reason.PASSED)
    results = tuple(Graded(e.id, e.points, passed) for e in load_lab(LAB).exercises)
    return Kept(key, 1, Record(student, f"{student}.ipynb", LAB, results))


def folder(path: Path, graded: tuple[str, ...], shard=(1, 1), keys=None) -> Path:
    """A folder as a run that was stopped leaves it; "dan" on the roster handed in nothing."""
    (path / "records").mkdir(parents=True)
    (path / "roster.csv").write_text("id\nada\nben\ncyd\ndan\n")
    unfinished.begin(path, {"": SOURCE}, [submission(s) for s in ALL], keys or {}, shard)
    about = {"seed": 1, "warpwise": "1", "isolated": True, "labs": {LAB: "1"}}
    settings = {"roster": str(path / "roster.csv")}
    store.write_about(path, about | {"sources": {"": SOURCE}, "settings": settings})
    for student in graded:
        store.keep(path, right(student))
    write(path)
    return path


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Path:
    return folder(tmp_path_factory.mktemp("stopped") / "out", ("ada",))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_gradebook_says_so_in_file_and_status(stopped):
    done = run("gradebook", stopped)
    mark, *others = rows(done.stdout)
    assert mark["student"] == "UNFINISHED" and "2 of 3 submissions are not graded" in mark["name"]
    cells = [(row["student"], row["raw"], row["score"], row["note"]) for row in others]
    assert cells == [
        ("ada", f"{POINTS:g}", f"{POINTS:g}", ""),
        ("ben", "", "", NOT_YET),
        ("cyd", "", "", NOT_YET),
        ("dan", "0", "0", "no submission"),
    ]
    assert [row["course_percent"] for row in others] == ["100", "", "", "0"]
    assert done.exit_code == 1
    (line,) = (line for line in done.stderr.splitlines() if "UNFINISHED" in line)
    assert f"`warpwise grade {SOURCE} --out {stopped}`" in line


@pytest.mark.parametrize("form", ["canvas", "gradescope", "nbgrader"])
def test_a_platform_gets_no_unfinished_gradebook_by_mistake(stopped, tmp_path, form):
    made = tmp_path / "grades.csv"
    refused = run("gradebook", stopped, "--format", form, "--out", made)
    assert refused.exit_code == 2 and "--unfinished writes the file" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1 and not made.exists()
    done = run("gradebook", stopped, "--format", form, "--out", made, "--unfinished")
    assert done.exit_code == 1
    where = made.with_name("grades-unknown.csv") if form == "canvas" else made
    (ben,) = (line for line in csv.reader(where.open(newline="")) if "ben" in line)
    (dan,) = (line for line in csv.reader(made.open(newline="")) if "dan" in line)
    numbers = [[cell for cell in line if cell in ("0", "0.0")] for line in (ben, dan)]
    assert numbers[0] == [] and numbers[1] != []


def test_grades_csv_the_report_and_the_pages_say_so(stopped):
    mark, *others = rows((stopped / "grades.csv").read_text())
    assert mark["student"] == "UNFINISHED"
    assert [(row["student"], row["points"], row["problem"]) for row in others] == [
        ("ada", f"{POINTS:g}", ""),
        ("ben", "", NOT_YET),
        ("cyd", "", NOT_YET),
    ]
    done = run("report", stopped)
    assert done.exit_code == 1 and "UNFINISHED: 2 of 3" in done.stderr
    assert "UNFINISHED. 2 of 3" in (stopped / "report.html").read_text()
    page = run("feedback", stopped, "ben", "--text")
    assert page.exit_code == 1 and "Not graded yet: the grader has not finished" in page.stdout
    assert "0 of" not in page.stdout and "could not be graded" not in page.stdout
    assert "Not graded yet" in (stopped / "feedback/ben.html").read_text()
    assert "Not graded yet" not in (stopped / "feedback/ada.html").read_text()


def test_a_finished_run_says_nothing(tmp_path):
    whole = folder(tmp_path / "out", ALL)
    for command in ("gradebook", "report"):
        done = run(command, whole)
        assert done.exit_code == 0 and "UNFINISHED" not in done.stderr + done.stdout
    assert "UNFINISHED" not in (whole / "grades.csv").read_text()
    (whole / "expected.json").unlink()  # as in a folder of an earlier version
    assert run("gradebook", whole).exit_code == 0


def test_a_record_of_what_was_handed_in_before_is_not_final(tmp_path):
    """A new text was found, and the run was stopped before its turn came."""
    out = folder(tmp_path / "out", ALL, keys={("ben.ipynb", LAB): "new"})
    assert [e.student for e in unfinished.missing(out)] == ["ben"]
    ben = next(score for score in gradebook(out).scores if score.student.id == "ben")
    assert ben.not_yet and ben.note == NOT_YET
    store.keep(out, right("ben", key="new"))
    assert unfinished.missing(out) == ()
    unfinished.end(out)
    store.keep(out, right("ben", key="newer"))
    assert unfinished.missing(out) == ()


def test_what_was_handed_in_anew_under_another_name_counts_alone(tmp_path):
    """A platform numbers each upload, so that the second is another file, and the first stays."""
    out = folder(tmp_path / "out", ALL)
    again = Submission("ada", Path(SOURCE), "ada_2.ipynb", LAB, name="Ada")
    unfinished.begin(out, {"": SOURCE}, [again, *map(submission, ALL[1:])], {}, (1, 1))
    waits = next(score for score in gradebook(out).scores if score.student.id == "ada")
    assert waits.not_yet
    second = right("ada")
    broken = replace(second.record, file="ada_2.ipynb", results=(), problem="the file is empty")
    store.keep(out, replace(second, record=broken))
    assert (gradebook(out).scores[0].file, gradebook(out).scores[0].score) == ("ada.ipynb", POINTS)
    half = replace(broken, results=second.record.results[:2], problem="")
    store.keep(out, replace(second, record=half))
    write(out)
    made = gradebook(out)
    assert (made.scores[0].file, made.scores[0].note) == ("ada_2.ipynb", "")
    assert "more than one" not in str(made.warnings)
    graded = [row["file"] for row in rows((out / "grades.csv").read_text())]
    assert graded == ["ada_2.ipynb", "ben.ipynb", "cyd.ipynb"]
    assert "ada.ipynb" not in (out / "feedback/ada.txt").read_text()
    assert "3 submissions" in run("report", out, "--text").stdout
    assert {path.name for path in forget.find(out, "ada").records} == {
        store.path(out, file, LAB).name for file in ("ada.ipynb", "ada_2.ipynb")
    }


def test_a_part_is_unfinished_until_it_is_joined(tmp_path):
    parts = [
        folder(tmp_path / "one", ("ada",), shard=(1, 2)),
        folder(tmp_path / "two", ("ben", "cyd"), shard=(2, 2)),
    ]
    assert "this is part 1/2, join the parts with" in unfinished.said(parts[0])
    assert "1 of 3 submissions" in unfinished.said(parts[1])
    done = run("merge", tmp_path / "half", parts[0])
    assert done.exit_code == 1 and "UNFINISHED: 2 of 3" in done.stderr
    assert "go on with `warpwise grade" in unfinished.said(tmp_path / "half")
    merge(tmp_path / "whole", parts)
    assert unfinished.said(tmp_path / "whole") == ""


def test_what_a_later_run_takes_for_another_lab_is_no_longer_expected(tmp_path):
    """The same source without --lab and then with it; the first run was stopped."""
    out = tmp_path
    unfinished.begin(out, {"": SOURCE}, [submission("ada", "")], {}, (1, 1))
    about = {"seed": 1, "labs": {}, "sources": {"": SOURCE}}
    store.write_about(out, about)
    unfinished.begin(out, {LAB: SOURCE}, [submission("ada")], {}, (1, 1))
    assert [(e.file, e.lab) for e in unfinished.missing(out)] == [("ada.ipynb", LAB)]


def test_a_damaged_list_is_one_line(tmp_path):
    (tmp_path / "expected.json").write_text("{")
    with pytest.raises(GradingError, match=r"is damaged .*; delete it"):
        unfinished.said(tmp_path)


@pytest.mark.slow
def test_a_run_that_is_killed_has_said_so_before(sandbox, tmp_path):
    """From its first record on, and until the same command has gone on."""
    course = tiny_course.course(tmp_path / "course")
    submissions = tiny_course.submissions(course, tmp_path / "class", 4)
    out = tmp_path / "out"
    grading = ["grade", submissions, "--out", out, "--course", course]
    command = [sys.executable, "-m", "warpwise.cli", *grading]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(command, start_new_session=True, env=os.environ, **quiet)
    while started.poll() is None and not list(out.glob("records/*.json")):
        time.sleep(0.01)
    started.send_signal(signal.SIGKILL)
    started.wait()
    left = len(unfinished.missing(out))
    assert 0 < left < 4
    assert "UNFINISHED" in (out / "grades.csv").read_text()
    assert "Not graded yet" in (out / "feedback/student003.txt").read_text()
    mark = rows(run("gradebook", out).stdout)[0]
    assert mark["student"] == "UNFINISHED" and f"{left} of 4" in mark["name"]
    assert run(*grading).exit_code == 0
    assert "UNFINISHED" not in (out / "grades.csv").read_text()
    assert run("gradebook", out).exit_code == 0
