"""Memory as a kernel sees it: the base of all arrays that own memory, global arrays and constants.

The rest is in ``block_memory``. An *offset* counts elements from the array's first one and has the
shape of what it varies with: a Python int, ``(1, threads)``, ``(blocks, 1)`` or ``(blocks,
threads)``. Offsets arrive checked: bounds belong to ``requests``. Parts of elements (a field of a
record, the same bytes as another type) go by byte: ``load_as`` and ``store_as``. The shadow of
shared memory, and the written part of local memory, are kept by *cells*: elements, or smaller where
a part of an element can be written alone."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from warpwise.errors import LaunchError, MisalignedError, UnsupportedError
from warpwise.messages import Address, Constant, Message, Name, TypeName, message
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.lanes.touched import Touched
from warpwise.simt.machine.cells import gathered, scattered, smallest_part
from warpwise.traces import ArrayInfo

# of every allocation in global memory (CUDA C++ Programming Guide, "Device Memory Accesses")
ALIGNMENT = 256


def chosen(value, mask: Mask, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return the values of the active lanes as one flat array.

    ``shapes``: of the values it must line up with."""
    shape = np.broadcast_shapes(mask.lanes.shape, *shapes)
    return np.broadcast_to(value, shape)[np.broadcast_to(mask.lanes, shape)]


def dtype_name(dtype: np.dtype) -> str:
    """Return an element type as a trace writes it; records are so many bytes."""
    return f"V{dtype.itemsize}" if dtype.names else str(dtype)


def describe(
    name: str, space: str, dtype: np.dtype, shape: tuple, address: int, strides: tuple
) -> ArrayInfo:
    """Return an array as a trace lists it. ``strides``: in elements."""
    in_bytes = tuple(n * dtype.itemsize for n in strides)
    return ArrayInfo(name, space, dtype_name(dtype), tuple(shape), address, in_bytes)


def check_aligned(array, addresses, mask: Mask, site) -> None:
    """Raise MisalignedError if an active lane's address is no multiple of the array's alignment."""
    bad = np.asarray(np.remainder(addresses, array.alignment) != 0)
    if not bad.any():
        return
    bad = mask.grid() & bad
    if bad.any():
        lane = np.unravel_index(int(np.argmax(bad)), mask.group.shape)
        address = int(np.broadcast_to(addresses, mask.group.shape)[lane])
        alignment = Constant(array.alignment)
        what = message(
            "an element of {array} is at {address}: {dtype} is read and "
            "written at multiples of {alignment} bytes only, and a GPU stops at any other",
            array=Name(array.name),
            address=Address(address),
            dtype=TypeName(array.dtype),
            alignment=alignment,
        )
        place = site.where(**mask.group.first_of(bad))
        raise MisalignedError(what, place, _aligned(array.space, alignment))


def _aligned(space: str, alignment: Constant) -> Message:
    """Suggest how elements come to lie at multiples of some bytes."""
    if space == "shared":
        return message("begin the view at a multiple of {bytes} bytes", bytes=alignment)
    return message(
        "pass an array that begins, and steps, at a multiple of {bytes} bytes, such as a copy",
        bytes=alignment,
    )


def read_only(array: Memory) -> LaunchError:
    """Return the error of a kernel that writes to a read-only array."""
    return LaunchError(
        message(
            "{array} is a read-only array, and the kernel writes to it: pass a copy",
            array=Name(array.name),
        )
    )


class Memory:
    """The base of all arrays that own their memory.

    ``raw``: all its bytes; ``cell``: bytes of a cell."""

    #: that accesses are checked for: these arrays begin at, and step by, whole elements
    alignment = 1

    def __init__(
        self,
        name: str,
        dtype: np.dtype,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        address: int,
    ):
        self.name, self.dtype, self.address = name, dtype, address
        self.shape, self.ndim, self.strides = shape, len(shape), strides
        self.size, self.step, self.root = math.prod(shape), dtype.itemsize, self
        self.info = describe(name, self.space, dtype, shape, address, strides)

    def put_back(self, selection, before):
        """See ``compaction.Selection.put``."""
        joins = hasattr(before, "joined") and before is not self
        return before.joined(self, selection) if joins else self

    def joined(self, value, selection):
        what = message(
            "a variable stands for {one} in some threads and for {other} in others",
            one=Name(value.name),
            other=Name(self.name),
        )
        raise UnsupportedError(what, try_this="choose between elements, not between arrays")

    def cells(self, offset) -> tuple:
        """Return the first cell of the element at an offset, and how many cells it covers."""
        if self.cell == self.step:
            return offset, 1
        return offset * self.step // self.cell, self.step // self.cell

    def load_as(self, dtype: np.dtype, at, group: LaneGroup):
        """Return elements of another type; ``at``: bytes from the start, of any lane shape."""
        return gathered(self.raw, self._positions(at, group), dtype)

    def store_as(self, dtype: np.dtype, at, value, mask: Mask) -> None:
        at = np.asarray(self._positions(at, mask.group))
        if mask.lanes is not None:
            shapes = at.shape, np.shape(value)
            at, value = chosen(at, mask, *shapes), chosen(value, mask, *shapes)
        scattered(self.raw, at, value, dtype)


