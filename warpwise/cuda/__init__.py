"""The module that a lab imports as ``cuda``: Numba's on a GPU, the simulator elsewhere.

``WARPWISE_BACKEND=simulator`` or ``gpu`` overrides that. With the simulator, the names that a
kernel uses (``grid``, ``threadIdx``, ``shared.array`` ...) mean something inside kernels only;
kernels are read, not run by Python. The host's names (``to_device``, ``stream``, ``event``,
``get_current_device`` ...) do what they can without a GPU, so that a notebook written for one runs
unchanged."""

from __future__ import annotations

import difflib
import functools
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from warpwise.cuda import (
    device,
    foreign,
    gufuncs,
    kernels,
    numba_backend,
    reductions,
    streams,
    transfers,
    ufuncs,
)
from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.kernels import RaceWarning, SimulatedKernel
from warpwise.cuda.numba_backend import backend
from warpwise.errors import LaunchError
from warpwise.simt.compiler.language import LANGUAGE
from warpwise.simt.compiler.vectors import VECTORS
from warpwise.simt.frontend.names import CudaName

__all__ = ["DeviceArray", "RaceWarning", "SimulatedKernel", "backend"]

TOP = LANGUAGE.vocabulary.top  #: CUDA's words
#: Host names of ``numba.cuda`` as the simulator has them.
HOST = {
    name: value
    for part in (device, foreign, gufuncs, kernels, reductions, streams, transfers, ufuncs)
    for name, value in part.HOST.items()
}


@functools.lru_cache(maxsize=1)
def _on_gpu() -> ModuleType:
    """Return Numba's ``cuda``, whose compiler now accepts this module in its place.

    Raises LaunchError where it is missing or broken.
    """
    try:
        cuda = numba_backend.load()
        if not numba_backend.simulated():
            this = numba_backend.part("types").Module(cuda)
            numba_backend.part("cudadecl").registry.register_global(sys.modules[__name__], this)
    except Exception as error:  # no Numba, or wheels that do not go together
        said = (str(error).splitlines() or [""])[0]
        raise LaunchError(
            f"a GPU needs numba-cuda, which cannot be imported here ({said}): "
            "`warpwise doctor` says what to do"
        ) from error
    return cuda


@functools.cache
def _word(name: str) -> CudaName:
    return CudaName(name)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "random":
        return import_module("warpwise.cuda.random")
    if backend() == "gpu":
        found = getattr(_on_gpu(), name)
        return numba_backend.jit if name == "jit" else found
    if name in HOST:
        return HOST[name]
    if name in TOP:
        return _word(str(VECTORS.get(name, name)))
    near = difflib.get_close_matches(name[:40], (*HOST, *TOP), n=1)
    meant = f"; did you mean cuda.{near[0]}?" if near else ""
    raise AttributeError(f"cuda.{name} is not known to the simulator{meant}")


def __dir__() -> list[str]:
    return sorted({*__all__, *HOST, *TOP})
