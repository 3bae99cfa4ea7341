"""print, assert and raise in a kernel.

Numbers are printed as the device's printf prints them: floats with six decimals. Lines come in the order of the threads within
what runs together, and a launch has a limited number of them. An assert is checked always; on a GPU only with ``debug=True``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from warpwise.errors import KernelAssertionError
from warpwise.simt import types
from warpwise.simt.lanes.masks import Mask, split
from warpwise.simt.language.compiled import Code, truth
from warpwise.simt.types import BOOL, NONE, TupleType, is_float, is_scalar

MAX_LINES = 1000  # of one launch
MAX_VALUES = 32  # of one print: what the device's printf takes
MAX_TEXT = 200  # characters of a string


class Outputs:
    """The part of the compiler that knows what a kernel says to people; mixed into ``compiler.Compiler``."""

    def print_call(self, node: ast.Call) -> Code:
        if len(node.args) > MAX_VALUES:
            self.refuse(node, f"print with {len(node.args)} values; {MAX_VALUES} are the most", "print in several calls")
        parts = [self._shown(argument) for argument in node.args]
        self.cost.add("communication")
        return Code(lambda frame, mask: _print(frame, mask, parts), NONE)

    def _shown(self, node: ast.expr) -> Callable:
        """``text(frame, mask) -> str or array of str`` of one argument."""
        text = self.text_constant(node)
        if text is not None:
            return lambda frame, mask: text[:MAX_TEXT]
        if (plain := _plainly(node)) is not None:
            self.refuse(node, f"{ast.unparse(node)}: a kernel cannot format text", f"print the values one after another: {plain}")
        code = self.expression(node)
        if not (is_scalar(code.type) or isinstance(code.type, TupleType)) or not _printable(code.type):
            self.refuse(node, f"{ast.unparse(node)} is {types.described(code.type)} and cannot be printed", "print numbers and text")
        run, t = code.run, code.type
        return lambda frame, mask: _texts(run(frame, mask), t, mask)

    def text_constant(self, node: ast.expr) -> str | None:
        """A string that is known before the launch."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name) and node.id not in self.env and node.id not in self.assigned:
            value = self.static(node)
            return value if isinstance(value, str) else None
        return None

    def _do_Assert(self, node: ast.Assert) -> Callable:
        test = truth(self.scalar(node.test))
        said = ": " + node.msg.value[:MAX_TEXT] if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str) else ""
        if node.msg is not None and not said:
            self.refuse(node, "the message of an assert must be plain text in quotes", 'assert condition, "what went wrong"')
        self.cost.add("control")
        charge, condition, site = self._charge(node), test.run, self.site(node)
        what = f"assert {ast.unparse(node.test)} does not hold{said}"

        def do(frame, mask):
            charge(frame, mask)
            _, failed = split(mask, condition(frame, mask))
            if failed is not None:
                who = failed.extent.first_of(failed.grid())
                raise KernelAssertionError(what, site.where(**who), "look at what this thread has computed so far")
            return mask

        return do

    def _do_Raise(self, node: ast.Raise) -> Callable:
        what, site = f"{ast.unparse(node)[:MAX_TEXT]} was reached", self.site(node)
        self.env = None

        def do(frame, mask):
            raise KernelAssertionError(what, site.where(**mask.extent.first_of(mask.grid())), "find out why this thread comes here")

        return do


def _plainly(node: ast.expr) -> str | None:
    """``print('v =', x)`` for ``f"v = {x}"``, ``"v = %d" % x``, ``"v = {}".format(x)`` and ``"v = " + str(x)``; None for no such text."""
    match node:
        case ast.JoinedStr():
            return "print('x', x)"
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod(), right=ast.Tuple(elts=values)):
            pass
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod() | ast.Add(), right=value):
            values = value.args if isinstance(value, ast.Call) and ast.unparse(value.func) == "str" else [value]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format"), args=values):
            pass
        case _:
            return None
    label = text.partition("{" if isinstance(node, ast.Call) else "%")[0].strip()[:MAX_TEXT]
    return f"print({', '.join([*([repr(label)] if label else []), *map(ast.unparse, values)])})"


def _printable(t) -> bool:
    return all(map(_printable, t.items)) if isinstance(t, TupleType) else is_scalar(t) and t.kind in "biuf"


def _print(frame, mask: Mask, parts: list[Callable]) -> None:
    launch = frame.batch.launch
    free = MAX_LINES - launch.printed
    if free < 0:
        return
    places = np.flatnonzero(mask.grid())[: free + 1]
    places = places[np.argsort(mask.extent.numbers.reshape(-1)[places], kind="stable")]
    columns = [part(frame, mask) for part in parts]
    for place in places[:free]:
        launch.attempt.say(" ".join(column if isinstance(column, str) else column(place) for column in columns))
    if len(places) > free:
        launch.attempt.say(f"... and more: a launch prints {MAX_LINES:,} lines here")
    launch.printed += len(places)


def _texts(value, t, mask: Mask) -> Callable:
    """What is printed for the lane at a place, counted through the extent."""
    if isinstance(t, TupleType):
        parts = [_texts(v, item, mask) for v, item in zip(value, t.items, strict=True)]
        end = ",)" if len(parts) == 1 else ")"
        return lambda place: "(" + ", ".join(part(place) for part in parts) + end
    flat = np.broadcast_to(np.asarray(value), mask.extent.shape)
    columns = mask.extent.threads
    if t == BOOL:
        return lambda place: str(bool(flat[divmod(place, columns)]))
    if is_float(t):
        return lambda place: f"{float(flat[divmod(place, columns)]):f}"
    return lambda place: str(int(flat[divmod(place, columns)]))
