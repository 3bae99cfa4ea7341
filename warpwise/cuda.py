"""What a lab imports as ``cuda``: Numba's on a machine with a GPU, the simulator elsewhere.

``WARPWISE_BACKEND=simulator`` or ``gpu`` decides otherwise. With the simulator, the names that a kernel uses (``grid``,
``threadIdx``, ``shared.array`` ...) mean something inside kernels only; kernels are read, not run by Python.
"""

from __future__ import annotations

import functools
import os
import warnings

import numpy as np

from warpwise.errors import LaunchError, UnsupportedError
from warpwise.simt.launch import trace
from warpwise.simt.source import CudaName, Kernel, from_function
from warpwise.simt.words import TOP


def _gpu_there() -> bool:
    try:
        from numba import cuda
    except ImportError:
        return False
    return bool(cuda.is_available())


@functools.lru_cache(maxsize=1)
def backend() -> str:
    """"gpu" or "simulator": what kernels run on here. Decided once. Raises LaunchError for a wish that is neither."""
    wish = os.environ.get("WARPWISE_BACKEND", "")
    if wish in ("simulator", "gpu"):
        return wish
    if wish:
        raise LaunchError(f"WARPWISE_BACKEND is {wish!r}; it can be simulator or gpu")
    # A GPU shows as a device file or through the Windows driver: without either, importing Numba can be spared.
    maybe = os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg") or os.name == "nt"
    return "gpu" if maybe and _gpu_there() else "simulator"


PLAIN = "If it is meant to be plain Python, take the decorator away"


class RaceWarning(UserWarning):
    """Two threads of a block used one element with no barrier between them."""


class SimulatedKernel(Kernel):
    """A kernel for the simulator: ``kernel[blocks, threads](*args)``."""

    def __getitem__(self, config):
        config = config if isinstance(config, tuple) else (config,)
        if not 2 <= len(config) <= 4:
            raise LaunchError(f"{self.name}[blocks, threads] is the launch configuration; {len(config)} parts were given")

        def launch(*args) -> None:
            for race in trace(self, config[0], config[1], *args, record=()).races:
                warnings.warn(f"{self.name}: {race}", RaceWarning, stacklevel=2)

        return launch

    def __call__(self, *args):
        if self.device:
            what = f"{self.name} is a device function: only a kernel can call it"
            raise UnsupportedError(what, self.where(self.tree), PLAIN)
        launched = f"{self.name}[blocks, threads](...) launches it. {PLAIN}"
        raise UnsupportedError(f"{self.name} is a kernel, and Python cannot call it", self.where(self.tree), launched)


def _jit(function=None, *, device: bool = False, **_options):
    """Make a kernel, or with ``device=True`` a device function. Signature and compiler options mean nothing to the simulator."""

    def make(f) -> SimulatedKernel:
        return from_function(f, device, SimulatedKernel)

    return make(function) if callable(function) and not isinstance(function, (str, list, tuple)) else make


class DeviceArray:
    """An array in (simulated) device memory. Slices keep their place, and with it their alignment."""

    def __init__(self, values: np.ndarray):
        self.host_values = values

    shape = property(lambda self: self.host_values.shape)
    dtype = property(lambda self: self.host_values.dtype)
    size = property(lambda self: self.host_values.size)
    ndim = property(lambda self: self.host_values.ndim)
    nbytes = property(lambda self: self.host_values.nbytes)

    def __len__(self) -> int:
        return len(self.host_values)

    def __getitem__(self, key):
        part = self.host_values[key]
        return DeviceArray(part) if isinstance(part, np.ndarray) else part

    def __setitem__(self, key, value) -> None:
        self.host_values[key] = getattr(value, "host_values", value)

    def copy_to_host(self, ary: np.ndarray | None = None) -> np.ndarray:
        """A copy in host memory, into ``ary`` if it is given."""
        if ary is None:
            return self.host_values.copy()
        ary[...] = self.host_values
        return ary

    def copy_to_device(self, ary) -> None:
        self.host_values[...] = getattr(ary, "host_values", ary)

    def __repr__(self) -> str:
        return f"<device array of {self.dtype}, shape {self.shape}>"


def _to_device(values, *_stream) -> DeviceArray:
    return DeviceArray(np.array(values))


def _device_array(shape, dtype=np.float64, *_more) -> DeviceArray:
    return DeviceArray(np.empty(shape, dtype))


def _device_array_like(values, *_stream) -> DeviceArray:
    return DeviceArray(np.empty(values.shape, values.dtype))


def _is_available() -> bool:
    return False


def _synchronize() -> None:
    return None


_SIMULATED = {
    "jit": _jit, "to_device": _to_device, "device_array": _device_array, "device_array_like": _device_array_like,
    "is_available": _is_available, "synchronize": _synchronize,
}  # fmt: skip


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if backend() == "gpu":
        from numba import cuda

        return getattr(cuda, name)
    if name in _SIMULATED:
        return _SIMULATED[name]
    if name in TOP:
        return CudaName(name)
    raise AttributeError(f"cuda.{name} is not known to the simulator")
