"""CUDA's functions of numbers by their path below ``cuda``: ``popc``, ``fp16.hadd``, ``libdevice.sinf``."""

from __future__ import annotations

from warpwise.simt.bit_functions import INTRINSICS
from warpwise.simt.intrinsics import Function
from warpwise.simt.libdevice import LIBDEVICE

CUDA_FUNCTIONS: dict[str, Function] = INTRINSICS | LIBDEVICE
