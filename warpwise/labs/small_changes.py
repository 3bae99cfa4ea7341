"""Small changes of a function's text, each of which undoes a common mistake.

A change has the line that it is on, what stands there, and a question that names the kind of
thing, and neither place nor answer. Likely ones come first. Left out: whether a change helps."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product

from warpwise.labs.kinds_of_names import kinds_of
from warpwise.labs.more_expressions import (
    DIVIDED,
    added_in_loops,
    begins_a_sum,
    differences_of_squares,
    divided,
    lengths,
    less_a_value,
    more_alternatives,
    same_numbers,
    values_of,
)
from warpwise.labs.other_expressions import Slot, alternatives, text_of, without
from warpwise.labs.other_indices import index_alternatives, indices_of, loops_around
from warpwise.labs.other_loops import loop_alternatives
from warpwise.labs.other_names import (
    BLOCKS,
    begun_with,
    blocks_exchanged,
    name_alternatives,
    named_otherwise,
)
from warpwise.labs.running_sums import of_sums, sums_of

REVERSED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
SIGN = "should a line add to what is there (+=), or take from it (-=)?"
MISSING: dict[type[ast.operator], str] = {ast.Mult: "is a factor missing?", ast.Div: DIVIDED}

MODULES = {"np", "math"}
OF_FEW = 3  # the rank of one name for another where a kernel has few of that kind
CANCELS = (
    "are digits lost where the square of a mean is taken from a mean of squares? In one pass both "
    "are large, and cancel: take the mean away first, and square what is left"
)


@dataclass(frozen=True, eq=False)
class Change:
    """One change: how to make the changed function, what stands there now, and a question.

    ``shows`` is True where that place is only where to look, and the change is all over."""

    make: Callable[[], ast.FunctionDef]
    line: int
    node: ast.AST
    question: str
    rank: int
    shows: bool = False

    @property
    def text(self) -> str:
        """What stands there, cut to its first line and to a reasonable length."""
        return text_of(self.node)


def changes(tree: ast.FunctionDef) -> list[Change]:
    """Return the changes of a function, likely ones first; the tree itself stays as it is."""
    tree = copy.deepcopy(tree)
    made = [*_wider_sums(tree), *_in_statements(tree), *_in_expressions(tree), *_everywhere(tree)]
    return sorted(made, key=lambda change: change.rank)


def _in_expressions(tree: ast.FunctionDef) -> Iterator[Change]:
    kinds = kinds_of(tree)
    numbers, indices, values = _numbers(tree), indices_of(tree), values_of(tree)
    begun, around = begun_with(tree), loops_around(tree)
    added, factors = added_in_loops(tree), kinds.numbers
    for slot in list(_slots(tree)):
        node = slot.node
        line = getattr(node, "lineno", getattr(slot.parent, "lineno", tree.lineno))
        loops = around.get(id(node), ())
        found = chain(
            alternatives(slot, node, kinds.like(node), numbers),
            more_alternatives(slot, node),
            index_alternatives(slot, node, indices, loops),
            name_alternatives(slot, node, begun, loops),
            loop_alternatives(slot, indices, tree),
            less_a_value(slot, node, values, line),
            divided(slot, node, added, factors),
        )
        few = kinds.has_number(node)
        for other, question, rank in found:
            make = partial(_made, tree, [slot], ast.copy_location(other, node))
            yield Change(make, line, node, question, min(rank, OF_FEW) if few else rank)


def _everywhere(tree: ast.FunctionDef) -> Iterator[Change]:
    """Yield changes of a number wherever it is converted, into the length of an array; and of
    threadIdx and blockIdx, wherever they stand in a sum."""
    if (found := blocks_exchanged(tree)) is not None:
        made, first = found
        yield Change(lambda: copy.deepcopy(made), first.lineno, first, BLOCKS, 0)
    for slots in same_numbers(_slots(tree)):
        node = slots[0].node
        question = f"is {text_of(node)} the right number?"
        for length in lengths(tree):
            make = partial(_made, tree, slots, length)
            yield Change(make, slots[0].parent.lineno, node, question, 0)  # type: ignore[attr-defined]


def _made(tree: ast.FunctionDef, slots: Sequence[Slot], other: ast.AST) -> ast.FunctionDef:
    """Return a copy of a function with another node in some slots."""
    nodes = [slot.node for slot in slots]
    for slot in slots:
        slot.put(other)
    made = copy.deepcopy(tree)
    for slot, node in zip(slots, nodes, strict=True):
        slot.put(node)
    return ast.fix_missing_locations(made)


def _wider_sums(tree: ast.FunctionDef) -> Iterator[Change]:
    """Yield a change by which all sums that begin with float32(0), or float16(0), are float64."""
    slots = [slot for slot in _slots(tree) if begins_a_sum(slot.node)]
    if slots:
        first = slots[0].node
        assert isinstance(first, ast.Call)
        make = partial(_made, tree, slots, ast.Constant(0.0))
        if (apart := next(differences_of_squares(tree), None)) is not None:
            yield Change(make, apart.lineno, apart, CANCELS, 1, shows=True)
        else:
            yield Change(make, first.lineno, first, without(first.func), 1)


def _slots(tree: ast.FunctionDef) -> Iterator[Slot]:
    """Yield the places of expressions in a function's body."""
    for statement in tree.body:
        for parent in ast.walk(statement):
            for name, value in ast.iter_fields(parent):
                if isinstance(value, ast.expr):
                    yield Slot(parent, name, None)
                elif isinstance(value, list):
                    for i, item in enumerate(value):
                        if isinstance(item, ast.expr):
                            yield Slot(parent, name, i)


