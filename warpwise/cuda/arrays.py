"""Arrays and records in simulated device memory, with the rules of Numba's.

They lie in the host's memory; only the rules of use are a GPU's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from warpwise.cuda.layouts import NeedsCopy, WrongType, c_strides, need_contiguous, whole
from warpwise.cuda.memory import DeviceMemory
from warpwise.errors import LaunchError
from warpwise.simt.machine.device_memory import device_values

# Parameters are Numba's: a stream may be anything, for there is nothing to wait for; a type or a
# shape is what NumPy takes. So are the errors: a copy that does not fit is a ValueError or a
# TypeError, what would need a copy a NotImplementedError.


class DeviceArray(DeviceMemory):
    """An array in device memory, whose elements copying shows or changes.

    Slices keep their place, and with it their alignment."""

    @classmethod
    def over(cls, values: np.ndarray, stream: object = 0) -> DeviceArray:
        """Return a device array that is the host's array itself, as mapped memory is."""
        found = cls.__new__(cls)
        found.host_values, found.stream = values, stream
        return found

    def _part(self, values: np.ndarray, stream: object = 0) -> DeviceArray:
        return DeviceArray.over(values, stream or self.stream)

    @property
    def T(self) -> DeviceArray:
        return self.transpose()

    def transpose(self, axes: Any = None) -> DeviceArray:
        """Return a transposed copy, in C order, of an array of two dimensions.

        Raises NotImplementedError for any other, ValueError for wrong axes."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NeedsCopy("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != {0, 1}:
            raise LaunchError(f"invalid axes list {axes!r}")
        turned = self.host_values.T
        copy = DeviceArray(turned.shape, c_strides(turned), turned.dtype, self.stream)
        copy.host_values[...] = turned
        return copy

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise LaunchError("`copy=False` is not supported. A copy is always created.")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        return self.getitem(key)

    def getitem(self, item: Any, stream: object = 0) -> Any:
        """Return an element, a record or a view; an index is an integer or a slice.

        Raises TypeError for any other."""
        part = self.host_values[_index(item, self.ndim)]
        if not part.ndim and len(_parts(item)) == self.ndim and _is_element(item):
            if self.dtype.names:
                return DeviceRecord.over(part, stream or self.stream)
            return part[()]
        return self._part(part, stream)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)

    def setitem(self, key: Any, value: Any, stream: object = 0) -> None:
        """Assign numbers, or a host or device array, whose axes fit or have one element.

        Raises ValueError where they do not fit."""
        target = self.host_values[_index(key, self.ndim)]
        theirs = device_values(value)
        values = np.asarray(value) if theirs is None else theirs
        if theirs is None:
            need_contiguous(values)
        if values.ndim > target.ndim:
            raise LaunchError(f"Can't assign {values.ndim}-D array to {target.ndim}-D self")
        shape = (1,) * (target.ndim - values.ndim) + values.shape
        for axis, (there, here) in enumerate(zip(shape, target.shape, strict=True)):
            if there not in (1, here):
                raise LaunchError(
                    f"Can't copy sequence with size {there} to array axis {axis} "
                    f"with dimension {here}"
                )
        target[...] = values

    def reshape(self, *newshape: Any, order: str = "C") -> DeviceArray:
        """Return the same memory in another shape; ``order``: in which it is read.

        As with Numba, memory without gaps is read from its first byte to its last, whatever order
        it had. Raises NotImplementedError where a copy would be needed, ValueError for a shape of
        another size."""
        one = newshape[0] if len(newshape) == 1 else None
        wanted = tuple(one) if isinstance(one, (tuple, list)) else newshape
        if wanted == self.shape:
            return self._part(self.host_values)
        if order not in ("C", "F", "A"):
            raise LaunchError("order not C|F|A")
        shape, values = self._shaped(wanted), self.host_values
        if order == "A":
            order = "C" if not values.flags.f_contiguous else "F"
        if values.flags.c_contiguous or values.flags.f_contiguous:
            like = np.broadcast_to(np.empty((), values.dtype), shape)
            steps = c_strides(like) if order == "C" else c_strides(like.T)[::-1]
            return DeviceArray(shape, steps, values.dtype, self.stream, self.gpu_data)
        part = values.reshape(shape, order="F" if order == "F" else "C")
        if part.size and not np.may_share_memory(part, values):
            raise NeedsCopy(
                f"reshape would require copy: a device array of shape {self.shape} that has gaps "
                f"cannot be reshaped to {shape} in place"
            )
        return self._part(part)

    def _shaped(self, wanted: Sequence[int]) -> tuple[int, ...]:
        """Return a shape with its one unknown length worked out."""
        shape = whole(wanted)
        unknown, known = sum(n < 0 for n in shape), math.prod(n for n in shape if n >= 0)
        if unknown > 1:
            raise LaunchError("can only specify one unknown dimension")
        if unknown and (not known or self.size % known):
            raise LaunchError("cannot infer valid shape for unknown dimension")
        full = tuple(self.size // known if n < 0 else n for n in shape)
        if math.prod(full) != self.size:
            raise LaunchError("reshape changes the size of the array")
        return full

    def ravel(self, order: str = "C", stream: object = 0) -> DeviceArray:
        """Return the same memory in one dimension. Raises NotImplementedError if it has gaps."""
        flags = self.host_values.flags
        if order not in ("C", "F", "A"):
            raise LaunchError("order not C|F|A")
        if not (order != "F" and flags.c_contiguous) and not (order != "C" and flags.f_contiguous):
            what = f"ravel on non-contiguous array: in order {order} it has gaps"
            raise NeedsCopy(f"{what}, and a device array is flattened in place")
        stream = stream or self.stream
        return DeviceArray((self.size,), (self.itemsize,), self.dtype, stream, self.gpu_data)

    def squeeze(self, axis: Any = None, stream: object = 0) -> DeviceArray:
        """Return the same memory without axes of length 1. Raises ValueError for a longer one."""
        return self._part(self.host_values.squeeze(axis), stream)

    def view(self, dtype: npt.DTypeLike) -> DeviceArray:
        """Return the same bytes as another type.

        Raises ValueError if its size differs, and the array has gaps or the last axis does not
        hold a whole number."""
        dtype, values = np.dtype(dtype), self.host_values
        if dtype.itemsize == values.itemsize:
            return DeviceArray(self.shape, self.strides, dtype, self.stream, self.gpu_data)
        if not values.flags.c_contiguous or not values.ndim:
            raise LaunchError(
                "To change to a dtype of a different size, the array must be C-contiguous"
            )
        last, rest = divmod(values.shape[-1] * values.itemsize, dtype.itemsize)
        if rest:
            raise LaunchError(
                "When changing to a larger dtype, its size must be a divisor of the total size in "
                "bytes of the last axis of the array."
            )
        shape, steps = (*values.shape[:-1], last), (*values.strides[:-1], dtype.itemsize)
        return DeviceArray(shape, steps, dtype, self.stream, self.gpu_data)

    def split(self, section: int, stream: object = 0) -> Iterator[DeviceArray]:
        """Yield parts of ``section`` elements; the last may be shorter.

        Raises ValueError for more than one dimension, and for gaps."""
        if self.ndim != 1:
            raise LaunchError("only support 1d array")
        if self.strides[0] != self.itemsize:
            raise LaunchError("only support unit stride")
        for first in range(0, self.size, section):
            yield self._part(self.host_values[first : first + section], stream)

    def is_c_contiguous(self) -> bool:
        return self.host_values.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.host_values.flags.f_contiguous

    def bind(self, stream: object = 0) -> DeviceArray:
        """Return the same array with a stream of its own."""
        return DeviceArray.over(self.host_values, stream)

    def __repr__(self) -> str:
        return f"<device array of {self.dtype}, shape {self.shape}>"


class DeviceRecord(DeviceMemory):
    """A record in device memory, whose fields are read and written by name."""

    def __init__(
        self, dtype: npt.DTypeLike, stream: object = 0, gpu_data: np.ndarray | None = None
    ) -> None:
        super().__init__((), (), dtype, stream, gpu_data)

    @classmethod
    def over(cls, values: np.ndarray, stream: object = 0) -> DeviceRecord:
        """Return the record that an array without dimensions holds."""
        found = cls.__new__(cls)
        found.host_values, found.stream = values, stream
        return found

    @property
    def _numba_type_(self) -> object:
        return import_module("numba.cuda.np.numpy_support").from_dtype(self.dtype)

    def __getitem__(self, name: str) -> Any:
        return self.getitem(name)

    def getitem(self, item: str, stream: object = 0) -> Any:
        """Return a field: a number, a record, or an array in device memory."""
        part = self.host_values[item]
        if part.ndim:
            return DeviceArray.over(part, stream or self.stream)
        return DeviceRecord.over(part, stream or self.stream) if part.dtype.names else part[()]

    def __setitem__(self, name: str, value: Any) -> None:
        self.setitem(name, value)

    def setitem(self, key: str, value: Any, stream: object = 0) -> None:
        self.host_values[key] = value

    def __repr__(self) -> str:
        return f"<device record of {self.dtype}>"


def _index(item: Any, ndim: int) -> Any:
    parts = _parts(item)
    if len(parts) > ndim:
        raise IndexError(f"{len(parts) - ndim} extra indices given")
    for part in parts:
        is_array = getattr(part, "ndim", 0) > 0
        if not isinstance(part, slice) and (is_array or not hasattr(part, "__index__")):
            what = f"a device array is indexed by integers and slices, not by {part!r}"
            raise WrongType(f"{what}: copy it to the host first")
    return (*parts, ...)


def _parts(item: Any) -> tuple[Any, ...]:
    return item if isinstance(item, tuple) else (item,)


def _is_element(item: Any) -> bool:
    return not any(isinstance(part, slice) for part in _parts(item))
