"""Small changes of running sums and maxima: a factor, a rescaling, where one begins.

A softmax that streams keeps a maximum, a sum and an accumulator, and most mistakes in one are in
what happens to these from step to step. Like the changes of ``small_changes``, each with a question
and a rank. Left out: changes of the formula itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpwise.labs.kinds_of_names import Kinds

Block = list[ast.stmt]
Changed = tuple[Block, str, int, ast.stmt]  # another block, a question, a rank, where it stands


@dataclass(frozen=True, eq=False)
class Sums:
    """A vector of sums that each thread keeps: its name, its length, a line that adds to it."""

    name: str
    size: ast.expr
    added: ast.stmt


FACTOR = "is what is added to {} multiplied by its weight, or by another factor, first?"
RESCALED = "must what {} holds so far be rescaled before more is added to it?"
GIVEN = "is {} a factor, or a divisor, wherever it should be?"
TERM = "is a term missing in what is stored to {}?"
ANEW = "{0} begins anew here: should it, or does it go on from what {0} or another name holds?"
SO_FAR = "is {} the maximum of all so far, or of these two alone?"


def of_sums(block: Block, i: int, kinds: Kinds, sums: Sequence[Sums]) -> Iterator[Changed]:
    """Yield other blocks for one, by its statement ``i``; ``sums`` are those of vectors."""
    this, before, after = block[i], block[:i], block[i + 1 :]

    def instead(*lines: ast.stmt) -> Block:
        return [*before, *(ast.copy_location(line, this) for line in lines), *after]

    match this:
        case ast.AugAssign(target=target, op=ast.Add(), value=value) if _is_number(target, kinds):
            asked = FACTOR.format(ast.unparse(target))
            for factor in (*_numbers(kinds), *_elements_beside(block, this)):
                product = ast.BinOp(value, ast.Mult(), factor)
                yield instead(ast.AugAssign(target, ast.Add(), product)), asked, 2, this
        case ast.Assign(targets=[target], value=ast.BinOp(left, ast.Add(), right)) if _is_number(
            target, kinds
        ):
            for factor in _numbers(kinds):
                sum_ = ast.BinOp(left, ast.Add(), ast.BinOp(right, ast.Mult(), factor))
                yield (
                    instead(ast.Assign([target], sum_)),
                    FACTOR.format(ast.unparse(target)),
                    2,
                    this,
                )
        case ast.Assign(targets=[ast.Subscript() as target], value=value) if kinds.apart:
            for term in _numbers(kinds):
                sum_ = ast.BinOp(value, ast.Add(), term)
                yield instead(ast.Assign([target], sum_)), TERM.format(ast.unparse(target)), 3, this
        case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=parts)):
            for at, part in enumerate(parts):
                for factor in _numbers(kinds) if kinds.has_number(part) else ():
                    others = [*parts[:at], ast.BinOp(part, ast.Mult(), factor), *parts[at + 1 :]]
                    line = ast.Assign(this.targets, ast.Tuple(others, ast.Load()))
                    yield instead(line), RESCALED.format(ast.unparse(part)), 2, this
        case ast.AugAssign(target=ast.Name(), op=ast.Mult(), value=value):
            for one in sums:
                asked = RESCALED.format(one.name)
                yield instead(this, _each_times(one, value)), asked, 1, one.added
        case ast.For(body=[ast.AugAssign(target=ast.Subscript(), op=ast.Mult(), value=value)]):
            for name in kinds.numbers:
                times = ast.AugAssign(ast.Name(name, ast.Store()), ast.Mult(), value)
                yield instead(times, this), RESCALED.format(name), 2, this
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
            for given in kinds.given if kinds.apart and name in kinds.numbers else ():
                for op in (ast.Mult(), ast.Div()):
                    scaled = ast.BinOp(value, op, ast.Name(given, ast.Load()))
                    yield instead(ast.Assign([target], scaled)), GIVEN.format(given), 1, this
            if name in kinds.numbers and _begins(value):
                for other in _numbers(kinds):
                    if ast.unparse(other) not in (name, ast.unparse(value)):
                        yield instead(ast.Assign([target], other)), ANEW.format(name), 1, this
                if before or after:
                    yield instead(), ANEW.format(name), 1, this
            for other_value in _so_far(name, value):
                yield instead(ast.Assign([target], other_value)), SO_FAR.format(name), 1, this


def _is_number(target: ast.expr, kinds: Kinds) -> bool:
    """True for what can take a sum: an element, or a name that is no index."""
    return isinstance(target, ast.Subscript) or ast.unparse(target) in kinds.numbers


def _numbers(kinds: Kinds) -> list[ast.expr]:
    return [ast.Name(name, ast.Load()) for name in kinds.numbers]


def _elements_beside(block: Block, this: ast.AugAssign) -> list[ast.expr]:
    """Return the elements that other sums of a block take."""
    values = [one.value for one in block if isinstance(one, ast.AugAssign) and one is not this]
    return [value for value in values if isinstance(value, ast.Subscript)]


def _each_times(sums: Sums, factor: ast.expr) -> ast.stmt:
    """``for j in range(n): acc[j] *= fix``"""
    index = ast.Name("_j", ast.Load())
    place = ast.Subscript(ast.Name(sums.name, ast.Load()), index, ast.Store())
    every = ast.Call(ast.Name("range", ast.Load()), [sums.size], [])
    body: Block = [ast.AugAssign(place, ast.Mult(), factor)]
    return ast.For(ast.Name("_j", ast.Store()), every, body, [])


def _so_far(name: str, value: ast.expr) -> Iterator[ast.Call]:
    """``max(above, x)`` for ``max(m, x)``, where that is the new value of above."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func) not in ("max", "min"):
        return
    if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)):
        return
    for at in range(len(value.args)):
        args = [*value.args[:at], ast.Name(name, ast.Load()), *value.args[at + 1 :]]
        yield ast.Call(value.func, args, [])


def _begins(value: ast.expr) -> bool:
    """True for a name, and for ``np.float32(0)``, ``np.float32(-math.inf)`` and the like."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Name)
    plain = not any(isinstance(n, ast.Subscript | ast.BinOp) for n in ast.walk(value))
    return plain and ast.unparse(value.func).endswith(("float32", "float"))


def sums_of(tree: ast.FunctionDef) -> list[Sums]:
    """Return the vectors of sums in a kernel's local arrays."""
    added = {
        node.target.value.id: node
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.target, ast.Subscript)
        and isinstance(node.target.value, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(attr="array", value=kind), args=[size, *_]),
            ) if name in added and ast.unparse(kind).endswith("local"):
                found.append(Sums(name, size, added[name]))
    return found