def _in_statements(tree: ast.FunctionDef) -> Iterator[Change]:
    """Yield changes of whole lines: order, = and +=, a line too many, a factor left out."""
    kinds, sums, begun = kinds_of(tree), sums_of(tree), begun_with(tree)
    factors = kinds.numbers
    stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_stored(n)]
    again = {name for name in stored if stored.count(name) > 1}
    for parent in [tree, *ast.walk(ast.Module(tree.body, []))]:
        for name in ("body", "orelse"):
            block = getattr(parent, name, None)
            if not isinstance(block, list):
                continue
            for i, statement in enumerate(block):
                if not isinstance(statement, ast.stmt):
                    continue
                other = (
                    ([*block[:i], line, *block[i + 1 :]], question, rank)
                    for line, question, rank in named_otherwise(statement, begun, tree)
                )
                for new, question, rank in chain(_other_lines(block, i, factors, again), other):
                    make = partial(_with_block, tree, parent, name, new)
                    yield Change(make, statement.lineno, statement, question, rank)
                for new, question, rank, place in of_sums(block, i, kinds, sums):
                    make = partial(_with_block, tree, parent, name, new)
                    yield Change(make, place.lineno, place, question, rank)


def _with_block(
    tree: ast.FunctionDef, parent: ast.AST, name: str, new: list[ast.stmt]
) -> ast.FunctionDef:
    """Return a copy of a function with other statements in a block."""
    block = getattr(parent, name)
    setattr(parent, name, new)
    made = copy.deepcopy(tree)
    setattr(parent, name, block)
    return ast.fix_missing_locations(made)


