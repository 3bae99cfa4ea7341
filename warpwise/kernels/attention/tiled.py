"""Steps 4 and 5: 8 x 8 results a thread, and asynchronous copies."""

from __future__ import annotations

import numpy as np

from warpwise import cuda
from warpwise.kernels.attention.constants import FLASH_TYPES, LOWEST
from warpwise.kernels.attention.tiles import (
    add_scores,
    add_values,
    copy_rows,
    copy_values,
    finish,
    load_rows,
    load_values,
    store_weights,
    to_weights,
)
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.tensor_core import cp_async_commit, cp_async_wait

TILE = 64  # queries, and keys, in a block at once
PAIR = 64  # threads


@cuda.jit(fastmath=True, launch_bounds=(64, 4))
def attention_4_tiled(query, key, value, lse, out, n):
    Qs = cuda.shared.array(4096, "float32", alignment=16)
    Ks = cuda.shared.array(4096, "float32", alignment=16)
    Vs = cuda.shared.array(4096, "float32", alignment=16)
    s = cuda.local.array(64, "float32")
    sums = cuda.local.array(64, "float32")
    a = cuda.local.array(32, "float32")
    m = cuda.local.array(8, "float32")
    total = cuda.local.array(8, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.y) * n
    first = head + np.uint32(cuda.blockIdx.x) * np.uint32(64)
    r = np.uint32((t & np.uint32(32)) + ((t >> np.uint32(3)) & np.uint32(2)) + (t & np.uint32(1)))
    c = np.uint32((t >> np.uint32(1)) & np.uint32(7))
    load_rows(Qs, query, first * np.uint32(64), t)
    for i in range(64):
        sums[i] = np.float32(0)
    for i in range(8):
        m[i], total[i] = LOWEST, np.float32(0)
    for start in range(0, n, 64):
        tile = (head + np.uint32(start)) * np.uint32(64)
        load_rows(Ks, key, tile, t)
        load_values(Vs, value, tile, t)
        cuda.syncthreads()
        for i in range(64):
            s[i] = np.float32(0)
        add_scores(s, Qs, Ks, a, r, c)
        to_weights(s, sums, m, total)
        cuda.syncthreads()
        store_weights(Ks, s, r, c)
        cuda.syncwarp()
        add_values(sums, Ks, Vs, a, r, c)
        cuda.syncthreads()
    finish(out, lse, first, sums, m, total, r, c)


def run_4_tiled(n: int, query: Array, key: Array, value: Array, lse: Array, out: Array) -> None:
    attention_4_tiled[(n // TILE, lse.size // n), PAIR](query, key, value, lse, out, np.uint32(n))


@cuda.jit(fastmath=True, launch_bounds=(64, 4))
def attention_5_async(query, key, value, lse, out, n):
    """The same with asynchronous copies: values arrive while scores are computed."""
    Qs = cuda.shared.array(4096, "float32", alignment=16)
    Ks = cuda.shared.array(4096, "float32", alignment=16)
    Vs = cuda.shared.array(4096, "float32", alignment=16)
    s = cuda.local.array(64, "float32")
    sums = cuda.local.array(64, "float32")
    a = cuda.local.array(32, "float32")
    m = cuda.local.array(8, "float32")
    total = cuda.local.array(8, "float32")
    t, head = np.uint32(cuda.threadIdx.x), np.uint32(cuda.blockIdx.y) * n
    first = head + np.uint32(cuda.blockIdx.x) * np.uint32(64)
    r = np.uint32((t & np.uint32(32)) + ((t >> np.uint32(3)) & np.uint32(2)) + (t & np.uint32(1)))
    c = np.uint32((t >> np.uint32(1)) & np.uint32(7))
    copy_rows(Qs, query, first * np.uint32(64), t)
    for i in range(64):
        sums[i] = np.float32(0)
    for i in range(8):
        m[i], total[i] = LOWEST, np.float32(0)
    for start in range(0, n, 64):
        tile = (head + np.uint32(start)) * np.uint32(64)
        copy_rows(Ks, key, tile, t)
        cp_async_commit()
        copy_values(Vs, value, tile, t)
        cp_async_commit()
        for i in range(64):
            s[i] = np.float32(0)
        cp_async_wait(1)
        cuda.syncthreads()
        add_scores(s, Qs, Ks, a, r, c)
        to_weights(s, sums, m, total)
        cp_async_wait(0)
        cuda.syncthreads()
        store_weights(Ks, s, r, c)
        cuda.syncwarp()
        add_values(sums, Ks, Vs, a, r, c)
        cuda.syncthreads()
    finish(out, lse, first, sums, m, total, r, c)


def run_5_async(n: int, query: Array, key: Array, value: Array, lse: Array, out: Array) -> None:
    attention_5_async[(n // TILE, lse.size // n), PAIR](query, key, value, lse, out, np.uint32(n))


STEPS = (
    Step(
        "attention_4_tiled",
        "8 x 8 scores and 8 x 8 sums a thread",
        run_4_tiled,
        (Built(attention_4_tiled, FLASH_TYPES, PAIR, 4, ("LDS.128", "STS.128"), 0.85),),
    ),
    Step(
        "attention_5_async",
        "values arrive while scores are computed",
        run_5_async,
        (Built(attention_5_async, FLASH_TYPES, PAIR, 4, ("LDS.128", "LDGSTS.E.BYPASS.128"), 0.85),),
    ),
)
