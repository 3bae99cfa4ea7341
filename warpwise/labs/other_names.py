"""Other names in the place of one: running values, what lanes exchange, and two that change places.

Like the changes of ``other_expressions``, each with a question and a rank."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from itertools import combinations, product

from warpwise.labs.other_expressions import Alternative, Slot, text_of

SO_FAR = "is it what {} began with that belongs here, or what it has come to so far?"
EXCHANGED = "which value do the lanes exchange here: what each began with, or its part so far?"
DISTANCE = "should the distance change from step to step?"
PLACES = "do {} and {} stand in each other's place on this line?"
BLOCKS = "do threadIdx and blockIdx stand in each other's place?"
WORKED_OUT = "is {} the right value on this line, or one that was worked out above?"
OFTEN = "is {} a factor often enough, as in a square?"
MOST_NAMES = 6  # of a line, beyond which too many could change places
NO_VALUES = ("grid", "array", "float32")  # what gives an index, memory or a number as it is
VALUE, DELTA = 1, 2  # arguments of a shuffle


def name_alternatives(
    slot: Slot, node: ast.AST, begun: dict[str, str], loops: tuple[str, ...]
) -> Iterator[Alternative]:
    """Yield other names for an expression, which ``loops`` of these variables stand around."""
    if loops and isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        for name, first in begun.items():
            if ast.unparse(node) == first:
                yield ast.Name(name, ast.Load()), SO_FAR.format(name), 0
    match node:
        case ast.Call(func=ast.Attribute(attr=attr)) if attr.startswith("shfl_"):
            yield from _shuffled(slot, node, loops)
        case ast.BinOp(op=ast.Mult()):
            for factor in _factors(node):
                more = ast.BinOp(node, ast.Mult(), factor)
                yield more, OFTEN.format(text_of(factor)), 3


def begun_with(tree: ast.FunctionDef) -> dict[str, str]:
    """Return the variables that begin as an element, and change later, with its text."""
    first: dict[str, str] = {}
    changed: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
                first.setdefault(name, ast.unparse(value))
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
                changed.add(name)
    return {name: text for name, text in first.items() if name in changed}


def _shuffled(slot: Slot, node: ast.Call, loops: tuple[str, ...]) -> Iterator[Alternative]:
    """Yield a shuffle of the variable that it is added to, and by the variable of a loop."""
    match slot.parent:
        case ast.AugAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            if len(node.args) > VALUE and text_of(node.args[VALUE]) != name:
                yield _with(node, VALUE, name), EXCHANGED, 0
    for name in loops:
        if len(node.args) > DELTA and text_of(node.args[DELTA]) != name:
            yield _with(node, DELTA, name), DISTANCE, 0


def _with(node: ast.Call, place: int, name: str) -> ast.Call:
    args = [*node.args[:place], ast.Name(name, ast.Load()), *node.args[place + 1 :]]
    return ast.Call(node.func, args, node.keywords)


class _OtherWords(ast.NodeTransformer):
    """Exchanges two names, of variables or of attributes, wherever they stand."""

    def __init__(self, one: str, other: str):
        self.words = {one: other, other: one}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.words.get(node.id, node.id), node.ctx), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        attr = self.words.get(node.attr, node.attr)
        return ast.copy_location(ast.Attribute(node.value, attr, node.ctx), node)


def exchanged(node: ast.AST, one: str, other: str) -> ast.AST:
    """Return a copy of a tree in which two names have changed places."""
    made: ast.AST = _OtherWords(one, other).visit(ast.parse(ast.unparse(node)).body[0])
    return made


class _OtherBlocks(ast.NodeTransformer):
    """Exchanges threadIdx and blockIdx in every sum that has both, and keeps the first one."""

    first: ast.BinOp | None = None

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        text = ast.unparse(node)
        if not (isinstance(node.op, ast.Add) and "threadIdx" in text and "blockIdx" in text):
            return self.generic_visit(node)
        self.first = self.first or node
        made = exchanged(node, "threadIdx", "blockIdx")
        assert isinstance(made, ast.Expr)
        return ast.copy_location(made.value, node)


def blocks_exchanged(tree: ast.FunctionDef) -> tuple[ast.FunctionDef, ast.BinOp] | None:
    """Return a function with ``blockIdx.x * blockDim.x + threadIdx.x`` for the same with the two
    exchanged, and the first such sum; None without one."""
    change = _OtherBlocks()
    made = change.visit(copy.deepcopy(tree))
    return (ast.fix_missing_locations(made), change.first) if change.first else None


def _factors(node: ast.BinOp) -> list[ast.expr]:
    """Return the factors of a product that are names, each once."""
    found: dict[str, ast.expr] = {}
    waiting: list[ast.expr] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult):
            waiting += [one.left, one.right]
        elif isinstance(one, ast.Name):
            found[one.id] = one
    return list(found.values())


def places_exchanged(line: ast.stmt) -> Iterator[tuple[ast.stmt, str, int]]:
    """Yield a line in which two of the names that it reads have changed places."""
    if not isinstance(line, ast.Assign | ast.AugAssign | ast.Return) or line.value is None:
        return
    called = {id(n.func) for n in ast.walk(line) if isinstance(n, ast.Call)}
    bases = {id(n.value) for n in ast.walk(line) if isinstance(n, ast.Attribute)}
    read = [
        node.id
        for node in ast.walk(line.value)
        if isinstance(node, ast.Name) and id(node) not in called | bases
    ]
    names = list(dict.fromkeys(read))
    if len(names) > MOST_NAMES:
        return
    for one, other in combinations(names, 2):
        value = exchanged(line.value, one, other)
        assert isinstance(value, ast.Expr)
        match line:
            case ast.Assign(targets=targets):
                made: ast.stmt = ast.Assign(targets, value.value)
            case ast.AugAssign(target=target, op=op):
                made = ast.AugAssign(target, op, value.value)
            case _:
                made = ast.Return(value.value)
        yield ast.copy_location(made, line), PLACES.format(one, other), 4


def named_otherwise(
    line: ast.stmt, begun: dict[str, str], tree: ast.FunctionDef
) -> Iterator[tuple[ast.stmt, str, int]]:
    """Yield a line with other names in it."""
    yield from come_so_far(line, begun)
    yield from places_exchanged(line)
    yield from worked_out(line, tree)


def worked_out(line: ast.stmt, tree: ast.FunctionDef) -> Iterator[tuple[ast.stmt, str, int]]:
    """Yield a line that takes what a function gave wherever it took an element of a parameter."""
    if not isinstance(line, ast.Assign | ast.AugAssign):
        return
    parameters = {arg.arg for arg in tree.args.args}
    elements = dict.fromkeys(
        ast.unparse(node)
        for node in ast.walk(line.value)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in parameters
    )
    for element, name in product(elements, _given(tree, line.lineno)):
        change = _SoFar(name, element)
        yield change.visit(copy.deepcopy(line)), WORKED_OUT.format(element), 3


def _given(tree: ast.FunctionDef, line: int) -> list[str]:
    """Return the variables that hold what a function of numbers gave, above a line."""
    return [
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and node.value.args
        and ast.unparse(node.value.func).rpartition(".")[2] not in NO_VALUES
        and node.lineno < line
    ]


class _SoFar(ast.NodeTransformer):
    """Puts a variable where what it began with stands, and counts how often."""

    def __init__(self, name: str, first: str):
        self.name, self.first, self.count = name, first, 0

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and ast.unparse(node) == self.first:
            self.count += 1
            return ast.copy_location(ast.Name(self.name, ast.Load()), node)
        return self.generic_visit(node)


def come_so_far(line: ast.stmt, begun: dict[str, str]) -> Iterator[tuple[ast.stmt, str, int]]:
    """Yield a line that takes a running value wherever it took what that began with."""
    if not isinstance(line, ast.Assign | ast.AugAssign):
        return
    for name, first in begun.items():
        change = _SoFar(name, first)
        made = change.visit(copy.deepcopy(line))
        if change.count > 1:
            yield made, SO_FAR.format(name), 0
