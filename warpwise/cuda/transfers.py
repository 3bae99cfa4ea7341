"""How host code gets device memory: copies, new arrays, mapped memory, other libraries' arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from warpwise.cuda.arrays import DeviceArray, DeviceRecord
from warpwise.cuda.layouts import WrongType, c_strides, need_contiguous, whole
from warpwise.cuda.memory import DeviceMemory
from warpwise.cuda.streams import Stream
from warpwise.errors import LaunchError
from warpwise.simt.machine.device_memory import (
    Directed,
    array_at,
    device_values,
    held,
)

# Parameters are Numba's.


def to_device(obj: Any, stream: object = 0, copy: bool = True, to: Any = None) -> Any:
    """Return a copy of an array or record in device memory, in ``to`` if it is given.

    What is there already is returned as it is. ``copy=False`` gives memory that nobody has
    written. Raises ValueError for an array with gaps."""
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, (DeviceMemory, MappedArray)):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj)
    made: DeviceMemory
    if isinstance(obj, np.void):
        made = DeviceRecord(obj.dtype, stream)
    else:
        obj = np.asarray(obj)
        need_contiguous(obj)
        made = DeviceArray(obj.shape, obj.strides, obj.dtype, stream)
    if copy:
        made.copy_to_device(obj, stream)
    return made


def device_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: object = 0,
) -> DeviceArray:
    """Return an array in device memory whose elements nobody has written yet.

    ``strides``: in bytes. Raises TypeError for a shape that is not of integers."""
    shape, strides, dtype = _layout(shape, dtype, strides, order)
    return DeviceArray(shape, strides, dtype, stream)


def device_array_like(ary: Any, stream: object = 0) -> DeviceArray:
    """Return a new device array of the shape, type and order of another array."""
    return DeviceArray(ary.shape, _strides_like(ary), ary.dtype, stream)


def pinned_array(
    shape: Any, dtype: npt.DTypeLike = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray:
    """Return an array in memory that a GPU's host page-locks; here it is an array of the host."""
    shape, strides, dtype = _layout(shape, dtype, strides, order)
    return DeviceArray(shape, strides, dtype).host_values


def pinned_array_like(ary: Any) -> np.ndarray:
    """Return a new pinned array of the shape, type and order of another array."""
    return pinned_array(ary.shape, ary.dtype, _strides_like(ary))


class MappedArray(np.ndarray):
    """An array in memory that host and device share: kernels work on it without a copy."""

    __cuda_memory__ = True
    stream: object = 0

    @property
    def host_values(self) -> np.ndarray:
        return self.view(np.ndarray)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return DeviceArray.over(self.host_values, self.stream).__cuda_array_interface__


def mapped_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: object = 0,
    **_flags: Any,
) -> MappedArray:
    """``cuda.mapped_array`` and ``managed_array``: memory that host and device share."""
    shape, strides, dtype = _layout(shape, dtype, strides, order)
    made: MappedArray = DeviceArray(shape, strides, dtype).host_values.view(MappedArray)
    made.stream = stream
    return made


def mapped_array_like(ary: Any, stream: object = 0, **_flags: Any) -> MappedArray:
    """Return a new mapped array of the shape, type and order of another array."""
    return mapped_array(ary.shape, ary.dtype, _strides_like(ary), stream=stream)


@contextmanager
def pinned(*arrays: Any) -> Iterator[None]:
    """``with cuda.pinned(a):`` page-locks ``a`` on a GPU's host; here nothing needs to be."""
    yield


@contextmanager
def mapped(*arrays: Any, stream: object = 0, **_flags: Any) -> Iterator[Any]:
    """``with cuda.mapped(a) as d:`` device arrays over the host's memory."""
    found = [DeviceArray.over(held(np.asarray(a)), stream) for a in arrays]
    yield found[0] if len(found) == 1 else found


# --- other libraries' arrays ---


def from_cuda_array_interface(
    desc: Mapping[str, Any], owner: object = None, sync: bool = True
) -> DeviceArray:
    """Return the device array that an interface describes, in the same memory.

    Raises LaunchError for memory of a GPU, NotImplementedError for a masked array."""
    handle, stream = desc.get("stream"), None
    if handle is not None:
        stream = Stream(handle, external=True)
        if sync:
            stream.synchronize()
    return DeviceArray.over(array_at(desc), stream or 0)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Return a device array over the memory of an object with ``__cuda_array_interface__``.

    Raises TypeError for any other, LaunchError for memory of a GPU."""
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        what = f"a {type(obj).__name__} doesn't implement the cuda array interface"
        raise WrongType(f"{what}: cuda.to_device(array) makes a device array")
    if isinstance(obj, DeviceArray):
        return DeviceArray.over(obj.host_values, obj.stream)
    return from_cuda_array_interface(interface, obj, sync)


def is_cuda_array(obj: object) -> bool:
    """Return True for an object with ``__cuda_array_interface__``, as device arrays have it."""
    return hasattr(obj, "__cuda_array_interface__")


# --- the directions of arguments ---


def into(value: object) -> Directed:
    """``cuda.In(a)``: copied to the device, and not back."""
    return Directed(value, copied_back=False)


def out_of(value: object) -> Directed:
    """``cuda.Out(a)``: copied back only; until the kernel writes, it holds garbage."""
    return Directed(value, copied_in=False)


def in_and_out(value: object) -> Directed:
    """``cuda.InOut(a)``: copied both ways, as without a word."""
    return Directed(value)


# --- layouts ---


def _layout(
    shape: Any, dtype: npt.DTypeLike, strides: Any, order: str
) -> tuple[tuple[int, ...], tuple[int, ...], np.dtype[Any]]:
    dtype, shape = np.dtype(dtype), whole(shape)
    if strides:
        return shape, whole(strides), dtype
    if order not in ("C", "F"):
        raise LaunchError("must be either C/F order")
    like = np.broadcast_to(np.empty((), dtype), shape)
    return shape, c_strides(like) if order == "C" else c_strides(like.T)[::-1], dtype


def _strides_like(ary: Any) -> tuple[int, ...]:
    """Return the strides of a new array without gaps, with axes in the order of another's."""
    values = device_values(ary)
    values = np.asarray(ary) if values is None else values
    return np.empty_like(values, subok=False).strides


HOST: dict[str, object] = {
    "to_device": to_device,
    "device_array": device_array,
    "device_array_like": device_array_like,
    "In": into,
    "Out": out_of,
    "InOut": in_and_out,
    "pinned_array": pinned_array,
    "pinned_array_like": pinned_array_like,
    "mapped_array": mapped_array,
    "mapped_array_like": mapped_array_like,
    "managed_array": mapped_array,
    "pinned": pinned,
    "mapped": mapped,
    "from_cuda_array_interface": from_cuda_array_interface,
    "as_cuda_array": as_cuda_array,
    "is_cuda_array": is_cuda_array,
}
