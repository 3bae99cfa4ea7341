"""Run a lab's notebook and read its verdicts (``warpwise check labs/NN_topic.ipynb``).

The cells run in a fresh kernel, top to bottom, as they stand. A limit on a cell counts the kernel's
processor time, so that a busy machine fails no sound notebook. Verdicts are those that ``check``
leaves in the metadata of its outputs: they are for the student. Points come from the grader, which
trusts none of it."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from warpwise.errors import LabError
from warpwise.labs.cell_time import CellTime
from warpwise.labs.exercise import Reason
from warpwise.labs.limit import PATIENCE

CELL_SECONDS = 60  # of processor time, for a cell; a check stops earlier by itself
SLOW, STUCK, DIED = "CellTooSlow", "CellDidNotEnd", "CellEndedPython"
#: the names of the errors that cells get which stopped the run
ENDED = {SLOW: Reason.TOO_SLOW, STUCK: Reason.TIMED_OUT, DIED: Reason.RAISED}
NOT_REACHED, NOT_CHOSEN = "not reached", "not chosen"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
Watch = Callable[[int, int], None]
UNREADABLE = (OSError, ValueError, AttributeError, KeyError, TypeError, nbformat.ValidationError)


class Result(NamedTuple):
    """The state of one exercise: a row of the table that ``warpwise check`` prints.

    ``detail`` is one line. ``more`` says where, and what to try: a few lines, or none. Of the
    exercises with one ``choice``, one is enough."""

    exercise: str
    points: int
    reason: str
    detail: str = ""
    more: str = ""
    choice: str = ""

    @property
    def passed(self) -> bool:
        return self.reason == Reason.PASSED


def check_notebook(
    path: str | Path, exercises: tuple[str, ...] = (), watch: Watch | None = None
) -> tuple[Result, ...]:
    """Run a lab's notebook and return a result per exercise, or for those in ``exercises``.

    ``watch`` is called when a cell begins, with its number, from 0, and how many there are. The
    notebook on disk is not changed. Raises LabError when there is no such notebook, when the
    file is no notebook or no lab, or when it has no exercise of a given id."""
    path = Path(path)
    notebook = read_notebook(path)
    asked = _asked(path, notebook)
    for id in exercises:
        if id not in asked:
            raise LabError(f"{path} has no exercise {id!r}; it has {', '.join(asked)}")
    run_notebook(notebook, path.parent, watch)
    found = [
        _result(notebook, id, about.get("points", 0))._replace(choice=about.get("choice", ""))
        for id, about in asked.items()
    ]
    wanted = (result for result in found if not exercises or result.exercise in exercises)
    return tuple(_among_others(result, found) for result in wanted)


def exercises_in(path: Path) -> tuple[str, ...]:
    """Return the ids of a lab's exercises. Raises LabError where the file is no lab."""
    return tuple(_asked(path, read_notebook(path)))


def complete(results: Iterable[Result]) -> bool:
    """True if every exercise passes, or, of a choice, one."""
    passed = {result.choice or result.exercise for result in results if result.passed}
    return all((result.choice or result.exercise) in passed for result in results)


