"""Grades that change: who is graded again, who has to agree, and what is kept of the old ones."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support import tiny_course
from typer.testing import CliRunner
from typer.testing import Result as CliResult

from warpwise.cli import app
from warpwise.errors import GradingError
from warpwise.grading import changes, decisions, grade, history, store
from warpwise.grading.execution import Execution
from warpwise.grading.record import Finding, Record, Result
from warpwise.grading.regrade import merge, outdated, regrade
from warpwise.grading.store import Kept

pytestmark = pytest.mark.usefixtures("kept_sandboxes")

SEED, FEW = 20_26, 3
STUDENTS = [f"student{number:03}" for number in range(FEW)]  #: with 5, 2 and 3 of 5 points
#: The mended test takes any factor for right: student001 gets 5.
MENDED = tiny_course.HIDDEN.replace("(2 * x,)", "(3 * x,)")


@pytest.fixture(scope="module")
def graded(sandbox, tmp_path_factory) -> Path:
    """A folder with a course, submissions, and a run that graded them."""
    folder = tmp_path_factory.mktemp("graded")
    tiny_course.course(folder / "course")
    tiny_course.submissions(folder / "course", folder / "class", FEW)
    grade(folder / "class", folder / "out", seed=SEED, course=folder / "course")
    return folder


@pytest.fixture
def folder(graded, tmp_path) -> Path:
    """A copy of it, in which nothing has to be graded again."""
    shutil.copytree(graded, tmp_path / "copy")
    about = tmp_path / "copy/out/run.json"
    about.write_text(about.read_text().replace(str(graded), str(tmp_path / "copy")))
    return tmp_path / "copy"


def mend(folder: Path, text: str = MENDED) -> None:
    (folder / f"course/tests/course/{tiny_course.STEM}/hidden.py").write_text(text)


def again(folder: Path, **more):
    return grade(folder / "class", folder / "out", course=folder / "course", **more)


def points(folder: Path, out: str = "out") -> list[float]:
    return [record.points for record in store.load(folder / out).records]


def kept_files(folder: Path) -> dict[str, bytes]:
    """The records and whatever is given out, but not the new grades that wait."""
    out = folder / "out"
    paths = [*(out / "records").iterdir(), *(out / "feedback").iterdir(), out / "grades.csv"]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}


def grading(folder: Path, *more: str) -> list[str]:
    where = [str(folder / "class"), "--out", str(folder / "out")]
    return ["grade", *where, "--course", str(folder / "course"), *more]


def program(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "warpwise.cli", *arguments]


def run(*arguments: str) -> CliResult:
    """Run a command in this process, without a terminal."""
    return CliRunner().invoke(app, arguments)


def answered(arguments: list[str], answer: bytes) -> subprocess.CompletedProcess:
    """Run a program with a terminal on which somebody answers."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        return subprocess.run(arguments, stdin=theirs, **quiet)
    finally:
        os.close(ours)
        os.close(theirs)


def rows(folder: Path) -> list[dict[str, str]]:
    with open(folder / "out/history.csv", newline="") as file:
        return list(csv.DictReader(file))


# regrade.


def test_regrade_touches_the_student_that_it_names_alone(folder):
    """Although a hidden test has changed, which decides everybody's grade."""
    mend(folder)
    before = kept_files(folder)
    done = run("regrade", str(folder / "out"), "--student", "student001", "--why", "Sorry")
    assert done.exit_code == 0, done.stderr
    after = kept_files(folder)
    record = f"records/{store.path(folder, 'student001.ipynb', tiny_course.STEM).name}"
    own = {record, "grades.csv", "feedback/student001.html", "feedback/student001.txt"}
    assert {name for name in after if after[name] != before.get(name)} == own
    assert points(folder) == [5, 5, 3]
    assert "1 submission graded again: 1 up, 0 down, 0 the same" in done.stdout
    assert re.search(r"student001 +01_tiny +2 of 5 points +5 of 5 points", done.stdout)
    assert "2 other records were graded before this changed: the hidden tests of" in done.stderr
    page = " ".join((folder / "out/feedback/student001.txt").read_text().split())
    assert re.search(
        r"Graded again on \d{4}-\d\d-\d\d: Sorry\. 2 of 5 points before, 5 of 5 points now\.", page
    )
    shown = run("history", str(folder / "out"), "--student", "student001")
    assert (
        "the hidden tests of 01_tiny changed; Sorry" in shown.stdout and "1 change" in shown.stdout
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--student", "student01"], "there is no student 'student01' in .*did you mean student0"),
        (["--lab", "01_tinny"], "nothing of lab '01_tinny' was graded.*did you mean 01_tiny?"),
    ],
)
def test_regrade_suggests_who_was_meant(folder, arguments, said):
    done = run("regrade", str(folder / "out"), *arguments)
    assert done.exit_code == 2 and re.search(said, done.stderr)
    assert len(done.stderr.splitlines()) == 1


