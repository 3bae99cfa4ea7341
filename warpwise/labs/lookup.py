"""From an exercise's name to what the student defined, or to a verdict that says why nothing usable stands there.

A cell that ends with an error leaves its names undefined, or as an older run left them. Judging those would puzzle its author, so
the cells that were run are looked at first: IPython keeps their texts under ``In``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from warpwise.labs.exercise import Reason, Verdict
from warpwise.labs.judge import is_stub, is_stub_syntax

AGAIN = "mend that cell, run it, and then run this one again"


def problem(name: str, names: Mapping[str, Any]) -> Verdict | None:
    """What keeps ``name``, among ``names``, from being the student's latest answer; None if nothing does."""
    text = _latest(name, names.get("In", ()))
    error = _syntax_error(text)
    if error is not None:
        told = f"the cell that defines {name} has a syntax error on line {error.lineno}: {error.msg}"
        return Verdict(False, Reason.NOT_PYTHON, told + (f"\n    {error.text.strip()}" if error.text else ""), advice=AGAIN)
    if name not in names:
        return Verdict(False, Reason.NOT_DEFINED, f"{name} is not defined", advice=_advice(name, text))
    if is_stub(names[name]) and _defines_more(name, text):
        told = f"the cell that defines {name} did not run to its end; {name} is still the one from before"
        return Verdict(False, Reason.RAISED, told, advice=f"read the error below that cell; {AGAIN}")
    return None


def _latest(name: str, cells: Sequence[str]) -> str:
    """The text of the cell run last among those that define ``name``, or ""."""
    define = re.compile(rf"^\s*def\s+{re.escape(name)}\b", re.MULTILINE)
    return next((text for text in reversed(cells) if isinstance(text, str) and define.search(text)), "")


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
    """Whether a cell holds a function of this name that is more than a stub."""
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return bool(found) and not is_stub_syntax(found[-1])


def _advice(name: str, text: str) -> str:
    if text:
        return f"read the error below the cell that defines {name}; {AGAIN}"
    return f"run the cell of the exercise, and leave the function's name as it was: {name}"
