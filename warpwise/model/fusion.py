"""Fusion: the global memory traffic of elementwise operations that are grouped into kernels.

A kernel reads what its operations need and none of them has made before, and writes what is wanted
in the end or what a later kernel reads. All else stays in registers. Recomputation is the same rule
with an operation repeated in a second kernel, which then need not read its value. One access is one
load or store for each element. Left out: caches, which serve some of the reads, and launches, each
of which takes a few microseconds of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

READ, WRITE = "read", "write"


@dataclass(frozen=True)
class Operation:
    """One elementwise operation: the value it makes, the values it needs, its cost per element."""

    made: str
    name: str
    of: tuple[str, ...]
    flops: int = 1
    special: int = 0  #: functions such as exp and sin, which no flop counts


@dataclass(frozen=True)
class Access:
    """A value read or written, and the place in its kernel of the operation that does so."""

    kind: str  #: READ or WRITE
    value: str
    operation: int


@dataclass(frozen=True)
class Kernel:
    """The operations of a kernel on each element, and its accesses in order.

    Reads come as late, and writes as early, as can be."""

    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(access.value for access in self.accesses if access.kind == READ)

    @property
    def writes(self) -> tuple[str, ...]:
        return tuple(access.value for access in self.accesses if access.kind == WRITE)

    @property
    def flops(self) -> int:
        """Floating-point operations for each element, special functions left out."""
        return sum(operation.flops for operation in self.operations)

    @property
    def work(self) -> int:
        """Flops and special functions for each element."""
        return sum(operation.flops + operation.special for operation in self.operations)


def kernels(groups: Iterable[Sequence[Operation]], results: Iterable[str]) -> tuple[Kernel, ...]:
    """Return a kernel for each group of operations, in order.

    ``results``: values that have to be in memory in the end; each is written once."""
    parts, wanted, found = [tuple(group) for group in groups], set(results), []
    for i, part in enumerate(parts):
        later = {value for after in parts[i + 1 :] for value in _needed(after)}
        found.append(Kernel(part, tuple(_accesses(part, wanted | later))))
        wanted -= {operation.made for operation in part}
    return tuple(found)


def unfused(operations: Iterable[Operation], results: Iterable[str]) -> tuple[Kernel, ...]:
    """Return a kernel for each operation."""
    return kernels([[operation] for operation in operations], results)


def _needed(group: Sequence[Operation]) -> list[str]:
    return [access.value for access in _accesses(group, set()) if access.kind == READ]


def _accesses(group: Sequence[Operation], wanted: set[str]) -> Iterable[Access]:
    """Yield reads right before the first operation that needs them, writes right after theirs."""
    known: set[str] = set()
    for place, operation in enumerate(group):
        for value in dict.fromkeys(operation.of):
            if value not in known:
                yield Access(READ, value, place)
        known |= {*operation.of, operation.made}
        if operation.made in wanted:
            yield Access(WRITE, operation.made, place)
