"""Signatures in ``@cuda.jit("void(float32[:], float32)")``: read, never run.

They are strings, Numba's types, or a list of them. With one, Numba compiles a kernel once: a launch
converts numbers to the types that it names, and takes no other arrays. What is neither array nor
number (tuples, records) is left unchanged."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from warpwise.simt.frontend.names import TYPE_NAMES
from warpwise.simt.types import DType


@dataclass(frozen=True)
class Parameter:
    """The type of a parameter: a number, or an array of ``ndim`` dimensions."""

    dtype: DType
    ndim: int = 0

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(':' * self.ndim)}]" if self.ndim else str(self.dtype)


Signature = tuple[Parameter | None, ...]  #: None where anything goes


def signatures(tree: ast.FunctionDef) -> tuple[Signature, ...]:
    """Return the signatures in a function's ``jit`` decorator; none where one cannot be read."""
    for decorator in tree.decorator_list:
        if not isinstance(decorator, ast.Call) or not decorator.args:
            continue
        if ast.unparse(decorator.func).split(".")[-1] == "jit":
            given = decorator.args[0]
            found = [
                _signature(n) for n in (given.elts if isinstance(given, ast.List) else [given])
            ]
            known = tuple(signature for signature in found if signature is not None)
            return known if len(known) == len(found) else ()
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
    """Read ``float32``, ``numba.float32``, ``f4[:, ::1]``; None for anything else."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        element = _parameter(node.value)
        if element is None or not all(isinstance(p, ast.Slice) for p in parts):
            return None
        return Parameter(element.dtype, len(parts))
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return Parameter(np.dtype(TYPE_NAMES[name])) if name in TYPE_NAMES else None
