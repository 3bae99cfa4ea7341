"""Write ``labs/*.ipynb`` from ``solutions/*.md`` (``warpwise labs build``).

The reference output of a check cell is what the solved notebook really printed there. Everything
that could differ from run to run (counters, pictures, widget state, times, random ids) is left out,
so a second build writes the same bytes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from warpwise.errors import LabError
from warpwise.labs.colab import repository, with_setup
from warpwise.labs.run import run_notebook, verdicts
from warpwise.labs.source import (
    Lab,
    load_lab,
    notebook_text,
    role,
    solved_notebook,
    student_notebook,
)
from warpwise.labs.versions import stamp


def build(
    solutions: str | Path = "solutions",
    labs: str | Path = "labs",
    check: bool = False,
    only: Collection[str] = (),
) -> tuple[str, ...]:
    """Generate every lab, or only those with these stems, and return a line about each.

    With ``check``, write nothing and raise LabError if a file differs. A lab
    file without a source is an error in both cases; it is never deleted. Raises LabError too when
    there is no source, or when a solution does not pass its own check."""
    sources = sorted(Path(solutions).glob("*.md"))
    if not sources:
        raise LabError(f"no lab sources in {solutions}: run this from the root of the repository")
    built = {path.stem for path in Path(labs).glob("*.ipynb")}
    stray = sorted(built - {path.stem for path in sources})
    if stray:
        raise LabError(f"{labs}/{stray[0]}.ipynb has no source {solutions}/{stray[0]}.md")
    unknown = sorted(set(only) - {path.stem for path in sources})
    if unknown:
        raise LabError(f"no lab {unknown[0]!r}: there is no {solutions}/{unknown[0]}.md")
    lines, stale, site = [], [], repository(Path(solutions).resolve().parent)
    for source in [path for path in sources if path.stem in (only or (path.stem,))]:
        target = Path(labs) / f"{source.stem}.ipynb"
        text = generate(load_lab(source), site)
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            lines.append(f"{target} is up to date")
        elif check:
            stale.append(str(target))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            lines.append(f"{target} written")
    if stale:
        differ = f"not what would be generated from {solutions}: {', '.join(stale)}"
        raise LabError(f"{differ}; run `warpwise labs build`")
    return tuple(lines)


def generate(lab: Lab, site: tuple[str, str, str] | None = None) -> str:
    """Return the text of a student's notebook, with reference outputs from the solved one.

    ``site`` is the repository for Colab, as ``colab.repository`` returns it."""
    notebook = stamp(student_notebook(lab, reference_outputs(lab)), lab)
    return notebook_text(with_setup(notebook, site))


def reference_outputs(lab: Lab) -> dict[str, list[NotebookNode]]:
    """Map exercise ids to the outputs of their check cells in the solved notebook.

    Raises LabError when a solution does not pass."""
    solved = run_notebook(solved_notebook(lab), Path.cwd())
    for cell in solved.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                raised = f"raised {output.ename}: {output.evalue}"
                raise LabError(f"lab {lab.stem}: a cell of the solved notebook {raised}")
    passed = {verdict["exercise"] for _, verdict in verdicts(solved) if verdict["passed"]}
    for exercise in lab.exercises:
        if exercise.name not in passed:
            wrong = f"the solution of {exercise.id} does not pass its own check"
            raise LabError(f"lab {lab.stem}: {wrong}")
    checks = [cell for cell in solved.cells if role(cell) == "check"]
    return {c.metadata["warpwise"]["check"]: [_reference(o) for o in c.outputs] for c in checks}


def _reference(output: NotebookNode) -> NotebookNode:
    """The output as nbval will meet it: a placeholder instead of what replaced it."""
    mark = output.get("metadata", {}).get("warpwise", {})
    if "placeholder" in mark:
        return _displayed({"text/plain": mark["placeholder"]})
    return _displayed(output.data) if output.output_type == "display_data" else output


def _displayed(data: dict[str, str]) -> NotebookNode:
    output: NotebookNode = nbformat.v4.new_output("display_data", data)
    return output
