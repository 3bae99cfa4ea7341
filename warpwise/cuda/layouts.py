"""Shapes and strides of device arrays, and the rules of copies from and to them.

A copy is one of bytes: both sides have the same shape, strides and type, and no gaps. The errors
are those of Numba: a ValueError, a TypeError, or a NotImplementedError for what would need more."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from warpwise.errors import LaunchError
from warpwise.simt.machine.device_memory import Directed, device_values

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
    return values[(*(0 if step == 0 else slice(None) for step in values.strides), ...)]


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


def prepared(
    extensions: Sequence[Any],
    args: tuple[Any, ...],
    stream: object,
    kind_of: Callable[[object], object],
) -> tuple[tuple[Any, ...], list[Callable[[], object]]]:
    """Return arguments as the extensions of a kernel replace them, the latest extension first.

    ``kind_of``: what to tell them of an argument's type.
    Beside them is what the extensions want called after the launch."""
    after: list[Callable[[], object]] = []
    for extension in reversed(extensions):
        changed = [
            extension.prepare_args(kind_of(value), value, stream=stream, retr=after)
            for value in args
        ]
        args = tuple(value for _, value in changed)
    return args, after


def need_copyable(kernel: str, names: Sequence[str], args: Sequence[Any]) -> None:
    """Raise LaunchError for a host array with gaps among the arguments of a launch."""
    for name, value in zip(names, args, strict=False):
        value = value.value if isinstance(value, Directed) else value
        if isinstance(value, tuple):
            need_copyable(kernel, [f"{name}[{n}]" for n in range(len(value))], value)
        elif isinstance(value, np.ndarray) and device_values(value) is None:
            flags = array_core(value).flags
            if not flags.c_contiguous and not flags.f_contiguous:
                raise LaunchError(
                    f"{kernel}: argument {name}: {NOT_CONTIGUOUS}. Or copy the whole array with "
                    "cuda.to_device(...) and pass a slice of that"
                )


def need_alike(device: np.ndarray, host: Any) -> None:
    """Raise ValueError or TypeError unless the bytes of one array are those of the other."""
    one, other = device.squeeze(), host.squeeze()
    if device.dtype != host.dtype:
        raise WrongType(f"incompatible dtype: {device.dtype} vs. {host.dtype}")
    if one.shape != other.shape:
        raise LaunchError(f"incompatible shape: {device.shape} vs. {host.shape}")
    if device.size and one.strides != other.strides:
        raise LaunchError(f"incompatible strides: {device.strides} vs. {host.strides}")
