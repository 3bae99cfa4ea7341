"""Loops that may wait for other threads, such as those that spin on a lock or a block's flag.

The rule: a ``while`` loop waits if its condition, or one inside it that guards a ``break`` or
``return``, is computed from the result of an atomic operation, or from an element of a global array
that the kernel may write and this loop does not, or from an element of such a shared array that is
the same in every trip. A value is computed from everything in the expressions that assign it in the
loop. Calls of device functions count as atomic operations if these have some. The warps of a kernel
with such a loop take turns (``machine.scheduler``), so that they and their blocks can wait for one
another; this costs time. Left out: threads of one warp that wait for one another, which never ends
here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from warpwise.simt.compiler.context import Context
from warpwise.simt.compiler.device_calls import device_function
from warpwise.simt.frontend.assigned import names_in
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.frontend.written import written_parameters
from warpwise.simt.types import ArrayType


def loop_waits(c: Context, loop: ast.While) -> tuple[int, ...] | None:
    """Return the slots of the variables that decide a trip; None if the loop cannot wait."""
    found = waits(loop, partial(_may_be_written, c), partial(_is_atomic, c))
    c.counts.waits |= found
    if not found:
        return None
    names = deciding(loop)
    slots = c.variables.slots.items()
    return tuple(slot for key, slot in slots if key.partition(",")[0] in names)


def _only_read(c: Context) -> frozenset[str]:
    """Parameters whose memory nobody writes; none in a device function: its caller might."""
    if len(c.callers) > 1:
        return frozenset()
    return frozenset(c.kernel.parameters) - written_parameters(c.kernel)


def _may_be_written(c: Context, array: ast.expr, fixed: bool) -> bool:
    """True for a global array which the kernel may write; ``fixed``: or a shared one."""
    spaces = ("global", "shared") if fixed else ("global",)
    names = names_in(array) - _only_read(c)
    found = [t for name in names for t in c.variables.types_of.get(name, ())]
    return any(isinstance(t, ArrayType) and t.space in spaces for t in found)


def _is_atomic(c: Context, node: ast.Call) -> bool:
    function = c.static(node.func)
    if isinstance(function, CudaName):
        return function.path.startswith("atomic.")
    device = device_function(c, function)
    return device is not None and any(program.atomics for program in device.programs.values())


def waits(
    loop: ast.While,
    is_shared: Callable[[ast.expr, bool], bool],
    is_atomic: Callable[[ast.Call], bool],
) -> bool:
    """Return True if a loop may wait for other threads.

    ``is_shared(array, fixed)``: others may write the array; ``fixed``: it is read at the same
    element in every trip. ``is_atomic``: a call has an atomic operation."""
    changing = _stored_names(loop)
    nodes = list(ast.walk(loop))
    stores = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    written = {ast.unparse(n.value) for n in stores}

    def is_source(node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return is_atomic(node)
        if not isinstance(node, ast.Subscript) or ast.unparse(node.value) in written:
            return False
        return is_shared(node.value, not names_in(node.slice) & changing)

    assigned = _assigned_values(loop)
    reached: set[str] = set()  # names computed from a source
    new = {name for name, value in assigned if any(map(is_source, ast.walk(value)))}
    while new:
        reached |= new
        new = {name for name, value in assigned if names_in(value) & reached} - reached
    conditions = [loop.test, *(n.test for n in nodes if isinstance(n, ast.If) and _leaves(n))]
    return any(
        is_source(n) or (isinstance(n, ast.Name) and n.id in reached)
        for test in conditions
        for n in ast.walk(test)
    )


def _stored_names(loop: ast.While) -> set[str]:
    names = (n for n in ast.walk(loop) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _assigned_values(loop: ast.While) -> list[tuple[str, ast.expr]]:
    """Return each name that a loop assigns with each expression that is assigned to it."""
    found = []
    for targets, value in map(_assignment, ast.walk(loop)):
        found += [(name, value) for target in targets for name in names_in(target)]
    return found


def _assignment(node: ast.AST) -> tuple[Sequence[ast.expr], ast.expr]:
    """Return the targets and the value of an assignment; no targets for anything else."""
    match node:
        case ast.Assign(targets, value):
            return targets, value
        case ast.AugAssign(target, _, value) | ast.AnnAssign(target, _, ast.expr() as value):
            return [target], value
    return [], ast.Constant(None)


def deciding(loop: ast.While) -> set[str]:
    """Return the names that a loop assigns and that can change what a later trip does.

    A name that only counts trips, for example, does not."""
    read: set[str] = set()
    sources: dict[str, set[str]] = {}
    pending: list[ast.AST] = [loop]
    while pending:
        node = pending.pop()
        plain = _plain(node)
        for name in plain:
            sources.setdefault(name, set()).update(names_in(_assignment(node)[1]))
        if plain:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
        else:
            pending += ast.iter_child_nodes(node)
    new = read
    while new:
        new = set().union(*(sources.get(name, set()) for name in new)) - read
        read |= new
    return read & _stored_names(loop)


def _plain(node: ast.AST) -> list[str]:
    """Return the names that are assigned a value which reads no memory and calls nothing."""
    targets, value = _assignment(node)
    impure = (ast.Call, ast.Subscript, ast.NamedExpr)
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    is_pure = not any(isinstance(n, impure) for n in ast.walk(value))
    return names if is_pure and len(names) == len(targets) else []


def _leaves(node: ast.If) -> bool:
    return any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(node))
