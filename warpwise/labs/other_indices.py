"""Other indices in the place of one: the other axis, a loop's variable, tiles for elements.

Like the changes of ``other_expressions``, each with a question and a rank. Left out: two in the
wrong order, which stand there, and the loops themselves (``other_loops``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from warpwise.labs.other_expressions import Alternative, Slot

OF_THREADS = ("grid", "threadIdx", "blockIdx")
ASKED = "is {} the right index here?"
TRIPS = "{} is the same in every trip of the loop: should this index change with it?"


@dataclass(frozen=True)
class Indices:
    """The variables of a text that are indices: in groups, such as (x, y), and of its loops."""

    groups: tuple[tuple[str, ...], ...]
    loops: tuple[str, ...]
    lengths: tuple[int, ...]  #: whole numbers of the text that can be those of a tile

    def beside(self, name: str) -> Iterator[str]:
        """Yield the other variables of a name's group."""
        for group in self.groups:
            if name in group:
                yield from (other for other in group if other != name)

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.loops).union(*self.groups)


def indices_of(tree: ast.AST) -> Indices:
    """Find the variables of a text that are indices."""
    groups: list[tuple[str, ...]] = []
    loops: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value) if _of_threads(value):
                groups.append(tuple(part.id for part in parts if isinstance(part, ast.Name)))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _of_threads(value):
                groups.append((name,))
            case ast.For(target=ast.Name(id=name)):
                loops.append(name)
    values = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    lengths = dict.fromkeys(v for v in values if type(v) is int and v > 2)
    return Indices(tuple(groups), tuple(dict.fromkeys(loops)), tuple(lengths))


def loops_around(tree: ast.AST, loops: tuple[str, ...] = ()) -> dict[int, tuple[str, ...]]:
    """Return the variables of the loops around each node, by its id."""
    found = {id(tree): loops}
    for child in ast.iter_child_nodes(tree):
        inside = loops
        match tree:
            case ast.For(target=ast.Name(id=name), body=body) if child in body:
                inside = (*loops, name)
        found |= loops_around(child, inside)
    return found


def _of_threads(value: ast.expr) -> bool:
    names = {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)}
    return not names.isdisjoint(OF_THREADS)


def index_alternatives(
    slot: Slot, node: ast.AST, known: Indices, loops: tuple[str, ...] = ()
) -> Iterator[Alternative]:
    """Yield other indices for one, around which ``loops`` of these variables stand."""
    match node:
        case ast.Constant(value=int(number)):
            yield from _by_trip(slot, node, loops)
            if _is_place(slot):
                for name in dict.fromkeys(name for group in known.groups for name in group):
                    yield ast.Name(name, ast.Load()), ASKED.format(number), 1
        case ast.Name(id=name, ctx=ast.Load()) if name in loops:
            for other in loops:
                if other != name:
                    yield ast.Name(other, ast.Load()), ASKED.format(name), 1
        case ast.Name(id=name, ctx=ast.Load()) if name in known.all:
            if loops and isinstance(slot.parent, ast.BinOp):
                yield ast.Name(loops[-1], ast.Load()), ASKED.format(name), 2
            for other in known.beside(name):
                yield ast.Name(other, ast.Load()), ASKED.format(name), 1
        case ast.Tuple(elts=[ast.Name(id=one) as first, ast.Name(id=two)], ctx=context):
            for other in known.beside(two):
                pair = ast.Tuple([ast.Name(other, ast.Load()), first], context)
                yield pair, f"are {one} and {two} the right indices, and in this order?", 2
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _of_tiles(left, right, known)
            yield from _of_tiles(right, left, known)
    if isinstance(node, ast.expr) and _is_index(slot, node, known):
        if _is_place(slot):
            yield ast.Constant(0), ASKED.format(ast.unparse(node)), 2
        for name in loops:
            if isinstance(slot.parent, ast.Subscript):
                yield ast.Name(name, ast.Load()), ASKED.format(ast.unparse(node)), 1
            start = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), node)
            yield start, TRIPS.format(ast.unparse(node)), 3


def _is_place(slot: Slot) -> bool:
    """True for an index by itself, or one of several that are no numbers all."""
    if isinstance(slot.parent, ast.Tuple):
        return not all(isinstance(one, ast.Constant) for one in slot.parent.elts)
    return isinstance(slot.parent, ast.Subscript) and slot.name == "slice"


def _by_trip(slot: Slot, node: ast.Constant, loops: tuple[str, ...]) -> Iterator[Alternative]:
    """Yield an index that changes from trip to trip, for a number that does not."""
    for name in loops:
        trip = ast.Name(name, ast.Load())
        if isinstance(slot.parent, ast.Subscript | ast.Tuple):
            yield trip, TRIPS.format(node.value), 1
        elif isinstance(slot.parent, ast.BinOp) and isinstance(slot.parent.op, ast.Add):
            yield ast.BinOp(node, ast.Mult(), trip), TRIPS.format(node.value), 1


def _of_tiles(one: ast.expr, other: ast.expr, known: Indices) -> Iterator[Alternative]:
    """``8 * k + x`` for ``k + x``, and for ``8 * x + k``."""
    if not (isinstance(one, ast.Name) and one.id in known.loops):
        return
    asked = f"does {one.id} count elements, or tiles of several elements?"
    for length in known.lengths:
        start = ast.BinOp(ast.Constant(length), ast.Mult(), one)
        yield ast.BinOp(start, ast.Add(), other), asked, 2
        if isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult):
            for left in (other.left, other.right):
                if isinstance(left, ast.Name) and left.id in known.all:
                    yield ast.BinOp(start, ast.Add(), left), asked, 2


def _is_index(slot: Slot, node: ast.expr, known: Indices) -> bool:
    """True for the number of a thread that is an index by itself, or an argument of a function."""
    of_thread = isinstance(node, ast.Name) and any(node.id in group for group in known.groups)
    place = isinstance(slot.parent, ast.Call) and slot.name == "args"
    return of_thread and (place or isinstance(slot.parent, ast.Subscript | ast.Tuple))
