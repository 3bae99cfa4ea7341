"""A class hands in, from the command line to the gradebook: a stray lab, no times, only a PDF."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support import tiny_course
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.cli import grade as commands
from warpwise.grading import store
from warpwise.labs.build import build
from warpwise.labs.source import load_lab, solved_notebook

pytestmark = [pytest.mark.usefixtures("kept_sandboxes", "sandbox"), pytest.mark.slow]

FIRST, LAB = tiny_course.STEM, "08_tiny"
DUE = "2026-03-12T23:59:00+01:00"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course of two labs, one due."""
    folder = tiny_course.course(tmp_path_factory.mktemp("course"))
    for name, text in (
        (f"solutions/{LAB}.md", tiny_course.SOURCE.replace("Lab 1", "Lab 8")),
        (f"tests/course/{LAB}/hidden.py", tiny_course.HIDDEN),
        ("course.toml", f"[late]\npercent_per_day = 10\n[labs.{LAB}]\ndue = {DUE}\n"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    build(folder / "solutions", folder / "labs")
    return folder


@pytest.fixture(scope="module")
def download(course: Path, tmp_path_factory) -> Path:
    """Canvas's download: three right answers, a stray lab 1, and a PDF."""
    folder = tmp_path_factory.mktemp("canvas") / "submissions"
    folder.mkdir()
    solved = {
        stem: json.dumps(solved_notebook(load_lab(course / f"solutions/{stem}.md")))
        for stem in (FIRST, LAB)
    }
    for number, name in enumerate(("ada", "ben", "cyd"), 11):
        (folder / f"{name}_{number}_9{number}_work.ipynb").write_text(solved[LAB])
    (folder / "dan_14_914_work.ipynb").write_text(solved[FIRST])
    (folder / "eve_15_915_report.pdf").write_text("%PDF")
    return folder


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def gradebook(out: Path, *options: object) -> dict[tuple[str, str], dict[str, str]]:
    done = run("gradebook", out, *options)
    assert done.exit_code == 0, done.stderr
    return {(r["student"], r["lab"]): r for r in csv.DictReader(io.StringIO(done.stdout))}


@pytest.fixture(scope="module")
def graded(course: Path, download: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("graded") / "out"
    stopped = run("grade", download, "--out", out, "--course", course)
    assert stopped.exit_code == 2 and "'dan_14_914_work.ipynb' (01_tiny)" in stopped.stderr
    assert stopped.stderr.count("\n") == 1 and not out.exists()
    done = run("grade", download, "--out", out, "--course", course, "--unexpected", "grade")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("there are no times of submission here, so nobody is late") == 2
    assert "by --unexpected grade each is graded as what it is" in done.stderr
    return out


def test_a_stray_lab_costs_nobody_anything(graded: Path, course: Path, download: Path):
    rows = gradebook(graded)
    assert set(rows) == {(str(n), LAB) for n in range(11, 16)} | {("14", FIRST)}
    assert [rows[str(n), LAB]["course_percent"] for n in range(11, 16)] == ["100"] * 3 + ["0"] * 2
    assert rows["14", FIRST]["score"] == "5"
    assert rows["14", FIRST]["note"] == "not assigned: in no total"
    assert rows["15", LAB]["note"].startswith("handed in report.pdf, no notebook")
    head, _, *canvas = csv.reader(io.StringIO(run("gradebook", graded, "--format=canvas").stdout))
    assert head[5:] == ["Lab 8: Tiny"]
    assert [row[5] for row in canvas] == ["5", "5", "5", "0", "0"]
    assert set(gradebook(graded, "--lab", LAB)) == {(str(n), LAB) for n in range(11, 16)}
    wrong = run("gradebook", graded, "--lab", "02_simt")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "there is nothing of '02_simt' here; there are 01_tiny, 08_tiny" in wrong.stderr
    again = run("grade", download, "--out", graded, "--course", course)  # the answer was kept
    assert again.exit_code == 0 and "by --unexpected grade" in again.stderr
    assert len(list((graded / "feedback").glob("*.html"))) == 5
    page = next((graded / "feedback").glob("15*.txt")).read_text()
    assert "report.pdf" in page


def test_times_of_the_platform_make_the_policy_work(graded: Path, course: Path, tmp_path: Path):
    export = tmp_path / "submissions.json"
    late, early = "2026-03-13T22:00:00Z", "2026-03-12T22:00:00Z"
    export.write_text(
        json.dumps(
            [{"id": n, "user_id": n, "submitted_at": late if n == 12 else early} for n in (11, 12)]
        )
    )
    rows = gradebook(graded, "--times", export)
    assert [rows[str(n), LAB]["score"] for n in (11, 12, 13)] == ["5", "4.5", "5"]
    assert gradebook(graded)["12", LAB]["score"] == "5"
    # kept, when grade is told
    download = store.about(graded)["sources"][""]
    done = run("grade", download, "--out", graded, "--course", course, "--times", export)
    assert done.exit_code == 0 and "no times of submission" not in done.stderr, done.stderr
    assert gradebook(graded)["12", LAB]["late_days"] == "1"
    export.write_text("student,lab,submitted\n12,,soon\n")
    other = tmp_path / "other"
    done = run(
        "grade", download, "--out", other, "--course", course, "--lab", LAB, "--times", export
    )
    assert done.exit_code == 2 and not other.exists()
    assert "submissions.json:2: submitted: 'soon' is not a time" in done.stderr


def test_with_its_lab_named_a_stray_notebook_is_0_with_the_reason(
    course: Path, download: Path, tmp_path: Path
):
    out = tmp_path / "out"
    done = run("grade", download, "--out", out, "--course", course, "--lab", "8")
    assert done.exit_code == 0 and f"warpwise: lab 8 is {LAB}" in done.stderr
    assert list(store.about(out)["sources"]) == [LAB]
    rows = gradebook(out)
    assert set(rows) == {(str(n), LAB) for n in range(11, 16)}
    assert rows["14", LAB]["note"].startswith("this is the notebook of 01_tiny, not of 08_tiny")
    assert rows["14", LAB]["score"] == "0"


def test_at_a_terminal_it_is_asked_until_there_is_an_answer(
    course: Path, download: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(commands, "_at_a_terminal", lambda: True)
    arguments = ["grade", str(download), "--out", str(tmp_path / "out"), "--course", str(course)]
    done = CliRunner().invoke(app, arguments, input="what?\nleave-out\n")
    assert done.exit_code == 0, done.stderr
    assert done.output.count("grade or leave-out") == 2  # asked twice
    assert ("14", FIRST) not in gradebook(tmp_path / "out")
    assert store.about(tmp_path / "out")["unexpected"] == {str(download): "leave-out"}
