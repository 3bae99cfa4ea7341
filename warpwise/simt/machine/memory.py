"""Memory as a kernel sees it: the base of all arrays that own memory, global arrays and constants.

The rest is in ``block_memory``. An *offset* counts elements from the array's first one and has the
shape of what it varies with: a Python int, ``(1, threads)``, ``(blocks, 1)`` or ``(blocks,
threads)``. Offsets arrive checked: bounds belong to ``requests``. Parts of elements (a field of a
record, the same bytes as another type) go by byte: ``load_as`` and ``store_as``. What observers
keep about memory, they can keep by *cells*: elements, or smaller where a part of an element can be
written alone."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NoReturn, Protocol

import numpy as np

from warpwise.errors import LaunchError, MisalignedError, UnsupportedError
from warpwise.messages import Address, Constant, Message, Name, TypeName, message
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.cells import gathered, scattered, smallest_part
from warpwise.simt.machine.selection import Selection
from warpwise.simt.machine.site import Site
from warpwise.simt.types import DType, Lanes, Value, as_array, as_index, common_shape, spread
from warpwise.traces import ArrayInfo

# of every allocation in global memory (CUDA C++ Programming Guide, "Device Memory Accesses")
ALIGNMENT = 256


class Array(Protocol):
    """What requests ask of every array: one that owns its memory, or a view of it.

    A *place* is where an element of an array lies in the memory that holds it: its offset there,
    in elements; in bytes, if the array's elements are only parts of the memory's."""

    @property
    def name(self) -> str: ...
    @property
    def space(self) -> str:
        """Return "global", "shared", "local" or "const"."""

    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> tuple[Value, ...]:
        """Return ints, or lanes where the length of a view differs between threads."""

    @property
    def ndim(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]:
        """Return steps from one element to the next, by axis."""

    @property
    def step(self) -> int:
        """Return the bytes that offsets and strides count in."""

    @property
    def address(self) -> Value:
        """Return the byte address of the element at offset 0; lanes of it for some views."""

    @property
    def alignment(self) -> int:
        """Return the bytes of which every address must be a multiple."""

    @property
    def cell(self) -> int:
        """Return bytes of which the size and the place of every element are whole multiples."""

    @property
    def root(self) -> Memory:
        """Return the array that owns the memory."""

    @property
    def is_whole(self) -> bool:
        """Return True if its elements are those of its memory."""

    @property
    def info(self) -> ArrayInfo: ...
    def place(self, offset: Value, mask: Mask) -> Value:
        """Return where the elements at some offsets lie in the memory."""

    def load(self, offset: Value, mask: Mask) -> Value: ...
    def store(self, offset: Value, value: Value, mask: Mask) -> None: ...


def chosen(value: Value, lanes: Lanes, *shapes: tuple[int, ...]) -> Lanes:
    """Return the values of the active ``lanes`` as one flat array.

    ``shapes``: of the values it must line up with."""
    shape = common_shape(lanes.shape, *shapes)
    found: Lanes = spread(value, shape)[spread(lanes, shape)]
    return found


@lru_cache(maxsize=256)
def dtype_name(dtype: DType) -> str:
    """Return an element type as a trace writes it; records are so many bytes."""
    return f"V{dtype.itemsize}" if dtype.names else str(dtype)


def describe(
    name: str,
    space: str,
    dtype: DType,
    shape: tuple[int, ...],
    address: int,
    strides: tuple[int, ...],
) -> ArrayInfo:
    """Return an array as a trace lists it. ``strides``: in elements."""
    in_bytes = tuple(n * dtype.itemsize for n in strides)
    return ArrayInfo(name, space, dtype_name(dtype), tuple(shape), address, in_bytes)


def check_aligned(array: Array, addresses: Value, mask: Mask, site: Site) -> None:
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

    ``cell``: bytes of the smallest part of an element that can be written alone; ``memory_bytes``:
    of all elements, those in the gaps of a strided argument included; ``sure_multiple``: the bytes
    of which shared memory says that its address is a multiple (see ``chance``)."""

    space = ""
    sure_multiple = 1
    alignment = 1  #: these arrays begin at, and step by, whole elements
    is_whole = True
    memory_bytes = 0

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        address: int,
    ):
        self.name, self.dtype, self.address = name, dtype, address
        self.shape, self.ndim, self.strides = shape, len(shape), strides
        self.size, self.step, self.cell = math.prod(shape), dtype.itemsize, smallest_part(dtype)
        self.info = describe(name, self.space, dtype, shape, address, strides)

    @property
    def root(self) -> Memory:
        return self

    @property
    def raw(self) -> Lanes:
        """All bytes of the memory, flat."""
        raise NotImplementedError

    def load(self, offset: Value, mask: Mask) -> Value:
        raise NotImplementedError

    def store(self, offset: Value, value: Value, mask: Mask) -> None:
        raise NotImplementedError

    def place(self, offset: Value, mask: Mask) -> Value:
        return offset

    def positions(self, at: Value, group: LaneGroup) -> Value:
        """Return places in ``raw`` of bytes ``at`` from the start, as each lane sees them."""
        return at

    def put_back(self, selection: Selection, before: Value) -> Value:
        """See ``selection.Selection.put``."""
        joins = hasattr(before, "joined") and before is not self
        return before.joined(self, selection) if joins else self

    def joined(self, value: Array, selection: Selection) -> NoReturn:
        what = message(
            "a variable stands for {one} in some threads and for {other} in others",
            one=Name(value.name),
            other=Name(self.name),
        )
        raise UnsupportedError(what, try_this="choose between elements, not between arrays")

    def load_as(self, dtype: DType, at: Value, group: LaneGroup) -> Value:
        """Return elements of another type; ``at``: bytes from the start, of any lane shape."""
        return gathered(self.raw, self.positions(at, group), dtype)

    def store_as(self, dtype: DType, at: Value, value: Value, mask: Mask) -> None:
        at = as_array(self.positions(at, mask.group))
        if mask.lanes is not None:
            shapes = at.shape, np.shape(value)
            at, value = chosen(at, mask.lanes, *shapes), chosen(value, mask.lanes, *shapes)
        scattered(self.raw, at, value, dtype)


