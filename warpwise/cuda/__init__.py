"""What a lab imports as ``cuda``: Numba's on a machine with a GPU, the simulator elsewhere.

``WARPWISE_BACKEND=simulator`` or ``gpu`` decides otherwise. With the simulator, the names that a kernel uses (``grid``,
``threadIdx``, ``shared.array`` ...) mean something inside kernels only; kernels are read, not run by Python. The host's names
(``to_device``, ``stream``, ``event``, ``get_current_device`` ...) do what they can without a GPU, so that a notebook written for
one runs unchanged.
"""

from __future__ import annotations

import difflib
import functools
import os
import sys
from importlib import import_module

from warpwise.cuda import arrays, device, kernels, numbas, streams
from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.kernels import RaceWarning, SimulatedKernel
from warpwise.errors import LaunchError
from warpwise.simt.text.source import CudaName
from warpwise.simt.text.words import TOP

__all__ = ["DeviceArray", "RaceWarning", "SimulatedKernel", "backend"]


def _gpu_there() -> bool:
    try:
        return bool(numbas.load().is_available())
    except Exception:  # no Numba, or wheels and a driver that do not go together: `warpwise doctor` says which
        return False


@functools.lru_cache(maxsize=1)
def _numbas():
    """Numba's ``cuda``, whose compiler now takes this module, where a kernel names it, for that one.

    Raises LaunchError where it is not installed, or is broken.
    """
    try:
        cuda = numbas.load()
        if not numbas.simulated():
            from numba.cuda import types
            from numba.cuda.cudadecl import registry

            registry.register_global(sys.modules[__name__], types.Module(cuda))
    except Exception as error:  # no Numba, or wheels that do not go together
        said = (str(error).splitlines() or [""])[0]
        raise LaunchError(f"a GPU needs numba-cuda, which cannot be imported here ({said}): `warpwise doctor` says what to do") from error
    return cuda


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


#: Host names of ``numba.cuda`` as the simulator has them.
HOST = {name: value for part in (arrays, device, kernels, streams) for name, value in part.HOST.items()}


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "random":
        return import_module("warpwise.cuda.random")
    if backend() == "gpu":
        found = getattr(_numbas(), name)
        return numbas.jit if name == "jit" else found
    if name in HOST:
        return HOST[name]
    if name in TOP:
        return CudaName(name)
    near = difflib.get_close_matches(name[:40], (*HOST, *TOP), n=1)
    meant = f"; did you mean cuda.{near[0]}?" if near else ""
    raise AttributeError(f"cuda.{name} is not known to the simulator{meant}")


def __dir__() -> list[str]:
    return sorted({*__all__, *HOST, *TOP})
