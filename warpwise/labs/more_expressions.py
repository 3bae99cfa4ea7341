"""More expressions in the place of one: a function once more, a term on its other side, a factor.

Like those of ``other_expressions``, each with a question and a rank."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from warpwise.labs.other_expressions import Alternative, Slot, text_of

FACTORS = (2, 3, 4)  # that a formula has, and an answer leaves out
LEAST_POWER = 8  # a power of two from which on a number is one of threads
CONVERTED = ("float32", "float64", "float")
HALF_OF_A_WARP = 16
DIVIDED = "should {} be divided by something, such as a number of elements?"


def more_alternatives(slot: Slot, node: ast.AST) -> Iterator[Alternative]:
    match node:
        case ast.Compare():
            yield from _as_wholes(node)
            yield from _between(node)
        case ast.BinOp():
            yield from _inside(node)
            yield from _times(slot, node)
            yield from _of_sides(slot, node)
        case ast.Call():
            yield from _outside(node)
            yield from _again(node)
        case ast.Constant():
            yield from _powers(slot, node)


def _again(node: ast.Call) -> Iterator[Alternative]:
    """``f(f(x))`` for ``f(x)``."""
    if isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        name = node.func.id
        if not hasattr(builtins, name):
            yield ast.Call(node.func, [node], []), f"is {name} applied often enough?", 3


def _inside(node: ast.BinOp) -> Iterator[Alternative]:
    """``f(x + y)`` for ``f(x) + y``."""
    if not isinstance(node.op, ast.Add | ast.Sub) or not _of_one(node.left):
        return
    assert isinstance(node.left, ast.Call)
    sum_ = ast.BinOp(node.left.args[0], node.op, node.right)
    yield ast.Call(node.left.func, [sum_], []), _belongs(node.right, node.left), 1


def _outside(node: ast.Call) -> Iterator[Alternative]:
    """``f(x) + y`` for ``f(x + y)``."""
    if not _of_one(node) or not isinstance(node.args[0], ast.BinOp):
        return
    sum_ = node.args[0]
    if isinstance(sum_.op, ast.Add | ast.Sub):
        call = ast.Call(node.func, [sum_.left], [])
        yield ast.BinOp(call, sum_.op, sum_.right), _belongs(sum_.right, node), 3


def _of_one(node: ast.AST) -> bool:
    """True for a function of numbers, such as math.sqrt, of one argument."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("math", "np")
        and node.func.attr not in CONVERTED
        and len(node.args) == 1
        and not node.keywords
    )


def _belongs(term: ast.AST, call: ast.Call) -> str:
    return f"does {text_of(term)} belong inside {text_of(call.func)}, or outside?"


def _times(slot: Slot, node: ast.BinOp) -> Iterator[Alternative]:
    """A whole product, or quotient, with one more factor."""
    parts = ast.Mult | ast.Div
    if not isinstance(node.op, parts):
        return
    if isinstance(slot.parent, ast.BinOp) and isinstance(slot.parent.op, parts):
        return
    for factor in FACTORS:
        product = ast.BinOp(node, ast.Mult(), ast.Constant(factor))
        yield product, "is a factor missing?", 5


def _as_wholes(node: ast.Compare) -> Iterator[Alternative]:
    """``a > b`` for ``a[0] > b[0]``: all items decide, and not one."""
    match node:
        case ast.Compare(
            left=ast.Subscript(value=ast.Name() as left, slice=ast.Constant() as one),
            ops=[op],
            comparators=[ast.Subscript(value=ast.Name() as right, slice=ast.Constant() as other)],
        ) if one.value == other.value:
            question = "does one item alone decide, also where both sides are equal in it?"
            yield ast.Compare(left, [op], [right]), question, 1


def _of_sides(slot: Slot, node: ast.BinOp) -> Iterator[Alternative]:
    """``exp(b - a)`` for ``exp(a - b)``, and a term with the other sign in a whole formula."""
    if isinstance(slot.parent, ast.Call) and isinstance(node.op, ast.Sub):
        if text_of(slot.parent.func).endswith("exp"):
            turned = ast.BinOp(node.right, ast.Sub(), node.left)
            yield turned, "in the difference of which exp is taken, which side comes first?", 0
    elif isinstance(slot.parent, ast.Assign) and isinstance(node.op, ast.Add | ast.Sub):
        other, sign = (ast.Sub(), "+") if isinstance(node.op, ast.Add) else (ast.Add(), "-")
        yield ast.BinOp(node.left, other, node.right), f"is {sign} the right operator?", 1


