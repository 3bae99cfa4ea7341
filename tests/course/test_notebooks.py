"""The labs' notebooks as a student runs them: solved they pass and show their pictures, untouched
they fail, and what is broken is said."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from support.lab_cases import WITHOUT_KERNELS
from support.paths import ROOT
from support.wrong_answers import wrong_answer

from warpwise.errors import LabError
from warpwise.labs.build import build
from warpwise.labs.check import TARGET
from warpwise.labs.run import Result, _among_others, check_notebook, complete, run_notebook
from warpwise.labs.source import BEGIN, END, load_lab, role, solved_notebook

STEMS = sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))


@pytest.fixture(scope="module")
def solved_runs() -> dict[str, NotebookNode]:
    """Each solved lab as it ran while all labs were built anew, and were what they are."""
    runs = []

    def kept(notebook: NotebookNode, folder: Path) -> NotebookNode:
        runs.append(run_notebook(notebook, folder))
        return runs[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warpwise.labs.build.run_notebook", kept)
        build(ROOT / "solutions", ROOT / "labs", check=True)
    return dict(zip(STEMS, runs, strict=True))


@pytest.mark.slow
def test_generated_labs_are_up_to_date_and_a_second_build_is_the_same(solved_runs):
    assert solved_runs.keys() == set(STEMS)


@pytest.mark.slow
def test_check_names_a_lab_that_differs_and_writes_nothing(tmp_path):
    solutions, labs = tmp_path / "solutions", tmp_path / "labs"
    solutions.mkdir()
    labs.mkdir()
    shutil.copy(ROOT / "solutions/08_coalescing.md", solutions)
    (labs / "08_coalescing.ipynb").write_text("{}")
    with pytest.raises(LabError, match=r"08_coalescing\.ipynb"):
        build(solutions, labs, check=True)
    assert (labs / "08_coalescing.ipynb").read_text() == "{}"


def test_a_lab_is_built_alone_and_an_unknown_one_is_named(tmp_path):
    (line,) = build(ROOT / "solutions", tmp_path, only=["01_why_gpus"])
    assert [path.stem for path in tmp_path.iterdir()] == ["01_why_gpus"] and "written" in line
    with pytest.raises(LabError, match=r"no lab '99_nothing'"):
        build(ROOT / "solutions", tmp_path, only=["99_nothing"])


def test_a_lab_without_a_source_is_refused_and_kept(tmp_path):
    (tmp_path / "99_stray.ipynb").write_text("{}")
    with pytest.raises(LabError, match="99_stray"):
        build(ROOT / "solutions", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["99_stray.ipynb"]


@pytest.mark.parametrize("stem", STEMS)
def test_the_student_notebook_holds_no_solution(stem):
    text = (ROOT / f"labs/{stem}.ipynb").read_text()
    assert BEGIN not in text and END not in text
    notebook, lab = nbformat.reads(text, as_version=4), load_lab(stem)
    stubs = [c for c in notebook.cells if role(c) == "exercise"]
    assert [c.metadata.warpwise.id for c in stubs] == [e.id for e in lab.exercises]
    assert all("...  # roughly" in c.source for c in stubs)
    assert len({c.id for c in notebook.cells}) == len(notebook.cells)


def fill(stem: str, folder: Path, submission: str = "") -> Path:
    """The committed student notebook with answers in place of its stubs: the submission's module,
    or else the solution's cells."""
    notebook = nbformat.read(ROOT / f"labs/{stem}.ipynb", as_version=4)
    solved = {c.id: c.source for c in solved_notebook(load_lab(stem)).cells}
    for cell in notebook.cells:
        if role(cell) == "exercise":
            cell.source = submission or solved[cell.id]
    nbformat.write(notebook, folder / f"{stem}.ipynb")
    return folder / f"{stem}.ipynb"


def nbval(*paths: Path) -> subprocess.CompletedProcess:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval-lax",
        "--nbval-cell-timeout=600",
        "-rN",
        "-p",
        "no:cacheprovider",
        "--noconftest",
    ]
    folder = paths[0].parent
    return subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", folder, *paths],
        capture_output=True,
        text=True,
        cwd=folder,
    )


