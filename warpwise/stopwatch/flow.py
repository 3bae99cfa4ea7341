"""The control flow of a kernel's machine code: blocks of instructions, and the ways between them.

An instruction that a predicate guards is part of its block. Where a warp's lanes part, the warp
runs both sides in turn: the way from the end of one side to the other is ``parted``, and counts
use it only if nothing else explains them. A call leads into the function and back, or past it,
where the compiler calls it for rare values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwise.stopwatch.sass import BASES, Op

ENTRY, END = -1, -2


@dataclass(frozen=True)
class Edge:
    """A way from one block to another, by their numbers; ENTRY and END are outside."""

    start: int
    end: int
    parted: bool = False  #: a warp whose lanes part goes on with the other side

    @property
    def back(self) -> bool:
        """True for the way back to a loop's first block."""
        return 0 <= self.end <= self.start


@dataclass(frozen=True)
class Flow:
    """Blocks, each a range of instructions in the order of addresses, and edges between them.

    ``guards``: each instruction's, "" for none. One that is computed anew within its block gets
    another name there, as in "@!P0 2"."""

    ops: tuple[Op, ...]
    blocks: tuple[range, ...]
    edges: tuple[Edge, ...]
    guards: tuple[str, ...]

    def loops(self) -> tuple[tuple[int, int], ...]:
        """Return each loop as its first and last block, every first block once."""
        found: dict[int, int] = {}
        for edge in self.edges:
            if edge.back:
                found[edge.end] = max(found.get(edge.end, 0), edge.start)
        return tuple(sorted(found.items()))


def flow_of(ops: Sequence[Op]) -> Flow:
    """Cut machine code into blocks, and connect them."""
    starts = _starts(ops)
    blocks = tuple(range(a, b) for a, b in zip(starts, [*starts[1:], len(ops)], strict=True))
    places = {ops[block.start].label: n for n, block in enumerate(blocks) if ops[block.start].label}
    returns = _returns(ops, blocks, places)
    edges = {Edge(ENTRY, 0)}
    for n, block in enumerate(blocks):
        edges |= _leaving(n, ops[block[-1]], len(blocks), places, returns)
    edges |= {Edge(n - 1, n, True) for n in range(1, len(blocks))} - {
        Edge(e.start, e.end, True) for e in edges
    }
    ways = tuple(sorted(edges, key=lambda e: (e.start, e.end, e.parted)))
    guards = tuple(name for block in blocks for name in _guards(ops, block))
    return Flow(tuple(ops), blocks, ways, guards)


def _guards(ops: Sequence[Op], block: range) -> list[str]:
    """Return the guards of a block's instructions, told apart where a predicate changes."""
    changed: dict[int, int] = {}
    names = []
    for i in block:
        guard = ops[i].guard
        times = changed.get(_predicate(guard), 1)
        names.append(f"{guard} {times}" if guard and times > 1 else guard)
        for result in ops[i].results:
            changed[result] = changed.get(result, 1) + 1
    return names


def _predicate(guard: str) -> int:
    """Return the number of a guard's register, as ``sass`` has it, -1 for none."""
    kind, number = guard.lstrip("@!")[:-1], guard[-1:]
    return BASES[kind] + int(number) if kind in BASES and number.isdigit() else -1


def _starts(ops: Sequence[Op]) -> list[int]:
    ends = {i + 1 for i, op in enumerate(ops) if _ends_block(op)}
    labels = {i for i, op in enumerate(ops) if op.label}
    return sorted(n for n in {0} | ends | labels if n < len(ops))


def _ends_block(op: Op) -> bool:
    return op.name in ("BRA", "BRX", "JMP", "CALL", "RET", "EXIT", "BRXU", "JMX")


def _leaving(
    n: int, last: Op, blocks: int, places: dict[str, int], returns: dict[int, set[int]]
) -> set[Edge]:
    """Return the edges out of a block."""
    after = n + 1 if n + 1 < blocks else END
    target = places.get(last.target)
    if last.name == "EXIT":
        return {Edge(n, END)} | ({Edge(n, after)} if last.guard else set())
    if last.name == "RET":
        return {Edge(n, to) for to in returns.get(n, {END})}
    if last.name in ("BRX", "BRXU", "JMX"):
        return {Edge(n, to) for to in places.values() if to != n} | {Edge(n, after)}
    if last.name in ("BRA", "JMP", "CALL") and target is not None:
        past = last.conditional or last.name == "CALL"
        return {Edge(n, target)} | ({Edge(n, after)} if past else set())
    return {Edge(n, after)}


def _returns(
    ops: Sequence[Op], blocks: Sequence[range], places: dict[str, int]
) -> dict[int, set[int]]:
    """Return for each block that ends in a RET the blocks after the calls of its function."""
    called: dict[int, set[int]] = {}
    for n, block in enumerate(blocks):
        last = ops[block[-1]]
        if last.name == "CALL" and last.target in places and n + 1 < len(blocks):
            called.setdefault(places[last.target], set()).add(n + 1)
    found: dict[int, set[int]] = {}
    for n, block in enumerate(blocks):
        if ops[block[-1]].name == "RET":
            entry = max((start for start in called if start <= n), default=None)
            found[n] = called[entry] if entry is not None else {END}
    return found
