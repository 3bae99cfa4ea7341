"""Find a name that a plain function uses and that grading leaves out.

The grader keeps of a function's surroundings what can be run without this package
(``surroundings``). In a notebook the function sees the lab's imports of ``warpwise`` too, so one
that asks ``trace`` for the result would pass its check and then fail; so would one that reads a
table which a loop in another cell has filled."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from warpwise.labs.exercise import Reason, Verdict
from warpwise.labs.surroundings import left_out
from warpwise.labs.trees import parse
from warpwise.messages import plain

PACKAGE = "warpwise"


def problem(name: str, names: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict on a function ``names[name]`` that uses what grading lacks, else None.

    Functions of the notebook that it calls are looked through as well."""
    found = _path(name, names, (name,))
    if found is None:
        return _of_a_notebook(name, names)
    *calls, used = found
    told = f"{calls[-1]} uses {used} of {PACKAGE}, which grading does not have"
    if len(calls) > 1:
        told = f"{' calls '.join(calls)}, and {told}"
    advice = f"compute the result without {calls[1] if len(calls) > 1 else used}"
    return Verdict(False, Reason.RAISED, plain(told), remedy=plain(advice))


def _of_a_notebook(name: str, names: Mapping[str, Any]) -> Verdict | None:
    """The verdict on a function that reads data which the cells run so far set step by step."""
    nodes = [node for text in names.get("In", ()) for node in _statements(text)]
    data = [one for one in left_out(name, nodes) if not _is_code(names.get(one))]
    if not data:
        return None
    told = f"{name} needs {min(data)}, which grading does not have: of the cells around a function"
    told += " it takes along imports, functions, classes and single assignments"
    advice = f"set {min(data)} inside {name}, or in one assignment that needs nothing of {PACKAGE}"
    return Verdict(False, Reason.RAISED, plain(told), remedy=plain(advice))


def _statements(text: object) -> Iterable[ast.stmt]:
    try:
        return parse(text).body if isinstance(text, str) else ()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _is_code(value: Any) -> bool:
    return value is None or isinstance(value, ModuleType | type) or callable(value)


def _path(
    name: str, names: Mapping[str, Any], open_ones: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The functions from ``name`` to the one that uses a name of the package, and that name."""
    function = names[name]
    if not isinstance(function, FunctionType):
        return None
    for used in _globals_of(function.__code__):
        if used not in names or used in open_ones:
            continue
        if _is_ours(names[used]):
            return (name, used)
        further = _path(used, names, (*open_ones, used))
        if further is not None:
            return (name, *further)
    return None


def _globals_of(code: CodeType) -> Iterator[str]:
    """The global names that a function mentions, and those of functions inside it."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals_of(inner)


def _is_ours(value: Any) -> bool:
    """True for a module, function, class or object of this package, kernels included."""
    of = value if isinstance(value, FunctionType | type) else type(value)
    module = value.__name__ if isinstance(value, ModuleType) else of.__module__
    return module.partition(".")[0] == PACKAGE
