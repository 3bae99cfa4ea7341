"""Conditions over whole arrays, registers beside shared memory, two shared rows in turn, halos by hand, an early return, and times as plain lists."""

import numpy as np

from warpwise import cuda


def choose_memory(variables):
    users, outlives, written, same, dynamic, size = variables.T
    private = (users == 1) & (outlives == 0)
    codes = np.full(len(variables), 4, dtype=np.int64)
    codes[(users == 3) & (written == 0) & (same == 1) & (size <= 65536)] = 3
    codes[(users != 3) & (outlives == 0) & (size <= 49152)] = 2
    codes[private & (size <= 524288)] = 1
    codes[private & (dynamic == 0) & (size <= 1020)] = 0
    return codes


@cuda.jit
def minus_mirror(x, out):
    turned = cuda.shared.array(128, np.float32)
    i = cuda.grid(1)
    start = i - cuda.threadIdx.x
    last = min(127, x.size - 1 - start)
    if i >= x.size:
        return  # a barrier does not wait for who has returned, and there is nothing to load
    mine = x[i]
    turned[last - cuda.threadIdx.x] = mine
    cuda.syncthreads()
    out[i] = mine - turned[cuda.threadIdx.x]


@cuda.jit
def centre(x, out):
    part = cuda.shared.array((2, 128), np.float32)
    t = cuda.threadIdx.x
    row = 0
    start = 128 * cuda.blockIdx.x
    while start < x.size:
        mine = np.float32(0)
        if start + t < x.size:
            mine = x[start + t]
        part[row, t] = mine
        cuda.syncthreads()
        step = 1
        while step < 128:
            if t % (2 * step) == 0:
                part[row, t] = part[row, t] + part[row, t + step]
            cuda.syncthreads()
            step *= 2
        if start + t < x.size:
            out[start + t] = mine - part[row, 0] / np.float32(min(128, x.size - start))
        row = 1 - row
        start += 128 * cuda.gridDim.x


@cuda.jit
def neighbour_sums(x, out):
    part = cuda.shared.array(136, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t + 4] = x[i] if i < x.size else np.float32(0)
    if t < 4:
        part[t] = x[i - 4] if i >= 4 else np.float32(0)
    elif t < 8:
        right = i - 4 + 128
        part[t + 128] = x[right] if right < x.size else np.float32(0)
    cuda.syncthreads()
    if i >= out.size:
        return
    total = part[t + 4]
    for k in range(1, 5):
        total += part[t + 4 - k] + part[t + 4 + k]
    out[i] = total


def chunk_ends(copy_in, kernel, copy_out, pinned, buffers):
    rows = []
    for k, times in enumerate(zip(copy_in, kernel, copy_out, strict=True)):
        now = 0.0
        row = []
        for step, time in enumerate(times):
            waits = [now]
            if rows:
                waits.append(rows[-1][step if pinned else 2])
            if step == 0 and k >= buffers:
                waits.append(rows[k - buffers][2])
            now = max(waits) + time
            row.append(now)
        rows.append(row)
    return np.array(rows, dtype=np.float64)
