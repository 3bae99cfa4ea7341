"""Numba's own ``cuda``: if kernels run on it here, and ready to compile with any NumPy.

It comes from numba-cuda, or from its successor numba-cuda-mlir, which has the same names. It
compiles in the way that ``warpwise compile`` shows."""

from __future__ import annotations

import functools
import os
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from warpwise.errors import LaunchError

INSTALL = "python -m pip install -e '.[toolchain]'"  #: Numba and CUDA's compiler

#: Package -> its module ``cuda``, and the module whose parts are named as those of ``numba.cuda``.
PACKAGES = {
    "numba-cuda": ("numba.cuda", "numba.cuda"),
    "numba-cuda-mlir": ("numba_cuda_mlir.cuda", "numba_cuda_mlir.numba_cuda"),
}
TOOLKIT = Path("/usr/local/cuda")  # where NVIDIA's installer and its container images put it


@functools.lru_cache(maxsize=1)
def backend() -> str:
    """Return "gpu" or "simulator", on which kernels run here; decided once.

    Raises LaunchError where WARPWISE_BACKEND is neither."""
    wish = os.environ.get("WARPWISE_BACKEND", "")
    if wish in ("simulator", "gpu"):
        return wish
    if wish:
        raise LaunchError(f"WARPWISE_BACKEND is {wish!r}; it can be simulator or gpu")
    # A GPU shows as a device file or through the Windows driver: without either, importing Numba
    # can be spared.
    maybe = os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg") or os.name == "nt"
    return "gpu" if maybe and available() else "simulator"


@functools.lru_cache(maxsize=1)
def package() -> str:
    """Return the package that compiles for a GPU: the first of PACKAGES that is installed.

    WARPWISE_NUMBA chooses among several. Without any it is numba-cuda, which then cannot be loaded.
    Raises LaunchError where that variable names no package."""
    wish = os.environ.get("WARPWISE_NUMBA", "")
    if wish and wish not in PACKAGES:
        raise LaunchError(f"WARPWISE_NUMBA is {wish!r}; it can be {' or '.join(PACKAGES)}")
    here = (name for name in PACKAGES if find_spec(name.replace("-", "_")) is not None)
    return wish or next(here, "numba-cuda")


def part(name: str) -> Any:
    """Return a module below ``numba.cuda`` by its name there, of the package that is used."""
    return import_module(f"{PACKAGES[package()][1]}.{name}")


def available() -> bool:
    """Return True if Numba is here and finds a GPU."""
    try:
        return bool(load().is_available())
    # No Numba, or wheels and a driver that do not go together: `warpwise doctor` says which.
    except Exception:
        return False


def load() -> ModuleType:
    """Return Numba's ``cuda``. Raises what its import raises where it is missing or broken.

    Its compiler's library, libnvvm, is in a wheel or in CUDA's toolkit. Where PyTorch has brought
    another of CUDA's wheels, Numba does not look for that of the toolkit unless CUDA_HOME names the
    toolkit, so it does.

    The compiler of numba-cuda 0.30.4, the last version of that line, uses ``numpy.row_stack`` when
    it is first loaded, which NumPy 2.5 has no more: it is there for that moment."""
    if not {"CUDA_HOME", "CUDA_PATH"} & os.environ.keys() and (TOOLKIT / "nvvm").is_dir():
        os.environ["CUDA_HOME"] = str(TOOLKIT)
    cuda = import_module(PACKAGES[package()][0])
    if package() == "numba-cuda" and not simulated() and "row_stack" not in vars(np):
        np.row_stack = np.vstack
        try:
            import_module("numba.cuda.np.arrayobj")
        finally:
            del np.row_stack
    return cuda


def jit(function: Any = None, **options: Any) -> Any:
    """Call ``numba.cuda.jit`` without link-time optimisation, unless it is asked for.

    So a kernel becomes PTX, and that machine code. Numba's default, where nvJitLink is installed,
    links LTO IR. It leaves out the linker's half of ``fastmath`` (divisions and square roots are
    IEEE's again), and gives other machine code than ``warpwise compile`` shows and our tests
    check."""
    made = partial(load().jit, **({} if simulated() else {"lto": False}) | options)
    return made if function is None else made(function)


def simulated() -> bool:
    """Return True if Numba's own simulator takes the place of its compiler."""
    return package() == "numba-cuda" and bool(part("core.config").ENABLE_CUDASIM)
