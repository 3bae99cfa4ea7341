"""The first product adds to accumulators that hold whatever was left in their registers."""

import numpy as np

from warpwise import cuda, hopper

ROWS, COLUMNS = 64, 64
SUMS = ROWS // 2


@cuda.jit
def gram(a_map, out_map, out):
    t = cuda.threadIdx.x
    bars = cuda.shared.array(1, np.uint64)
    a = cuda.shared.array((ROWS, COLUMNS), np.float16, alignment=1024)
    product = cuda.shared.array((ROWS, ROWS), np.float32, alignment=128)
    if t == 0:
        hopper.mbarrier_init(bars, 0, 1)
    cuda.syncthreads()
    if t == 0:
        hopper.mbarrier_arrive_expect_tx(bars, 0, ROWS * COLUMNS * 2)
        hopper.tma_load(a, a_map, (0, 0), bars, 0)
    while not hopper.mbarrier_try_wait(bars, 0, 0):
        pass
    sums = cuda.local.array(SUMS, np.float32)
    tile = hopper.wgmma_descriptor(a, 128)
    hopper.wgmma_fence()
    for k in range(COLUMNS // 16):
        hopper.wgmma_mma_async(sums, tile + 2 * k, tile + 2 * k, 1)  # expect: UnwrittenReadError
    hopper.wgmma_commit_group()
    hopper.wgmma_wait_group(0)
    for i in range(SUMS):
        row = t // 32 * 16 + i // 2 % 2 * 8 + t % 32 // 4
        product[row, i // 4 * 8 + t % 4 * 2 + i % 2] = sums[i]
    hopper.fence_proxy_async()
    cuda.syncthreads()
    if t == 0:
        hopper.tma_store(out_map, (0, 0), product)
        hopper.tma_store_commit_group()
        hopper.tma_store_wait_group(0)


def launch(rng):
    a = rng.integers(-4, 5, (ROWS, COLUMNS)).astype(np.float16)
    out = cuda.to_device(np.zeros((ROWS, ROWS), np.float32))
    a_map = hopper.tensor_map(a, (ROWS, COLUMNS), 128)
    out_map = hopper.tensor_map(out, (ROWS, ROWS))
    return gram, 1, 128, (a_map, out_map, out)


# fix: gram.py: The first product overwrites its accumulators, and the others add to them.
