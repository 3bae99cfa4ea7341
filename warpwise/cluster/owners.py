"""Owners of memory: which rank has received, reduced or sent which arrays.

Ranks have memory of their own. Two that write into one array, such as one that stands outside the
program, would see each other's numbers, as no cluster does; that is found here."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpwise.errors import ClusterError
from warpwise.messages import Rank, Words, message
from warpwise.simt.machine.device_memory import root_of


@dataclass(frozen=True)
class Use:
    """A rank's use of some memory, at a line."""

    rank: int
    writes: bool
    word: str
    site: str


@dataclass
class Memory:
    """Memory that ranks have used, the last use of each by rank."""

    root: Any  #: a weak reference
    uses: dict[int, Use] = field(default_factory=dict)


class Owners:
    """The memory that ranks have used so far, by the identity of its array."""

    def __init__(self) -> None:
        self.known: dict[int, Memory] = {}

    def claim(self, array: np.ndarray, use: Use) -> None:
        """Note a use. Raises ClusterError if another rank uses the memory, and one writes."""
        root = root_of(array)
        memory = self.known.get(id(root))
        if memory is None or memory.root() is not root:
            memory = self.known[id(root)] = Memory(weakref.ref(root))
        for other in memory.uses.values():
            if other.rank != use.rank and (other.writes or use.writes):
                raise ClusterError(_shared(other, use))
        memory.uses[use.rank] = use


def _shared(one: Use, other: Use) -> Any:
    return message(
        "{one} passes to {first} at {there} the memory that {other} passes to {second} at {here}: "
        "ranks share none, so make the array in the program, or pass it to run",
        one=Rank(one.rank),
        first=Words(one.word),
        there=Words(one.site),
        other=Rank(other.rank),
        second=Words(other.word),
        here=Words(other.site),
    )
