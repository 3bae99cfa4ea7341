"""A busy machine fails no sound answer, in the grader or in a notebook.

While four loops keep the processors busy, the solution of the heaviest lab is graded, and the next
one's is checked; all right answers to all labs, by nbval too, with WARPWISE_BUSY=1, as `make busy`
has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from support.paths import ROOT

from warpwise.grading import parts
from warpwise.grading import sandbox as box
from warpwise.grading.engine import grade
from warpwise.labs.run import check_notebook
from warpwise.labs.source import load_lab, role, solved_notebook

ALL = sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))
WHOLE = bool(os.environ.get("WARPWISE_BUSY"))
GRADED = ALL if WHOLE else ["13_flash_backward"]
CHECKED = ALL if WHOLE else ["12_flash_attention"]
LOOPS = 4
LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@pytest.fixture(scope="module")
def busy() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(LOOPS)]
    yield
    assert all(loop.poll() is None for loop in loops), "the machine was not kept busy"
    for loop in loops:
        loop.kill()
        loop.wait()


def right_answers(stem: str) -> dict[str, nbformat.NotebookNode]:
    """The lab's notebook with the solution, and with each other right answer, by name."""
    solved = {cell.id: cell.source for cell in solved_notebook(load_lab(stem)).cells}
    texts: dict[str, str | None] = {"solution": None}
    others = sorted((ROOT / f"tests/course/{stem}/correct").glob("*.py")) if WHOLE else []
    texts |= {path.stem: path.read_text() for path in others}
    made = {}
    for name, text in texts.items():
        notebook = nbformat.read(ROOT / f"labs/{stem}.ipynb", as_version=4)
        for cell in notebook.cells:
            if role(cell) == "exercise":
                cell.source = text or solved[cell.id]
        made[name] = notebook
    return made


@pytest.mark.slow
@pytest.mark.parametrize("stem", GRADED)
def test_a_busy_machine_grades_every_right_answer_as_right(stem, busy, sandbox, tmp_path: Path):
    folder = tmp_path / "submissions"
    for name, notebook in right_answers(stem).items():
        (folder / name).mkdir(parents=True)
        nbformat.write(notebook, folder / name / f"{stem}.ipynb")
    records = grade(folder, tmp_path / "graded")
    assert len(records) == len(list(folder.iterdir())) >= 1
    for record in records:
        assert not record.problem, (record.student, record.problem)
        for result in record.results:
            finding, shown = result.finding, result.visible
            assert finding.passed, (record.student, result.exercise, finding.reason, finding.detail)
            assert shown.outcome == "passes", (record.student, result.exercise, shown.why)


@pytest.mark.slow
@pytest.mark.parametrize("stem", CHECKED)
def test_a_busy_machine_checks_every_right_notebook_as_right(stem, busy, tmp_path: Path):
    """By `warpwise check`, and of all labs by nbval too, whose checks have the same limits."""
    for name, notebook in right_answers(stem).items():
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    for result in check_notebook(tmp_path / "solution.ipynb"):
        assert result.passed, result
    if not WHOLE:
        return
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "-p", "no:cacheprovider"]
    alone = ["--noconftest", "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run([*command, *alone], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]


CELLS = (
    "while True:\n    pass",
    "n = 0\nwhile n < 1e300:\n    n += 1",
    "try:\n    while True: pass\nexcept KeyboardInterrupt: pass",  # an end without an error
    "1",
)


def test_a_cell_that_uses_up_its_time_costs_the_next_ones_nothing(sandbox):
    cells = [
        {"cell_type": "code", "id": f"c{i}", "source": text, "outputs": [], "execution_count": 1}
        | {"metadata": {"warpwise": {"check": str(i)}}}
        for i, text in enumerate(CELLS)
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    done = box.run(parts.NOTEBOOK, parts.whole(notebook, 1), box.isolation())
    said = [json.loads(line) for line in done.result.splitlines()]
    assert [line["passed"] for line in said] == [False, False, False, True]
    assert [line["why"] for line in said] == ["it used more than 1 s of processor time"] * 3 + [""]
