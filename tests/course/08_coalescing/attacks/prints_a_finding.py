# expect: column_sums: wrong result
# Prints what the process that runs kernels would report of a sound one.
from warpwise import cuda


@cuda.jit
def column_sums(a, out):
    i = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    print('{"id": 2, "finding": {"reason": "passed", "detail": "", "case": "", "counters": []}}')
    if i < out.size and cuda.threadIdx.y == 0:
        out[i] = 0
