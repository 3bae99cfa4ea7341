"""Other expressions in the place of one, each of which undoes a common mistake.

Each comes with a question about what stands there, and a rank: 0 for what is tried first. A
comparison becomes its neighbour, a number another one, two indices change places, a term goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from warpwise.labs.reductions import reduced

LONGEST = 60  # characters of the text that a question quotes
COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
OPERATED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mod, ast.Div),
    ast.Mod: (ast.FloorDiv,),
}
EXCHANGED = {
    "max": ("min",),
    "min": ("max",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "sin": ("cos",),
    "cos": ("sin",),
    "any": ("all",),
    "all": ("any",),
    "sum": ("max", "mean"),
    "mean": ("sum",),
    "floor": ("ceil", "rint"),
    "ceil": ("floor",),
    "exp": ("log",),
    "float16": ("float32",),
    "int8": ("int32",),
    "int32": ("float32",),
    "x": ("y",),
    "y": ("x",),
    "threadIdx": ("blockIdx",),
    "blockIdx": ("threadIdx",),
    "blockDim": ("gridDim",),
    "laneid": (),
    "shfl_up_sync": ("shfl_down_sync", "shfl_xor_sync"),
    "shfl_down_sync": ("shfl_xor_sync", "shfl_up_sync"),
}
ENDS = "where should the loop end: is its last step missing, or one too many?"
WHICH_LANES = (
    "which lanes need the result, and from which do values come: higher ones (down), lower ones "
    "(up), or both ways (xor)?"
)
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.And: "and",
    ast.Or: "or",
}


@dataclass(frozen=True, eq=False)
class Slot:
    """A place in a tree that holds a node, or a list of statements."""

    parent: ast.AST
    name: str
    index: int | None

    @property
    def node(self) -> ast.AST:
        value = getattr(self.parent, self.name)
        found: ast.AST = value if self.index is None else value[self.index]
        return found

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


Alternative = tuple[ast.AST, str, int]  # a node for another, a question, a rank


def alternatives(
    slot: Slot, node: ast.AST, names: list[str], numbers: list[int | float]
) -> Iterator[Alternative]:
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            symbol = SYMBOLS[type(op)]
            yield ast.BoolOp(other, values), f"is {symbol} the right word?", 2
            for i in range(len(values)):
                rest = [*values[:i], *values[i + 1 :]]
                fewer = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                yield fewer, "is each of the conditions needed?", 3
        case ast.BinOp():
            yield from _operated(node)
        case ast.IfExp(body=body, orelse=orelse):
            either = "x if c else y: which of the two belongs where the condition holds?"
            yield ast.IfExp(node.test, orelse, body), either, 0
            signs = "x if c else y: do both have the right sign?"
            yield ast.IfExp(node.test, ast.UnaryOp(ast.USub(), body), orelse), signs, 3
            yield ast.IfExp(node.test, body, ast.UnaryOp(ast.USub(), orelse)), signs, 3
            yield body, "x if c else y: is the choice needed?", 4
            yield orelse, "x if c else y: is the choice needed?", 4
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value), "should it be True or False?", 3
        case ast.Constant(value=int() | float()):
            yield from _numbered(slot, node, numbers)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand, "does a minus sign belong where it stands?", 3
        case ast.Name(ctx=ast.Load()):
            yield from _named(slot, node, names)
        case ast.Subscript(value=ast.Attribute(attr="shape", value=array)):
            size = ast.Attribute(array, "size", ast.Load())
            yield size, "the length of an axis, or the number of all elements?", 2
        case ast.Attribute(attr=attr):
            for other_name in EXCHANGED.get(attr, ()):
                question = WHICH_LANES if attr.startswith("shfl") else f"is {attr} the right one?"
                yield ast.Attribute(node.value, other_name, node.ctx), question, 2
            yield from _of_threads(node)
        case ast.Tuple(elts=[first, second], ctx=context):
            swapped = ast.Tuple([second, first], context)
            yield swapped, "do two indices, or two of a pair, stand in the right order?", 1
        case ast.Tuple(elts=[_, _, _, *_] as parts) | ast.List(elts=[_, _, *_] as parts):
            for i in range(len(parts) - 1):
                order = [*parts[:i], parts[i + 1], parts[i], *parts[i + 2 :]]
                question = f"do {text_of(parts[i])} and what follows it stand in the right order?"
                yield type(node)(order, node.ctx), question, 2
        case ast.Call():
            yield from _called(node)
            yield from reduced(node)


def _compared(node: ast.Compare) -> Iterator[Alternative]:
    for i, op in enumerate(node.ops):
        for rank, other in enumerate(COMPARED.get(type(op), ())):
            ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
            symbol = SYMBOLS[type(op)]
            question = f"is {symbol} the right comparison, also where both sides are equal?"
            yield ast.Compare(node.left, ops, node.comparators), question, 3 * rank
    if len(node.ops) > 1:
        first = ast.Compare(node.left, node.ops[:1], node.comparators[:1])
        yield first, "is each of the comparisons needed?", 4


def _operated(node: ast.BinOp) -> Iterator[Alternative]:
    symbol = SYMBOLS.get(type(node.op))
    if symbol is None:
        return
    right = f"is {symbol} the right operator?"
    for other in OPERATED[type(node.op)]:
        yield ast.BinOp(node.left, other(), node.right), right, 2
    if isinstance(node.op, ast.Add):
        numpy = ast.Attribute(ast.Name("np", ast.Load()), "maximum", ast.Load())
        for larger in (ast.Name("max", ast.Load()), numpy):
            made = ast.Call(larger, [node.left, node.right], [])
            yield made, "are two numbers added, or does the larger one count (max)?", 4
    if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod):
        exchanged = ast.BinOp(node.right, node.op, node.left)
        yield exchanged, "in a difference or a quotient, which side comes first?", 2
    one_more = isinstance(node.op, ast.Add) and text_of(node.right) == "1"
    if one_more and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.FloorDiv):
        yield (
            _upwards(node.left),
            "should the quotient be one larger even where nothing is left over?",
            1,
        )
    if isinstance(node.op, ast.FloorDiv):
        yield _upwards(node), "should the quotient be rounded down or up?", 2
    for kept, gone in ((node.left, node.right), (node.right, node.left)):
        yield kept, f"does {text_of(gone)} belong where it stands?", 3


def _upwards(node: ast.BinOp) -> ast.expr:
    """``-(-a // b)``, a quotient rounded up."""
    minus = ast.UnaryOp(ast.USub(), node.left)
    return ast.UnaryOp(ast.USub(), ast.BinOp(minus, ast.FloorDiv(), node.right))


def _numbered(slot: Slot, node: ast.Constant, numbers: list[int | float]) -> Iterator[Alternative]:
    value = node.value
    assert isinstance(value, int | float)
    option = f"{slot.parent.arg}=" if isinstance(slot.parent, ast.keyword) else ""
    question = f"is {option}{value} the right number?"
    axis = isinstance(slot.parent, ast.Subscript | ast.keyword)
    near: list[int | float] = [0, 1] if axis else [value + 1, value - 1, 2 * value, value / 2]
    if not axis:
        near += [0, 1, *numbers]
        if value == 0:
            yield ast.Constant(float("-inf")), "is 0 the right number to begin with?", 0
    if isinstance(value, int):
        near = [int(n) for n in near if n == int(n)]
    for other in dict.fromkeys(near):
        if other != value:
            yield ast.Constant(other), question, 2 if axis or abs(other - value) == 1 else 5


def _named(slot: Slot, node: ast.Name, names: list[str]) -> Iterator[Alternative]:
    if isinstance(slot.parent, ast.Call) and slot.name == "func":
        for other in EXCHANGED.get(node.id, ()):
            if len(other) > 1:
                yield ast.Name(other, ast.Load()), f"is {node.id} the right function?", 2
        return
    if isinstance(slot.parent, ast.Attribute):
        return
    for other in names:
        if other != node.id:
            yield ast.Name(other, ast.Load()), f"is {node.id} the right name?", 6
    more = ast.BinOp(node, ast.Add(), ast.Constant(1))
    less = ast.BinOp(node, ast.Sub(), ast.Constant(1))
    if isinstance(slot.parent, ast.Call) and text_of(slot.parent).startswith("range("):
        fixed = 3 * node.id.isupper()  # the number of a tile's rows, say, which is seldom wrong
        yield more, ENDS, fixed
        yield less, "where should the loop begin and end?", max(2, fixed)


def _of_threads(node: ast.Attribute) -> Iterator[Alternative]:
    """The number of a thread for that of a lane, and the size of a block for that of a warp."""
    text = ast.unparse(node)
    if text.endswith("threadIdx.x") and isinstance(node.value, ast.Attribute):
        lane = ast.Attribute(node.value.value, "laneid", ast.Load())
        yield lane, "should it be the thread's number in its block, or its lane in a warp?", 2
    if text.endswith("blockDim.x"):
        yield ast.Constant(32), "should it be the number of threads in a block, or in a warp?", 2


def _called(node: ast.Call) -> Iterator[Alternative]:
    text = text_of(node)
    if text.startswith("range(") and node.args:
        place = 0 if len(node.args) == 1 else 1
        for op in (ast.Add(), ast.Sub()):
            args = list(node.args)
            args[place] = ast.BinOp(args[place], op, ast.Constant(1))
            made = ast.Call(node.func, args, node.keywords)
            yield made, ENDS, 3 if text_of(node.args[place]).isupper() else 0
    if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
        rint = ast.Attribute(ast.Name("np", ast.Load()), "rint", ast.Load())
        inner = ast.Call(rint, [node.func.value], [])
        func = ast.Attribute(inner, "astype", ast.Load())
        yield ast.Call(func, node.args, node.keywords), "is a number rounded first, or cut off?", 2
    keeps = [k for k in node.keywords if k.arg != "axis"]
    if len(keeps) < len(node.keywords):
        yield ast.Call(node.func, node.args, keeps), "is each axis right?", 4
    if not node.keywords and len(node.args) < 3:
        for argument in node.args:
            yield argument, without(node.func), 5 - len(node.args)


def without(function: ast.expr) -> str:
    """Ask about a function whose argument alone would be right."""
    name = text_of(function)
    if name.endswith(("float16", "float32")):
        return (
            f"does {name} have enough digits, or are they lost, as in a difference of two "
            "large numbers?"
        )
    return f"does {name} belong where it stands?"


def text_of(node: ast.AST) -> str:
    """Return what stands there, cut to its first line and to a reasonable length."""
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
