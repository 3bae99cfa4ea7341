"""print, assert and raise in a kernel.

Numbers are printed as the device's printf prints them: floats with six decimals. Lines come in the
order of the threads that run together, and a launch prints a limited number of them. An assert is
always checked, and an exception always raised; on a GPU only with ``debug=True``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

import numpy as np

from warpwise.errors import KernelAssertionError, KernelError, RaisedError
from warpwise.simt import types
from warpwise.simt.compiler.closures import Code, Step, truth
from warpwise.simt.compiler.context import Context
from warpwise.simt.lanes.masks import Mask, split
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import BOOL, NONE, TupleType, Type, Value, as_array, is_float, is_scalar

MAX_LINES = 1000  # of one launch
MAX_VALUES = 32  # of one print: what the device's printf takes
MAX_TEXT = 200  # characters of a string

Text: TypeAlias = str | Callable[[int], str]  #: the same in every lane, or lane -> text
Shown: TypeAlias = Callable[[Frame, Mask], Text]


def print_(c: Context, node: ast.Call) -> Code:
    if len(node.args) > MAX_VALUES:
        what = f"print with {len(node.args)} values; {MAX_VALUES} are the most"
        c.refuse(node, what, "print in several calls")
    parts = [_shown(c, argument) for argument in node.args]
    c.cost.add("communication")
    return Code(lambda frame, mask: _print(frame, mask, parts), NONE)


def _shown(c: Context, node: ast.expr) -> Shown:
    """Compile one argument of print."""
    text = c.names.text(node)
    if text is not None:
        return lambda frame, mask: text[:MAX_TEXT]
    if (plain := _without_formatting(node)) is not None:
        what = f"{ast.unparse(node)}: a kernel cannot format text"
        c.refuse(node, what, f"print the values one after another: {plain}")
    code = c.expression(node)
    run, t = code.run, code.type
    if not _printable(t):
        what = f"{ast.unparse(node)} is {types.described(t)} and cannot be printed"
        c.refuse(node, what, "print numbers and text")
    return lambda frame, mask: _texts(run(frame, mask), t, mask)


def assert_(c: Context, node: ast.Assert) -> Step:
    test, what = truth(c.scalar(node.test)), f"assert {ast.unparse(node.test)} does not hold"
    if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
        what += f": {node.msg.value[:MAX_TEXT]}"
    elif node.msg is not None:
        wanted = "the message of an assert must be plain text in quotes"
        c.refuse(node, wanted, 'assert condition, "what went wrong"')
    c.cost.add("control")
    charge, condition, site = c.charge(node), test.run, c.site(node)

    def do(frame: Frame, mask: Mask) -> Mask:
        charge(frame, mask)
        _, failed = split(mask, condition(frame, mask))
        if failed is not None:
            who = failed.group.first_of(failed.grid())
            raise KernelAssertionError(
                what, site.where(**who), "look at what this thread has computed so far"
            )
        return mask

    return do


def raise_(c: Context, node: ast.Raise) -> Step:
    what, site = f"{ast.unparse(node)[:MAX_TEXT]} was reached{_said(c, node)}", c.site(node)
    kind, c.variables.here = _raised(c, node), None
    try_this = "find out why this thread comes here"
    if not c.kernel.debug:
        try_this += "; without debug=True a GPU ends the thread here, and raises nothing"

    def do(frame: Frame, mask: Mask) -> NoReturn:
        raise kind(what, site.where_first(mask), try_this)

    return do


def _raised(c: Context, node: ast.Raise) -> type[KernelError]:
    """Return the error for ``raise ValueError`` or ``raise ValueError(...)``."""
    named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    kind = None if named is None else c.static(named)
    if kind is AssertionError:
        return KernelAssertionError
    if isinstance(kind, type) and issubclass(kind, Exception):
        # a group's class cannot be made without the exceptions in it
        return RaisedError if issubclass(kind, ExceptionGroup) else RaisedError.of(kind)
    return RaisedError


def _said(c: Context, node: ast.Raise) -> str:
    """Return the text that an exception is made with, where only a name of it is written."""
    given = node.exc.args if isinstance(node.exc, ast.Call) else []
    text = c.names.text(given[0]) if given and not isinstance(given[0], ast.Constant) else None
    return "" if text is None else f": {text[:MAX_TEXT]}"


def _without_formatting(node: ast.expr) -> str | None:
    """Return ``print('v =', x)`` for formatted text; None for anything else.

    ``f"v = {x}"``, ``"v = %d" % x``, ``"v = {}".format(x)``, ``"v = " + str(x)``."""
    match node:
        case ast.JoinedStr():
            return "print('x', x)"
        case ast.BinOp(left=ast.Constant(str() as text), op=ast.Mod(), right=ast.Tuple(values)):
            pass
        case ast.BinOp(left=ast.Constant(str() as text), op=ast.Mod() | ast.Add(), right=value):
            values = [value]
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "str":
                values = value.args
        case ast.Call(func=ast.Attribute(ast.Constant(str() as text), "format"), args=values):
            pass
        case _:
            return None
    label = text.partition("{" if isinstance(node, ast.Call) else "%")[0].strip()[:MAX_TEXT]
    return f"print({', '.join([*([repr(label)] if label else []), *map(ast.unparse, values)])})"


def _printable(t: Type) -> bool:
    if isinstance(t, TupleType):
        return all(map(_printable, t.items))
    return is_scalar(t) and t.kind in "biuf"


def _print(frame: Frame, mask: Mask, parts: Sequence[Shown]) -> None:
    launch = frame.batch.state
    free = MAX_LINES - launch.printed
    if free < 0:
        return
    places = np.flatnonzero(mask.grid())[: free + 1]
    places = places[np.argsort(mask.group.numbers.reshape(-1)[places], kind="stable")]
    columns = [part(frame, mask) for part in parts]
    for place in places[:free]:
        texts = (column if isinstance(column, str) else column(place) for column in columns)
        launch.attempt.say(" ".join(texts))
    if len(places) > free:
        launch.attempt.say(f"... and more: a launch prints {MAX_LINES:,} lines here")
    launch.printed += len(places)


def _texts(value: Value, t: Type, mask: Mask) -> Callable[[int], str]:
    """Return the function lane -> text; lanes are numbered through the lane group."""
    if isinstance(t, TupleType):
        parts = [_texts(v, item, mask) for v, item in zip(value, t.items, strict=True)]
        end = ",)" if len(parts) == 1 else ")"
        return lambda place: "(" + ", ".join(part(place) for part in parts) + end
    flat = np.broadcast_to(as_array(value), mask.group.shape)
    columns = mask.group.threads
    if t == BOOL:
        return lambda place: str(bool(flat[divmod(place, columns)]))
    if is_float(t):
        return lambda place: f"{float(flat[divmod(place, columns)]):f}"
    return lambda place: str(int(flat[divmod(place, columns)]))
