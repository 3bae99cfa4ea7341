"""What device arrays and records share: values in device memory, and copies from and to them."""

from __future__ import annotations

import ctypes
import math
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from warpwise.cuda.layouts import (
    NeedsCopy,
    array_core,
    is_contiguous,
    need_alike,
    need_contiguous,
    whole,
)
from warpwise.errors import LaunchError
from warpwise.simt.machine.device_memory import Allocation, allocated, device_values, root_of
from warpwise.simt.machine.placement import extent


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
        if isinstance(ary, np.void):
            for name in values.dtype.names or ():
                ary[name] = values[name]
        else:
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
        core[...] = given[...]

    def __len__(self) -> int:
        return len(self.host_values)


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """Return the bytes from the first element to the last, in the same memory."""
    root, (first, end) = root_of(values), extent(values)
    flat = root if isinstance(root, Allocation) else root.ravel(order="K").view(np.uint8)
    begin = first - root.ctypes.data
    return flat[begin : begin + end - first]
