"""The earlier statements that a cell needs, found by names: a slice of the cells before it.

A statement is needed if it binds or changes a name that is read further down. The names come from
compiled code, so a kernel's own variables do not count as the page's. Changes are guessed from
form: a launch may change its arguments, a method its object, an assignment to ``a[i]`` or ``a.b``
changes ``a``. What is guessed too much costs time; what is missed shows in the tests, which compare
every editable cell's output with that of its page.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

READS, BINDS = ("LOAD_NAME", "LOAD_GLOBAL"), ("STORE_NAME", "STORE_GLOBAL")
# They bind all their names whenever they run, and read none of them before.
WHOLE = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a cell: the cell's number and the names that matter.

    ``late`` are the names that its functions read when they are called.
    """

    cell: int
    node: ast.stmt
    binds: frozenset[str]
    changes: frozenset[str]
    reads: frozenset[str]
    late: frozenset[str]

    @property
    def gives(self) -> frozenset[str]:
        return self.binds | self.changes

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it imports; of ``from a import b`` both a and a.b, which may be one."""
        found: list[str] = []
        for node in ast.walk(self.node):
            if isinstance(node, ast.Import):
                found += [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        return tuple(found)


def statements(cells: Sequence[str]) -> list[Statement]:
    """Return the statements of several cells in their order. Raises SyntaxError."""
    return [
        _statement(number, node)
        for number, source in enumerate(cells)
        for node in ast.parse(source).body
    ]


def needed(earlier: Sequence[Statement], own: Sequence[Statement]) -> list[Statement]:
    """Return those of the ``earlier`` statements that a cell's ``own`` depend on."""
    late: frozenset[str] = frozenset()
    while True:
        kept = _backwards(earlier, own, late)
        found = late.union(*(statement.late for statement in kept))
        if found == late:
            return kept
        late = found


def _backwards(
    earlier: Sequence[Statement], own: Sequence[Statement], late: frozenset[str]
) -> list[Statement]:
    wanted, kept = set(late), []
    for statement in reversed(own):
        _add_reads(wanted, statement)
    for statement in reversed(earlier):
        if wanted & statement.gives:
            kept.append(statement)
            _add_reads(wanted, statement)
    return kept[::-1]


def _add_reads(wanted: set[str], statement: Statement) -> None:
    """Go back over a statement: what it binds is no longer wanted, what it reads is."""
    if isinstance(statement.node, WHOLE):
        wanted -= statement.binds
    wanted |= statement.reads | statement.late | statement.changes


def _statement(cell: int, node: ast.stmt) -> Statement:
    code = compile(ast.Module([node], []), "", "exec")
    inside = [instruction for part in _inner(code) for instruction in dis.get_instructions(part)]
    top = list(dis.get_instructions(code))
    binds = _names([*top, *inside], BINDS)
    changes = frozenset(_changed(node)) - binds
    return Statement(cell, node, binds, changes, _names(top, READS), _names(inside, READS))


def _names(instructions: Sequence[dis.Instruction], wanted: tuple[str, ...]) -> frozenset[str]:
    return frozenset(one.argval for one in instructions if one.opname in wanted)


def _inner(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Yield the names whose objects a statement may change, outside functions that it defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield from _base(part)
        elif isinstance(part, ast.Call):
            yield from _changed_by_call(part)


def _changed_by_call(call: ast.Call) -> Iterator[str]:
    function = call.func
    if isinstance(function, ast.Attribute):
        yield from (name for name in _base(function) if isinstance(function.value, ast.Name))
    elif isinstance(function, ast.Subscript) or getattr(function, "id", "") == "trace":
        yield from (one.id for one in call.args if isinstance(one, ast.Name))


def _base(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
