"""A tile is filled again while the copy of its last numbers still reads it."""

import numpy as np

from warpwise import cuda, hopper

ROWS, COLUMNS = 4, 64
TILE = ROWS, COLUMNS


@cuda.jit
def doubled(x, out_map, trips, out):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(TILE, np.float32, alignment=128)
    for k in range(trips):
        for row in range(ROWS):
            tile[row, t] = 2 * x[k * ROWS + row, t]  # expect: AsyncCopyError
        hopper.fence_proxy_async()
        cuda.syncthreads()
        if t == 0:
            hopper.tma_store(out_map, (k * ROWS, 0), tile)
            hopper.tma_store_commit_group()
        cuda.syncthreads()
    hopper.tma_store_wait_group(0)


def launch(rng):
    trips = int(rng.integers(2, 5))
    x = rng.integers(-9, 10, (trips * ROWS, COLUMNS)).astype(np.float32)
    out = cuda.to_device(np.zeros_like(x))
    out_map = hopper.tensor_map(out, TILE)
    return doubled, 1, COLUMNS, (x, out_map, trips, out)


# fix: doubled.py: The tile is filled again when the copy has read it.
