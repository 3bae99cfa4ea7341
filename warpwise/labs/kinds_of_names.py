"""Tell apart the names of a function that are arrays, whole numbers such as indices, and others.

Read off the text alone: what is indexed is an array, and what an index, a range or the number of a
thread is made of is whole. So a wrong answer is tried with names of one kind in the place of one
another, and with factors that are numbers. Left out: names that the function does not bind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warpwise.labs.other_indices import indices_of


@dataclass(frozen=True)
class Kinds:
    """The names that a function binds, in order, its parameters first.

    ``parameters``: how many of them these are. ``apart``: arrays are no numbers, as in a kernel; in
    NumPy they can be both."""

    names: tuple[str, ...]
    parameters: int
    arrays: frozenset[str]
    whole: frozenset[str]
    apart: bool

    @property
    def numbers(self) -> list[str]:
        """The names that stand for one number each, which is none of an index."""
        return [name for name in self.names if name not in self.arrays | self.whole]

    @property
    def given(self) -> list[str]:
        """The numbers that are parameters, such as a scale."""
        return [name for name in self.names[: self.parameters] if name in self.numbers]

    def like(self, node: ast.AST) -> list[str]:
        """Return the names of a name's kind."""
        kind = self._kind(node.id) if isinstance(node, ast.Name) else ""
        return [name for name in self.names if self._kind(name) == kind]

    def has_number(self, node: ast.AST) -> bool:
        """True for the name of a number of a kernel, of which there are few."""
        return self.apart and isinstance(node, ast.Name) and self._kind(node.id) == "number"

    def _kind(self, name: str) -> str:
        if name in self.whole:
            return "whole"
        return "array" if self.apart and name in self.arrays else "number"


def kinds_of(tree: ast.FunctionDef) -> Kinds:
    """Find the kinds of a function's names."""
    bound = [arg.arg for arg in tree.args.args]
    loaded: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (bound.append if isinstance(node.ctx, ast.Store) else loaded.add)(node.id)
    parents = [n.value for n in ast.walk(tree) if isinstance(n, ast.Subscript | ast.Attribute)]
    arrays = frozenset(value.id for value in parents if isinstance(value, ast.Name))
    names = tuple(dict.fromkeys(bound))
    return Kinds(
        names, len(tree.args.args), arrays & {*names}, _whole(tree) - arrays, "cuda" in loaded
    )


def _whole(tree: ast.FunctionDef) -> frozenset[str]:
    """Return the names of whole numbers: those in an index, and what they are made of."""
    found = set(indices_of(tree).all)
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=index):
                found |= _names(index)
            case ast.Call(func=ast.Name(id="range"), args=args):
                found = found.union(*map(_names, args))
    made = list(_made(tree))
    while more := set().union(*(parts for name, parts in made if name in found)) - found:
        found |= more
    return frozenset(found)


def _made(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Yield each name that is given a sum or a product of others, with their names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
            for one, value in pairs:
                if isinstance(one, ast.Name) and isinstance(value, ast.Name | ast.BinOp):
                    yield one.id, _names(value)


def _names(node: ast.AST) -> set[str]:
    """Return the names in an index, without those of arrays in it."""
    inner = {n.value for n in ast.walk(node) if isinstance(n, ast.Attribute | ast.Subscript)}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n not in inner}
