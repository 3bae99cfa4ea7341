"""Fusion: which values travel to and from global memory when elementwise operations are put into kernels.

A kernel reads what its operations need and none of them has made before, and writes what is wanted in the end or what a later kernel
reads. All else stays in registers. Recomputation is the same rule with an operation put into a second kernel: what that kernel makes
again it need not read. One access is one load or store for each element. Left out: caches, which serve some of the reads, and launches,
each of which takes a few microseconds of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

READ, WRITE = "read", "write"


@dataclass(frozen=True)
class Operation:
    """One elementwise operation: the value that it makes, from which values, and what it costs for each element."""

    made: str
    name: str
    of: tuple[str, ...]
    flops: int = 1
    special: int = 0  #: functions such as exp and sin, which no flop counts


@dataclass(frozen=True)
class Access:
    """A value that travels, and the place among its kernel's operations of the one that needs it or has made it."""

    kind: str  #: READ or WRITE
    value: str
    operation: int


@dataclass(frozen=True)
class Kernel:
    """Operations that one kernel does for each element, and its accesses in their order: as late and as early as can be."""

    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(access.value for access in self.accesses if access.kind == READ)

    @property
    def writes(self) -> tuple[str, ...]:
        return tuple(access.value for access in self.accesses if access.kind == WRITE)

    @property
    def work(self) -> int:
        """Flops and special functions for each element."""
        return sum(operation.flops + operation.special for operation in self.operations)


def kernels(groups: Iterable[Sequence[Operation]], results: Iterable[str]) -> tuple[Kernel, ...]:
    """A kernel for each group of operations, in order. ``results``: what has to be in memory in the end; it is written once."""
    groups, wanted, found = tuple(map(tuple, groups)), set(results), []
    for i, group in enumerate(groups):
        later = {value for after in groups[i + 1 :] for value in _needed(after)}
        found.append(Kernel(group, tuple(_accesses(group, wanted | later))))
        wanted -= {operation.made for operation in group}
    return tuple(found)


def unfused(operations: Iterable[Operation], results: Iterable[str]) -> tuple[Kernel, ...]:
    """A kernel for each operation."""
    return kernels([[operation] for operation in operations], results)


def _needed(group: Sequence[Operation]) -> list[str]:
    return [access.value for access in _accesses(group, set()) if access.kind == READ]


def _accesses(group: Sequence[Operation], wanted: set[str]) -> Iterable[Access]:
    """A value is read right before the first operation that needs it, and written right after the one that makes it."""
    known = set()
    for place, operation in enumerate(group):
        for value in dict.fromkeys(operation.of):
            if value not in known:
                yield Access(READ, value, place)
        known |= {*operation.of, operation.made}
        if operation.made in wanted:
            yield Access(WRITE, operation.made, place)
