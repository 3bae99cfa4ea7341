"""Find what a student defined under an exercise's name, or why nothing usable stands there.

A cell that ends with an error leaves its names undefined, or as an older run left them. Judging
those would puzzle its author, so the cells that were run are looked at first: IPython keeps their
texts under ``In``."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warpwise.errors import WarpwiseError
from warpwise.labs.cells_run import CellsRun
from warpwise.labs.exercise import Reason, Verdict
from warpwise.messages import plain
from warpwise.simt import Kernel, as_kernel

AGAIN = "fix that cell, run it, and then run this one again"


def problem(name: str, names: Mapping[str, Any], cells: CellsRun | None = None) -> Verdict | None:
    """Return what keeps ``names[name]`` from being the student's latest answer, None if nothing.

    ``cells``: those of a live notebook, by which a function is known that was renamed."""
    text = _latest(name, names.get("In", ()))
    error = _syntax_error(text)
    if error is not None:
        told = f"the cell that defines {name} has a syntax error on line {error.lineno}"
        told += f": {error.msg}" + (f"\n    {error.text.strip()}" if error.text else "")
        return Verdict(False, Reason.NOT_PYTHON, plain(told), remedy=plain(AGAIN))
    if name not in names:
        told, advice = f"{name} is not defined", _advice(name, text)
        return Verdict(False, Reason.NOT_DEFINED, plain(told), remedy=plain(advice))
    renamed = cells.renamed(name) if cells else None
    if renamed is not None:
        told = f"the cell that defined {name} now defines {' and '.join(renamed) or 'no function'}"
        told += f"; {name} is still the one from before"
        return Verdict(False, Reason.NOT_DEFINED, plain(told), remedy=plain(_advice(name, "")))
    if is_stub(names[name]) and _defines_more(name, text):
        told = f"the cell that defines {name} did not run to its end"
        told += f"; {name} is still the one from before"
        advice = f"read the error below that cell; {AGAIN}"
        return Verdict(False, Reason.RAISED, plain(told), remedy=plain(advice))
    return None


def name_of(target: Any) -> str:
    """Return the name of a kernel or a function, as its author wrote it."""
    # Numba keeps the function it compiled there
    function = target if isinstance(target, Kernel) else getattr(target, "py_func", target)
    own: str | None = getattr(function, "name", None) or getattr(function, "__name__", None)
    return own or type(target).__name__


def names_of_arguments(parameters: Iterable[str], count: int) -> tuple[str, ...]:
    """Return what messages call the arguments: by number, if there are not as many parameters."""
    names = tuple(parameters)
    return names if len(names) == count else tuple(f"argument {i}" for i in range(count))


def is_stub(target: Any) -> bool:
    """True if the body of a kernel or a function is only a docstring, ``...`` or ``pass``."""
    if isinstance(target, Kernel) or not inspect.isfunction(target):
        try:
            return as_kernel(target).is_stub
        except WarpwiseError:
            return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(target)))
    except (OSError, TypeError, SyntaxError):
        return False
    return is_stub_syntax(tree.body[0])


def is_stub_syntax(function: ast.stmt) -> bool:
    """``is_stub`` for a function in a syntax tree, which is all that the grader has."""
    return isinstance(function, ast.FunctionDef) and all(map(_does_nothing, function.body))


def _does_nothing(statement: ast.stmt) -> bool:
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return constant or isinstance(statement, ast.Pass)


def _latest(name: str, cells: Sequence[str]) -> str:
    """The text of the cell run last among those that define ``name``, or ""."""
    define = re.compile(rf"^\s*def\s+{re.escape(name)}\b", re.MULTILINE)
    texts = (text for text in reversed(cells) if isinstance(text, str))
    return next(filter(define.search, texts), "")


def _syntax_error(text: str) -> SyntaxError | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _defines_more(name: str, text: str) -> bool:
    """True if a cell holds a function of this name that is more than a stub."""
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    found = [node for node in functions if node.name == name]
    return bool(found) and not is_stub_syntax(found[-1])


def _advice(name: str, text: str) -> str:
    if text:
        return f"read the error below the cell that defines {name}; {AGAIN}"
    return f"run the cell of the exercise, and leave the function's name as it was: {name}"
