"""Labs for a course that uses nbgrader: the instructor's ``source/``, with solutions and marks.

nbgrader's own ``generate_assignment`` takes the solutions out, and its ``autograde`` gives points
for check cells that do not raise: so here, unlike in the labs that students otherwise get, checks
raise for a wrong answer. nbgrader believes the process that runs the student's code. A student who
sets out to fool it can; ``warpwise grade``, which reads nbgrader's ``submitted/`` too, is for that.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from warpwise.errors import LabError
from warpwise.labs.release import (
    build_wheel,
    check_term,
    course_folder,
    describe,
    handed_out,
    replacing,
)
from warpwise.labs.source import Lab, load_lab, marked_notebook, notebook_text, role
from warpwise.labs.versions import stamp

SCHEMA = 3  #: version of nbgrader's cell metadata
CONFIG = """# Add this to your course's nbgrader_config.py: it sets the text in place of a solution.
c = get_config()  # noqa: F821
c.ClearSolutions.code_stub = {"python": "...  # your code"}
c.ExecutePreprocessor.timeout = 600
"""
README = """# For an nbgrader course

These are the labs WITH SOLUTIONS: for instructors only.

1. Install the package where the course is graded, and have students install it:
   `pip install '{wheel}[labs]'`.
2. Copy the folders in `source/` into the `source/` of your course, and the lines of
   `nbgrader_config.py` into its configuration.
3. `nbgrader generate_assignment {first}` makes the students' version; `nbgrader autograde {first}`
   grades what they hand in.

Each exercise is a solution cell, each check below it a locked test cell with the exercise's points.

**nbgrader's points are not safe from a student who sets out to fool it.** It runs the student's
code and the checks in one process, and believes what that process reports.
`warpwise grade submitted --out GRADES` grades the same `submitted/` folder with hidden tests, in a
process that runs no student code.
{left_out}
| lab | version |
|---|---|
{versions}
"""
LEFT_OUT = """
Left out: {stems}. There one of several exercises is enough; nbgrader can only add up all points.
"""


def release(
    target: Path,
    course: Path | None = None,
    term: str = "",
    force: bool = False,
    labs: Sequence[str] = (),
) -> tuple[str, ...]:
    """Write ``source/<lab>/<lab>.ipynb`` for each lab, the package and a README to ``target``.

    ``labs`` are the only ones to write (``chosen``). Returns a line about it. Labs with a choice of
    exercises are left out. Raises LabError as ``release.release`` does, and then leaves everything
    as it was."""
    root = course_folder(course)
    check_term(term)
    with replacing(target, force) as folder:
        versions: dict[str, str] = {}
        left_out: list[str] = []
        for stem, version, _ in handed_out(root, labs):
            lab = load_lab(root / "solutions" / f"{stem}.md")
            if any(exercise.choice for exercise in lab.exercises):
                left_out.append(stem)
                continue
            path = folder / "source" / stem / f"{stem}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(notebook_text(for_nbgrader(lab, term)), "utf-8")
            versions[stem] = version
        if not versions:
            raise LabError(f"there is no lab in {root / 'solutions'} that nbgrader could grade")
        wheel = f"dist/{build_wheel(root, folder / 'dist')}"
        (folder / "nbgrader_config.py").write_text(CONFIG, "utf-8")
        (folder / "README.md").write_text(_readme(versions, left_out, wheel), "utf-8")
        describe(folder, {"term": term, "labs": versions})
    without = f", without {' and '.join(left_out)}" if left_out else ""
    return (f"{len(versions)} labs for nbgrader{without} are in {target}, WITH SOLUTIONS",)


def for_nbgrader(lab: Lab, term: str = "") -> NotebookNode:
    """Make a lab's notebook with marked solutions, nbgrader's metadata, and checks that raise."""
    notebook = stamp(marked_notebook(lab), lab)
    if term:
        notebook.metadata["warpwise"]["term"] = term
    points = {exercise.id: exercise.points for exercise in lab.exercises}
    for cell in notebook.cells:
        part = role(cell)
        if part == "exercise":
            cell.metadata["nbgrader"] = _marks(cell.id, solution=True)
        elif part == "check":
            cell.source = strict(cell.source)
            worth = points[cell.metadata["warpwise"]["check"]]
            cell.metadata["nbgrader"] = _marks(cell.id, grade=True, locked=True, points=worth)
        elif part == "given":
            cell.metadata["nbgrader"] = _marks(cell.id, locked=True)
    return notebook


def strict(source: str) -> str:
    """Rewrite a check cell so that its check raises for a wrong answer.

    Raises LabError if the cell does not call ``check`` once, at its top level."""
    values = [node.value for node in ast.parse(source).body if isinstance(node, ast.Expr)]
    calls = [value for value in values if isinstance(value, ast.Call)]
    checks = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "check"]
    if len(checks) != 1:
        raise LabError(f"a check cell should call check() once: {json.dumps(source[:80])}")
    lines, last = source.split("\n"), checks[0].end_lineno or 1
    line = lines[last - 1].encode()
    end = (checks[0].end_col_offset or 1) - 1  # in bytes, of the bracket that closes the call
    before = "\n".join([*lines[: last - 1], line[:end].decode()])
    comma = "" if before.rstrip().endswith(",") else ", "
    return "\n".join([f"{before}{comma}strict=True{line[end:].decode()}", *lines[last:]])


def _marks(
    grade_id: str,
    *,
    grade: bool = False,
    solution: bool = False,
    locked: bool = False,
    points: float | None = None,
) -> dict[str, Any]:
    marks: dict[str, Any] = {"schema_version": SCHEMA, "cell_type": "code", "grade_id": grade_id}
    marks |= {"grade": grade, "solution": solution, "locked": locked, "task": False}
    return marks | ({} if points is None else {"points": points})


def _readme(versions: dict[str, str], left_out: list[str], wheel: str) -> str:
    rows = "\n".join(f"| `{stem}` | `{version}` |" for stem, version in versions.items())
    without = LEFT_OUT.format(stems=", ".join(left_out)) if left_out else ""
    return README.format(wheel=wheel, first=next(iter(versions)), versions=rows, left_out=without)
