"""Arrays in simulated device memory, and the ways to get one.

They lie in the host's memory; only the rules of use are a GPU's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from warpwise.errors import LaunchError

# Parameters are Numba's: a stream may be anything, for there is nothing to wait for; a type or a
# shape is what NumPy takes.


class DeviceArray:
    """An array in device memory, whose elements copying shows or changes.

    Slices keep their place, and with it their alignment."""

    def __init__(self, values: np.ndarray) -> None:
        self.host_values = values

    shape = property(lambda self: self.host_values.shape)
    strides = property(lambda self: self.host_values.strides)
    dtype = property(lambda self: self.host_values.dtype)
    size = property(lambda self: self.host_values.size)
    ndim = property(lambda self: self.host_values.ndim)
    nbytes = property(lambda self: self.host_values.nbytes)
    itemsize = property(lambda self: self.host_values.itemsize)
    T = property(lambda self: DeviceArray(self.host_values.T))

    def __len__(self) -> int:
        return len(self.host_values)

    def __getitem__(self, key: Any) -> Any:
        part = self.host_values[key]
        return DeviceArray(part) if isinstance(part, np.ndarray) else part

    def __setitem__(self, key: Any, value: Any) -> None:
        self.host_values[key] = _values(value)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.host_values, dtype=dtype)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: object = 0) -> np.ndarray:
        """Return a copy in host memory, in ``ary`` if it is given.

        Raises LaunchError if that has another shape or type."""
        if ary is None:
            return self.host_values.copy()
        _need_alike(self.host_values, ary)
        ary[...] = self.host_values
        return ary

    def copy_to_device(self, ary: Any, stream: object = 0) -> None:
        """Copy a host or device array into this one.

        Raises LaunchError if it has another shape or type."""
        values = np.asarray(_values(ary))
        _need_alike(self.host_values, values)
        self.host_values[...] = values

    def reshape(self, *shape: Any, order: Any = "C") -> DeviceArray:
        """Return the same memory in another shape.

        Raises LaunchError where that would need a copy."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        part = self.host_values.reshape(wanted, order=order)
        if part.size and not np.shares_memory(part, self.host_values):
            raise LaunchError(
                f"a device array of shape {self.shape} that has gaps "
                f"cannot be reshaped to {wanted} in place"
            )
        return DeviceArray(part)

    def ravel(self, order: Any = "C", stream: object = 0) -> DeviceArray:
        return self.reshape(-1, order=order)

    def transpose(self, axes: Any = None) -> DeviceArray:
        return DeviceArray(self.host_values.transpose(axes))

    def squeeze(self, axis: Any = None, stream: object = 0) -> DeviceArray:
        return DeviceArray(self.host_values.squeeze(axis))

    def view(self, dtype: npt.DTypeLike) -> DeviceArray:
        return DeviceArray(self.host_values.view(dtype))

    def split(self, section: int, stream: object = 0) -> Iterator[DeviceArray]:
        """Yield parts of ``section`` elements; the last may be shorter."""
        for first in range(0, self.size, section):
            yield self[first : first + section]

    def getitem(self, item: Any, stream: object = 0) -> Any:
        return self[item]

    def setitem(self, key: Any, value: Any, stream: object = 0) -> None:
        self[key] = value

    def is_c_contiguous(self) -> bool:
        return self.host_values.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.host_values.flags.f_contiguous

    def bind(self, stream: object = 0) -> DeviceArray:
        return self

    def __repr__(self) -> str:
        return f"<device array of {self.dtype}, shape {self.shape}>"


def _values(array: Any) -> Any:
    """Return the host's array of a device array; anything else as it is."""
    return getattr(array, "host_values", array)


def _need_alike(device: np.ndarray, host: np.ndarray) -> None:
    if host.shape != device.shape or host.dtype != device.dtype:
        raise LaunchError(
            f"an array of {host.dtype} with shape {host.shape} and a device array of "
            f"{device.dtype} with shape {device.shape}: "
            "a copy needs the same shape and type on both sides"
        )


class Argument:
    """``cuda.In(a)``, ``cuda.Out(a)``, ``cuda.InOut(a)``: an array with a direction of copying.

    Here none is copied."""

    def __init__(self, value: Any) -> None:
        self.host_values = np.asarray(_values(value))


def to_device(
    obj: Any, stream: object = 0, copy: bool = True, to: DeviceArray | None = None
) -> DeviceArray:
    """Return a copy of an array in device memory, in ``to`` if it is given."""
    if to is not None:
        to.copy_to_device(obj)
        return to
    return DeviceArray(np.array(_values(obj)))


def device_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: object = None,
    order: Any = "C",
    stream: object = 0,
) -> DeviceArray:
    """Return an array in device memory whose elements nobody has written yet."""
    return DeviceArray(np.empty(shape, dtype, order=order))


def device_array_like(ary: Any, stream: object = 0) -> DeviceArray:
    """Return a new device array of the shape and type of another array."""
    return DeviceArray(np.empty_like(_values(ary)))


def host_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: object = None,
    order: Any = "C",
    stream: object = 0,
    **_flags: Any,
) -> np.ndarray:
    """``cuda.pinned_array``, ``mapped_array`` and ``managed_array``: memory that the host sees."""
    return np.empty(shape, dtype, order=order)


def host_array_like(ary: Any, stream: object = 0, **_flags: Any) -> np.ndarray:
    """Return a new array of the host, of the shape and type of another array."""
    return np.empty_like(_values(ary))


@contextmanager
def pinned(*arrays: Any) -> Iterator[None]:
    """``with cuda.pinned(a):`` page-locks ``a`` on a GPU's host; here nothing needs to be."""
    yield


@contextmanager
def mapped(*arrays: Any, stream: object = 0, **_flags: Any) -> Iterator[Any]:
    """``with cuda.mapped(a) as d:`` device arrays over the host's memory."""
    found = [DeviceArray(np.asarray(a)) for a in arrays]
    yield found[0] if len(found) == 1 else found


def as_cuda_array(obj: object, sync: bool = True) -> DeviceArray:
    """Return a device array as it is.

    Raises LaunchError for anything else: there is no device memory of another library here."""
    if not isinstance(obj, DeviceArray):
        raise LaunchError(
            f"a {type(obj).__name__} is not a device array; cuda.to_device(array) makes one"
        )
    return obj


def is_cuda_array(obj: object) -> bool:
    """Return True for a device array."""
    return isinstance(obj, DeviceArray)


HOST: dict[str, object] = {
    "to_device": to_device,
    "device_array": device_array,
    "device_array_like": device_array_like,
    "In": Argument,
    "Out": Argument,
    "InOut": Argument,
    "pinned_array": host_array,
    "pinned_array_like": host_array_like,
    "mapped_array": host_array,
    "mapped_array_like": host_array_like,
    "managed_array": host_array,
    "pinned": pinned,
    "mapped": mapped,
    "as_cuda_array": as_cuda_array,
    "is_cuda_array": is_cuda_array,
}
