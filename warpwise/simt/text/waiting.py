"""Which loops of a kernel may wait for other threads, such as those that spin on a lock or on another block's flag.

The rule: a ``while`` loop waits if its condition, or one inside it that guards a ``break`` or ``return``, is computed from the result
of an atomic operation, or from an element of a global array that the kernel may write and this loop does not, or from one element
of such a shared array, the same in every trip. A value counts as computed from what stands in the expressions that assign it in the
loop. Calls of device functions count as atomic operations if these have some. The warps of a kernel with such a loop take turns
(``machine.waiting_warps``), so that they and their blocks can wait for one another; this costs time. What it leaves out: threads of
one warp that wait for one another, which never ends here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from warpwise.simt.text.source import CudaName
from warpwise.simt.text.written import written_parameters
from warpwise.simt.types import ArrayType


class Waiting:
    """The part of the compiler that looks for loops that may wait; mixed into ``compiler.Compiler``."""

    def loop_waits(self, loop: ast.While) -> tuple[int, ...] | None:
        """Of a loop that may wait, the slots of the variables that decide what a trip does; else None."""
        reached, self.env = self.env, self.env or {}  # after a loop without an end there is nothing
        found = waits(loop, self._may_be_written, self._is_atomic)
        self.env = reached
        self.waits |= found
        names = deciding(loop) if found else ()
        return tuple(slot for key, slot in self.slots.items() if key.partition(",")[0] in names) if found else None

    @cached_property
    def _only_read(self) -> frozenset[str]:
        """Of a device function nothing is known: its caller may write what it is given."""
        return frozenset(self.kernel.parameters) - written_parameters(self.kernel) if len(self.callers) == 1 else frozenset()

    def _may_be_written(self, array: ast.expr, fixed: bool) -> bool:
        """An expression that stands for a global array which the kernel may write; ``fixed``: or a shared one."""
        types_of = [t for name in _names(array) - self._only_read for t in self.types_of.get(name, ())]
        return any(isinstance(t, ArrayType) and (t.space == "global" or (fixed and t.space == "shared")) for t in types_of)

    def _is_atomic(self, node: ast.Call) -> bool:
        function = self.static(node.func)
        if isinstance(function, CudaName):
            return function.path.startswith("atomic.")
        device = self.device_function(function)
        return device is not None and any(program.atomics for program in device.programs.values())


def waits(loop: ast.While, is_shared: Callable[[ast.expr, bool], bool], is_atomic: Callable[[ast.Call], bool]) -> bool:
    """``is_shared``: an expression that names an array which others may write, and whether it is the same element in every trip;
    ``is_atomic``: a call with an atomic operation.
    """
    changing = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    written = {ast.unparse(n.value) for n in ast.walk(loop) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)}

    def is_source(node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return is_atomic(node)
        if not isinstance(node, ast.Subscript) or ast.unparse(node.value) in written:
            return False
        return is_shared(node.value, not _names(node.slice) & changing)

    given = _assigned_from(loop)
    told = {name for name, values in given.items() if any(is_source(n) for value in values for n in ast.walk(value))}
    while True:
        more = {name for name, values in given.items() if any(_names(value) & told for value in values)} - told
        if not more:
            break
        told |= more
    conditions = [loop.test, *(n.test for n in ast.walk(loop) if isinstance(n, ast.If) and _leaves(n))]
    return any(is_source(n) or (isinstance(n, ast.Name) and n.id in told) for test in conditions for n in ast.walk(test))


def _assigned_from(loop: ast.While) -> dict[str, list[ast.expr]]:
    """By name, the expressions that a loop assigns to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            targets = [node.target]
        else:
            continue
        for name in {n for target in targets for n in _names(target)}:
            found.setdefault(name, []).append(node.value)
    return found


def deciding(loop: ast.While) -> set[str]:
    """Names that a loop assigns and that can change what a later trip does; not those that only count trips, say."""
    read: set[str] = set()
    given: dict[str, set[str]] = {}
    pending: list[ast.AST] = [loop]
    while pending:
        node = pending.pop()
        if _is_plain(node):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                given.setdefault(target.id, set()).update(_names(node.value))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
        else:
            pending += ast.iter_child_nodes(node)
    new = read
    while new:
        new = set().union(*(given.get(name, set()) for name in new)) - read
        read |= new
    return read & {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _is_plain(node: ast.AST) -> bool:
    """An assignment to names only, of a value that takes nothing from memory and calls nothing."""
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or node.value is None:
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    calls = any(isinstance(n, (ast.Call, ast.Subscript, ast.NamedExpr)) for n in ast.walk(node.value))
    return not calls and all(isinstance(target, ast.Name) for target in targets)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _leaves(node: ast.If) -> bool:
    return any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(node))