def _between(node: ast.Compare) -> Iterator[Alternative]:
    """``0 <= i - j < n`` for ``i - j < n``."""
    match node:
        case ast.Compare(left=ast.BinOp(op=ast.Sub()) as gap, ops=[ast.Lt() | ast.LtE() as op]):
            both = ast.Compare(ast.Constant(0), [ast.LtE(), op], [gap, *node.comparators])
            yield both, f"has {text_of(gap)} a lower end as well, so that it is not below 0?", 1


def _powers(slot: Slot, node: ast.Constant) -> Iterator[Alternative]:
    """Other powers of two for one that a variable begins with: a distance, half of the threads."""
    value = node.value
    if isinstance(value, int) and _divides(slot, value):
        for other in (value // 2, 2 * value):
            yield ast.Constant(other), f"is {value} the right number?", 1
    if not isinstance(slot.parent, ast.Assign) or not isinstance(value, int):
        return
    question = f"is {value} the right number?"
    if value == 0:
        yield ast.Constant(HALF_OF_A_WARP), question, 1
    elif value >= LEAST_POWER and value & (value - 1) == 0:
        for other in (4 * value, value // 4, 8 * value):
            yield ast.Constant(other), question, 0


def _divides(slot: Slot, value: int) -> bool:
    """True for the 4 of ``size // 4``."""
    parent = slot.parent
    quotient = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.FloorDiv)
    return quotient and slot.name == "right" and value > 1


def same_numbers(slots: Iterable[Slot]) -> list[list[Slot]]:
    """Return the places of whole numbers that are converted, such as np.float32(32), by number."""
    found: dict[str, list[Slot]] = {}
    for slot in slots:
        match slot.parent:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in CONVERTED:
                node = slot.node
                if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
                    found.setdefault(text_of(slot.parent), []).append(slot)
    return list(found.values())


def lengths(tree: ast.FunctionDef) -> list[ast.expr]:
    """Return the lengths of arrays that a function speaks of, such as x.shape[1], each once."""
    found = {
        ast.unparse(node): node
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
    }
    return list(found.values())


def values_of(tree: ast.FunctionDef) -> dict[str, int]:
    """Return the variables that hold a quotient, such as a mean, and the line of the first."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Div() | ast.Mult())
            ):
                found.setdefault(name, node.lineno)
    return found


def less_a_value(
    slot: Slot, node: ast.AST, values: dict[str, int], line: int
) -> Iterator[Alternative]:
    """``x[i] - mean`` for ``x[i]``, on a line below that of the mean."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node.value, ast.Attribute) or isinstance(slot.parent, ast.Subscript):
        return  # a length, or an index
    for name, first in values.items():
        if first < line:
            less = ast.BinOp(node, ast.Sub(), ast.Name(name, ast.Load()))
            yield less, f"is something subtracted from {text_of(node)} first, as a mean is?", 3


def added_in_loops(tree: ast.FunctionDef) -> frozenset[str]:
    """Return the variables to which a loop adds."""
    return frozenset(
        node.target.id
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For | ast.While)
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    )


def divided(
    slot: Slot, node: ast.AST, sums: frozenset[str], factors: list[str]
) -> Iterator[Alternative]:
    """``total / n + eps`` for ``total + eps``."""
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in sums):
        return
    if isinstance(slot.parent, ast.BinOp) and isinstance(slot.parent.op, ast.Add):
        for name in factors:
            if name not in sums:
                quotient = ast.BinOp(node, ast.Div(), ast.Name(name, ast.Load()))
                yield quotient, DIVIDED.format(node.id), 2


def differences_of_squares(tree: ast.FunctionDef) -> Iterator[ast.BinOp]:
    """Yield differences such as ``squares / n - mean * mean``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_square(node.right):
            yield node


def _is_square(node: ast.expr) -> bool:
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Pow):
        return text_of(node.right) == "2"
    return isinstance(node.op, ast.Mult) and text_of(node.left) == text_of(node.right)


def begins_a_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and text_of(node).endswith(("float16(0)", "float32(0)"))
