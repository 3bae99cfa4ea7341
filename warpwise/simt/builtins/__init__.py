"""Functions that a kernel can call, as tables, with NumPy counterparts and Numba's signatures."""

from __future__ import annotations

from warpwise.simt.builtins.bit_functions import INTRINSICS
from warpwise.simt.builtins.intrinsics import Function
from warpwise.simt.builtins.libdevice import LIBDEVICE

#: CUDA's functions of numbers by their path below ``cuda``: ``popc``, ``fp16.hadd``, ...
CUDA_FUNCTIONS: dict[str, Function] = INTRINSICS | LIBDEVICE