class GlobalArray(Memory):
    """An argument of the launch, flat, with its strides in elements.

    Writes go to the caller's array."""

    space = "global"

    def __init__(self, name: str, values: Lanes, address: int):
        strides = tuple(stride // values.itemsize for stride in values.strides)
        super().__init__(name, values.dtype, values.shape, strides, address)
        self.flat = _span(values)
        self.memory_bytes, self.end = self.flat.nbytes, address + self.flat.nbytes

    def load(self, offset: Value, mask: Mask) -> Value:
        return self.flat[offset] if isinstance(offset, int) else self.flat.take(as_index(offset))

    def store(self, offset: Value, value: Value, mask: Mask) -> None:
        """Write the active lanes' values; of several for one element, the highest lane's stays."""
        self._need_writeable()
        if mask.lanes is not None:
            shapes = np.shape(offset), np.shape(value)
            offset = chosen(offset, mask.lanes, *shapes)
            value = chosen(value, mask.lanes, *shapes)
        elif np.shape(offset) != np.shape(value) and not isinstance(
            value, (int, float, np.generic)
        ):
            offset, value = np.broadcast_arrays(offset, value)
        if isinstance(offset, int) and isinstance(value, np.ndarray):
            value = value.reshape(-1)[-1]
        self.flat[offset] = value

    @property
    def raw(self) -> Lanes:
        return self.flat.view(np.uint8)

    def store_as(self, dtype: DType, at: Value, value: Value, mask: Mask) -> None:
        self._need_writeable()
        super().store_as(dtype, at, value, mask)

    def _need_writeable(self) -> None:
        if not self.flat.flags.writeable:
            raise read_only(self)


class ConstantArray(Memory):
    """An array that the kernel's text names: ``cuda.const.array_like(TABLE)``, or ``TABLE`` itself.

    Its values are those at compilation. Reads are checked and otherwise free: neither sectors nor
    the broadcast of the constant cache are modelled."""

    space = "const"

    def __init__(self, name: str, values: Lanes):
        super().__init__(name, values.dtype, values.shape, c_strides(values.shape), 0)
        self.flat = np.array(values, values.dtype, order="C").reshape(-1)
        self.memory_bytes = self.flat.nbytes

    def load(self, offset: Value, mask: Mask) -> Value:
        return self.flat[offset] if isinstance(offset, int) else self.flat.take(as_index(offset))

    @property
    def raw(self) -> Lanes:
        return self.flat.view(np.uint8)


def _span(values: Lanes) -> Lanes:
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


def element_index(array: Array, at: int) -> tuple[int, ...]:
    """Return the indices of the element that byte ``at`` of an array lies in.

    Its strides are whole elements and not negative."""
    element, index = at // array.dtype.itemsize, [0] * array.ndim
    for axis in sorted(range(array.ndim), key=lambda axis: -array.strides[axis]):
        if array.strides[axis] and array.shape[axis] > 1:
            index[axis] = min(element // array.strides[axis], array.shape[axis] - 1)
            element -= index[axis] * array.strides[axis]
    return tuple(index)
