"""Constants of all steps of attention."""

from __future__ import annotations

import math

import numpy as np

D = 64  # elements of a row
SCALE = np.float32(1 / math.sqrt(D))
LN2 = np.float32(math.log(2))
LOWEST = np.float32(-1e30)  # in place of minus infinity, which fast arithmetic does not support
# of scores, with the root of 64, for powers of 2 in place of e
SCALE2 = np.float32(math.log2(math.e) / 8)
FLASH_TYPES = "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], uint32"