def _other_lines(
    block: list[ast.stmt], i: int, factors: list[str], again: set[str]
) -> Iterator[tuple[list[ast.stmt], str, int]]:
    this, before, after = block[i], block[:i], block[i + 1 :]
    moves = ast.Assign | ast.AugAssign | ast.Expr | ast.If
    if isinstance(this, moves) and after and isinstance(after[0], moves):
        order = "do this line and the next one stand in the right order?"
        yield [*before, after[0], this, *after[1:]], order, 2
    match this:
        case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
            added = ast.AugAssign(target, ast.Add(), value)
            replace = "does a line replace what is there (=), or add to it (+=)?"
            if isinstance(target, ast.Subscript) or target.id in again:
                yield [*before, _at(added, this), *after], replace, 1
            for other, kind in product(_of(target, value, factors), (ast.Mult, ast.Div)):
                times = ast.BinOp(value, kind(), ast.Name(other, ast.Load()))
                new = ast.Assign([target], times)
                asked = MISSING[kind].format(text_of(target))
                likely = kind is ast.Div and isinstance(value, ast.Name)
                yield [*before, _at(new, this), *after], asked, 2 if likely else 4
            if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
                yield from _rescaled(before, this, after, target, value, factors)
                if isinstance(target, ast.Name) and target.id in again:
                    yield from _kept(before, this, after, target, value)
        case ast.AugAssign(op=how) if type(how) in REVERSED:
            reverse = ast.AugAssign(this.target, REVERSED[type(how)](), this.value)
            yield [*before, _at(reverse, this), *after], SIGN, 2
    match this:
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
            replaced = ast.Assign([target], value)
            replace = "does a line add to what is there (+=), or replace it (=)?"
            yield [*before, _at(replaced, this), *after], replace, 3
            if isinstance(op, ast.Add):
                for other in factors:
                    kept = ast.AugAssign(target, ast.Mult(), ast.Name(other, ast.Load()))
                    asked = _measured(target.id)
                    yield [*before, _at(kept, this), this, *after], asked, 3
                    times = ast.BinOp(value, ast.Mult(), ast.Name(other, ast.Load()))
                    scaled = ast.AugAssign(target, op, times)
                    yield [*before, _at(scaled, this), *after], "is a factor missing?", 4
        case ast.If(body=body, orelse=[]):
            yield [*before, *body, *after], "is each if needed?", 4
    if len(block) > 1 and not isinstance(this, ast.Return):
        yield [*before, *after], "is each line needed?", 5


def _of(target: ast.expr, value: ast.expr, factors: list[str]) -> list[str]:
    """Return the factors that a value can lack: none where an index or an array is made."""
    of_number = isinstance(target, ast.Subscript) or text_of(target) in factors
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return factors if of_number and "cuda" not in names and names - MODULES else []


def _rescaled(
    before: list[ast.stmt],
    this: ast.Assign,
    after: list[ast.stmt],
    target: ast.expr,
    value: ast.BinOp,
    factors: list[str],
) -> Iterator[tuple[list[ast.stmt], str, int]]:
    """``acc = acc + x``, with a factor for what acc holds."""
    if ast.dump(value.left) != ast.dump(target).replace("Store()", "Load()"):
        return
    for other in factors:
        kept = ast.BinOp(value.left, ast.Mult(), ast.Name(other, ast.Load()))
        new = ast.Assign([target], ast.BinOp(kept, ast.Add(), value.right))
        yield [*before, _at(new, this), *after], _measured(text_of(target)), 2


def _kept(
    before: list[ast.stmt],
    this: ast.Assign,
    after: list[ast.stmt],
    target: ast.Name,
    value: ast.BinOp,
) -> Iterator[tuple[list[ast.stmt], str, int]]:
    """``d = x + y``, where what d holds is a factor of x."""
    if any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(value)):
        return
    held = ast.BinOp(ast.Name(target.id, ast.Load()), ast.Mult(), value.left)
    new = ast.Assign([target], ast.BinOp(held, ast.Add(), value.right))
    asked = f"what {target.id} held so far is lost here: should it be kept, and rescaled?"
    yield [*before, _at(new, this), *after], asked, 2


def _measured(name: str) -> str:
    return f"must what {name} holds so far be rescaled before more is added to it?"


def _at(node: ast.stmt, place: ast.stmt) -> ast.stmt:
    return ast.copy_location(node, place)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _numbers(tree: ast.FunctionDef) -> list[int | float]:
    values = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return list(dict.fromkeys(numbers))