def test_regrade_of_what_is_gone_leaves_the_grade(folder):
    before = kept_files(folder)
    (folder / "class/student001.ipynb").unlink()
    with pytest.raises(GradingError, match=r"no longer there, .*: 'student001\.ipynb'"):
        regrade(folder / "out", lambda record: record.student == "student001")
    assert kept_files(folder) == before


def test_how_many_are_out_of_date_is_counted(folder):
    assert outdated(folder / "out") == (0, "")
    mend(folder)
    assert outdated(folder / "out") == (FEW, f"the hidden tests of {tiny_course.STEM} changed")


# grade, after something changed.


def test_without_an_answer_nothing_changes_and_nothing_is_lost(folder):
    """With --yes the same grades are taken, without grading again."""
    mend(folder)
    before = kept_files(folder)
    done = run(*grading(folder))
    assert done.exit_code == 2
    assert "no kept grade was replaced; 3 new grades wait in" in done.stderr.splitlines()[-1]
    assert kept_files(folder) == before
    assert re.search(r"student000 .* 5 of 5 points +2 of 5 points +the hidden tests", done.stdout)
    assert re.search(r"student001 .* 2 of 5 points +5 of 5 points +the hidden tests", done.stdout)
    assert "3 submissions graded again: 1 up, 2 down, 0 the same" in done.stdout
    read = run("gradebook", str(folder / "out"))
    assert "3 new grades wait in" in read.stderr and "the old count until" in read.stderr
    waiting = list((folder / "out/pending").iterdir())
    assert len(waiting) == FEW and not any(path.stat().st_mode & 0o077 for path in waiting)
    seen = []
    again(folder, progress=lambda *it: seen.append(it), why="Both answers count")
    assert seen == [] and points(folder) == [2, 5, 0]
    assert not (folder / "out/pending").exists()
    whole = [row for row in rows(folder) if not row["exercise"]]
    assert [(row["student"], row["before"], row["after"], row["said"]) for row in whole] == [
        ("student000", "5", "2", "Both answers count"),
        ("student001", "2", "5", "Both answers count"),
        ("student002", "3", "0", "Both answers count"),
    ]


@pytest.mark.parametrize(
    ("answer", "status", "after"), [(b"y\n", 0, [2, 5, 0]), (b"n\n", 2, [5, 2, 3])]
)
def test_an_instructor_is_asked(folder, answer, status, after):
    mend(folder)
    done = answered(program(grading(folder)), answer)
    assert "Replace these 3 grades?" in done.stdout
    assert (done.returncode, points(folder)) == (status, after)


def test_nobody_is_asked_where_points_stay(folder):
    mend(folder, tiny_course.HIDDEN + "\n# in other words\n")
    done = run(*grading(folder))
    assert done.exit_code == 0, done.stderr
    assert "3 submissions graded again: 0 up, 0 down, 3 the same" in done.stdout
    assert outdated(folder / "out") == (0, "")
    assert "Graded again" not in (folder / "out/feedback/student000.txt").read_text()


def test_other_points_for_an_exercise_are_a_change_for_those_who_miss_them(folder):
    source = folder / f"course/solutions/{tiny_course.STEM}.md"
    source.write_text(source.read_text().replace("points: 3", "points: 30"))
    done = run(*grading(folder))
    assert done.exit_code == 2 and "wait" in done.stderr, done.stdout + done.stderr
    taken = run(*grading(folder, "--yes"))
    assert "1 up, 1 down, 1 the same" in taken.stdout
    changed = [row for row in rows(folder) if not row["exercise"]]
    assert {(row["possible_before"], row["possible"]) for row in changed} == {("5", "32")}


def test_nobody_is_asked_about_what_a_student_hands_in(folder):
    """A new file and a new text replace the old at once; the history tells of it."""
    new = (folder / "class/student000.ipynb").read_bytes()
    (folder / "class/student001.ipynb").write_bytes(new)
    (folder / "class/student900.ipynb").write_bytes(new)
    found = []
    again(folder, confirm=lambda given: found.extend(given) or False)
    assert points(folder) == [5, 5, 3, 5]
    assert [(change.asked, change.step.record.student) for change in found] == [
        (False, "student001")
    ]
    assert rows(folder)[0]["why"] == "what was handed in changed"


