# expect: copy_matrix: too slow
# A kernel without an end; each step of its loop does a lot.
import math

from warpwise import cuda


@cuda.jit
def copy_matrix(src, dst):
    i = 0
    while i >= 0:
        i = i + 1
        dst[0, 0] = math.sqrt(math.exp(math.sin(src[0, 0] + i)))
