"""Where the index of a store comes from, found in a kernel's text: which numbers of the thread.

Left out: what comes through a call or from a caller, which counts as unknown, and conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from warpwise.races import BLOCK, CUT, LANE, LOOP, UNKNOWN, VARIABLE
from warpwise.simt.frontend.called import called_by
from warpwise.simt.frontend.kernel import Kernel

AXES = "xyz"
_PLAIN_CALLS = {"range", "min", "max", "abs", "int", "len", "divmod", "int32", "int64", "gridsize"}
_CUTS = ast.FloorDiv | ast.RShift | ast.Mod | ast.BitAnd


def index_sources(kernel: Kernel, line: int) -> str:
    """Return what the indices of the stores on a line are made of, as words with spaces between.

    Axes of the thread's index, ``BLOCK`` and so on, as ``races`` names them; ``UNKNOWN`` where the
    text does not tell."""
    for function in (kernel, *called_by(kernel)):
        stores = [
            node
            for node in ast.walk(function.tree)
            if isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and node.lineno == line
        ]
        if stores:
            bound = _bound(function)
            found = {s for store in stores for s in _sources(store.slice, bound, set())}
            return " ".join(sorted(found))
    return UNKNOWN


Bound = dict[str, list[tuple[ast.expr, int | None]]]


def _bound(function: Kernel) -> Bound:
    """Return what each name is bound to: expressions, and which item of them."""
    bound: Bound = {}
    if function.device:
        for name in function.parameters:
            bound[name] = [(ast.Name(UNKNOWN, ast.Load()), None)]
    for node in ast.walk(function.tree):
        for target, value in _bindings(node):
            if isinstance(target, ast.Name):
                bound.setdefault(target.id, []).append((value, None))
            elif isinstance(target, ast.Tuple):
                for i, one in enumerate(target.elts):
                    if isinstance(one, ast.Name):
                        items = _items(value, target)
                        item = (items[i], None) if items else (value, i)
                        bound.setdefault(one.id, []).append(item)
    return bound


def _items(value: ast.expr, target: ast.Tuple) -> list[ast.expr]:
    """Return the items of a tuple that is unpacked; none if they are not written out."""
    if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        return value.elts
    return []


def _bindings(node: ast.AST) -> Iterable[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            return [(target, value) for target in targets]
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            return [(target, value)]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return [(target, value)]
        case ast.For(target=target, iter=iterated):
            return [(target, iterated)]
    return []


def _sources(node: ast.AST, bound: Bound, seen: set[str], item: int | None = None) -> Iterator[str]:
    """Yield the sources of an expression, of one item of it if that is known."""
    match node:
        case ast.Name(id=name):
            if name == UNKNOWN:
                yield UNKNOWN
            elif name in bound and name not in seen:
                yield VARIABLE
                for value, number in bound[name]:
                    yield from _sources(value, bound, seen | {name}, number)
        case ast.Attribute(value=value, attr="x" | "y" | "z" as axis) if _ends(value, "threadIdx"):
            yield axis
        case ast.Attribute(attr="threadIdx"):
            yield from AXES
        case ast.Attribute(attr="blockIdx"):
            yield BLOCK
        case ast.Attribute(attr="laneid"):
            yield LANE
        case ast.Call(func=function, args=args) if _ends(function, "grid"):
            yield BLOCK
            axes = {"1": "x", "2": "xy"}.get(ast.unparse(args[0]), AXES) if args else AXES
            yield from axes if item is None else AXES[item]
        case _:
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name == "range":
                    yield LOOP
                if name not in _PLAIN_CALLS:
                    yield UNKNOWN
            if isinstance(node, ast.BinOp) and isinstance(node.op, _CUTS):
                yield CUT
            for child in ast.iter_child_nodes(node):
                yield from _sources(child, bound, seen)


def _ends(node: ast.expr, name: str) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == name
