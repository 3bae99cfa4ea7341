"""The earlier statements that a cell needs, found by names: a slice of the cells before it.

A statement is needed if it binds or changes a name that is read further down. What is included too
much costs time; what is missed shows in the tests, which compare every editable cell's output with
that of its page.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from warpwise.cells.names import Names, changed, late, reads_and_binds, stores


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a cell: the cell's number and the names that matter.

    ``binds`` are the names that it may bind, ``surely`` those that it does. ``late`` are the names
    that its functions read when they are called.
    """

    cell: int
    node: ast.stmt
    binds: Names
    surely: Names
    changes: Names
    reads: Names
    late: Names

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
    return [part for number, source in enumerate(cells) for part in _statements(number, source)]


def needed(earlier: Sequence[Statement], own: Sequence[Statement]) -> list[Statement]:
    """Return those of the ``earlier`` statements that a cell's ``own`` depend on."""
    modules = _modules(earlier)
    called: Names = frozenset()
    while True:
        kept = _backwards(earlier, own, called, modules)
        found = called.union(*(statement.late for statement in kept))
        if found == called:
            return kept
        called = found


def _modules(parts: Sequence[Statement]) -> Names:
    """Return the names that are only ever imported: ``np.zeros(3)`` changes no ``np``."""
    imported = frozenset[str]().union(*(part.binds for part in parts if part.modules))
    return imported.difference(*(part.binds for part in parts if not part.modules))


def _backwards(
    earlier: Sequence[Statement], own: Sequence[Statement], called: Names, modules: Names
) -> list[Statement]:
    wanted, kept = called, []
    for statement in reversed(own):
        wanted = _before(statement, wanted)
    for statement in reversed(earlier):
        if wanted & (statement.binds | (statement.changes - modules)):
            kept.append(statement)
            wanted = _before(statement, wanted)
    return kept[::-1]


def _before(statement: Statement, wanted: Names) -> Names:
    """Go back over a statement: what it binds is no longer wanted, what it reads is."""
    return wanted - statement.surely | statement.reads | statement.late


@lru_cache(maxsize=1000)  # readers change one cell, and run it again
def _statements(cell: int, source: str) -> tuple[Statement, ...]:
    return tuple(_statement(cell, node) for node in ast.parse(source).body)


def _statement(cell: int, node: ast.stmt) -> Statement:
    reads, surely = reads_and_binds([node])
    return Statement(cell, node, stores(node), surely, changed(node), reads, late(node))
