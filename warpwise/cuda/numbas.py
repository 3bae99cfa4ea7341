"""Numba's own ``cuda``, ready to compile with whichever NumPy is here, and by the way that ``warpwise compile`` shows."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

TOOLKIT = Path("/usr/local/cuda")  # where NVIDIA's installer and its container images put it


def load() -> ModuleType:
    """``numba.cuda``. Raises what its import raises where it is not installed, or is broken.

    Its compiler's library, libnvvm, is in a wheel or in CUDA's toolkit. Where PyTorch has brought another of CUDA's wheels, that of the
    toolkit is not looked for unless CUDA_HOME names the toolkit, so it does.

    The compiler of numba-cuda 0.30.4, the last version of that line, names ``numpy.row_stack`` when it is first loaded, which NumPy 2.5
    has no more: it is there for that moment.
    """
    if not {"CUDA_HOME", "CUDA_PATH"} & os.environ.keys() and (TOOLKIT / "nvvm").is_dir():
        os.environ["CUDA_HOME"] = str(TOOLKIT)
    from numba import cuda

    if not simulated() and "row_stack" not in vars(np):
        np.row_stack = np.vstack
        try:
            import_module("numba.cuda.np.arrayobj")
        finally:
            del np.row_stack
    return cuda


def jit(function: Any = None, **options: Any) -> Any:
    """``numba.cuda.jit``, without link-time optimisation unless it is asked for: a kernel becomes PTX, and that machine code.

    Numba's default, where nvJitLink is installed, links LTO IR. It leaves out the linker's half of ``fastmath`` (divisions and square
    roots are IEEE's again), and gives other machine code than the one that ``warpwise compile`` shows and our tests check.
    """
    made = partial(load().jit, **({} if simulated() else {"lto": False}) | options)
    return made if function is None else made(function)


def simulated() -> bool:
    """Whether Numba's own simulator takes the place of its compiler."""
    from numba.cuda.core import config

    return bool(config.ENABLE_CUDASIM)
