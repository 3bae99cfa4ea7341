"""The cells of a live notebook as they ran last, by which a renamed answer is noticed.

Python keeps what an older version of a cell defined: after ``def total`` became ``def my_total``
the name ``total`` still stands for the old function, and judging that would puzzle its author.
JupyterLab and VS Code tell the kernel the id of each cell that runs. Where there are no ids, as in
``nbclient``, nothing is noticed.

A check cell that lacks a name of an earlier cell ends with Python's error, below which a line says
what to do. Without the lab's first cell, which imports this, there is only the error."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

from warpwise.labs import fold

RUN_ABOVE = "Run the cells above this one first: Run > Run All Above Selected Cell"


class CellsRun:
    """The text with which each cell ran last, by its id, and before that."""

    def __init__(self) -> None:
        self.now: dict[str, str] = {}
        self.before: dict[str, list[str]] = {}

    def watch(self) -> None:
        """Hear from now on of each cell that runs, if this is a notebook's kernel."""
        ipython = sys.modules.get("IPython")  # in a kernel it is there
        shell = ipython.get_ipython() if ipython else None
        if shell is not None and hasattr(shell, "kernel"):
            shell.events.register("pre_run_cell", self.heard)
            shell.set_custom_exc((NameError,), _on_unknown_name)

    def heard(self, info: Any) -> None:
        """Keep the text of a cell that is about to run."""
        cell = getattr(info, "cell_id", None)
        if cell is None:
            return
        if cell in self.now:
            self.before.setdefault(cell, []).append(self.now[cell])
        self.now[cell] = info.raw_cell

    def renamed(self, name: str) -> tuple[str, ...] | None:
        """Return what the cell that defined ``name`` defines now, None unless the name is gone."""
        if any(_binds(name, text) for text in self.now.values()):
            return None
        for cell, texts in self.before.items():
            if any(name in _functions(text) for text in texts):
                return _functions(self.now[cell])
        return None


def _on_unknown_name(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: Any = None) -> None:
    """Show an error as ever, and below that of a check cell what to do about it."""
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if fold.units_in(str(shell.user_ns.get("In", ("",))[-1])):
        print(RUN_ABOVE, file=sys.stderr)


def _binds(name: str, text: str) -> bool:
    """True if a cell gives ``name`` a value, or may do so: its text is not plain Python."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return bool(re.search(rf"\b{re.escape(name)}\b", text))
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*"):
            return True
    return False


def _functions(text: str) -> tuple[str, ...]:
    """Return the names of the functions that a cell defines."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
