"""An empty stage waits for 64 arrivals, and only 32 threads read it."""

import numpy as np

from warpwise import cuda, hopper

ROWS, COLUMNS, STAGES = 8, 32, 2
TILES = STAGES, ROWS, COLUMNS
BYTES = ROWS * COLUMNS * 4


@cuda.jit
def column_sums(x_map, trips, out):
    t = cuda.threadIdx.x
    tiles = cuda.shared.array(TILES, np.float32, alignment=128)
    full = cuda.shared.array(STAGES, np.uint64)
    empty = cuda.shared.array(STAGES, np.uint64)
    if t == 0:
        for s in range(STAGES):
            hopper.mbarrier_init(full, s, 1)
            hopper.mbarrier_init(empty, s, 64)
    cuda.syncthreads()
    if t == 0:  # the producer
        for k in range(trips):
            s, parity = k % STAGES, k // STAGES % 2
            while not hopper.mbarrier_try_wait(empty, s, parity ^ 1):  # expect: EndlessError
                pass
            hopper.mbarrier_arrive_expect_tx(full, s, BYTES)
            hopper.tma_load(tiles[s], x_map, (k * ROWS, 0), full, s)
    elif t >= 32:  # the consumers
        total = np.float32(0)
        for k in range(trips):
            s, parity = k % STAGES, k // STAGES % 2
            while not hopper.mbarrier_try_wait(full, s, parity):
                pass
            for row in range(ROWS):
                total += tiles[s, row, t - 32]
            hopper.mbarrier_arrive(empty, s)
        out[t - 32] = total


def launch(rng):
    trips = int(rng.integers(5, 9))
    x = rng.integers(-9, 10, (trips * ROWS, COLUMNS)).astype(np.float32)
    x_map = hopper.tensor_map(x, (ROWS, COLUMNS))
    return column_sums, 1, 64, (x_map, trips, np.zeros(COLUMNS, np.float32))


# fix: column_sums.py: An empty stage waits for as many arrivals as threads read it.