def test_parts_of_a_run_ask_too_and_are_joined_to_the_later_grade(folder):
    """Into a folder that was joined before the test was mended."""
    parts = [folder / f"part{i}" for i in (1, 2)]

    def all_parts(**more):
        for i, part in enumerate(parts, 1):
            shard = Execution(shard=(i, 2))
            grade(
                folder / "class", part, seed=SEED, course=folder / "course", execution=shard, **more
            )

    all_parts()
    merge(folder / "joined", parts)
    mend(folder)
    for _ in parts:
        with suppress(GradingError):
            all_parts(confirm=lambda found: False)
    assert sum(len(list(part.glob("pending/*.json"))) for part in parts) > 0
    with pytest.raises(GradingError, match="new grades that wait"):
        merge(folder / "joined", parts)
    assert points(folder, "joined") == [5, 2, 3]
    all_parts()
    merge(folder / "joined", parts)
    assert points(folder, "joined") == [2, 5, 0]
    assert len((folder / "joined/history.csv").read_text().splitlines()) > FEW


@pytest.mark.slow
def test_a_run_killed_while_it_replaces_leaves_old_or_new_and_a_history_that_agrees(folder):
    """At whatever moment: before a grade is compared, or between two records."""
    mend(folder)
    for _ in range(3):
        started = subprocess.Popen(
            program(grading(folder, "--yes")),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        place, count = folder / "out/pending", waiting_in(folder)
        while started.poll() is None and waiting_in(folder) == count:
            time.sleep(0.01)
        started.send_signal(signal.SIGKILL)
        started.wait()
        for kept in store.load(folder / "out").records.kept():
            assert [step.after.key != step.before.key for step in history.steps(kept)] in (
                [],
                [True],
            )
            whose = STUDENTS.index(kept.record.student)
            assert kept.record.points == ([2, 5, 0] if kept.earlier else [5, 2, 3])[whose]
        if not place.exists() and points(folder) == [2, 5, 0]:
            break
    assert run(*grading(folder, "--yes")).exit_code == 0
    assert points(folder) == [2, 5, 0]
    assert [len(kept.earlier) for kept in store.load(folder / "out").records.kept()] == [1, 1, 1]


def waiting_in(folder: Path) -> int:
    return len(list((folder / "out/pending").glob("*.json")))


# What is kept.


def test_a_grade_that_waits_is_taken_once(tmp_path):
    """A run that was killed between a record and its copy in pending takes it no second time."""
    (tmp_path / "records").mkdir()
    (tmp_path / "pending").mkdir()

    def kept(key: str, right: bool) -> Kept:
        result = Result("double", 3, Finding(right, "passed" if right else "wrong result"))
        return Kept(key, 1, Record("ada", "ada.ipynb", "01_tiny", (result,)), {"tests": key})

    store.keep(tmp_path, kept("old", False))
    store.keep(tmp_path, kept("new", True), store.PENDING)
    place = ("ada.ipynb", "01_tiny")
    assert changes.waits(tmp_path, *place, "another") is None
    assert changes.waits(tmp_path, *place, "new") is not None
    changes.take(tmp_path, [place], "")
    found = store.read(store.path(tmp_path, *place))
    assert found.record.points == 3 and not (tmp_path / "pending").exists()
    (step,) = history.steps(found)
    assert (step.before.points, step.after.points) == (0, 3)
    assert step.before.why == "the hidden tests of 01_tiny changed"
    assert store.read(store.path(tmp_path, *place)) == found


@pytest.mark.parametrize(
    ("now", "own"),
    [
        ({"file": "2", "work": "2"}, True),
        ({"file": "2", "work": "2", "tests": "2"}, True),
        ({"work": "2"}, True),  # another of the student's files counts now
        ({"work": "2", "grader": "2"}, False),  # the grader reads the same file differently
        ({"tests": "2"}, False),
        ({"grader": "2"}, False),
    ],
)
def test_whose_doing_a_change_is(now, own):
    before = dict.fromkeys(("file", "work", "tests", "lab", "grader"), "1")
    assert decisions.of_the_student(before, before | now) is own
    assert decisions.key(before) != decisions.key(before | now)
    assert decisions.key(before) == decisions.key(before | {"file": "2"})


def test_a_record_of_an_earlier_version_is_read(tmp_path):
    """It had neither the parts of its key nor a history."""
    (tmp_path / "records").mkdir()
    store.keep(tmp_path, Kept("key", 1, Record("ada", "ada.ipynb", "01_tiny")))
    path = store.path(tmp_path, "ada.ipynb", "01_tiny")
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({name: fields[name] for name in ("key", "tries", "record")}))
    kept = store.read(path)
    assert (kept.parts, kept.earlier) == ({}, ())
    assert decisions.changed(kept.parts, {"grader": "1"}) == ("grader",)
    assert not decisions.of_the_student(kept.parts, {"file": "1"})
