"""A student's update: answers move, nothing is lost, and a second time changes nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from support.paths import ROOT
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.errors import LabError
from warpwise.labs.merge import merge
from warpwise.labs.source import load_lab, role, solved_notebook, student_notebook
from warpwise.labs.update import update
from warpwise.labs.versions import KEY, stamp

LAB = "01_why_gpus"
SOLVED = {c.id: c.source for c in solved_notebook(load_lab(LAB)).cells}


def handed_out(version: str = "", **digests: str) -> NotebookNode:
    """The lab as it is handed out; of another version, with some exercises' digests changed."""
    lab = load_lab(LAB)
    made = stamp(student_notebook(lab), lab)
    made.metadata["warpwise"]["version"] = version or lab.version
    made.metadata["warpwise"][KEY] |= digests
    return made


def answered(notebook: NotebookNode, *ids: str) -> NotebookNode:
    for id in ids:
        cell(notebook, f"exercise-{id}").source = SOLVED[f"exercise-{id}"]
    return notebook


def cell(notebook: NotebookNode, id: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == id)


def below(notebook: NotebookNode, id: str) -> NotebookNode:
    at = [cell.id for cell in notebook.cells].index(id)
    return notebook.cells[at + 1]


def with_own(notebook: NotebookNode, *texts: str) -> NotebookNode:
    for text in texts:
        notebook.cells.insert(3, nbformat.v4.new_code_cell(text))
    return notebook


# Notebooks.


def test_answers_move_where_the_exercise_is_the_same():
    old = answered(handed_out("older", reverse="other"), "square", "add", "reverse")
    found = merge(old, handed_out())
    assert (found.moved, found.look, found.own) == (("square", "add"), ("reverse",), 0)
    for id in ("square", "add"):
        assert cell(found.notebook, f"exercise-{id}").source == SOLVED[f"exercise-{id}"]
    stub = cell(handed_out(), "exercise-reverse").source
    assert cell(found.notebook, "exercise-reverse").source == stub
    kept = below(found.notebook, "exercise-reverse")
    lines = kept.source.splitlines()
    assert "another version" in lines[0] and all(line.startswith("#") for line in lines)
    assert [line[2:] for line in lines[1:]] == SOLVED["exercise-reverse"].splitlines()
    assert found.notebook.metadata == handed_out().metadata
    nbformat.validate(found.notebook)


def test_own_cells_go_to_the_end_without_their_outputs():
    old = with_own(answered(handed_out("older"), "square"), "mine = 1", "mine + 1")
    old.cells[3].outputs = [nbformat.v4.new_output("stream", text="2")]
    found = merge(old, handed_out())
    assert [c.source for c in found.notebook.cells[-2:]] == ["mine + 1", "mine = 1"]
    assert found.own == 2 and not found.notebook.cells[-2].outputs
    assert "Cells of your own" in found.notebook.cells[-3].source


def test_an_answer_in_the_new_notebook_stays():
    new = handed_out()
    cell(new, "exercise-square").source = "def square(x):\n    return 2\n"
    found = merge(answered(handed_out("older"), "square"), new)
    assert found.look == ("square",) and not found.moved
    assert "return 2" in cell(found.notebook, "exercise-square").source
    assert below(found.notebook, "exercise-square").source.startswith("# Your other answer")


@pytest.mark.parametrize("text", ["def square(x:\n    return", "helper = 1\n"])
def test_work_that_is_no_function_yet_moves_too(text):
    old = handed_out("older")
    cell(old, "exercise-square").source = f"{text}\ndef square(src, dst):\n    ...\n"
    found = merge(old, handed_out())
    assert found.moved == ("square",) and text in cell(found.notebook, "exercise-square").source


def test_a_second_time_adds_nothing():
    old = with_own(answered(handed_out("older", reverse="x"), "square", "reverse"), "mine = 1")
    once = merge(old, handed_out())
    twice = merge(old, once.notebook)
    assert (twice.moved, twice.look, twice.own) == ((), (), 0)
    assert twice.notebook == once.notebook


def test_an_answer_in_a_cell_of_its_own_is_found():
    old = with_own(handed_out("older"), SOLVED["exercise-square"])
    old.cells.remove(cell(old, "exercise-square"))
    found = merge(old, handed_out())
    assert (found.moved, found.own) == (("square",), 0)


def test_without_digests_an_answer_moves_if_all_around_it_is_the_same():
    old = answered(handed_out("older"), "square", "add")
    del old.metadata["warpwise"][KEY]
    assert merge(old, handed_out()).moved == ("square", "add")
    cell(old, "check-add").source += "\nmore = 1"
    found = merge(old, handed_out())
    assert (found.moved, found.look) == (("square",), ("add",))


# Files.


def save(path: Path, notebook: NotebookNode) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def handouts(tmp_path, monkeypatch) -> Path:
    """Last year's handout, worked in, and today's, which is the current folder."""
    old = with_own(answered(handed_out("older"), "square"), "mine = 1")
    save(tmp_path / f"old/labs/{LAB}.ipynb", old)
    path = save(tmp_path / f"new/labs/{LAB}.ipynb", handed_out())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    record = {"files": {f"labs/{LAB}.ipynb": digest}}
    (tmp_path / "new/release.json").write_text(json.dumps(record))
    monkeypatch.chdir(tmp_path / "new")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["labs", "update", *map(str, arguments)])
    return done.exit_code, done.output


