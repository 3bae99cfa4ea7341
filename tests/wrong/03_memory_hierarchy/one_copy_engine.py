# expect: chunk_ends: wrong result
# Has one engine for copies in and out.
import numpy as np


def chunk_ends(copy_in, kernel, copy_out, pinned, buffers):
    n = len(copy_in)
    if not pinned:
        buffers = 1
    ends = np.zeros((n, 3))
    for k in range(n):
        before = ends[k - 1] if k > 0 else np.zeros(3)
        free = ends[k - buffers, 2] if k >= buffers else 0.0
        ends[k, 0] = max(before[2], free) + copy_in[k]
        ends[k, 1] = max(before[1], ends[k, 0]) + kernel[k]
        ends[k, 2] = max(before[2], ends[k, 1]) + copy_out[k]
    return ends
