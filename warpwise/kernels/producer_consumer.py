"""A matrix product as Hopper wants it: a producer that copies, consumers that multiply.

It runs in the simulator alone (see ``warpwise.hopper``), and so it is no ladder. The block's last
warp starts the copies, by TMA, into a ring of stages; its first four are a warpgroup that
multiplies. Two mbarriers for each stage carry it from one side to the other: ``full`` when both
tiles have come, ``empty`` when every consumer has done with them. The result goes back through
shared memory, by TMA as well.

Left out: several consumer warpgroups, clusters, and blocks that go on with the next tile.
"""

from __future__ import annotations

import numpy as np

from warpwise import cuda, hopper
from warpwise.kernels.step import Array

ROWS, COLUMNS, DEPTH = 64, 32, 64  #: a block's part of the result, and the numbers of K in a stage
STAGES = 3
SUMS = COLUMNS // 2  #: accumulators of each consumer
CONSUMERS, THREADS = 128, 160
STAGE_BYTES = (ROWS + COLUMNS) * DEPTH * 2
SWIZZLE = 128  #: bytes of a row of a tile: DEPTH numbers of float16


@cuda.jit
def producer_consumer(a_map, b_map, c_map, trips):
    """C = A B^T; A is M x K, B is N x K, both float16, C is float32."""
    t = cuda.threadIdx.x
    a = cuda.shared.array((STAGES, ROWS, DEPTH), np.float16, alignment=1024)
    b = cuda.shared.array((STAGES, COLUMNS, DEPTH), np.float16, alignment=1024)
    c = cuda.shared.array((ROWS, COLUMNS), np.float32, alignment=128)
    full = cuda.shared.array(STAGES, np.uint64)
    empty = cuda.shared.array(STAGES, np.uint64)
    row, column = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS
    if t == 0:
        for stage in range(STAGES):
            hopper.mbarrier_init(full, stage, 1)
            hopper.mbarrier_init(empty, stage, CONSUMERS)
    cuda.syncthreads()
    if t >= CONSUMERS:
        if t == CONSUMERS:
            for k in range(trips):
                stage, parity = k % STAGES, k // STAGES % 2
                while not hopper.mbarrier_try_wait(empty, stage, parity ^ 1):
                    pass
                hopper.mbarrier_arrive_expect_tx(full, stage, STAGE_BYTES)
                hopper.tma_load(a[stage], a_map, (row, k * DEPTH), full, stage)
                hopper.tma_load(b[stage], b_map, (column, k * DEPTH), full, stage)
    else:
        sums = cuda.local.array(SUMS, np.float32)
        for k in range(trips):
            stage, parity = k % STAGES, k // STAGES % 2
            while not hopper.mbarrier_try_wait(full, stage, parity):
                pass
            left = hopper.wgmma_descriptor(a[stage], SWIZZLE)
            right = hopper.wgmma_descriptor(b[stage], SWIZZLE)
            hopper.wgmma_fence()
            for part in range(DEPTH // 16):
                adds = k > 0 or part > 0
                hopper.wgmma_mma_async(sums, left + 2 * part, right + 2 * part, adds)
            hopper.wgmma_commit_group()
            hopper.wgmma_wait_group(0)
            hopper.mbarrier_arrive(empty, stage)
        for i in range(SUMS):
            r = t // 32 * 16 + i // 2 % 2 * 8 + t % 32 // 4
            c[r, i // 4 * 8 + t % 4 * 2 + i % 2] = sums[i]
        hopper.fence_proxy_async()
    cuda.syncthreads()
    if t == 0:
        hopper.tma_store(c_map, (row, column), c)
        hopper.tma_store_commit_group()
        hopper.tma_store_wait_group(0)


def run_producer_consumer(a: Array, b: Array, c: Array) -> None:
    """Multiply ``a`` (M x K) by ``b`` (N x K) transposed, both float16, into ``c`` (M x N)."""
    m, k = a.shape
    blocks = -(-b.shape[0] // COLUMNS), -(-m // ROWS)
    maps = (
        hopper.tensor_map(a, (ROWS, DEPTH), SWIZZLE),
        hopper.tensor_map(b, (COLUMNS, DEPTH), SWIZZLE),
        hopper.tensor_map(c, (ROWS, COLUMNS)),
    )
    producer_consumer[blocks, THREADS](*maps, -(-k // DEPTH))