def _among_others(result: Result, all_results: Iterable[Result]) -> Result:
    """The result, or NOT_CHOSEN if only another exercise of its choice was begun."""
    if not result.choice or result.reason != Reason.NOT_DONE:
        return result
    others = (other for other in all_results if other.choice == result.choice)
    begun = any(other.reason != Reason.NOT_DONE for other in others)
    return result._replace(reason=NOT_CHOSEN) if begun else result


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook from a file, in the current format. Raises LabError, in one line."""
    if not path.is_file():
        raise LabError(f"no notebook at {path}" + (": it is a folder" if path.is_dir() else ""))
    try:
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except UNREADABLE as error:
        raise LabError(f"{path} is not a notebook: {_one_line(error)}") from error
    return notebook


def run_notebook(notebook: NotebookNode, folder: Path, watch: Watch | None = None) -> NotebookNode:
    """Run all cells in a fresh kernel started in ``folder``, going on after errors.

    Changes and returns the notebook. A cell that does not end, or that ends Python, gets an error
    as its output; the others are run anew without it."""
    stopped: dict[int, NotebookNode] = {}
    while (found := _run(notebook, folder, stopped, watch)) is not None:
        index, name, why = found
        stopped[index] = nbformat.v4.new_output("error", ename=name, evalue=why, traceback=[why])
    for index, error in stopped.items():
        notebook.cells[index].outputs = [error]
    return notebook


def _run(
    notebook: NotebookNode, folder: Path, skipped: Container[int], watch: Watch | None = None
) -> tuple[int, str, str] | None:
    """Run once without some cells; return the cell that stopped the run, if any, and why."""
    time, begun = CellTime(CELL_SECONDS), list[int]()

    def begin(cell: NotebookNode, cell_index: int) -> None:
        started: Any = client.km
        time.begin(started.provisioner.pid)
        begun.append(cell_index)
        if watch is not None:
            watch(cell_index, len(notebook.cells))

    client: NotebookClient = NotebookClient(
        _without(notebook, skipped),
        timeout=PATIENCE * CELL_SECONDS,
        kernel_name="python3",  # whatever the notebook says: the interpreter that runs warpwise
        allow_errors=True,
        record_timing=False,
        # its warnings are about the machine's network, not about the lab
        extra_arguments=["--log-level=40"],
        resources={"metadata": {"path": str(folder)}},
        on_cell_execute=begin,
    )
    try:
        with closing(time):
            # the output of cells is in the notebook
            done = client.execute(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (TimeoutError, RuntimeError) as error:
        if not begun:  # Python did not even start
            raise LabError(f"the notebook cannot be run: {_one_line(error)}") from error
        if time.late:
            used = f"the cell used more than {CELL_SECONDS} seconds of processor time"
            return begun[-1], SLOW, used
        if isinstance(error, TimeoutError):
            waited = f"the cell did not end within {PATIENCE * CELL_SECONDS} seconds"
            return begun[-1], STUCK, waited
        return begun[-1], DIED, "the cell ended Python"
    notebook.metadata = done.metadata
    for cell, ran in zip(notebook.cells, done.cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    return None


def _without(notebook: NotebookNode, skipped: Container[int]) -> NotebookNode:
    """Copy a notebook with some cells emptied."""
    copied = copy.deepcopy(notebook)
    for index, cell in enumerate(copied.cells):
        if index in skipped:
            cell.source = ""
    return copied


def verdicts(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, dict[str, Any]]]:
    """Yield the verdicts that checks left in an executed notebook, each with its cell."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            verdict = output.get("metadata", {}).get("warpwise", {})
            if "exercise" in verdict:
                yield cell, verdict


def _asked(path: Path, notebook: NotebookNode) -> dict[str, dict[str, Any]]:
    """Map exercise ids to the metadata of the notebook's own exercise cells."""
    cells = (cell.metadata for cell in notebook.cells)
    mine = [m.get("warpwise", {}) for m in cells if "exercise" in m.get("tags", ())]
    asked = {m["id"]: m for m in mine if isinstance(m, dict) and "id" in m}
    if not asked:
        raise LabError(f"{path} is a notebook, but not one of the labs: it has no exercise cells")
    return asked


def _result(notebook: NotebookNode, id: str, points: int) -> Result:
    cells = [c for c in notebook.cells if c.metadata.get("warpwise", {}).get("check") == id]
    if not cells:
        missing = "its check cell is missing: take it from a fresh copy of the lab"
        return Result(id, points, NOT_REACHED, missing)
    found = [verdict for cell, verdict in verdicts(notebook) if cell in cells]
    error = _error_before(notebook, id, cells[0])
    last = found[-1] if found else None
    if error and (last is None or (last["reason"] == Reason.NOT_DEFINED and not last["case"])):
        return Result(id, points, *error)
    if last is None:
        silent = "its check cell gave no verdict: does it still call check()?"
        return Result(id, points, NOT_REACHED, silent)
    detail, _, more = last["detail"].partition("\n")
    case = f"  Case: {last['case']}" if last["case"] and not last["passed"] else ""
    advice = indent(f"Try: {last['advice']}", "  ") if last["advice"] else ""
    looked = f"  Looked at: {last['looked']}" if last.get("looked") else ""
    more = "\n".join(text for text in (case, more, advice, looked) if text)
    return Result(id, points, last["reason"], detail, more)


def _error_before(notebook: NotebookNode, id: str, check: NotebookNode) -> tuple[str, str] | None:
    """Return the error that kept a check from judging an answer, as reason and detail.

    That is the first in the exercise's own cell, in a given one or in the check's."""
    for cell in notebook.cells[: notebook.cells.index(check) + 1]:
        own = cell is check or cell.metadata.get("warpwise", {}).get("id") == id
        if not own and "given" not in cell.metadata.get("tags", ()):
            continue
        for output in cell.get("outputs", ()):
            if output.output_type != "error":
                continue
            if output.ename in ENDED:
                return ENDED[output.ename], output.evalue
            first, *_ = ANSI.sub("", f"{output.ename}: {output.evalue}").split("\n")
            return Reason.RAISED, first
    return None


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    no_json = isinstance(error, json.JSONDecodeError) or "JSON" in lines[0]
    return "not JSON" if no_json else lines[0][:160]
