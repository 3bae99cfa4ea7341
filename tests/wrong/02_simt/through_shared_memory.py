# expect: warp_sums: over budget: shared_load_requests
# Right, but the values meet in shared memory.
import numpy as np

from warpwise import cuda


@cuda.jit
def warp_sums(x, out):
    parts = cuda.shared.array(128, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    parts[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    if t % 32 == 0 and i < x.size:
        total = np.float32(0)
        for k in range(32):
            total += parts[t + k]
        out[i // 32] = total
