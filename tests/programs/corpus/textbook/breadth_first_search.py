"""One launch for each level; what does not fit in shared memory goes to global memory."""

import numpy as np
from numba import int32

from warpwise import cuda

rng = np.random.default_rng(3)

ROOM = 16


@cuda.jit
def visit(starts, targets, level, now, count, after, counter, depth):
    found = cuda.shared.array(ROOM, int32)
    number = cuda.shared.array(1, int32)
    place = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        number[0] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < count:
        for edge in range(starts[now[i]], starts[now[i] + 1]):
            node = targets[edge]
            if cuda.atomic.cas(level, node, -1, depth) == -1:
                mine = cuda.atomic.add(number, 0, 1)
                if mine < ROOM:
                    found[mine] = node
                else:
                    after[cuda.atomic.add(counter, 0, 1)] = node
    cuda.syncthreads()
    kept = min(number[0], ROOM)
    if cuda.threadIdx.x == 0:
        place[0] = cuda.atomic.add(counter, 0, kept)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, kept, cuda.blockDim.x):
        after[place[0] + k] = found[k]


def check():
    n = 200
    joined = rng.random((n, n)) < 0.03
    joined |= joined.T
    starts = np.r_[0, np.cumsum(joined.sum(1))].astype(np.int32)
    targets = np.nonzero(joined)[1].astype(np.int32)
    level = np.full(n, -1, np.int32)
    level[0] = 0
    now, after, count, depth = np.zeros(n, np.int32), np.zeros(n, np.int32), 1, 0
    while count:
        depth += 1
        counter = np.zeros(1, np.int32)
        visit[-(-count // 32), 32](starts, targets, level, now, count, after, counter, depth)
        now, after, count = after, now, int(counter[0])
    wanted, reached = np.full(n, -1), np.arange(n) == 0
    for step in range(n):
        wanted[reached & (wanted < 0)] = step
        reached = reached | joined[reached].any(0)
    assert (level == wanted).all() and depth > 3
