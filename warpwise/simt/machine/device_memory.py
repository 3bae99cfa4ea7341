"""Device memory as the host names it: allocations, pointers into them, and what is copied there.

The allocations lie in the host's memory, and a pointer is an address in it. Only pointers into
allocations that are still held are followed, so that one of a real GPU is never read."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.errors import LaunchError
from warpwise.messages import Lengths, TypeName, message
from warpwise.simt.frontend.names import has_own
from warpwise.simt.types import Lanes

# addresses of captured arrays, beyond those of arguments; no array is larger than the step
_CAPTURED_AT = itertools.count(1 << 48, 1 << 40)
# by the address of its first byte; what nobody holds any more leaves by itself
_HELD: weakref.WeakValueDictionary[int, Lanes] = weakref.WeakValueDictionary()


class Allocation(np.ndarray[Any, np.dtype[np.uint8]]):
    """The bytes of an allocation. ``captured_at``: its address, once a kernel has captured it."""

    captured_at: int | None = None


def allocated(size: int) -> Allocation:
    """Return new device memory, of ``size`` bytes that nobody has written yet."""
    memory = Allocation((max(size, 1),), np.uint8)
    _HELD[memory.ctypes.data] = memory
    return memory


def captured(values: Lanes) -> int:
    """Return the address of a device array that a kernel names, the same for all launches."""
    root = root_of(values)
    address = getattr(root, "captured_at", None)
    if address is None:
        address = next(_CAPTURED_AT)
        if isinstance(root, Allocation):
            root.captured_at = address
    return int(address + values.ctypes.data - root.ctypes.data)


def held_bytes() -> int:
    """Return the bytes of all allocations."""
    return sum(memory.nbytes for memory in list(_HELD.values()))


def held(values: Lanes) -> Lanes:
    """Make the memory of a host array known as device memory, and return the array."""
    root = root_of(values)
    _HELD.setdefault(root.ctypes.data, root)
    return values


def root_of(values: Lanes) -> Lanes:
    """Return the array that owns the memory."""
    while isinstance(values.base, np.ndarray):
        values = values.base
    return values


@dataclass(frozen=True)
class Directed:
    """An array argument with a direction of copying.

    ``copied_in``: to the device before the launch. ``copied_back``: to the host after it."""

    value: object
    copied_in: bool = True
    copied_back: bool = True


def device_values(value: object) -> Lanes | None:
    """Return the values of a device array, or of an object with its interface; else None.

    Raises LaunchError where these lie in memory that is not the simulator's."""
    if isinstance(value, (np.ndarray, np.generic, int, float, complex, tuple)):
        return None
    values = getattr(value, "host_values", None) if has_own(value, "host_values") else None
    if isinstance(values, np.ndarray):
        return values
    name = "__cuda_array_interface__"
    interface = getattr(value, name) if has_own(value, name) else None
    return array_at(interface) if isinstance(interface, dict) else None


def array_at(interface: Mapping[str, Any]) -> Lanes:
    """Return the array that a ``__cuda_array_interface__`` describes, in the same memory.

    Raises LaunchError for a pointer into other memory, NotImplementedError for masked arrays."""
    if interface.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    if "descr" in interface and dtype.kind == "V":
        dtype = np.dtype(interface["descr"])
    strides, pointer = interface.get("strides"), interface["data"][0]
    if 0 in shape:
        return np.empty(shape, dtype)
    for first, memory in list(_HELD.items()):
        if first <= pointer < first + memory.nbytes:
            return np.ndarray(shape, dtype, memory, pointer - first, strides)
    what = message(
        "an array of {dtype} with [[shape {shape}|{shape}]] lies in the memory of another library "
        "or of a GPU, which the simulator cannot read: copy it to the host, and pass that",
        dtype=TypeName(dtype),
        shape=Lengths(shape),
    )
    raise LaunchError(what)
