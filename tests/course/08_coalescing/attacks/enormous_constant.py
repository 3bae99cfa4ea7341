# expect: copy_matrix: not a kernel feature
# A constant that does not fit into memory.
from warpwise import cuda

HUGE = 10 ** 10 ** 10


@cuda.jit
def copy_matrix(src, dst):
    dst[0, 0] = HUGE
