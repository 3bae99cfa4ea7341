"""Where a suite runs: on the GPU, with CuPy's arrays; or, for a rehearsal, in the simulator with NumPy's, at sizes that it can do.

A rehearsal checks every result and times nothing, so that what is to run on a GPU can be tried without one.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from warpwise.cuda import numbas
from warpwise.errors import MeasureError

T = TypeVar("T")
SIMULATOR = "the simulator"  # what a rehearsal calls its device
PERIOD = 2**24 - 3  # odd, so that no two rows of a large matrix are alike


@dataclass(frozen=True)
class Place:
    """``xp``: CuPy, or NumPy in a rehearsal. ``peers``: whether PyTorch is asked for. ``l2_bytes``: of the L2 cache."""

    xp: ModuleType
    name: str
    compute_capability: tuple[int, int]
    sms: int
    l2_bytes: int
    quick: bool = False
    rehearsal: bool = False
    peers: bool = True

    @cached_property
    def torch(self) -> ModuleType | None:
        """PyTorch, where it is installed and sees the GPU. Its import takes seconds, so it waits for a suite that asks."""
        if self.rehearsal or not self.peers:
            return None
        try:
            import torch
        except ImportError:
            return None
        return torch if torch.cuda.is_available() else None

    def pick(self, full: T, quick: T, rehearsal: T) -> T:
        """The one that is meant for this place: sizes, mostly."""
        return rehearsal if self.rehearsal else quick if self.quick else full

    def random(self, shape: int | tuple[int, ...], dtype: Any = "float32", seed: int = 0, low: float = -1.0, high: float = 1.0) -> Any:
        """Random numbers between ``low`` and ``high``, for one seed the same on every machine. After PERIOD of them they begin anew."""
        n = math.prod(shape) if isinstance(shape, tuple) else shape
        numbers = np.random.default_rng(seed).random(min(n, PERIOD), np.float32)
        numbers = self.xp.asarray((numbers * np.float32(high - low) + np.float32(low)).astype(dtype))
        made = self.xp.empty(n, dtype)
        for first in range(0, n, PERIOD):
            made[first : first + PERIOD] = numbers[: n - first]
        return made.reshape(shape)

    def empty(self, shape: int | tuple[int, ...], dtype: Any = "float32") -> Any:
        """An array for results. It holds no number, so that a kernel that leaves part of it unwritten is found out."""
        made = self.xp.empty(shape, dtype)
        made.view("uint8").fill(0xFF)  # every bit set: not a number, in each of the floating-point types
        return made

    def array(self, values: Any) -> Any:
        """A host array as one of this place."""
        return self.xp.asarray(values)

    def given(self, array: Any) -> Any:
        """An array of this place as a kernel of ours takes it fastest: the same memory."""
        if self.rehearsal:
            return array
        return numbas.load().as_cuda_array(array)

    def tensor(self, array: Any) -> Any:
        """An array of this place as one of torch's, the same memory. Numbers of bfloat16 lie in arrays of uint16."""
        torch = self.torch
        if str(array.dtype) == "uint16":
            return torch.as_tensor(array.view("int16"), device="cuda").view(torch.bfloat16)
        return torch.as_tensor(array, device="cuda")

    def host(self, array: Any) -> Any:
        """An array, of whatever library, as NumPy's."""
        if hasattr(array, "detach"):
            array = array.detach()
            return (array.float() if str(array.dtype) == "torch.bfloat16" else array).cpu().numpy()
        for copied in ("copy_to_host", "get"):
            if hasattr(array, copied):
                return getattr(array, copied)()
        return np.asarray(array)


def on_gpu(quick: bool = False) -> Place:
    """The GPU of this machine. Call it before a kernel is made: it chooses the GPU for them. Raises MeasureError: none, or no CuPy."""
    os.environ["WARPWISE_BACKEND"] = "gpu"
    try:
        import cupy
        from cupy_backends.cuda.libs import cublas  # noqa: F401  loads the library, which CuPy alone does not bring

        cuda = numbas.load()
    except ImportError as error:
        lost = error.name or "CuPy as it is meant to be installed"
        install = "python -m pip install -e '.[gpu-cu13]' (or gpu-cu12; `warpwise doctor` says which)"
        raise MeasureError(f"measuring needs {lost}: {install}") from error
    try:
        there = cuda.is_available()
    except Exception as error:  # the driver's, or a library that is not found: `doctor` looks at each
        said = str(error).splitlines()[:1] or [type(error).__name__]
        raise MeasureError(f"measuring needs an NVIDIA GPU, and CUDA cannot be asked for one ({said[0]}): see `warpwise doctor`") from error
    if not there:
        raise MeasureError("measuring needs an NVIDIA GPU: none was found here (`warpwise doctor` says why; --rehearse does without)")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return Place(
        cupy, properties["name"].decode(), (properties["major"], properties["minor"]), properties["multiProcessorCount"],
        properties["l2CacheSize"], quick,
    )  # fmt: skip


def in_simulator() -> Place:
    """A rehearsal's place, with the figures of an H200. Call it before a kernel is made: it chooses the simulator for them."""
    from warpwise.devices import H200

    os.environ["WARPWISE_BACKEND"] = "simulator"
    return Place(np, SIMULATOR, H200.compute_capability, H200.sms, 50 * 2**20, rehearsal=True)
