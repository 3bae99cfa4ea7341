"""One memory request of a warp: the bytes that its lanes name, and the sectors that have to move.

A request comes from a trace, or from the closed form of a strided warp. In the lecture's toy memory
the part is a value instead of a byte and the unit a burst of four values instead of a sector of 32
bytes; the counting is the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.traces import ArrayInfo, Event, Trace

TOY_BURST = 4  #: values in a burst of the lecture's toy memory
ITEMSIZES = {"float16": 2, "float32": 4, "float64": 8}
VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}
#: bytes; where an array starts, so that sectors counted from its start are sectors of memory
BASE_ALIGNMENT = 256


@dataclass(frozen=True)
class Request:
    """One load, store or atomic of one warp.

    ``addresses``: the first byte that each lane names, from the array's start, or -1 for an idle
    lane."""

    addresses: tuple[int, ...]
    itemsize: int
    unit: int = SECTOR_BYTES  #: bytes that move together; values in the toy
    kind: str = "load"
    array: str = "x"
    block: tuple[int, int, int] = (0, 0, 0)
    warp: int = 0

    @property
    def verb(self) -> str:
        return VERBS[self.kind]

    @property
    def lanes(self) -> int:
        """The number of active lanes."""
        return sum(address >= 0 for address in self.addresses)

    @cached_property
    def parts(self) -> frozenset[int]:
        """The distinct bytes that the lanes name (values in the toy)."""
        return frozenset(a + i for a in self.addresses if a >= 0 for i in range(self.itemsize))

    @cached_property
    def touched(self) -> tuple[int, ...]:
        """The touched sectors (bursts in the toy), by number from the array's start, ascending."""
        return tuple(sorted({part // self.unit for part in self.parts}))

    @property
    def sectors(self) -> int:
        """Sectors per request, the counter of ``Metrics``; bursts in the toy."""
        return len(self.touched)

    @property
    def ideal(self) -> int:
        """The fewest sectors that could hold what is used."""
        return -(-len(self.parts) // self.unit)

    @property
    def wasted(self) -> int:
        """Sectors beyond the fewest possible."""
        return self.sectors - self.ideal

    @property
    def used(self) -> int:
        """Distinct bytes used (values in the toy)."""
        return len(self.parts)

    @property
    def moved(self) -> int:
        """Bytes in the touched sectors (values in the toy)."""
        return self.unit * self.sectors

    @property
    def efficiency(self) -> float:
        """Used per moved, 0 to 1."""
        return self.used / self.moved


def strided(stride: int = 1, offset: int = 0, dtype: str = "float32", toy: bool = False) -> Request:
    """Return the request of a full warp in which lane ``i`` reads ``x[offset + stride * i]``.

    ``x`` is an aligned array of ``dtype``."""
    itemsize, unit = (1, TOY_BURST) if toy else (ITEMSIZES[dtype], SECTOR_BYTES)
    addresses = tuple((offset + stride * lane) * itemsize for lane in range(WARP_SIZE))
    return Request(addresses, itemsize, unit)


def requests_of(trace: Trace) -> dict[int, list[Request]]:
    """Return the global requests of the recorded blocks, in order, by source line.

    Raises TraceError if the trace left events out."""
    found: dict[int, list[Request]] = {}
    for event in trace.accesses():
        found.setdefault(event.line, []).append(_request(event, trace.arrays))
    return found


def base(info: ArrayInfo) -> int:
    """Return the address an array is taken to begin at: its own, rounded down to the alignment."""
    return info.address // BASE_ALIGNMENT * BASE_ALIGNMENT


def from_base(event: Event, start: int) -> tuple[int, ...]:
    """Return the first byte that each lane names, from ``start``, or -1 for an idle lane."""
    return tuple(address - start if address >= 0 else -1 for address in event.addresses)


def packed(request: Request, lead: str) -> dict[str, Any]:
    """Pack a request for the script ``requests.js``: a sentence's lead, who does what, where."""
    return {
        "lead": lead,
        "verb": request.verb,
        "array": request.array,
        "itemsize": request.itemsize,
        "deltas": deltas(request.addresses),
    }


def deltas(addresses: Iterable[int]) -> list[int]:
    """Return addresses as steps from one lane to the next, the first from 0.

    These compress well; ``undelta`` of ``core.js`` reads them."""
    return [after - before for before, after in pairwise((0, *addresses))]


def _request(event: Event, arrays: tuple[ArrayInfo, ...]) -> Request:
    addresses = from_base(event, _start(event, arrays))
    return Request(
        addresses, event.itemsize, SECTOR_BYTES, event.kind, event.array, event.block, event.warp
    )


def _start(event: Event, arrays: tuple[ArrayInfo, ...]) -> int:
    """Return the base of the event's array.

    Of several arrays of one name it is the last that begins at or before the lowest address."""
    lowest = min(event.addresses[lane] for lane in event.lanes)
    named = [info for info in arrays if (info.space, info.name) == (event.space, event.array)]
    return base(max((i for i in named if i.address <= lowest), key=lambda info: info.address))
