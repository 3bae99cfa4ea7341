"""Arrays in simulated device memory, with the rules of Numba's device arrays.

They lie in the host's memory; only the rules of use are a GPU's."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from warpwise.errors import LaunchError
from warpwise.simt.machine.device_memory import (
    Allocation,
    Directed,
    allocated,
    device_values,
    root_of,
)
from warpwise.simt.machine.placement import extent

# Parameters are Numba's: a stream may be anything, for there is nothing to wait for; a type or a
# shape is what NumPy takes. So are the errors: a copy that does not fit is a ValueError or a
# TypeError, what would need a copy a NotImplementedError.

NOT_CONTIGUOUS = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
    "Please ensure contiguous buffer with numpy .ascontiguousarray()"
)


class NeedsCopy(LaunchError, NotImplementedError):
    """What a device array can only do by copying, and Numba does not."""


class WrongType(LaunchError, TypeError):
    """A type that does not go with a device array."""


class _Memory(Protocol):
    """What device arrays share with NumPy's."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...


class DeviceMemory:
    """The base of device arrays and records: values in device memory, and a stream."""

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    def __init__(
        self,
        shape: Any,
        strides: Any,
        dtype: npt.DTypeLike,
        stream: object = 0,
        gpu_data: np.ndarray | None = None,
    ) -> None:
        """Lie over memory as Numba's ``DeviceNDArray``: ``strides`` in bytes.

        ``gpu_data``: the bytes of its memory; new memory without it. Raises ValueError unless there
        are as many strides as dimensions, TypeError for a shape that is not of integers."""
        dtype, shape = np.dtype(dtype), whole(shape)
        strides = whole(strides) if strides else ()
        if len(strides) != len(shape):
            raise LaunchError("strides not match ndim")
        steps = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
        size = sum(map(abs, steps)) + dtype.itemsize if math.prod(shape) else 0
        if gpu_data is None:
            gpu_data = allocated(size)
        begin = -sum(step for step in steps if step < 0) if size else 0
        self.host_values: np.ndarray = np.ndarray(shape, dtype, gpu_data, begin, strides)
        self.stream: Any = stream

    @property
    def shape(self) -> tuple[int, ...]:
        return self.host_values.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.host_values.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.host_values.dtype

    size = property(lambda self: self.host_values.size)
    ndim = property(lambda self: self.host_values.ndim)
    nbytes = property(lambda self: self.host_values.nbytes)
    itemsize = property(lambda self: self.host_values.itemsize)

    @property
    def alloc_size(self) -> int:
        """Bytes from the first element to the last; those in gaps included."""
        first, end = extent(self.host_values)
        return end - first

    @property
    def flags(self) -> dict[str, bool]:
        known = self.host_values.flags
        return {name: known[name] for name in ("C_CONTIGUOUS", "F_CONTIGUOUS")}

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The pointer to the first element: an address in the host's memory."""
        return ctypes.c_void_p(self.host_values.ctypes.data if self.size else 0)

    @property
    def gpu_data(self) -> np.ndarray:
        """The bytes of its memory, from the first element to the last."""
        return _bytes_of(self.host_values)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": None if is_contiguous(self) else self.strides,
            "data": (self.device_ctypes_pointer.value or 0, False),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": int(self.stream) if self.stream else None,
            "version": 3,
        }

    @property
    def _numba_type_(self) -> object:
        """What ``numba.cuda.typeof`` asks for."""
        return import_module("numba.cuda.typing.typeof").typeof(self.host_values)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: object = 0) -> np.ndarray:
        """Return a copy in host memory with the same strides, or in ``ary`` if it is given.

        Raises ValueError or TypeError if that has another shape, strides or type, and
        NotImplementedError for an array that runs backwards."""
        values = self.host_values
        if any(step < 0 for step in values.strides):
            what = f"D->H copy not implemented for negative strides: {values.strides}"
            raise NeedsCopy(what)
        if ary is None:
            memory = np.empty(self.alloc_size, np.uint8)
            memory[:] = _bytes_of(values)
            return np.ndarray(
                values.shape, values.dtype, memory, 0, values.strides if self.size else None
            )
        need_alike(values, ary)
        ary[...] = values
        return ary

    def copy_to_device(self, ary: Any, stream: object = 0) -> None:
        """Copy a host or device array into this one.

        Raises ValueError or TypeError if it has another shape or type, or if one has gaps; between
        two device arrays also if their strides differ."""
        theirs = device_values(ary)
        values = np.asarray(ary) if theirs is None else theirs
        if not values.size:
            return
        need_contiguous(self.host_values)
        core, given = array_core(self.host_values), array_core(values)
        if theirs is None:
            given = np.array(given, order="C" if core.flags.c_contiguous else "F")
        else:
            need_contiguous(values)
        need_alike(core, given)
        core[...] = given

    def __len__(self) -> int:
        return len(self.host_values)


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


