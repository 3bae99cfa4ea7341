"""What the text of an index outside its array says of the loop around it.

A loop that fetches for its next trip has none in its last; and a variable that goes up by 8 is
multiplied by 8 once too often. Names are followed to the one line that assigns them. Left out:
values of threads, which ``outside`` looks at."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from warpwise.simt.frontend.called import called_by
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.machine.site import Site

DEEP = 5  #: assignments followed, one within the other
OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
}


@dataclass(frozen=True)
class Loop:
    """A loop over a range around a line: its variable, first value and step, and its head."""

    variable: str
    first: int
    step: int
    head: str
    line: int


def of_loops(text: str, site: Site, kernel: Kernel) -> str:
    """Return what is wrong with an index in a loop, by its text; "" if it does not show."""
    index = followed(text, kernel)
    for loop in _around(kernel, site):
        if _reads_ahead(index, loop):
            return (
                f"in the last trip of {loop.head} on line {loop.line} there is no next one, and "
                f"{text} is of the next: should that trip load at all?"
            )
        if factor := _multiplied_again(index, loop):
            return (
                f"{loop.variable} already goes up by {loop.step} in each trip of {loop.head} on "
                f"line {loop.line}: should {factor} be {loop.variable}?"
            )
    return ""


def followed(text: str, kernel: Kernel) -> ast.expr:
    """Return an index with the names in it that are assigned once put in full."""
    assigned = _assigned_once(kernel)
    found = ast.parse(text, mode="eval").body
    for _ in range(DEEP):
        found = _Put(assigned).visit(found)
    return found


class _Put(ast.NodeTransformer):
    """Puts what is assigned to names in their place."""

    def __init__(self, assigned: Mapping[str, ast.expr]):
        self.assigned = assigned

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.assigned.get(node.id, node)


def _assigned_once(kernel: Kernel) -> dict[str, ast.expr]:
    """Return the names of a kernel that one line alone assigns, without their own value in it."""
    found: dict[str, list[ast.expr | None]] = {}
    for function in (kernel, *called_by(kernel)):
        for node in ast.walk(function.tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found.setdefault(name, []).append(value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    for target, value in zip(names, values, strict=False):
                        found.setdefault(ast.unparse(target), []).append(value)
                case ast.AugAssign(target=target) | ast.For(target=target):
                    found.setdefault(ast.unparse(target), []).append(None)
    once = {name: values[0] for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in once.items() if value and name not in _names(value)}


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _around(kernel: Kernel, site: Site) -> Iterator[Loop]:
    """Yield the loops over ranges that a line stands in, the outermost first."""
    for function in (kernel, *called_by(kernel)):
        for node in ast.walk(function.tree):
            match node:
                case ast.For(
                    target=ast.Name(id=variable),
                    iter=ast.Call(func=ast.Name(id="range"), args=args) as of,
                ) if node.lineno <= site.line <= (node.end_lineno or node.lineno):
                    first = _worth(args[0], {}) if len(args) > 1 else 0
                    step = _worth(args[2], {}) if len(args) > 2 else 1
                    head = f"`for {variable} in {ast.unparse(of)}`"
                    yield Loop(variable, first, step, head, node.lineno - function.base)


def _reads_ahead(index: ast.expr, loop: Loop) -> bool:
    """True if an index would begin at 0 one trip before the first of a loop."""
    if loop.variable not in _names(index) or not loop.step:
        return False
    before, first = ({loop.variable: loop.first + by} for by in (-loop.step, 0))
    return _worth(index, before) == 0 < _worth(index, first)


def _multiplied_again(index: ast.expr, loop: Loop) -> str:
    """Return a product in an index, such as ``8 * start``, of a variable that goes up by 8."""
    for node in ast.walk(index):
        match node:
            case ast.BinOp(left=one, op=ast.Mult(), right=other):
                pairs = ((one, other), (other, one))
                if any(
                    isinstance(name, ast.Name)
                    and name.id == loop.variable
                    and isinstance(number, ast.Constant)
                    and number.value == loop.step != 1
                    for name, number in pairs
                ):
                    return ast.unparse(node)
    return ""


def _worth(node: ast.expr, known: Mapping[str, int]) -> int:
    """Return the value of an index where all that is not known is 0."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return known.get(name, 0)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_worth(operand, known)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            one, other = _worth(left, known), _worth(right, known)
            divides = isinstance(op, ast.FloorDiv | ast.Mod)
            return 0 if divides and not other else OPERATIONS[type(op)](one, other)
    return 0