class GlobalArray(Memory):
    """An argument of the launch, flat, with its strides in elements.

    Writes go to the caller's array."""

    space = "global"

    def __init__(self, name: str, values: np.ndarray, address: int):
        strides = tuple(stride // values.itemsize for stride in values.strides)
        super().__init__(name, values.dtype, values.shape, strides, address)
        self.flat, self.cell = _span(values), smallest_part(values.dtype)
        self.memory_bytes, self.end = self.flat.nbytes, address + self.flat.nbytes
        #: the same memory by cells of so many bytes, once a part of an element was named
        self.parts: dict[int, GlobalArray] = {}
        self.touched: dict[tuple[int, str], Touched] = {}  #: by line and kind of request

    def load(self, offset, mask: Mask):
        return self.flat[offset] if isinstance(offset, int) else self.flat.take(offset)

    def store(self, offset, value, mask: Mask) -> None:
        """Write the active lanes' values; of several for one element, the highest lane's stays."""
        self._need_writeable()
        if mask.lanes is not None:
            shapes = np.shape(offset), np.shape(value)
            offset, value = chosen(offset, mask, *shapes), chosen(value, mask, *shapes)
        elif np.shape(offset) != np.shape(value) and not isinstance(
            value, (int, float, np.generic)
        ):
            offset, value = np.broadcast_arrays(offset, value)
        if isinstance(offset, int) and isinstance(value, np.ndarray):
            value = value.reshape(-1)[-1]
        self.flat[offset] = value

    def touch(self, line: int, kind: str, offset, mask: Mask) -> None:
        """Remember the elements that a line has touched."""
        if mask.lanes is not None and isinstance(offset, np.ndarray):
            offset = chosen(offset, mask, offset.shape)
        self.touched.setdefault((line, kind), Touched()).add(np.asarray(offset), self.flat.size)

    def touch_part(self, line: int, kind: str, at, width: int, mask: Mask) -> None:
        """Remember ``width`` bytes at a byte offset."""
        cell = math.gcd(self.cell, width)
        if cell not in self.parts:
            self.parts[cell] = GlobalArray(self.name, self.raw.view(f"V{cell}"), self.address)
        for first in range(0, width, cell):
            self.parts[cell].touch(line, kind, (at + first) // cell, mask)

    @property
    def memories(self) -> tuple[GlobalArray, ...]:
        """This memory by elements and by cells, each with the places that were touched."""
        return self, *self.parts.values()

    @cached_property
    def raw(self) -> np.ndarray:
        return self.flat.view(np.uint8)

    def store_as(self, dtype: np.dtype, at, value, mask: Mask) -> None:
        self._need_writeable()
        super().store_as(dtype, at, value, mask)

    def _positions(self, at, group: LaneGroup):
        return at

    def _need_writeable(self) -> None:
        if not self.flat.flags.writeable:
            raise read_only(self)


class ConstantArray(Memory):
    """An array that the kernel's text names: ``cuda.const.array_like(TABLE)``, or ``TABLE`` itself.

    Its values are those at compilation. Reads are checked and otherwise free: neither sectors nor
    the broadcast of the constant cache are modelled."""

    space = "const"

    def __init__(self, name: str, values: np.ndarray):
        super().__init__(name, values.dtype, values.shape, c_strides(values.shape), 0)
        self.flat, self.cell = np.array(values, order="C").reshape(-1), smallest_part(values.dtype)
        self.memory_bytes = self.flat.nbytes

    def load(self, offset, mask: Mask):
        return self.flat[offset] if isinstance(offset, int) else self.flat.take(offset)

    @property
    def raw(self) -> np.ndarray:
        return self.flat.view(np.uint8)

    def _positions(self, at, group: LaneGroup):
        return at


def _span(values: np.ndarray) -> np.ndarray:
    """Return the memory from the first element to the last as one flat view, gaps included.

    Strides are whole elements and not negative; ``array_views.argument`` sees to it.
    """
    if values.size == 0:
        return np.empty(0, values.dtype)
    last = sum((n - 1) * stride for n, stride in zip(values.shape, values.strides, strict=True))
    return np.lib.stride_tricks.as_strided(
        values, (last // values.itemsize + 1,), (values.itemsize,)
    )


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides in elements of an array in C order."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))
