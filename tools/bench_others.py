"""Time other graders beside ours, on the same right answers: nbgrader and otter-grader.

Otter comes from the package index, into an environment that is deleted afterwards: nothing of the
course needs it. Both run the notebook with its own checks, in the grader's process family; ours
draws hidden cases, judges the kernels in a process without student code, and writes feedback."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from bench_grading import ROOT, STEM, graded, notebooks
from bench_row import Row, said, seconds
from support.nbgrader_command import nbgrader

from warpwise.labs.nbgrader import release
from warpwise.labs.source import load_lab, solved_notebook

COUNT = 6
INSTALL_SECONDS = 600


def others(say: Callable[[str], None]) -> Iterator[Row]:
    """Time three graders on six solved notebooks each, one after another."""
    say("six right answers by warpwise ...")
    right = ((name, text) for name, text in notebooks(2 * COUNT, hostile=0) if is_right(name))
    ours = seconds(lambda: graded(right, jobs=1)) / COUNT
    yield Row("warpwise, a right answer", ours, "s", note="starts of its processes included")
    for name, grade in (("nbgrader", by_nbgrader), ("otter-grader", by_otter)):
        say(f"the same six by {name} ...")
        with tempfile.TemporaryDirectory() as folder:
            try:
                theirs = grade(Path(folder)) / COUNT
            except (OSError, subprocess.SubprocessError, AssertionError) as error:
                yield Row(f"{name}, a right answer", None, "s", note=said(error))
                continue
        note = f"{theirs / ours:.1f} times ours; neither a sandbox nor hidden cases"
        yield Row(f"{name}, a right answer", theirs, "s", note=note)


def is_right(name: str) -> bool:
    """Right and wrong answers come by turns, the right ones first."""
    return int(name.removeprefix("student")) % 2 == 0


def by_nbgrader(folder: Path) -> float:
    """Return the seconds of ``nbgrader autograde``, on the lab as we release it for nbgrader."""
    course = folder / "course"
    release(course, ROOT)
    nbgrader(course, "generate_assignment", STEM)
    for student in range(COUNT):
        target = course / f"submitted/student{student}/{STEM}/{STEM}.ipynb"
        target.parent.mkdir(parents=True)
        nbformat.write(solved_notebook(load_lab(STEM)), target)
    return seconds(lambda: nbgrader(course, "autograde", STEM))


def by_otter(folder: Path) -> float:
    """Return the seconds of ``otter run``, with a test for each exercise that its name is defined.

    The checks are the notebook's own cells. Raises SubprocessError if Otter cannot be installed."""
    otter = installed_otter(folder / "environment")
    lab = load_lab(STEM)
    notebook = solved_notebook(lab)
    first = nbformat.v4.new_code_cell("import otter\ngrader = otter.Notebook()")
    notebook.cells.insert(0, first)
    nbformat.write(notebook, folder / "submission.ipynb")
    with zipfile.ZipFile(folder / "autograder.zip", "w") as tests:
        tests.writestr("otter_config.json", "{}")
        for exercise in lab.exercises:
            case = {"code": f">>> callable({exercise.name})\nTrue", "hidden": False}
            suite = {"cases": [case], "scored": True, "type": "doctest"}
            test = {"name": exercise.id, "points": exercise.points, "suites": [suite]}
            text = f"OK_FORMAT = True\ntest = {test!r}\n"
            tests.writestr(f"tests/{exercise.id}.py", text)
    (folder / "out").mkdir()
    command = [otter, "run", "submission.ipynb", "-a", "autograder.zip", "-o", "out", "--no-logo"]

    def six_times() -> None:
        for _ in range(COUNT):
            ran(command, folder)
            tests = json.loads((folder / "out" / "results.json").read_text())["tests"]
            points = sum(test.get("score", 0) for test in tests)
            assert points == sum(e.points for e in lab.exercises), f"otter gave {points} points"

    return seconds(six_times)


def installed_otter(folder: Path) -> str:
    """Install Otter into a new environment that sees this one's packages, and return its path."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "otter-grader"]
    try:
        ran(pip, folder)
    except subprocess.SubprocessError as error:
        raise subprocess.SubprocessError("otter-grader cannot be installed here") from error
    packages = next(folder.rglob("site-packages"))
    (packages / "course.pth").write_text("\n".join([str(ROOT), *site.getsitepackages()]))
    return str(programs / "otter")


def ran(command: list[object], folder: Path) -> None:
    env = os.environ | {"HOME": str(folder), "PYTHONPATH": ""}
    subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=env,
        check=True,
        capture_output=True,
        timeout=INSTALL_SECONDS,
    )


if __name__ == "__main__":
    for row in others(lambda text: print(text, file=sys.stderr)):
        print(row)
