"""The product of two float32 matrices, C = A B, in numbered steps from plain to fast.

``run(m, n, k, a, b, c)``: A has m x k elements, B k x n, C m x n. Each is a 1-D array, row by row:
rows of a 2-D array begin at multiples of a 64-bit stride that is known only at run time. No matrix
has more than 2^32 elements, so that 32 bits count them. Steps 1 to 5 take every size; the others
multiples of 128, and of 8 for k.
"""

from __future__ import annotations

from warpwise.kernels.sgemm import (
    async_tiles,
    simple,
    thread_tiles,
    vectorised,
    warp_tiles,
    wide_threads,
)

ANY_SIZE = (*simple.STEPS, *thread_tiles.STEPS)
STEPS = (*ANY_SIZE, *vectorised.STEPS, *warp_tiles.STEPS, *wide_threads.STEPS, *async_tiles.STEPS)
# m and n, and k, are multiples of these in the last steps
SIDE, DEPTH = warp_tiles.SIDE, warp_tiles.DEPTH
