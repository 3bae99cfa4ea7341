"""CUDA's functions of numbers by their path below ``cuda``: ``popc``, ``fp16.hadd``, ``libdevice.sinf``."""

from __future__ import annotations

from warpwise.simt.functions.bit_functions import INTRINSICS
from warpwise.simt.functions.intrinsics import Function
from warpwise.simt.functions.libdevice import LIBDEVICE

CUDA_FUNCTIONS: dict[str, Function] = INTRINSICS | LIBDEVICE
