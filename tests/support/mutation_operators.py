"""The operators of first-order mutants: each changes one thing in a solution, as a person might.

An operator yields changes of a ``Code``; a change is the spans of text that it replaces, so that
what it leaves keeps its layout. What comes out need not be Python, nor differ from another
operator's: ``solution_mutants`` sees to that."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TypeVar

Change = dict[tuple[int, int], str]  # span in the text -> what takes its place
Node = TypeVar("Node", bound=ast.AST)
Places = Sequence[ast.AST]

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<")}
COMPARISONS |= {"==": ("!=",), "!=": ("==",)}
COMPARERS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
}
#: of which the order of operands matters
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
COUNTERPARTS = {"min": "max", "minimum": "maximum", "argmin": "argmax", "floor": "ceil"}
COUNTERPARTS |= {"sin": "cos", "any": "all", "shfl_down_sync": "shfl_up_sync"}
COUNTERPARTS |= {new: old for old, new in COUNTERPARTS.items()} | {"rint": "trunc", "abs": "square"}
TYPES = {"float32": "float64", "float16": "float32", "int8": "int16", "int32": "int64"}
CASTS = {"int", "float", "astype", *TYPES, *TYPES.values(), "uint32"}
SYMMETRIC = {"range", "min", "max", "maximum", "minimum", "array"}


class Code:
    """A cell's text and tree; only what stands in its solution, by line, is changed."""

    def __init__(self, text: str, first: int, last: int):
        self.text, self.lines = text, range(first, last + 1)
        self.tree = ast.parse(text)
        self._rows = text.splitlines(keepends=True)
        self._starts = [0]
        for row in self._rows:
            self._starts.append(self._starts[-1] + len(row))

    def all(self, *kinds: type[Node]) -> Iterator[Node]:
        """Yield the solution's nodes of these kinds."""
        for node in ast.walk(self.tree):
            if isinstance(node, kinds) and getattr(node, "lineno", 0) in self.lines:
                yield node

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends in the text."""
        ends = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        first, last = (self._starts[row - 1] + self._column(row, col) for row, col in ends)
        return first, last

    def said(self, node: ast.AST) -> str:
        """Return a node's text, in parentheses if it might fall apart elsewhere."""
        first, last = self.span(node)
        found = self.text[first:last]
        loose = ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp
        return f"({found})" if isinstance(node, loose) else found

    def swapped(self, one: ast.AST, other: ast.AST) -> Change:
        return {self.span(one): self.said(other), self.span(other): self.said(one)}

    def sign(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Change:
        """Replace the sign between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        at = self.text.index(old, start, end)
        return {(at, at + len(old)): new}

    def _column(self, row: int, offset: int) -> int:
        return len(self._rows[row - 1].encode()[:offset].decode())


@dataclass(frozen=True)
class Operator:
    """A kind of change: its name, what it does in a line, and the changes of a solution."""

    name: str
    meaning: str
    changes: Callable[[Code], Iterator[Change]]


def _called(node: ast.AST) -> str:
    """Return the last name of what a call calls, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _barrier(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Expr):
        if _called(node.value) in ("syncthreads", "syncwarp"):
            yield {code.span(node): "pass"}
            yield {code.span(node): "cuda.syncwarp()"}


def _guard(code: Code) -> Iterator[Change]:
    for branch in code.all(ast.If):
        yield {code.span(branch.test): "True"}
        yield {code.span(branch.test): "False"}
    for choice in code.all(ast.IfExp):
        yield {code.span(choice): code.said(choice.body)}
        yield {code.span(choice): code.said(choice.orelse)}
    for made in code.all(ast.ListComp, ast.SetComp, ast.GeneratorExp):
        for test in chain.from_iterable(part.ifs for part in made.generators):
            yield {code.span(test): "True"}


def _condition(code: Code) -> Iterator[Change]:
    for node in code.all(ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            yield code.sign(left, right, f" {old} ", f" {new} ")
        for dropped in node.values:
            kept = [code.span(value) for value in node.values if value is not dropped]
            yield {code.span(node): f" {old} ".join(code.text[a:b] for a, b in kept)}


def _comparison(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Compare):
        sides = pairwise([node.left, *node.comparators])
        for op, (left, right) in zip(node.ops, sides, strict=True):
            old = COMPARERS.get(type(op), "")
            for new in COMPARISONS.get(old, ()):
                yield code.sign(left, right, old, new)


def _arithmetic(code: Code) -> Iterator[Change]:
    for node in code.all(ast.BinOp):
        if type(node.op) in ARITHMETIC:
            yield code.sign(node.left, node.right, *ARITHMETIC[type(node.op)])


def _operand(code: Code) -> Iterator[Change]:
    for node in code.all(ast.BinOp):
        yield {code.span(node): code.said(node.left)}
        yield {code.span(node): code.said(node.right)}


def _operands(code: Code) -> Iterator[Change]:
    for node in code.all(ast.BinOp):
        if isinstance(node.op, ORDERED):
            yield code.swapped(node.left, node.right)


def _constant(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Constant):
        if type(node.value) is int:
            yield {code.span(node): str(node.value + 1)}
            yield {
                code.span(node): f"({node.value - 1})" if node.value < 1 else str(node.value - 1)
            }
        elif type(node.value) is float:
            yield {code.span(node): repr(2 * node.value + (node.value == 0))}


def _sign(code: Code) -> Iterator[Change]:
    for node in code.all(ast.UnaryOp):
        yield {code.span(node): code.said(node.operand)}


def _running(code: Code) -> Iterator[Change]:
    for node in code.all(ast.AugAssign):
        sign = ARITHMETIC[type(node.op)]
        yield code.sign(node.target, node.value, f"{sign[0]}=", "=")
        yield code.sign(node.target, node.value, f"{sign[0]}=", f"{sign[1]}=")


def _extreme(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Call):
        if _called(node) in ("min", "max", "minimum", "maximum") and len(node.args) > 1:
            for arg in node.args:
                yield {code.span(node): code.said(arg)}
        if new := COUNTERPARTS.get(_called(node)):
            end = code.span(node.func)[1]
            yield {(end - len(_called(node)), end): new}


def _cast(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Call):
        if _called(node) == "astype" and isinstance(node.func, ast.Attribute):
            yield {code.span(node): code.said(node.func.value)}
        elif _called(node) in CASTS and len(node.args) == 1:
            yield {code.span(node): code.said(node.args[0])}
    for named in code.all(ast.Attribute):
        if new := TYPES.get(named.attr):
            end = code.span(named)[1]
            yield {(end - len(named.attr), end): new}
    for keyword in code.all(ast.keyword):
        if keyword.arg == "dtype":
            yield {code.span(keyword.value): "None"}


def _axis(code: Code) -> Iterator[Change]:
    everywhere: Change = {}
    for node in code.all(ast.Attribute):
        if node.attr in ("x", "y") and isinstance(node.value, ast.Attribute):
            end = code.span(node)[1]
            change = {(end - 1, end): "yx"["xy".index(node.attr)]}
            yield change
            if node.value.attr == "threadIdx":
                everywhere |= change
    yield everywhere


def _indices(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Subscript):
        if isinstance(node.slice, ast.Tuple):
            for one, other in pairwise(node.slice.elts):
                yield code.swapped(one, other)


def _names(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Tuple):
        if not all(isinstance(item, ast.Name) for item in node.elts):
            continue
        names = [item.id for item in node.elts if isinstance(item, ast.Name)]
        if isinstance(node.ctx, ast.Store):
            for one, other in pairwise(node.elts):
                yield code.swapped(one, other)
            for use in code.all(ast.Name):
                if use.id in names and isinstance(use.ctx, ast.Load):
                    for name in names:
                        yield {code.span(use): name}


def _array(code: Code) -> Iterator[Change]:
    uses = [node for node in code.all(ast.Subscript) if isinstance(node.value, ast.Name)]
    named = {(getattr(use.value, "id", ""), _dimensions(use)) for use in uses}
    for use in uses:
        for name, dimensions in sorted(named):
            if dimensions == _dimensions(use):
                yield {code.span(use.value): name}


def _dimensions(node: ast.Subscript) -> int:
    return len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1


def _arguments(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Call):
        if _called(node) not in SYMMETRIC:
            for one, other in pairwise(node.args):
                yield code.swapped(one, other)


def _order(code: Code) -> Iterator[Change]:
    for node in code.all(ast.stmt):
        for name in ("body", "orelse"):
            yield from _swaps(code, getattr(node, name, []))
    for function in code.tree.body:
        if isinstance(function, ast.FunctionDef):
            yield from _swaps(code, [one for one in function.body if one.lineno in code.lines])


def _swaps(code: Code, body: Sequence[ast.stmt]) -> Iterator[Change]:
    for one, other in pairwise(body):
        if not _independent(one, other):
            yield code.swapped(one, other)


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    """Return whether two assignments are the same in either order: neither writes what the other
    names."""
    if not all(isinstance(node, ast.Assign | ast.AugAssign) for node in (one, other)):
        return False
    return not (_written(one) & _named(other) or _written(other) & _named(one))


def _written(statement: ast.stmt) -> set[str]:
    """Return the names and arrays that a statement stores to."""
    stores = [n for n in ast.walk(statement) if isinstance(getattr(n, "ctx", None), ast.Store)]
    bases = [node.value if isinstance(node, ast.Subscript) else node for node in stores]
    return {node.id for node in bases if isinstance(node, ast.Name)}


def _named(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _loop(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Call):
        if _called(node) == "range":
            said = [code.said(arg) for arg in node.args]
            first, last, *step = said if len(said) > 1 else ["0", *said]
            made = [[first, f"{last} - 1", *step], [f"{first} + 1", last, *step]]
            made += [[first, f"{last} + 1", *step], *([[first, last]] if step else ())]
            for args in made:
                yield {code.span(node): f"range({', '.join(args)})"}


def _uncoalesced(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Call):
        if _called(node) == "grid" and ast.unparse(node.args[0]) == "1":
            spread = "(cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x)"
            yield {code.span(node): spread}


def _again(code: Code) -> Iterator[Change]:
    """Variables of a kernel that are assigned once, from memory or by a function of ``math``."""
    stores = [node.id for node in code.all(ast.Name) if isinstance(node.ctx, ast.Store)]
    for node in code.all(ast.Assign) if "@cuda.jit" in code.text else ():
        target = node.targets[0]
        if isinstance(target, ast.Name) and stores.count(target.id) == 1 and _costs(node.value):
            uses = [use for use in code.all(ast.Name) if use.id == target.id]
            loads = [use for use in uses if isinstance(use.ctx, ast.Load)]
            if len(loads) > 1:
                yield {code.span(use): code.said(node.value) for use in loads}


def _costs(value: ast.expr) -> bool:
    """Return whether a kernel should not work this out twice."""
    inside = list(ast.walk(value))
    loads = any(isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) for n in inside)
    return loads or any(ast.unparse(n).startswith("math.") for n in inside)


def _statement(code: Code) -> Iterator[Change]:
    for node in code.all(ast.Assign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue):
        yield {code.span(node): "pass"}


OPERATORS = (
    Operator("barrier", "drop a barrier, or let only a warp wait", _barrier),
    Operator("guard", "let a branch be taken always, or never", _guard),
    Operator("condition", "drop a part of a condition, or turn its and into or", _condition),
    Operator("comparison", "< for <=, and the like", _comparison),
    Operator("constant", "a constant by one, a fraction doubled", _constant),
    Operator("operand", "drop an operand: a rescale, a mask, an offset, padding", _operand),
    Operator("arithmetic", "another sign of arithmetic", _arithmetic),
    Operator("operands", "operands in the other order", _operands),
    Operator("sign", "drop a minus or a not", _sign),
    Operator("running", "the last instead of the running value, or its opposite", _running),
    Operator("extreme", "min for max, or one operand for either", _extreme),
    Operator("cast", "drop a cast, or use a wider type", _cast),
    Operator("axis", "x for y: at one place, or for all thread numbers", _axis),
    Operator("indices", "two indices swapped", _indices),
    Operator("names", "two names that are bound together, swapped", _names),
    Operator("array", "another array of as many dimensions", _array),
    Operator("arguments", "two arguments swapped", _arguments),
    Operator("loop", "a loop without its first trip or its last, one more, or no step", _loop),
    Operator("uncoalesced", "neighbouring threads far apart", _uncoalesced),
    Operator("again", "a value loaded or computed again at each use", _again),
    Operator("order", "two statements that need each other in the other order", _order),
    Operator("statement", "drop a statement", _statement),
)
