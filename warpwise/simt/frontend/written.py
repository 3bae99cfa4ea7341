"""The arrays that a kernel may write, and its fences: only memory that is written has races.

The answer is careful, not exact: a name stands for every array in what is assigned to it, on any
path, and an unknown function may write all its arguments."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, repeat

import numpy as np

from warpwise.simt.frontend.assigned import names_in
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.names import CudaName, attribute, has_own, resolve
from warpwise.simt.frontend.source import as_kernel

CACHED_STORES = ("stcg", "stcs", "stwb", "stwt")
#: words of ``instructions`` that write to their first argument, and of ``hopper_words``
STORES = ("wide.store4", "tensor_core.cp_async16", "hopper.tma_store")


@lru_cache(maxsize=256)
def written_parameters(kernel: Kernel, callers: tuple[Kernel, ...] = ()) -> frozenset[str]:
    """Return the parameters of a kernel or device function whose elements it may write."""
    written = set()
    for node in ast.walk(kernel.tree):
        written |= set(_written_by(node, kernel, callers))
    sources = _sources(kernel.tree)
    reached: set[str] = set()
    while written:
        name = written.pop()
        reached.add(name)
        written |= sources.get(name, set()) - reached
    return frozenset(reached & set(kernel.parameters))


@lru_cache(maxsize=256)
def has_fence(kernel: Kernel, callers: tuple[Kernel, ...] = ()) -> bool:
    """True if a kernel, or a device function that it names, has a ``threadfence``."""
    for node in ast.walk(kernel.tree):
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        callee = _callee(node, kernel)  # or an argument, which others call
        if isinstance(callee, CudaName) and callee.path.startswith("threadfence"):
            return True
        is_new = isinstance(callee, Kernel) and callee not in callers
        if is_new and has_fence(callee, (*callers, kernel)):
            return True
    return False


def _written_by(node: ast.AST, kernel: Kernel, callers: tuple[Kernel, ...]) -> Iterator[str]:
    """Yield the names of the arrays that one piece of syntax may write."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        yield from names_in(node.value)
    elif isinstance(node, ast.Call):
        for argument in _written_arguments(node, _callee(node.func, kernel), (*callers, kernel)):
            yield from names_in(argument)


def _written_arguments(
    node: ast.Call, callee: object, callers: tuple[Kernel, ...]
) -> list[ast.expr]:
    arguments = [*node.args, *(k.value for k in node.keywords)]
    if isinstance(callee, CudaName):
        if callee.path.startswith(("atomic", *CACHED_STORES, *STORES)) and not node.keywords:
            return node.args[:1]
        return arguments if callee.path.startswith(("atomic", "random")) else []
    if isinstance(callee, np.ufunc):
        return node.args[callee.nin :]
    if _is_harmless(callee):
        return []
    starred = any(isinstance(a, ast.Starred) for a in node.args)
    if not isinstance(callee, Kernel) or callee in callers or node.keywords or starred:
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return arguments + owner
    written = written_parameters(callee, callers)
    a = callee.tree.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    rest = repeat(a.vararg.arg if a.vararg else "")  # ``*values`` takes all that are left
    passed = zip(chain(names, rest), node.args, strict=False)
    return [argument for name, argument in passed if name in written]


def _is_harmless(callee: object) -> bool:
    """True for functions of Python and ``math`` that a kernel can call, and for types."""
    if isinstance(callee, type):
        return True
    if not callable(callee):
        return False
    name, module = getattr(callee, "__name__", ""), getattr(callee, "__module__", None)
    return module == math.__name__ or getattr(builtins, name, None) is callee


def _callee(node: ast.expr, kernel: Kernel) -> object:
    """Return what a called name stands for; None if it is not known before the kernel runs."""
    try:
        if isinstance(node, ast.Attribute):
            base = _callee(node.value, kernel)
            value = None if base is None else resolve(attribute(base, node.attr))
        elif isinstance(node, ast.Name) and node.id not in kernel.assigned:
            value = resolve(kernel.lookup(node.id))
        else:
            value = None
    except (KeyError, AttributeError, ValueError):
        return None
    is_jitted = not isinstance(value, CudaName) and has_own(value, "py_func")
    return as_kernel(value) if is_jitted else value


def _sources(tree: ast.FunctionDef) -> dict[str, set[str]]:
    """Map each assigned name to the names in its values."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case (
                ast.AnnAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ) if value is not None:
                targets = [target]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                targets = [target]
            case _:
                continue
        for target in targets:
            for name in _bound(target):
                found.setdefault(name, set()).update(names_in(value))
    return found


def _bound(target: ast.expr) -> Iterator[str]:
    """Yield the names that an assignment binds; writing an element of an array binds none."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _bound(item)
