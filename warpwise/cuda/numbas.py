"""Numba's own ``cuda``, ready to compile with whichever NumPy is here."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import numpy as np


def load() -> ModuleType:
    """``numba.cuda``. Raises what its import raises where it is not installed, or is broken.

    The compiler of numba-cuda 0.30.4, the last version of that line, names ``numpy.row_stack`` when it is first loaded, which NumPy 2.5
    has no more: it is there for that moment.
    """
    from numba import cuda
    from numba.cuda.core import config

    if not config.ENABLE_CUDASIM and "row_stack" not in vars(np):
        np.row_stack = np.vstack
        try:
            import_module("numba.cuda.np.arrayobj")
        finally:
            del np.row_stack
    return cuda
