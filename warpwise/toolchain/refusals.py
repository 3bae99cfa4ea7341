"""Numba's objections to a kernel, in one line.

Its own messages run to pages, and name a line near their end."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np

from warpwise.simt.compiler.advice import on_call
from warpwise.simt.frontend.kernel import Kernel

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r'File ".+?", line (\d+)|^During: .* at .+ \((\d+)\)$', re.MULTILINE)
_NOISE = re.compile(r"Failed in \w+ mode pipeline \(step: .*\)")
_END = re.compile(r'\s*(File ".*", line \d+|During: |There are \d+ candidate|<source elided>)')
LONGEST = 300  # characters


def one_line(kernel: Kernel, error: Exception) -> str:
    """Return the place in the kernel, the compiler's message, and the text of the line."""
    if isinstance(error, KeyError):
        return _of_key(kernel, error.args[0] if error.args else None)
    message = _COLOUR.sub("", str(error)) or type(error).__name__
    return _placed(kernel, _line(kernel, message), _said(message))


def _placed(kernel: Kernel, line: int, said: str) -> str:
    text = kernel.lines.get(line, "").strip()
    return f"{_file(kernel)}:{line}: {said}" + (f"    {text}" if text else "")


def _of_key(kernel: Kernel, key: object) -> str:
    """Explain a KeyError, which says only the key.

    The key is one of NumPy's functions, for which the compiler has a type and no code."""
    first = kernel.tree.lineno
    if not isinstance(key, np.ufunc):
        return _placed(kernel, first, f"the compiler fails with KeyError: {key}")
    calls = [node for node in ast.walk(kernel.tree) if isinstance(node, ast.Call)]
    call = next((call for call in calls if _function(call.func) is key), None)
    if call is None:  # in a function that the kernel calls, or in an operator on whole arrays
        return _placed(kernel, first, f"np.{key.__name__}: Numba has no code for it on a GPU")
    advice = f"{ast.unparse(call.func)}: write {on_call(call, key, {}, {})}"
    return _placed(kernel, call.lineno, advice)


def _function(node: ast.expr) -> object:
    """Return NumPy's function of this name: ``abs`` and ``absolute`` are one function."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return getattr(np, name, None)


def _said(message: str) -> str:
    """Return the first paragraphs, up to where the message turns to places and candidates."""
    kept: list[str] = []
    for line in message.splitlines():
        if kept and _END.match(line):
            break
        if line.strip() and not _NOISE.match(line):
            kept.append(line.strip())
    said = " ".join(kept)
    return said if len(said) <= LONGEST else said[: LONGEST - 3] + "..."


def _line(kernel: Kernel, message: str) -> int:
    """Return the first line of the kernel that the message names, or else that of its ``def``."""
    named = [int(one or other) for one, other in _PLACE.findall(message)]
    first, last = kernel.tree.lineno, kernel.tree.end_lineno or kernel.tree.lineno
    return next((line for line in named if first <= line <= last), first)


def _file(kernel: Kernel) -> str:
    return Path(kernel.function.__code__.co_filename).name if kernel.function else kernel.file
