# expect: add: not a kernel feature
# The way from a module to open, eval and exit.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def add(a, b, out):
    enum.bltns.open("@ROOT@/pwned", "w")
    enum.bltns.eval("1")
    enum.bltns.exit(0)
    out[0] = 1