# --- layouts ---


def whole(shape: Any) -> tuple[int, ...]:
    """Return a shape or strides as integers. Raises WrongType where they are none."""
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    try:
        parts = shape if isinstance(shape, (tuple, list)) else (shape,)
        return tuple(operator.index(n) for n in parts)
    except TypeError:
        raise WrongType(f"a shape is an integer or a tuple of integers, not {shape!r}") from None


def c_strides(values: np.ndarray) -> tuple[int, ...]:
    """Return the strides, in bytes, of an array of this shape and type in C order."""
    shape = values.shape
    return tuple(values.itemsize * math.prod(shape[d + 1 :]) for d in range(len(shape)))


def array_core(values: Any) -> Any:
    """Return an array without the axes along which it repeats itself."""
    if not values.strides or not values.size:
        return values
    return values[tuple(0 if step == 0 else slice(None) for step in values.strides)]


def is_contiguous(values: _Memory) -> bool:
    """Return True for C order without gaps; axes that repeat or have one element do not count."""
    step = values.dtype.itemsize
    for n, stride in zip(reversed(values.shape), reversed(values.strides), strict=True):
        if n > 1 and stride != 0:
            if step != stride:
                return False
            step *= n
    return True


def need_contiguous(values: Any) -> None:
    """Raise LaunchError, a ValueError, for an array with gaps, which no single copy moves."""
    flags = array_core(values).flags
    if not flags["C_CONTIGUOUS"] and not flags["F_CONTIGUOUS"]:
        raise LaunchError(NOT_CONTIGUOUS)


def need_copyable(args: Sequence[Any]) -> None:
    """Raise LaunchError for a host array with gaps among the arguments of a launch."""
    for value in args:
        value = value.value if isinstance(value, Directed) else value
        if isinstance(value, tuple):
            need_copyable(value)
        elif isinstance(value, np.ndarray) and device_values(value) is None:
            need_contiguous(value)


def need_alike(device: np.ndarray, host: Any) -> None:
    """Raise ValueError or TypeError unless a copy from one array to the other is a copy of bytes."""
    one, other = device.squeeze(), host.squeeze()
    if device.dtype != host.dtype:
        raise WrongType(f"incompatible dtype: {device.dtype} vs. {host.dtype}")
    if one.shape != other.shape:
        raise LaunchError(f"incompatible shape: {device.shape} vs. {host.shape}")
    if device.size and one.strides != other.strides:
        raise LaunchError(f"incompatible strides: {device.strides} vs. {host.strides}")


def _index(item: Any, ndim: int) -> Any:
    parts = _parts(item)
    if len(parts) > ndim:
        raise IndexError(f"{len(parts) - ndim} extra indices given")
    for part in parts:
        if not isinstance(part, slice) and not hasattr(part, "__index__"):
            what = f"a device array is indexed by integers and slices, not by {part!r}"
            raise WrongType(f"{what}: copy it to the host first")
    return (*parts, ...)


def _parts(item: Any) -> tuple[Any, ...]:
    return item if isinstance(item, tuple) else (item,)


def _is_element(item: Any) -> bool:
    return not any(isinstance(part, slice) for part in _parts(item))


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """Return the bytes from the first element to the last, in the same memory."""
    root, (first, end) = root_of(values), extent(values)
    flat = root if isinstance(root, Allocation) else root.ravel(order="K").view(np.uint8)
    begin = first - root.ctypes.data
    return flat[begin : begin + end - first]
