"""Access patterns of four neighbouring elements in a request, of copies that pass registers by, and
of ``ldmatrix``, for the comparison of counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.tensor_core import (
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    ldmatrix_x4,
    ldmatrix_x4_trans,
)
from warpwise.kernels.wide import load4, store4
from warpwise.measure.patterns import Pattern, name_of, numbers

WORDS = 8192  # of the shared arrays
OF_A_COPY = (
    "cp.async: its store is not among stores, three empty loads go before it, and its sectors are "
    "counted by where they go"
)
OF_MATRICES = "ldmatrix has a counter of its own, and the compiler may join the four stores"


@cuda.jit
def quad_load(src, stride, offset, out):
    i = cuda.grid(1)
    a, b, c, d = load4(src, 4 * (offset + stride * i))
    out[i] = a + b + c + d


@cuda.jit
def quad_store(src, stride, offset, out):
    i = cuda.grid(1)
    value = src[i]
    store4(out, 4 * (offset + stride * i), value, value, value, value)


@cuda.jit
def quad_exchange(src, place, out):
    """Thread t writes the quad ``place[t]`` of shared memory, and reads the next thread's."""
    s = cuda.shared.array(WORDS, np.float32, alignment=16)
    t = cuda.threadIdx.x
    value = src[t]
    store4(s, 4 * place[t], value, value, value, value)
    cuda.syncthreads()
    a, b, c, d = load4(s, 4 * place[(t + 1) % cuda.blockDim.x])
    out[t] = a + b + c + d


@cuda.jit
def quad_copy(src, stride, place, out):
    """Copy quads to shared memory without registers between, and read one word of each."""
    s = cuda.shared.array(WORDS, np.float32, alignment=16)
    t = cuda.threadIdx.x
    cp_async16(s, 4 * place[t], src, 4 * stride * t)
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    out[t] = s[4 * place[(t + 1) % cuda.blockDim.x]]


@lru_cache
def matrices_loaded(pitch: int, transposed: bool) -> Any:
    """Return a kernel of one warp that loads four 8 x 8 matrices, one row below the other."""
    load, words = ldmatrix_x4_trans if transposed else ldmatrix_x4, 32 * pitch

    @cuda.jit
    def load_matrices(src, out):
        s = cuda.shared.array(words, np.uint32, alignment=16)
        t = cuda.threadIdx.x
        for k in range(4):
            s[pitch * t + k] = src[t, k]
        cuda.syncthreads()
        a, b, c, d = load(s, pitch * t)
        out[0, t] = a
        out[1, t] = b
        out[2, t] = c
        out[3, t] = d

    return load_matrices


def quads_of(kind: Any, stride: int, offset: int = 0) -> Pattern:
    places = offset + stride * np.arange(256)
    size, name = 4 * (places.max() + 1), f"{name_of(kind)}, stride {stride}, offset {offset}"
    if kind is quad_load:
        src, out = numbers(np.float32, size), np.zeros(256, np.float32)
        want = src.reshape(-1, 4).sum(axis=1)[places]
    else:
        src, out = numbers(np.float32, 256), np.zeros(size, np.float32)
        want = out.copy()
        want.reshape(-1, 4)[places] = src[:, None]
    return Pattern(name, kind, 2, 128, (src, stride, offset, out), want, 16)


PLACES = {
    **{f"stride {k}": k * np.arange(32) for k in (1, 2, 3, 4, 5, 8, 9, 16, 33)},
    "all the same": np.zeros(32, int),
    "pairs the same": np.arange(32) // 2,
    "reversed": np.arange(31, -1, -1),
    "even lanes first": np.arange(32) % 2 * 16 + np.arange(32) // 2,
    "quarters in turn": np.arange(32) % 4 * 8 + np.arange(32) // 4,
    "rows of 4, swizzled": np.arange(32) // 4 * 4 + (np.arange(32) % 4 ^ np.arange(32) // 8),
    "at random": np.random.default_rng(1).permutation(1024)[:32],
}


def quads_exchanged(name: str) -> Pattern:
    src, place = numbers(np.float32, 32), PLACES[name].astype(np.int32)
    s = np.zeros(WORDS // 4, np.float32)
    s[place] = src  # of lanes with one place the last one's, whichever that is
    if len(set(place)) < len(place):
        src[:] = s[place] = 7
    args = src, place, np.zeros(32, np.float32)
    return Pattern(
        f"quad_exchange, {name}", quad_exchange, 1, 32, args, 4 * np.roll(s[place], -1), 16
    )


def quads_copied(name: str, stride: int = 1) -> Pattern:
    place = PLACES[name].astype(np.int32)
    src, out = numbers(np.float32, 4 * 32 * stride), np.zeros(32, np.float32)
    told = f"quad_copy, source stride {stride}, {name}"
    want = np.roll(src[:: 4 * stride], -1)
    args = src, stride, place, out
    return Pattern(told, quad_copy, 1, 32, args, want, 16, note=OF_A_COPY)


def matrices(pitch: int, transposed: bool = False) -> Pattern:
    src = np.arange(128, dtype=np.uint32).reshape(32, 4) * np.uint32(0x00030002)
    want = src.reshape(4, 32)
    if transposed:
        halves = src.view(np.uint16).reshape(4, 8, 8).swapaxes(1, 2)
        want = np.ascontiguousarray(halves).reshape(4, 64).view(np.uint32)
    name = f"load_matrices{', transposed' * transposed}, pitch {pitch}"
    args = src, np.zeros((4, 32), np.uint32)
    kernel = matrices_loaded(pitch, transposed)
    return Pattern(name, kernel, 1, 32, args, want, 16, note=OF_MATRICES)


def of_quads() -> Iterator[Pattern]:
    for stride in (0, 1, 2, 3, 4, 5, 8):
        yield quads_of(quad_load, stride)
    for stride in (1, 2, 3, 8):
        yield quads_of(quad_store, stride)
    for kind in (quad_load, quad_store):
        yield quads_of(kind, 1, offset=1)
    yield from map(quads_exchanged, PLACES)
    for name in PLACES:
        if "same" not in name:
            yield quads_copied(name)
    for stride in (2, 3, 8):
        yield quads_copied("stride 1", stride)
    for pitch in (4, 8, 12, 16, 20, 32, 36):
        yield matrices(pitch)
    for pitch in (4, 8, 12):
        yield matrices(pitch, transposed=True)
