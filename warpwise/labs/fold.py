"""Fold check cells, and say in each which exercises its lab has.

One line stays to be seen, the cell's first, which names the exercise. JupyterLab folds a cell whose
metadata has ``jupyter.source_hidden`` and shows that line; Colab folds one with ``cellView`` and
shows the title in it. VS Code reads no folds from a file: there the line is what "Collapse All Cell
Inputs" leaves. The second line lists the lab's exercises. ``check`` finds it in the text of the
cell that runs, so that it can count them in every front end, without the notebook's file. Both are
comments, which no digest of an exercise includes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TITLE = "# @title Check {name}: run this cell"  # Colab shows what follows "@title"
LISTED = "# Exercises of this lab: "
FOLDED: dict[str, Any] = {"jupyter": {"source_hidden": True}, "cellView": "form"}
OR = " or "

#: An exercise by its name, or those of a choice, of which one is enough
Unit = tuple[str, ...]


def headed(source: str, name: str, units: Iterable[Unit]) -> str:
    """Return a check cell's source below its title and the list of the lab's exercises."""
    listed = ", ".join(map(OR.join, units))
    return f"{TITLE.format(name=name)}\n{LISTED}{listed}\n{source}"


def units_in(source: str) -> tuple[Unit, ...]:
    """Return the exercises that a check cell lists, in the lab's order; none if it lists none."""
    lines = (line for line in source.split("\n") if line.startswith(LISTED))
    listed = next(lines, LISTED).removeprefix(LISTED)
    return tuple(tuple(names.split(OR)) for names in listed.split(", ") if names)
