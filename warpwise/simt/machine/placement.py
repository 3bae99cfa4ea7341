"""Where the arguments of a launch lie in global memory, and which are copies of the host's arrays.

Each host array gets an allocation of its own, as on a GPU: it is copied to the device before the
launch and back after it, argument by argument. No bytes are copied where nobody could tell: only
the address is the allocation's. Device arrays share the allocation that they are views of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from warpwise.simt.machine.device_memory import Allocation, Directed, root_of
from warpwise.simt.machine.memory import ALIGNMENT
from warpwise.simt.types import Lanes

_FIRST_ADDRESS = 1 << 32
_BYTE_OF_GARBAGE = 0xFF  # of floats NaN, of integers -1


@dataclass
class Copies:
    """Host arrays of which a launch uses copies, by the name of the argument."""

    made: dict[str, tuple[Lanes, Lanes]] = field(default_factory=dict)
    #: arguments that lie in the same memory of the host as an earlier one, which is named
    overlapping: dict[str, str] = field(default_factory=dict)

    def back(self) -> None:
        """Copy them to the host after the launch, in the order of the arguments."""
        for host, copy in self.made.values():
            if host.flags.writeable:
                host[...] = copy


class Places:
    """Assigns addresses to arrays in the order given."""

    def __init__(self, written: frozenset[str], copies: Copies) -> None:
        self.written, self.copies, self.next = written, copies, _FIRST_ADDRESS
        #: by the id of the array that owns device memory: its address, and itself
        self.seen: dict[int, tuple[int, Lanes]] = {}
        self.hosts: list[_Host] = []

    def device(self, values: Lanes) -> int:
        """Return the address of a device array's first element: its place in the allocation."""
        owner = root_of(values)
        if id(owner) not in self.seen:
            address = owner.captured_at if isinstance(owner, Allocation) else None
            # kept, so that no other array gets its id
            self.seen[id(owner)] = address or self._allocation(owner.nbytes), owner
        return self.seen[id(owner)][0] + values.ctypes.data - owner.ctypes.data

    def host(self, name: str, values: Lanes, direction: Directed) -> tuple[Lanes, int]:
        """Return the values of a host array as the kernel sees them, and their address.

        ``name``: of the parameter; an item of a tuple is ``parameter.item``."""
        first, end = extent(values)
        here = _Host(name, first, end, name.partition(".")[0] in self.written)
        if name not in self.copies.made and self._tells(here, direction):
            copy = _copied(values, direction, first, end)
            self.copies.made[name] = (values if direction.copied_back else copy), copy
        self.hosts.append(here)
        address = self._allocation(end - first) + values.ctypes.data - first
        return self.copies.made[name][1] if name in self.copies.made else values, address

    def _tells(self, one: _Host, direction: Directed) -> bool:
        """Return True if it matters that the kernel works on a copy of a host array."""
        if not direction.copied_in or (one.written and not direction.copied_back):
            return True
        for other in self.hosts:
            overlaps = other.first < one.end and one.first < other.end
            if overlaps and (one.written or other.written):
                self.copies.overlapping[one.name] = other.name
                return True
        return False

    def _allocation(self, size: int) -> int:
        address = self.next
        self.next += -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
        return address


@dataclass(frozen=True)
class _Host:
    """The bytes of a host array, and if the kernel may write to its copy."""

    name: str
    first: int
    end: int
    written: bool


def extent(values: Lanes) -> tuple[int, int]:
    """Return the addresses of an array's first byte and of the first behind it."""
    begin = values.ctypes.data
    if not values.size:
        return begin, begin
    steps = [(n - 1) * step for n, step in zip(values.shape, values.strides, strict=True)]
    behind = sum(step for step in steps if step > 0) + values.itemsize
    return begin + sum(step for step in steps if step < 0), begin + behind


def _copied(values: Lanes, direction: Directed, first: int, end: int) -> Lanes:
    """Return an array in memory of its own, with the same strides."""
    garbage = 1 if values.dtype == np.bool_ else _BYTE_OF_GARBAGE
    memory = np.full(end - first, garbage, np.uint8)
    begin = values.ctypes.data - first
    copy: Lanes = np.ndarray(values.shape, values.dtype, memory, begin, values.strides)
    if direction.copied_in:
        copy[...] = values
    return copy
