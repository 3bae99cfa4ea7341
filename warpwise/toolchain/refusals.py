"""What Numba's compiler says against a kernel, in one line. Its own messages run to pages, and name a line near their end."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np

from warpwise.simt.language.advice import on_call
from warpwise.simt.text.source import Kernel

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r'File ".+?", line (\d+)|^During: .* at .+ \((\d+)\)$', re.MULTILINE)
_NOISE = re.compile(r"Failed in \w+ mode pipeline \(step: .*\)")
_END = re.compile(r'\s*(File ".*", line \d+|During: |There are \d+ candidate|<source elided>)')
LONGEST = 300  # characters


def one_line(kernel: Kernel, error: Exception) -> str:
    """Where in the kernel, what the compiler says, and the text of the line."""
    if isinstance(error, KeyError):
        return _of_key(kernel, error.args[0] if error.args else None)
    message = _COLOUR.sub("", str(error)) or type(error).__name__
    return _placed(kernel, _line(kernel, message), _said(message))


def _placed(kernel: Kernel, line: int, said: str) -> str:
    text = kernel.lines.get(line, "").strip()
    return f"{_file(kernel)}:{line}: {said}" + (f"    {text}" if text else "")


def _of_key(kernel: Kernel, key: object) -> str:
    """A KeyError says only which key: one of NumPy's functions, which the compiler has a type for and no code."""
    if not isinstance(key, np.ufunc):
        return _placed(kernel, kernel.tree.lineno, f"the compiler fails with KeyError: {key}")
    calls = (node for node in ast.walk(kernel.tree) if isinstance(node, ast.Call) and _name(node.func) is key)
    call = next(calls, None)
    if call is None:  # in a function that the kernel calls, or in an operator on whole arrays
        return _placed(kernel, kernel.tree.lineno, f"np.{key.__name__}: Numba has no code of it for a GPU")
    return _placed(kernel, call.lineno, f"{ast.unparse(call.func)}: write {on_call(call, key, {}, {})}")


def _name(node: ast.expr) -> object:
    """What NumPy calls so: ``abs`` and ``absolute`` are one function."""
    return getattr(np, node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", ""), None)


def _said(message: str) -> str:
    """The first paragraphs, up to where the message turns to places and candidates."""
    kept = []
    for line in message.splitlines():
        if kept and _END.match(line):
            break
        if line.strip() and not _NOISE.match(line):
            kept.append(line.strip())
    said = " ".join(kept)
    return said if len(said) <= LONGEST else said[: LONGEST - 3] + "..."


def _line(kernel: Kernel, message: str) -> int:
    """The first place that the message names within the kernel's text, else the line of its ``def``."""
    named = [int(one or other) for one, other in _PLACE.findall(message)]
    return next((line for line in named if kernel.tree.lineno <= line <= kernel.tree.end_lineno), kernel.tree.lineno)


def _file(kernel: Kernel) -> str:
    return Path(kernel.function.__code__.co_filename).name if kernel.function else kernel.file
