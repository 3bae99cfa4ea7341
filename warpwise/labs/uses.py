"""The lines of a kernel that use an array, found in its text: the same whatever it runs on.

An array is found by its name, in the kernel and in the device functions that it calls. Left out:
other names that stand for it, such as those of views."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from warpwise.simt import Kernel
from warpwise.traces import line_in_words


@dataclass(frozen=True)
class Uses:
    """The lines on which an array is written and read, as messages quote them.

    ``otherwise``: it is also passed on, or given another name."""

    array: str
    written: tuple[str, ...]
    read: tuple[str, ...]
    atomic: bool  #: every line that writes it does so by an atomic operation
    otherwise: bool

    @property
    def listed(self) -> str:
        """All lines below their headings; "" if none is known to write the array."""
        if not self.written:
            return ""
        lines = [f"  {self.array} is written on", *self.written]
        if self.read:
            lines += [f"  {self.array} is read on", *self.read]
        return "\n".join(lines)


def uses(kernel: Kernel, array: str) -> Uses:
    """Find the lines of a kernel and its device functions that name an array."""
    found = [
        (function, how, node)
        for function in _functions(kernel)
        for how, node in _uses(function.tree, array)
    ]

    def lines(*kinds: str) -> tuple[str, ...]:
        at = {
            (node.lineno, quoted(where.line, where.text, where.function if is_elsewhere else ""))
            for function, how, node in found
            if how in kinds
            for where in (function.where(node),)
            for is_elsewhere in (function.base > 0 or where.line < 1,)
        }
        return tuple(text for _, text in sorted(at))

    return Uses(
        array,
        lines("store", "atomic"),
        lines("load", "atomic"),
        any(how == "atomic" for _, how, _ in found) and not lines("store"),
        any(how == "other" for _, how, _ in found),
    )


def quoted(line: int, text: str, function: str = "") -> str:
    """Return a line of the text below a sentence about it.

    ``function``: the one it is in, if that is of another cell. The grader numbers the exercise's
    cell from 1; what stands in given cells is numbered below, and has only the name."""
    place = line_in_words(line, function) if function else f"line {line}"
    place = place if line > 0 else f"in {place}"
    return f"    {place}: {text}"


def _functions(kernel: Kernel) -> Iterator[Kernel]:
    """Yield a kernel and the device functions that it calls, each once."""
    found, waiting = {kernel}, [kernel]
    while waiting:
        function = waiting.pop()
        yield function
        waiting += function.calls.keys() - found
        found |= function.calls.keys()


def _uses(tree: ast.AST, array: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield what each mention of an array does: store, load, atomic or other, and its node."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == array and isinstance(node.ctx, ast.Load):
            element = _element(node, parents)
            does = _by_name(parents[node]) if element is node else _by_index(element, parents)
            yield from ((how, element) for how in does)


def _element(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> ast.expr:
    """Return the element, ``x[i]``, or the part of it, ``x[i].real``, that begins with a name."""
    element: ast.expr = name
    while True:
        parent = parents[element]
        part = isinstance(parent, ast.Attribute) and element is not name
        if not (part or (isinstance(parent, ast.Subscript) and parent.value is element)):
            return element
        assert isinstance(parent, ast.expr)
        element = parent


def _by_name(parent: ast.AST) -> tuple[str, ...]:
    """Return what is done to an array that is named without an index."""
    match parent:
        case ast.Call(func=ast.Attribute() as function) if _is_atomic(function):
            return ("atomic",)
        case ast.For():
            return ("load",)
        case ast.Call(func=ast.Name(id="len")) | ast.Attribute(attr="shape" | "size" | "ndim"):
            return ()
        case _:
            return ("other",)


def _is_atomic(function: ast.Attribute) -> bool:
    return ast.unparse(function.value).endswith("atomic")


def _by_index(element: ast.expr, parents: dict[ast.AST, ast.AST]) -> tuple[str, ...]:
    """Return what is done to an element; an update such as ``x[i] += 1`` does two things."""
    if not isinstance(getattr(element, "ctx", None), ast.Store):
        return ("load",)
    update = isinstance(parents[element], ast.AugAssign)
    return ("store", "load") if update else ("store",)
