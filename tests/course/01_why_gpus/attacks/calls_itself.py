# expect: centre: not a kernel feature
# Device functions that call each other without end.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit(device=True)
def pong(v):
    return ping(v) + ping(v + 1)


@cuda.jit(device=True)
def ping(v):
    return pong(v) + pong(v + 1)


@cuda.jit
def centre(x, mean, out):
    out[0, 0] = ping(1)
