"""What a kernel may write, and whether it has fences, read from its text: only the memory that can be written can be raced on.

The answer is careful, not exact: a name stands for every array in what is assigned to it, on any path, and a function that is not known
may write all its arguments.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from warpwise.simt.text.source import CudaName, Kernel, as_kernel, attribute, resolve


@lru_cache(maxsize=256)
def written_parameters(kernel: Kernel, callers: tuple[Kernel, ...] = ()) -> frozenset[str]:
    """The parameters of a kernel or device function whose elements it may write."""
    written = set()
    for node in ast.walk(kernel.tree):
        written |= set(_written_by(node, kernel, callers))
    meanings = _meanings(kernel.tree)
    reached: set[str] = set()
    while written:
        name = written.pop()
        reached.add(name)
        written |= meanings.get(name, set()) - reached
    return frozenset(reached & set(kernel.parameters))


@lru_cache(maxsize=256)
def has_fence(kernel: Kernel, callers: tuple[Kernel, ...] = ()) -> bool:
    """Whether a kernel, or a device function that it calls, has a ``threadfence``."""
    for node in ast.walk(kernel.tree):
        if not isinstance(node, ast.Call):
            continue
        callee = _meant(node.func, kernel)
        if isinstance(callee, CudaName) and callee.path.startswith("threadfence"):
            return True
        if isinstance(callee, Kernel) and callee not in callers and has_fence(callee, (*callers, kernel)):
            return True
    return False


def _written_by(node: ast.AST, kernel: Kernel, callers: tuple[Kernel, ...]) -> Iterator[str]:
    """The names of the arrays that one piece of syntax may write."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        yield from _names(node.value)
    elif isinstance(node, ast.Call):
        for argument in _written_arguments(node, _meant(node.func, kernel), (*callers, kernel)):
            yield from _names(argument)


def _written_arguments(node: ast.Call, callee: object, callers: tuple[Kernel, ...]) -> list[ast.expr]:
    if isinstance(callee, CudaName):
        if callee.path.startswith("atomic") and not node.keywords:
            return node.args[:1]
        return [*node.args, *(k.value for k in node.keywords)] if callee.path.startswith(("atomic", "random")) else []
    if _is_harmless(callee):
        return []
    everything = [*node.args, *(k.value for k in node.keywords), *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    if not isinstance(callee, Kernel) or callee in callers or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return everything
    written = written_parameters(callee, callers)
    return [argument for name, argument in zip(callee.parameters, node.args, strict=False) if name in written]


def _is_harmless(callee: object) -> bool:
    """Functions of Python, ``math`` and NumPy that a kernel can call, and types."""
    if isinstance(callee, (type, np.ufunc)):
        return True
    module = getattr(callee, "__module__", None)
    return callable(callee) and (module == math.__name__ or getattr(builtins, getattr(callee, "__name__", ""), None) is callee)


def _meant(node: ast.expr, kernel: Kernel) -> object:
    """What a called name stands for; None if that is not known before the kernel runs."""
    try:
        if isinstance(node, ast.Attribute):
            base = _meant(node.value, kernel)
            value = None if base is None else resolve(attribute(base, node.attr))
        else:
            value = resolve(kernel.lookup(node.id)) if isinstance(node, ast.Name) else None
    except (KeyError, AttributeError, ValueError):
        return None
    return as_kernel(value) if not isinstance(value, CudaName) and hasattr(value, "py_func") else value


def _meanings(tree: ast.FunctionDef) -> dict[str, set[str]]:
    """For each name that is assigned, the names in what is assigned to it."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value) if value is not None:
                targets = [target]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                targets = [target]
            case _:
                continue
        for target in targets:
            for name in _bound(target):
                found.setdefault(name, set()).update(_names(value))
    return found


def _bound(target: ast.expr) -> Iterator[str]:
    """The names that an assignment gives a new meaning; an array of which it writes an element is none."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _bound(item)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
