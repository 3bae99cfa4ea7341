"""Notes on float64 arithmetic among float32 numbers, which Numba's rules bring in silently.

They are taken while a kernel is compiled, as only the compiler knows the types, one for each line.
A GPU computes float64 at a half to a 64th of its float32 rate. Comparisons are left out: with a
constant that float32 holds exactly they cost nothing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from warpwise.simt.compiler.closures import Code, Number
from warpwise.simt.frontend.kernel import Kernel, Node
from warpwise.simt.types import (
    FLOAT32,
    FLOAT64,
    ArrayType,
    DType,
    Type,
    is_float,
    is_integer,
    is_scalar,
)
from warpwise.traces import Note


def about_float64(arguments: Iterable[object]) -> bool:
    """True if the notes concern such arguments: they have float32 arrays and none of float64."""
    elements = {t.dtype for t in arguments if isinstance(t, ArrayType)}
    return FLOAT32 in elements and FLOAT64 not in elements


Place: TypeAlias = tuple[int, str]  #: the number and the text of a line


class Notes:
    """The notes of one function while it is compiled, by place.

    ``element``: the name of float32 in the kernel's text."""

    def __init__(self, kernel: Kernel, element: str, found: Mapping[Place, Note] | None = None):
        self.kernel, self.element, self.found = kernel, element, dict(found or {})

    def copy(self) -> Notes:
        return Notes(self.kernel, self.element, self.found)

    def merge(self, notes: Iterable[Note]) -> None:
        """Add the notes of a device function that is called."""
        for note in notes:
            self.found.setdefault((note.line, note.text), note)

    def all(self) -> tuple[Note, ...]:
        return tuple(sorted(self.found.values(), key=lambda note: note.line))

    def begin(self, types_of: Mapping[str, Collection[Type]]) -> str:
        """Say what to write where float64 first comes in; "" if that is not known.

        A number in ``max`` or ``min`` makes no note, but it gives its type to a variable."""
        found = [(note.line, note.try_this, note.text) for note in self.all()]
        for node in ast.walk(self.kernel.tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    number = _number_of_extreme(call)
                    if number and FLOAT64 in types_of.get(name, ()):
                        where = self.kernel.where(node)
                        found.append((where.line, f"{self.element}({number})", where.text))
        if not found:
            return ""
        _, mend, text = min(found)
        return f"{'write ' if mend.startswith(self.element) else ''}{mend} in {text}"

    def on_operation(
        self, node: Node, symbol: str, left: Number, right: Number, result: Type
    ) -> None:
        """Note a ``left symbol right`` in float64 of a float32, or of integers that are divided."""
        if result != FLOAT64 or not isinstance(node, (ast.BinOp, ast.AugAssign)):
            return
        sides = (
            (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        )
        kinds = left.type, right.type
        if FLOAT32 in kinds:
            other = kinds.index(FLOAT32) ^ 1
            what = f"{_short(node)}: {kinds[0]} {symbol} {kinds[1]} is computed in float64"
            self._add(node, what, self._remedy(node, sides[other], kinds[other]))
        elif symbol == "/" and all(map(is_integer, kinds)):
            converted = " / ".join(f"{self.element}({ast.unparse(side)})" for side in sides)
            what = f"{_short(node)}: integers are divided in float64"
            self._add(node, what, f"{converted}, or // for a whole number")

    def on_function(self, node: ast.Call, arguments: Sequence[Code]) -> None:
        """Note a function in float64 because of integers, or of a float64 beside a float32."""
        kinds = [a.type for a in arguments]
        if not all(map(is_scalar, kinds)) or (FLOAT64 in kinds and FLOAT32 not in kinds):
            return
        wrong = next((i for i, t in enumerate(kinds) if t != FLOAT32), None)
        if wrong is not None and wrong < len(node.args):
            call = f"{ast.unparse(node.func)} of {' and '.join(map(str, kinds))}"
            remedy = f"{self.element}({ast.unparse(node.args[wrong])})"
            if not is_float(kinds[wrong]):
                remedy += " makes a float32 of the integer"
            self._add(node, f"{_short(node)}: {call} is computed in float64", remedy)

    def _remedy(self, node: Node, side: ast.expr, t: DType) -> str:
        text = ast.unparse(side)
        if isinstance(node, ast.AugAssign) and side is node.target and isinstance(side, ast.Name):
            return f"give {text} its first value as float32: {text} = {self.element}(0)"
        if is_integer(t):
            return f"{self.element}({text})"
        if isinstance(side, ast.Name) and text in self.kernel.parameters:
            return f"pass a float32: {self.element}(...) where the kernel is launched"
        if isinstance(side, (ast.Constant, ast.UnaryOp)):
            return f"{self.element}({text})"
        return f"{self.element}({text}), or make {text} float32 where it gets its value"

    def _add(self, node: Node, what: str, try_this: str) -> None:
        where = self.kernel.where(node)
        place, function = (where.line, where.text), where.function if self.kernel.base else ""
        self.found.setdefault(place, Note(*place, what, try_this, function))


def _number_of_extreme(call: ast.Call) -> str:
    """Return the first Python number among the arguments of ``max`` or ``min``; else ""."""
    if ast.unparse(call.func) not in ("max", "min"):
        return ""
    texts = (ast.unparse(argument) for argument in call.args)
    return next((text for text in texts if _is_number(text)), "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short(node: Node, most: int = 60) -> str:
    text = ast.unparse(node)
    return text if len(text) <= most else text[: most - 3] + "..."
