"""Find a thread's own arrays whose places are not known when a kernel is compiled, in its text.

Such an array cannot be in registers, which have no addresses: it lies in local memory. A place is
known if it is made of numbers, and of loops whose bounds are; those the compiler unrolls. Left out:
loops that are too long to be unrolled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from warpwise.simt import Kernel

PLACE = "{array} is there, for on line {line} the compiler does not know the place {element}"
LOOP = "{array} is there, for on line {line} the compiler does not know how often `{loop}` runs"


def unknown_places(kernel: Kernel) -> str:
    """Say which of a kernel's arrays is used at a place that is not known; "" if none is."""
    arrays = {
        target.id
        for node in ast.walk(kernel.tree)
        if isinstance(node, ast.Assign) and "local.array" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    places = _Places(kernel)
    used = [node for node in ast.walk(kernel.tree) if isinstance(node, ast.Subscript)]
    for node in sorted(used, key=lambda node: (node.lineno, node.col_offset)):
        if (array := ast.unparse(node.value)) in arrays:
            for name in _names(node.slice):
                if not places.known(name, frozenset()):
                    return _told(kernel, array, node, places.loop(name))
    return ""


def _told(kernel: Kernel, array: str, node: ast.Subscript, loop: ast.For | None) -> str:
    """Say of a place what makes it unknown: the loop that counts it, or else itself."""
    if loop is None:
        line = kernel.where(node).line
        return PLACE.format(array=array, line=line, element=ast.unparse(node))
    head = f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}"
    return LOOP.format(array=array, line=kernel.where(loop).line, loop=head)


class _Places:
    """What a compiler knows of the names that stand in a kernel's places."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        nodes = list(ast.walk(kernel.tree))
        self.above = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self.stores: dict[str, list[ast.Name]] = {}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.stores.setdefault(node.id, []).append(node)

    def known(self, name: ast.Name, asked: frozenset[str]) -> bool:
        """True if the value of a name, where it stands, is known; ``asked`` are on the way to it.

        It is that of a number outside of the kernel, of a loop that is known, or of a plain
        assignment from what is known."""
        if name.id in asked:
            return False
        asked |= {name.id}
        if (loop := self.loop(name)) is not None:
            bounds = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
            return all(self._is_made_of_known(bound, asked) for bound in bounds)
        if name.id not in self.stores:
            return is_number(self.kernel, name.id)
        assigned = [self.above[store] for store in self.stores[name.id]]
        plain = [node for node in assigned if isinstance(node, ast.Assign)]
        return len(plain) == len(assigned) and all(
            self._is_made_of_known(node.value, asked) for node in plain
        )

    def loop(self, name: ast.Name) -> ast.For | None:
        """Return the innermost loop around a name that counts with it."""
        node: ast.AST = name
        while node in self.above:
            node = self.above[node]
            if isinstance(node, ast.For) and ast.unparse(node.target) == name.id:
                return node
        return None

    def _is_made_of_known(self, value: ast.expr, asked: frozenset[str]) -> bool:
        runs = any(isinstance(node, ast.Call | ast.Subscript) for node in ast.walk(value))
        return not runs and all(self.known(name, asked) for name in _names(value))


def is_number(kernel: Kernel, name: str) -> bool:
    """True if a name is a whole number outside of a kernel."""
    try:
        return isinstance(kernel.lookup(name), int)
    except KeyError:
        return False


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name))
