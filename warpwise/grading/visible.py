"""Run our notebook, with our checks and reference outputs, on the student's answers.

nbval compares the outputs of our check cells with the reference. It runs in the sandbox, but in one
process family with student code, which could make it report anything: its results are shown to the
student and are never worth a point."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from warpwise.errors import GradingError
from warpwise.grading import parts, sandbox
from warpwise.grading.notebook import Answer
from warpwise.grading.record import (
    NOT_REACHED,
    NOT_RUN_AGAIN,
    SHOWN_FAILED,
    SHOWN_PASSED,
    STOPPED,
    Visible,
)
from warpwise.grading.warm import Warm

CELL_SECONDS = 10  # of processor time
MOST_CHARACTERS = 200
PLAINLY = {
    "Cell outputs differ": "it says something else than it should",
    "Cell execution caused an exception": "the cell ends with an error",
}
TERMINAL_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
Json = dict[str, Any]  # a notebook


def reference(course: Path, stem: str) -> Json:
    """Read our own notebook of a lab, with reference outputs, without cells that only explore.

    Raises GradingError."""
    path = course / "labs" / f"{stem}.ipynb"
    try:
        found: Json = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        missing = f"lab {stem} has no notebook {path} to compare with"
        raise GradingError(f"{missing}: run `warpwise labs build`") from error
    return found | {"cells": [cell for cell in found["cells"] if not _explores(cell)]}


def _explores(cell: Json) -> bool:
    return "explore" in cell["metadata"].get("tags", ())


def with_answers(notebook: Json, answers: Mapping[str, Answer | None]) -> Json:
    """Put the student's answers into our notebook's exercise cells, and nothing else of theirs."""
    cells = []
    for cell in notebook["cells"]:
        answer = answers.get(cell["metadata"].get("warpwise", {}).get("id", ""))
        cells.append(cell | {"source": answer.text} if answer else cell)
    return notebook | {"cells": cells}


def run_again(
    notebook: Json, mode: str, warm: Warm | None = None, stopped: Collection[str] = ()
) -> dict[str, Visible]:
    """Run a notebook again, and return the result of each check by exercise id.

    Those of the ``stopped`` exercises, whose answers used up a limit before, are left out.
    ``warm`` is a sandbox that was started for many notebooks: see ``sandbox.warm``."""
    cells = [cell for cell in notebook["cells"] if _checked(cell) not in stopped]
    job, part = parts.whole(notebook | {"cells": cells}, CELL_SECONDS), parts.NOTEBOOK
    done = sandbox.play(part, job, mode, warm)
    found: dict[str, Visible] = {}
    for line in done.result.splitlines():
        found |= _reported(line)
    ended = STOPPED[done.stopped] if done.stopped or done.exit else ""
    exercises = filter(None, map(_checked, notebook["cells"]))
    asked = {id: found.get(id, Visible(NOT_REACHED, ended)) for id in exercises}
    return asked | {id: Visible(NOT_RUN_AGAIN) for id in stopped}


def _checked(cell: Json) -> str:
    """Return the exercise that a cell checks, or nothing."""
    id: str = cell["metadata"].get("warpwise", {}).get("check", "")
    return id


def _reported(line: bytes) -> dict[str, Visible]:
    """Read the result of a check from one line of the sandbox; nothing for malformed lines."""
    try:
        said = json.loads(line)
        id, passed, why = said["about"]["check"], said["passed"] is True, str(said["why"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    if not isinstance(id, str):
        return {}
    why = PLAINLY.get(why, TERMINAL_COLOUR.sub("", why)[:MOST_CHARACTERS])
    return {id: Visible(SHOWN_PASSED) if passed else Visible(SHOWN_FAILED, why)}
