# expect: transpose: not a kernel feature
# The answer of the specification, which is host code.
import numpy as np

from warpwise import cuda


@cuda.jit
def transpose(src, dst):
    dst[:] = np.ascontiguousarray(src.T)
