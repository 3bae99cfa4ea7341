"""The place where a suite runs: the GPU with CuPy's arrays, or the simulator with NumPy's.

A rehearsal in the simulator checks every result at small sizes and times nothing, so that suites
can be tried without a GPU.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from warpwise.cuda import numba_backend
from warpwise.devices import H200, MULTIPROCESSORS
from warpwise.errors import MeasureError

if TYPE_CHECKING:
    from warpwise.stopwatch.cards import Card

T = TypeVar("T")
SIMULATOR = "the simulator"  # the device's name in a rehearsal
MOST_NUMBERS = 2**22  # where nothing runs, larger arrays are zeros, which take no memory
PERIOD = 2**24 - 3  # odd, so that no two rows of a large matrix are alike
FEWEST_WARPS = min(sm.warps for sm in MULTIPROCESSORS.values())


@dataclass(frozen=True)
class Place:
    """A device and its array library. ``xp``: CuPy, or NumPy in a rehearsal. ``peers``: compare
    with PyTorch too. ``l2_bytes``: of the L2 cache. ``modelled``: in a rehearsal whose kernels do
    not run but are predicted, so that sizes are a GPU's and arrays stay empty.
    """

    xp: ModuleType
    name: str
    compute_capability: tuple[int, int]
    sms: int
    l2_bytes: int
    quick: bool = False
    rehearsal: bool = False
    peers: bool = True
    modelled: bool = False

    @cached_property
    def torch(self) -> Any:
        """PyTorch, or None if it is not installed or finds no GPU.

        Its import takes seconds, so it waits for a suite that needs it.
        """
        if self.rehearsal or not self.peers:
            return None
        try:
            import torch
        except ImportError:
            return None
        return torch if torch.cuda.is_available() else None

    def pick(self, full: T, quick: T, rehearsal: T) -> T:
        """Return the choice, usually of sizes, for this place."""
        return rehearsal if self.small else quick if self.quick else full

    @property
    def small(self) -> bool:
        """True where the simulator runs every block."""
        return self.rehearsal and not self.modelled

    def random(
        self,
        shape: int | tuple[int, ...],
        dtype: Any = "float32",
        seed: int = 0,
        low: float = -1.0,
        high: float = 1.0,
    ) -> Any:
        """Return random numbers between ``low`` and ``high``, the same on every machine.

        They repeat after PERIOD numbers.
        """
        n = math.prod(shape) if isinstance(shape, tuple) else shape
        if self.modelled and n > MOST_NUMBERS:
            return self.xp.zeros(shape, dtype)
        shares = np.random.default_rng(seed).random(min(n, PERIOD), np.float32)
        scaled = shares * np.float32(high - low) + np.float32(low)
        numbers = self.xp.asarray(scaled.astype(dtype))
        made = self.xp.empty(n, dtype)
        for first in range(0, n, PERIOD):
            made[first : first + PERIOD] = numbers[: n - first]
        return made.reshape(shape)

    def empty(self, shape: int | tuple[int, ...], dtype: Any = "float32") -> Any:
        """Return an array of NaN for results, so that elements left unwritten are found."""
        if self.modelled:
            return self.xp.zeros(shape, dtype)
        made = self.xp.empty(shape, dtype)
        # every bit set is NaN in each of the floating-point types
        made.view("uint8").fill(0xFF)
        return made

    def array(self, values: Any) -> Any:
        """Return a host array as one of this place."""
        return self.xp.asarray(values)

    def given(self, array: Any) -> Any:
        """Return the same memory as an argument that our kernels take fastest."""
        if self.rehearsal:
            return array
        return numba_backend.load().as_cuda_array(array)

    def tensor(self, array: Any) -> Any:
        """Return the same memory as one of torch's arrays; bfloat16 is in arrays of uint16."""
        torch = self.torch
        if str(array.dtype) == "uint16":
            return torch.as_tensor(array.view("int16"), device="cuda").view(torch.bfloat16)
        return torch.as_tensor(array, device="cuda")

    def host(self, array: Any) -> Any:
        """Return an array of any library as NumPy's."""
        if hasattr(array, "detach"):
            array = array.detach()
            return (array.float() if str(array.dtype) == "torch.bfloat16" else array).cpu().numpy()
        for copied in ("copy_to_host", "get"):
            if hasattr(array, copied):
                return getattr(array, copied)()
        return np.asarray(array)

    def resident_blocks(self, threads: int) -> int:
        """Return how many blocks of ``threads`` all SMs hold at once, if they need little else.

        A launch of so many keeps every SM busy to its end. For a GPU of an unknown kind the result
        is a safe lower limit.
        """
        known = MULTIPROCESSORS.get(self.compute_capability)
        warps = known.warps if known else FEWEST_WARPS
        return self.sms * (32 * warps // threads)


def on_gpu(quick: bool = False) -> Place:
    """Return this machine's GPU, and select it for kernels: call this before any is made.

    Raises MeasureError without a GPU or without CuPy.
    """
    os.environ["WARPWISE_BACKEND"] = "gpu"
    try:
        import cupy
        from cupy_backends.cuda.libs import cublas  # noqa: F401  CuPy alone does not load cuBLAS

        cuda = numba_backend.load()
    except ImportError as error:
        lost = error.name or "a complete CuPy"
        extra = "'.[gpu-cu13]' (or gpu-cu12; `warpwise doctor` says which)"
        advice = f"python -m pip install -e {extra}; --rehearse needs neither that nor a GPU"
        raise MeasureError(f"measuring needs {lost}: {advice}") from error
    try:
        there = cuda.is_available()
    except Exception as error:  # of the driver or a missing library: `doctor` examines each
        said = str(error).splitlines()[:1] or [type(error).__name__]
        problem = f"measuring needs an NVIDIA GPU, and CUDA cannot look for one ({said[0]})"
        raise MeasureError(f"{problem}: see `warpwise doctor`; --rehearse needs none") from error
    if not there:
        advice = "`warpwise doctor` says why; --rehearse needs none"
        raise MeasureError(f"measuring needs an NVIDIA GPU: none was found here ({advice})")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return Place(
        cupy,
        properties["name"].decode(),
        (properties["major"], properties["minor"]),
        properties["multiProcessorCount"],
        properties["l2CacheSize"],
        quick,
    )


def modelled(card: Card) -> Place:
    """Return a device as the stopwatch knows it, and select the simulator, as in a rehearsal."""
    os.environ["WARPWISE_BACKEND"] = "simulator"
    device = card.device
    of_device = device.name, device.compute_capability, device.sms, device.l2_bytes
    return Place(np, *of_device, rehearsal=True, modelled=True)


def in_simulator() -> Place:
    """Return a rehearsal's H200, and select the simulator: call this before any kernel is made."""
    os.environ["WARPWISE_BACKEND"] = "simulator"
    return Place(np, SIMULATOR, H200.compute_capability, H200.sms, 50 * 2**20, rehearsal=True)