@pytest.mark.slow
def test_nbval_passes_solved_notebooks(tmp_path):
    """The first and the last; of all labs, what nbval compares is looked at below."""
    done = nbval(*(fill(stem, tmp_path) for stem in (STEMS[0], STEMS[-1])))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_a_lab_shows_the_counters_and_a_picture_of_each_kernel(stem, solved_runs):
    shown = pictures(solved_runs[stem], load_lab(stem))
    assert shown
    for output in shown:
        if stem in WITHOUT_KERNELS:  # a program's run
            assert "timeline of" in output.data["text/plain"]
        else:
            assert "application/vnd.jupyter.widget-view+json" in output.data


VIEWS = """
import numpy as np

from warpwise import cuda
from warpwise.labs import Call, Launch, Out, check
from warpwise.views import divergence, hierarchy


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


x = np.arange(32, dtype=np.float32)
check("copy", [Launch("32", 1, 32, (x, Out(32)), (x,))], view=divergence)
check(len, [Call("32 numbers", (x,), 32, view=hierarchy.explorer())])
"""


def test_a_check_shows_the_view_that_it_is_asked_for(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(VIEWS)])
    shown = [
        output.data["text/plain"] for output in run_notebook(notebook, tmp_path).cells[0].outputs
    ]
    assert [text.split("\n")[0] for text in shown] == [
        "copy: passed",
        "counters of launch 32",
        "The divergence widget",
        "len: passed",
        "The hierarchy widget",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("stem", ["02_simt", "09_tiling", "11_online_softmax"])
def test_without_anywidget_the_picture_stands_still_and_the_verdict_is_the_same(
    stem, tmp_path, solved_runs
):
    notebook = nbformat.read(fill(stem, tmp_path), as_version=4)
    first = next(c for c in notebook.cells if role(c) == "given")
    first.source = "import sys\n\nsys.modules['anywidget'] = None\n" + first.source
    ran = run_notebook(notebook, tmp_path)
    for output in pictures(ran, load_lab(stem)):
        assert "<svg" in output.data["text/html"]
    assert compared(ran) == compared(solved_runs[stem])


def compared(notebook) -> list[list[str]]:
    """Return the texts that nbval compares: those in each check cell before the real ones."""
    return [
        [output.metadata["warpwise"]["placeholder"] for output in cell.outputs]
        for cell in notebook.cells
        if role(cell) == "check"
    ]


@pytest.mark.slow
def test_nbval_passes_the_solved_notebook_without_anywidget(tmp_path):
    path = fill("08_coalescing", tmp_path)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(
        0, nbformat.v4.new_code_cell("import sys\n\nsys.modules['anywidget'] = None")
    )
    nbformat.write(notebook, path)
    assert nbval(path).returncode == 0


def pictures(notebook, lab) -> list:
    """The last output of each check cell that shows more than a verdict, as that of a kernel
    does."""
    checks = {c.metadata["warpwise"]["check"]: c for c in notebook.cells if role(c) == "check"}
    kernels = [checks[e.id] for e in lab.exercises if e.kind == "kernel"]
    assert bool(kernels) == (lab.stem not in WITHOUT_KERNELS)
    assert all(
        len(cell.outputs) == 3 + ("board=" in cell.source)
        and "counters of launch" in cell.outputs[1].data["text/plain"]
        for cell in kernels
    )
    return [cell.outputs[-1] for cell in checks.values() if len(cell.outputs) > 1]


@pytest.mark.slow
def test_nbval_passes_other_right_answers(tmp_path):
    """One lab's; ``test_labs`` judges those of all labs by the visible cases."""
    answers = sorted((ROOT / "tests/course/08_coalescing/correct").glob("*.py"))
    for answer in answers:
        (tmp_path / answer.stem).mkdir()
    filled = (fill("08_coalescing", tmp_path / a.stem, a.read_text()) for a in answers)
    done = nbval(*filled)
    assert done.returncode == 0 and len(answers) >= 2, done.stdout


@pytest.mark.slow
def test_nbval_fails_the_untouched_labs_in_their_check_cells_only(tmp_path):
    paths = [Path(shutil.copy(ROOT / f"labs/{stem}.ipynb", tmp_path)) for stem in STEMS]
    done = nbval(*paths)
    assert done.returncode == 1
    exercises = [exercise for stem in STEMS for exercise in load_lab(stem).exercises]
    assert f"{len(exercises)} failed" in done.stdout and "Error" not in done.stdout
    assert all(f"{exercise.name}: not done yet" in done.stdout for exercise in exercises)


@pytest.mark.slow
@pytest.mark.parametrize("stem", ["01_why_gpus", "19_capstone"])
def test_check_says_not_done_yet_for_each_exercise_of_the_untouched_lab(stem):
    results = check_notebook(ROOT / f"labs/{stem}.ipynb")
    assert [(r.exercise, r.reason, r.passed) for r in results] == [
        (e.id, "not done yet", False) for e in load_lab(stem).exercises
    ]


@pytest.mark.slow
def test_check_reads_the_verdict_of_each_exercise(tmp_path):
    path = fill("08_coalescing", tmp_path)
    notebook = nbformat.read(path, as_version=4)
    cells = {c.id: c for c in notebook.cells}
    cells["exercise-copy_matrix"].source = wrong_answer("08_coalescing", "guard_off_by_one").text
    cells["exercise-transpose"].source = "1 / 0"
    notebook.cells.remove(cells["check-sectors_for"])
    nbformat.write(notebook, path)
    before = path.read_text()
    results = check_notebook(path)
    assert [r.reason for r in results] == [
        "out of bounds",
        "not reached",
        "passed",
        "passed",
        "raised an error",
        "passed",
    ]
    assert [r.points for r in results] == [2, 2, 3, 3, 3, 3]
    assert "check cell is missing" in results[1].detail and "ZeroDivisionError" in results[4].detail
    assert path.read_text() == before
    assert [r.exercise for r in check_notebook(path, ("transpose",))] == ["transpose"]
    with pytest.raises(LabError, match="has no exercise 'matmul'; it has copy_matrix"):
        check_notebook(path, ("matmul",))


def check_answers(folder: Path, answers: dict[str, str]):
    """The results of the solved lab with some answers replaced."""
    path = fill("08_coalescing", folder)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if role(cell) == "exercise":
            cell.source = answers.get(cell.metadata.warpwise.id, cell.source)
    nbformat.write(notebook, path)
    return notebook, check_notebook(path)


@pytest.mark.slow
def test_what_does_not_end_costs_no_other_exercise_its_result(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("warpwise.labs.run.CELL_SECONDS", 8)  # a call has 5
    endless = (
        "def sectors_for(stride, offset, itemsize):\n"
        "    lane = 0\n    while lane < 32:\n        stride += 1"
    )
    answers = {
        "copy_matrix": "while True:\n    pass",
        "sectors_for": endless,
        "transpose": "import os\n\nos._exit(0)",
    }
    _, results = check_answers(tmp_path, answers)
    assert [r.reason for r in results] == [
        "too slow",
        "does not end",
        "passed",
        "passed",
        "raised an error",
        "passed",
    ]
    assert [r.detail for r in results] == [
        "the cell used more than 8 seconds of processor time",
        "sectors_for(1, 0, 4) gave no answer in 5 seconds of processor time",
        "",
        "",
        "the cell ended Python",
        "",
    ]
    assert "line 3" in results[1].more or "line 4" in results[1].more
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.slow
def test_a_broken_cell_is_one_clear_line_and_no_traceback_of_a_check(tmp_path):
    solved = {
        c.metadata.warpwise.id: c.source
        for c in solved_notebook(load_lab("08_coalescing")).cells
        if role(c) == "exercise"
    }
    answers = {
        "copy_matrix": solved["copy_matrix"].replace(
            "def copy_matrix(src, dst):", "def copy_matrix(src, dst)"
        ),
        "sectors_for": solved["sectors_for"].replace("def sectors_for", "def sectors"),
        "column_sums": solved["column_sums"].replace("@cuda.jit", "@cuda.jut"),
    }
    notebook, results = check_answers(tmp_path, answers)
    assert [r.reason for r in results] == [
        "not Python",
        "name not defined",
        "raised an error",
        "passed",
        "passed",
        "passed",
    ]
    assert (
        results[0].detail
        == "the cell that defines copy_matrix has a syntax error on line 2: expected ':'"
    )
    assert (
        results[1].detail == "sectors_for is not defined"
        and "leave the function's name as it was" in results[1].more
    )
    assert "jut" in results[2].detail
    ran = run_notebook(notebook, tmp_path)
    assert {o.output_type for c in ran.cells if role(c) == "check" for o in c.outputs} == {
        "display_data"
    }


LOADS_COST_TOO_MUCH_AND_STORES_MORE = """
@cuda.jit
def transpose(src, dst):
    col, row = cuda.grid(2)
    if row < src.shape[0] and col < src.shape[1]:
        dst[col, row] = src[row, col] + 0 * src[(row + col // 2) % src.shape[0], col]
"""


@pytest.mark.slow
def test_the_picture_opens_on_the_side_that_is_over_budget(tmp_path):
    notebook, results = check_answers(tmp_path, {"transpose": LOADS_COST_TOO_MUCH_AND_STORES_MORE})
    assert results[4].reason == "over budget: sectors_per_request_load"
    ran = run_notebook(notebook, tmp_path)
    (shown,) = (c.outputs[-1].data for c in ran.cells if c.id == "check-transpose")
    state = ran.metadata.widgets["application/vnd.jupyter.widget-state+json"].state
    assert (
        state[shown["application/vnd.jupyter.widget-view+json"]["model_id"]]
        .state["values"]["row"]
        .endswith(" load")
    )


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_the_output_of_a_fresh_lab_is_a_target_and_that_of_a_run_is_not(stem, solved_runs):
    fresh = nbformat.read(ROOT / f"labs/{stem}.ipynb", as_version=4)
    ran = {cell.id: cell for cell in solved_runs[stem].cells}
    for before in fresh.cells:
        if role(before) == "check":
            after = ran[before.id]
            told = before.outputs[0].data["text/plain"]
            assert (
                told == f"{TARGET}\n{after.outputs[0].data['text/plain']}" and ": passed\n" in told
            )


BAD_NOTEBOOKS = {
    "truncated": '{"cells": [{"cell_type": "co',
    "empty": "",
    "a list": "[]",
    "no cells": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "another notebook": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}',
    "not text": "\0\udcff",
    "cells of a wrong kind": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}',
}


@pytest.mark.parametrize("name", BAD_NOTEBOOKS)
def test_a_file_that_is_no_lab_is_one_line(name, tmp_path):
    path = tmp_path / "lab.ipynb"
    path.write_bytes(BAD_NOTEBOOKS[name].encode(errors="surrogateescape"))
    with pytest.raises(LabError) as error:
        check_notebook(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_notebook_that_is_not_there_is_one_line(tmp_path):
    for path in (tmp_path / "none.ipynb", tmp_path):
        with pytest.raises(LabError, match="no notebook at"):
            check_notebook(path)


def test_of_a_choice_one_exercise_is_enough():
    def result(id, reason, choice=""):
        return Result(id, 2, reason, choice=choice)

    first, done, open_one = (
        result("a", "passed"),
        result("b", "passed", "one"),
        result("c", "not done yet", "one"),
    )
    assert (
        complete([first, done, open_one])
        and not complete([first, open_one])
        and not complete([result("a", "race"), done])
    )
    assert _among_others(open_one, [first, done, open_one]).reason == "not chosen"
    assert (
        _among_others(open_one, [first, open_one, result("d", "not done yet", "two")]).reason
        == "not done yet"
    )
