"""Hopper's mbarriers, TMA copies and warpgroup products in a kernel: a model to learn from.

``from warpwise import hopper`` gives a kernel the words, named as PTX names the instructions. They
run in the simulator only, which checks what they do and has no clock: no claim of speed is made. On
a GPU the same steps are written in CUDA C++ or PTX, or by a compiler such as Triton's.

- ``mbarrier_init``, ``mbarrier_arrive``, ``mbarrier_expect_tx``, ``mbarrier_arrive_expect_tx`` and
  ``mbarrier_try_wait`` work on element ``index`` of a shared array of ``uint64``. A wait returns
  False if it gives up, which PTX's may at any time and the model's never does, so it has to be the
  condition of a ``while``: ``while not hopper.mbarrier_try_wait(bars, index, parity): pass``.
- ``tma_load(tile, tensor_map, coordinates, bars, index)`` copies a box to shared memory, its bytes
  counted by an mbarrier; ``tma_store(tensor_map, coordinates, tile)`` copies one back.
- ``wgmma_mma_async(sums, a, b, scale_d)`` multiplies tiles of float16 (64 x 16 by N x 16,
  transposed) into ``N // 2`` float32 accumulators of each of 128 threads, a local array. With
  ``t = threadIdx.x % 128``, accumulator ``i`` is row
  ``t // 32 * 16 + i // 2 % 2 * 8 + t % 32 // 4``, column ``i // 4 * 8 + t % 4 * 2 + i % 2``.
- ``fence_proxy_async``, ``wgmma_fence``, commits and waits of groups, ``setmaxnreg_inc`` and
  ``setmaxnreg_dec``.

``tensor_map`` is the host's part; ``Timeline`` watches a launch, and ``views.warp_roles``
draws it."""

from __future__ import annotations

import math
from operator import index
from typing import Any, NamedTuple

import numpy as np

from warpwise.cuda.numba_backend import backend
from warpwise.errors import LaunchError
from warpwise.messages import Constant, Lengths, Size, TypeName, Words, message
from warpwise.model.swizzle import SWIZZLES
from warpwise.simt.compiler.language.hopper_words import HOPPER
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.machine.device_memory import device_values
from warpwise.simt.observers.timeline import Step, Timeline

__all__ = ["Step", "TensorMap", "Timeline", "tensor_map"]

WORDS = tuple(entry.name.removeprefix("hopper.") for entry in HOPPER)
# elements of an axis of a box; bytes of a row; bytes of a number (cuTensorMapEncodeTiled)
LONGEST, UNIT, LARGEST = 256, 16, 8
NO_GPU = (
    "warpwise.hopper is a model that runs in the simulator only: "
    "set WARPWISE_BACKEND=simulator, or trace(kernel, ...)"
)


class TensorMap(NamedTuple):
    """An array, the box that one copy moves, and its swizzle in shared memory."""

    array: Any
    box: tuple[int, ...]
    swizzle: int


def tensor_map(array: Any, box: tuple[int, ...], swizzle: int = 0) -> TensorMap:
    """Return the tensor map of an array, to pass to a kernel.

    ``array``: NumPy's or a device array of numbers, C order. ``box``: elements by axis, rows first.
    ``swizzle``: 0, 32, 64 or 128 bytes. Raises LaunchError for what TMA does not take."""
    values = device_values(array)
    values = array if values is None else values
    if not isinstance(values, np.ndarray):
        raise LaunchError("a tensor map has an array, NumPy's or one on the device: np.array(...)")
    lengths = _lengths(box)
    _check(values, lengths, swizzle)
    return TensorMap(array, lengths, swizzle)


def _lengths(box: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return tuple(map(index, box))
    except TypeError:
        raise LaunchError("a box is a tuple of whole numbers, one for each axis") from None


def _check(values: np.ndarray, box: tuple[int, ...], swizzle: int) -> None:
    if swizzle not in SWIZZLES:
        raise LaunchError(f"a swizzle is 0, 32, 64 or 128 bytes, not {swizzle!r}")
    if values.dtype.kind not in "iuf" or values.itemsize > LARGEST:
        what = message(
            "TMA copies integers and floating-point numbers of up to {most} bytes, not {dtype}",
            most=Constant(LARGEST),
            dtype=TypeName(values.dtype),
        )
        raise LaunchError(what)
    if not 1 <= values.ndim <= 5 or len(box) != values.ndim:
        what = message(
            "a tensor map has an array of one to five axes, and a box with one length for each"
            "[[: this array has the shape {shape}, and the box is {box}]]",
            shape=Lengths(values.shape),
            box=Lengths(box),
        )
        raise LaunchError(what)
    if not all(1 <= length <= LONGEST for length in box):
        what = message("a box has 1 to {most} elements on an axis", most=Constant(LONGEST))
        raise LaunchError(what)
    if values.strides[-1] != values.itemsize or min(values.strides) < 0:
        raise LaunchError("the elements of a row lie one after another: np.ascontiguousarray(...)")
    row = box[-1] * values.itemsize
    _need_multiple(row, "a row of the box")
    for stride in values.strides[:-1]:
        _need_multiple(stride, "the array's step from row to row")
    if swizzle and row > swizzle:
        what = message(
            "a row of the box has [[{row}|too many]] bytes, and a swizzle of {swizzle} takes no "
            "more than that",
            row=Size(row),
            swizzle=Constant(swizzle),
        )
        raise LaunchError(what)


def _need_multiple(size: int, what: str) -> None:
    if size % UNIT:
        told = message(
            "{what} has [[{size} bytes|a number of bytes that does not fit]]: TMA needs a multiple "
            "of {unit}",
            what=Words(what),
            size=Size(size),
            unit=Constant(UNIT),
        )
        raise LaunchError(told)


def bytes_of(tensor_map: TensorMap) -> int:
    """Return the bytes of one box: what ``expect_tx`` expects for it."""
    return math.prod(tensor_map.box) * int(tensor_map.array.dtype.itemsize)


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in WORDS:
        raise AttributeError(f"hopper.{name} is not a word of the model; it has {', '.join(WORDS)}")
    if backend() == "gpu":
        raise LaunchError(NO_GPU)
    return CudaName(f"hopper.{name}")


def __dir__() -> list[str]:
    return sorted({*__all__, *WORDS})
