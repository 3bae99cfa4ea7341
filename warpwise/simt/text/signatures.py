"""Signatures of ``@cuda.jit("void(float32[:], float32)")``, as a string, as Numba's types, or a list of them; read, never run.

With one, Numba compiles a kernel once: a launch converts numbers to the types that it names, and takes no other arrays. What is
no array and no number (tuples, records) is left as it comes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from warpwise.simt.text.names import TYPE_NAMES


@dataclass(frozen=True)
class Parameter:
    """The type of one parameter: of a number, or of an array of ``ndim`` dimensions."""

    dtype: np.dtype
    ndim: int = 0

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(':' * self.ndim)}]" if self.ndim else str(self.dtype)


Signature = tuple[Parameter | None, ...]  #: None where anything goes


def signatures(tree: ast.FunctionDef) -> tuple[Signature, ...]:
    """The signatures in a function's ``jit`` decorator; none where it has no argument, or one that cannot be read."""
    for decorator in tree.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and ast.unparse(decorator.func).split(".")[-1] == "jit":
            given = decorator.args[0]
            wanted = given.elts if isinstance(given, ast.List) else [given]
            found = [_signature(node) for node in wanted]
            return () if None in found else tuple(found)
    return ()


def _signature(node: ast.expr) -> Signature | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(node, ast.Call):
        return tuple(map(_parameter, node.args))
    return tuple(map(_parameter, node.elts)) if isinstance(node, ast.Tuple) else None


def _parameter(node: ast.expr) -> Parameter | None:
    """``float32``, ``numba.float32``, ``f4[:, ::1]``."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        element = _parameter(node.value)
        return Parameter(element.dtype, len(parts)) if element and all(isinstance(p, ast.Slice) for p in parts) else None
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return Parameter(np.dtype(TYPE_NAMES[name])) if name in TYPE_NAMES else None
