"""Other indices in the place of one: the other axis, a loop's variable, tiles for elements.

Like the changes of ``other_expressions``, each with a question and a rank. Left out: two in the
wrong order, which stand there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from warpwise.labs.other_expressions import Alternative

OF_THREADS = ("grid", "threadIdx", "blockIdx")
ASKED = "is {} the right index here?"


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


def _of_threads(value: ast.expr) -> bool:
    names = {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)}
    return not names.isdisjoint(OF_THREADS)


def index_alternatives(node: ast.AST, known: Indices) -> Iterator[Alternative]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in known.all:
            for other in known.beside(name):
                yield ast.Name(other, ast.Load()), ASKED.format(name), 1
        case ast.Tuple(elts=[ast.Name(id=one) as first, ast.Name(id=two)], ctx=context):
            for other in known.beside(two):
                pair = ast.Tuple([ast.Name(other, ast.Load()), first], context)
                yield pair, f"are {one} and {two} the right indices, and in this order?", 2
        case ast.BinOp(left=ast.Name(id=name) as left, op=ast.Add(), right=right) if (
            name in known.loops
        ):
            for length in known.lengths:
                start = ast.BinOp(ast.Constant(length), ast.Mult(), left)
                asked = f"does {name} count elements, or tiles of several elements?"
                yield ast.BinOp(start, ast.Add(), right), asked, 2
