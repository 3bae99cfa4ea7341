"""Run a cell after the statements that it needs, and return what it shows as plain data.

Each run has a namespace of its own, so no run can spoil the next; imported modules stay. A kernel
is read from its text, so the text of every cell is kept in ``linecache``, as a notebook does.
"""

from __future__ import annotations

import ast
import io
import linecache
import traceback
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from typing import Any

from warpwise.cells.needed import Statement, needed, statements
from warpwise.errors import KernelError

OWN = "this cell"  #: as errors name it
OURS = ("cuda", "trace")  #: names of the package that every program needs
MOST_TEXT, MOST_HTML = 100_000, 4_000_000  #: characters
TOO_LONG = "\n(the rest is left out)"
Namespace = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """What a cell shows: printed text, its last value as HTML or text, and an error with its line.

    ``line`` counts from 1 in the cell's own text; it is 0 where no line of it is to blame.
    """

    printed: str = ""
    html: str = ""
    value: str = ""
    error: str = ""
    line: int = 0

    @property
    def data(self) -> dict[str, str | int]:
        return asdict(self)


class Page:
    """The cells before those that a reader edits; ``run`` answers for one text."""

    def __init__(self, cells: Sequence[str]):
        self.cells = list(cells)

    def run(self, text: str, at: int | None = None, then: str = "") -> Shown:
        """Run a text after what it needs of the cells before ``at``; of all, if that is None.

        ``then`` is an expression that is shown where the text itself ends without a value.
        """
        printed = Printed()
        try:
            with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
                warnings.simplefilter("default")
                warnings.showwarning = printed.warn  # type: ignore[assignment]  # any place
                value = self._value(text, at, then, printed)
                return Shown(printed.text, *rendered(value))
        except BaseException as error:
            return Shown(printed.text, error=said(error), line=line(error))

    def _value(self, text: str, at: int | None, then: str, printed: Printed) -> object:
        own = ast.parse(remembered(text, OWN), OWN)
        after = ast.parse(then)
        parts = statements([text, then])
        space: Namespace = {"__name__": "__main__"}
        for statement in needed(statements(self.cells[:at]), parts):
            self._execute(statement, space)
        printed.clear()  # the earlier cells have shown theirs on the page
        value = evaluated(own, OWN, space)
        return evaluated(after, "then", space) if value is None and then else value

    def _execute(self, statement: Statement, space: Namespace) -> None:
        name = f"cell {statement.cell}"
        remembered(self.cells[statement.cell], name)
        exec(compile(ast.Module([statement.node], []), name, "exec"), space)


class Printed(io.TextIOBase):
    """What is printed, up to a limit: an endless loop that prints must not fill the memory."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        room = MOST_TEXT - len(self.text)
        if len(text) <= room:
            self.text += text
        elif room > 0:
            self.text = (self.text + text)[:MOST_TEXT] + TOO_LONG
        return len(text)

    def warn(self, message: object, category: type[Warning], *place: object) -> None:
        """Write a warning as a notebook shows it, without the path of a file."""
        self.write(f"{category.__name__}: {message}\n")

    def clear(self) -> None:
        self.text = ""


def remembered(text: str, name: str) -> str:
    """Keep a text where the simulator looks for a kernel's lines; return it."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return text


def evaluated(tree: ast.Module, name: str, space: Namespace) -> object:
    """Execute a module; return the value of the expression at its end, or None."""
    *body, last = tree.body or [ast.Pass()]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, name, "exec"), space)
        return None
    exec(compile(ast.Module(body, []), name, "exec"), space)
    value: object = eval(compile(ast.Expression(last.value), name, "eval"), space)
    return value


def rendered(value: object) -> tuple[str, str]:
    """Return a value as HTML, or else as text."""
    if value is None:
        return "", ""
    html = getattr(value, "_repr_html_", lambda: None)()
    if not isinstance(html, str):
        text = repr(value)
        return "", text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + TOO_LONG
    if len(html) > MOST_HTML:
        return "", f"The picture has {len(html):,} characters, more than a page can show."
    return html, ""


def said(error: BaseException) -> str:
    """Return an error as a reader sees it, without the way that led to it."""
    words = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, KernelError):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    if isinstance(error, NameError) and error.name in OURS:  # Python has a module called trace
        missing = f"name '{error.name}' is not defined"
        return f"NameError: {missing}\nTry: from warpwise import {error.name}"
    return words[:MOST_TEXT].removeprefix("warpwise.errors.")


def line(error: BaseException, name: str = OWN) -> int:
    """Return the line of a cell that an error blames: a kernel's, or where Python was."""
    if isinstance(error, KernelError) and error.where and error.where.file == name:
        return max(error.where.line, 0)
    if isinstance(error, SyntaxError) and error.filename in (name, "<unknown>"):
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename == name), 0)