def test_a_whole_handout_moves_into_the_current_one(handouts):
    old, new = (handouts / f"{where}/labs/{LAB}.ipynb" for where in ("old", "new"))
    before = old.read_bytes()
    status, said = run("../old")
    assert status == 0 and f"{LAB}: moved square" in said
    assert "1 cell of your own is at the end" in said
    assert old.read_bytes() == before
    moved = nbformat.read(new, 4)
    assert cell(moved, "exercise-square").source == SOLVED["exercise-square"]
    assert names(new.parent) == [f"{LAB}.ipynb"]  # it was as handed out: no backup
    after = new.read_bytes()
    status, said = run("../old")
    assert status == 0 and "is up to date" in said and new.read_bytes() == after
    assert names(new.parent) == [f"{LAB}.ipynb"]


def test_what_was_worked_in_is_kept_beside_it(handouts):
    new = handouts / f"new/labs/{LAB}.ipynb"
    save(new, answered(nbformat.read(new, 4), "add"))
    before = new.read_bytes()
    status, said = run("../old")
    assert status == 0 and f"what was there is now {LAB}.ipynb.before-update" in said
    assert (new.parent / f"{LAB}.ipynb.before-update").read_bytes() == before
    moved = nbformat.read(new, 4)
    for id in ("add", "square"):
        assert cell(moved, f"exercise-{id}").source == SOLVED[f"exercise-{id}"]
    (handouts / f"old/labs/{LAB}.ipynb").unlink()
    save(handouts / f"old/labs/{LAB}.ipynb", answered(handed_out("older"), "reverse"))
    run("../old")
    assert (new.parent / f"{LAB}.ipynb.before-update").read_bytes() == before
    assert f"{LAB}.ipynb.before-update-2" in names(new.parent)


def test_a_notebook_is_brought_up_to_date_where_it_lies(handouts):
    old, new = (handouts / f"{where}/labs/{LAB}.ipynb" for where in ("old", "new"))
    mine, theirs = old.read_bytes(), new.read_bytes()
    status, _ = run(old, "--from", handouts / "new")
    assert status == 0 and new.read_bytes() == theirs
    made = nbformat.read(old, 4)
    assert made.metadata["warpwise"]["version"] == load_lab(LAB).version
    assert cell(made, "exercise-square").source == SOLVED["exercise-square"]
    assert (old.parent / f"{LAB}.ipynb.before-update").read_bytes() == mine


def test_the_result_can_go_elsewhere(handouts):
    old, new = (handouts / f"{where}/labs/{LAB}.ipynb" for where in ("old", "new"))
    before = old.read_bytes(), new.read_bytes()
    status, _ = run(old, "--out", handouts / "made.ipynb")
    assert status == 0 and run("../old", "--out", handouts / "all")[0] == 0
    assert (old.read_bytes(), new.read_bytes()) == before
    for path in (handouts / "made.ipynb", handouts / f"all/{LAB}.ipynb"):
        made = nbformat.read(path, 4)
        assert cell(made, "exercise-square").source == SOLVED["exercise-square"]


def test_one_broken_notebook_holds_up_no_other(handouts):
    (handouts / "old/labs/02_simt.ipynb").write_text("{")
    status, said = run("../old")
    assert status == 2 and "02_simt.ipynb is not a notebook that can be read" in said
    assert f"{LAB}: moved square" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["../nowhere"], "there is no ../nowhere"),
        (["../empty"], "there are no labs in ../empty"),
        (["../old", "--from", "../empty"], "there are no labs in ../empty: name the new handout"),
        ([f"labs/{LAB}.ipynb"], "is the lab of this folder; name the new handout with --from"),
        (["../old", "--out", "x.ipynb"], "name a folder"),
        (["../99_mine.ipynb"], "is of lab 99_mine, which is not among the new labs (01_why_gpus)"),
        (["../text.ipynb"], "text.ipynb is not a notebook that can be read"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(handouts, arguments, said):
    (handouts / "empty").mkdir()
    (handouts / "text.ipynb").write_text("{}")
    save(handouts / "99_mine.ipynb", nbformat.v4.new_notebook())
    before = (handouts / f"new/labs/{LAB}.ipynb").read_bytes()
    status, told = run(*arguments)
    assert status == 2 and said in told and told.count("\n") == 1
    assert (handouts / f"new/labs/{LAB}.ipynb").read_bytes() == before


def test_a_folder_without_labs_is_no_handout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "a.ipynb", handed_out("older"))
    with pytest.raises(LabError, match="there are no labs in the current folder"):
        list(update(path))


def test_every_lab_takes_its_own_answers():
    """All exercises of all labs move from the solved notebook into the one of today."""
    for path in sorted((ROOT / "labs").glob("*.ipynb")):
        lab = load_lab(path.stem)
        old = stamp(solved_notebook(lab), lab)
        old.metadata["warpwise"]["version"] = "older"
        found = merge(old, nbformat.read(path, 4))
        assert found.moved == tuple(e.id for e in lab.exercises) and not found.look
        assert found.own == 0
        solved = {c.id: c.source for c in old.cells if role(c) == "exercise"}
        assert {c.id: c.source for c in found.notebook.cells if role(c) == "exercise"} == solved
