"""Kernels that measure a GPU's constants: widths, latencies, the start of a block, the clock.

Those whose loads follow links are never shortened by a compiler: a load's address is the value of
the one before. Chases of single words are in ``kernels.pointer_chase``."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise import cuda
from warpwise.kernels.ffma import PAIRS
from warpwise.kernels.native import native, ptx
from warpwise.kernels.pointer_chase import clock
from warpwise.kernels.step import Array, Built, Step
from warpwise.kernels.wide import load4

# mypy: allow-untyped-defs
THREADS = 1024  #: of a block that keeps its SM busy: 32 warps
WORDS = 4096  #: 16 KB of links
QUAD_BYTES = 16
UNROLLED = 16
CHAINED = 64  #: dependent multiply-adds in a trip
#: Shared memory of an SM in percent of all, and bytes of a block that then has the SM for itself.
CARVEOUT, FILLING = 28, 47 * 1024


def _zero():
    return np.int64(0)


@native(_zero)
def nanoseconds(typingctx):
    """Return the GPU's timer, in nanoseconds; 0 in the simulator, which has none."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        read = "mov.u64 $0, %globaltimer;"
        return ptx(builder, read, ir.IntType(64), ["l"], [], volatile=True)

    return types.int64(), generate


def _first():
    return np.uint32(0)


@native(_first)
def multiprocessor(typingctx):
    """Return the number of the SM that the thread is on; 0 in the simulator."""
    from llvmlite import ir
    from numba import types

    def generate(context, builder, signature, args):
        return ptx(builder, "mov.u32 $0, %smid;", ir.IntType(32), ["r"], [], volatile=True)

    return types.uint32(), generate


@cuda.jit
def micro_1_shared_width(links, target, trips, clocks):
    """Every warp loads 512 bytes of shared memory at a time: one block on an SM."""
    near = cuda.shared.array(WORDS, np.uint32, alignment=16)
    t = np.uint32(cuda.threadIdx.x)
    for k in range(WORDS // THREADS):
        near[t + np.uint32(k * THREADS)] = links[t + np.uint32(k * THREADS)]
    cuda.syncthreads()
    at = np.uint32(4) * t
    begin = clock()
    while trips > np.uint32(0):
        for _ in range(UNROLLED):
            a, b, c, d = load4(near, at)
            at = a + b + c + d
        trips = np.uint32(trips - np.uint32(1))
    target[cuda.grid(1)] = at
    clocks[cuda.grid(1), 0] = begin
    clocks[cuda.grid(1), 1] = clock()


@cuda.jit
def micro_2_l1_width(links, target, trips, clocks):
    """The same from global memory, of which L1 has all after the first round."""
    at = np.uint32(4) * np.uint32(cuda.threadIdx.x)
    for _ in range(UNROLLED):
        a, b, c, d = load4(links, at)
        at = a + b + c + d
    cuda.syncthreads()
    begin = clock()
    while trips > np.uint32(0):
        for _ in range(UNROLLED):
            a, b, c, d = load4(links, at)
            at = a + b + c + d
        trips = np.uint32(trips - np.uint32(1))
    target[cuda.grid(1)] = at
    clocks[cuda.grid(1), 0] = begin
    clocks[cuda.grid(1), 1] = clock()


@cuda.jit(shared_memory_carveout=CARVEOUT)
def micro_3_block_start(values, target, trips, clocks):
    """Blocks of one warp that follow one another on their SM: when each begins and ends."""
    begin = clock()
    i = cuda.grid(1)
    x = y = values[i]
    while trips > np.uint32(0):
        for _ in range(CHAINED):
            x = x * y + y
        trips = np.uint32(trips - np.uint32(1))
    target[i] = x
    clocks[i, 0] = multiprocessor()
    clocks[i, 1] = begin
    clocks[i, 2] = clock()


@cuda.jit
def micro_4_loaded_chase(links, ends, source, target, trips, clocks):
    """Block 0 follows links in DRAM while all others copy."""
    if cuda.blockIdx.x == 0:
        if cuda.threadIdx.x == 0:
            at = ends[0]
            begin = clock()
            while trips > np.uint32(0):
                for _ in range(UNROLLED):
                    at = links[at]
                trips = np.uint32(trips - np.uint32(1))
            ends[0] = at
            clocks[0, 0] = begin
            clocks[0, 1] = clock()
    else:
        step = (cuda.gridDim.x - 1) * cuda.blockDim.x
        i = (cuda.blockIdx.x - 1) * cuda.blockDim.x + cuda.threadIdx.x
        while i < target.size:
            target[i] = source[i]
            i += step


@cuda.jit
def micro_5_clock(start, turns, target, trips, clocks):
    """Multiply-adds by as many threads as fit: clocks and nanoseconds that they take."""
    i = np.uint32(cuda.grid(1))
    turn = turns[i]
    x = cuda.local.array(PAIRS, np.float32)
    for k in range(PAIRS):
        x[k] = start[i] + np.float32(k)
    begin, then = clock(), nanoseconds()
    while trips > np.uint32(0):
        for _ in range(UNROLLED):
            for k in range(PAIRS):
                x[k] = turn * x[k] + turn
        trips = np.uint32(trips - np.uint32(1))
    total = np.float32(0)
    for k in range(PAIRS):
        total += x[k]
    target[i] = total
    clocks[i, 0] = clock() - begin
    clocks[i, 1] = nanoseconds() - then


def run_1_shared(links: Array, target: Array, trips: int, clocks: Array) -> None:
    blocks = target.size // THREADS
    micro_1_shared_width[blocks, THREADS](links, target, np.uint32(trips), clocks)


def run_2_l1(links: Array, target: Array, trips: int, clocks: Array) -> None:
    micro_2_l1_width[target.size // THREADS, THREADS](links, target, np.uint32(trips), clocks)


def run_3_starts(values: Array, target: Array, trips: int, clocks: Array) -> None:
    """``values.size``: 32 for each block."""
    blocks = values.size // 32
    micro_3_block_start[blocks, 32, 0, FILLING](values, target, np.uint32(trips), clocks)


def run_4_loaded(
    links: Array, ends: Array, source: Array, target: Array, blocks: int, trips: int, clocks: Array
) -> None:
    loads = links, ends, source, target
    micro_4_loaded_chase[blocks, THREADS](*loads, np.uint32(trips), clocks)


def run_5_clock(start: Array, turns: Array, target: Array, trips: int, clocks: Array) -> None:
    micro_5_clock[start.size // 256, 256](start, turns, target, np.uint32(trips), clocks)


def links_in_quads(words: int = WORDS) -> np.ndarray:
    """Return links from each quad to that of the next warp, in the first of four words.

    The others are 0, so that their sum is the link."""
    links = np.zeros(words, np.uint32)
    links[::4] = (np.arange(0, words, 4) + 4 * 32) % words
    return links


def followed(threads: int, loads: int, words: int = WORDS) -> np.ndarray:
    """Return where each thread's walk through ``links_in_quads`` ends."""
    return (4 * (np.arange(threads) % THREADS) + 4 * 32 * loads) % words


_WIDE = "uint32[::1], uint32[::1], uint32, int64[:, ::1]"
_FLOATS = "float32[::1], float32[::1], uint32, int64[:, ::1]"
_LOADED = "uint32[::1], uint32[::1], float32[::1], float32[::1], uint32, int64[:, ::1]"
_CLOCK = "float32[::1], float32[::1], float32[::1], uint32, int64[:, ::1]"


def _step(kernel: Any, idea: str, run: Any, types: str, threads: int, *opcodes: str) -> Step:
    made = Built(kernel, types, threads, opcodes=opcodes)
    return Step(made.name, idea, run, (made,))


STEPS = (
    _step(micro_1_shared_width, "bytes a clock of shared memory", run_1_shared, _WIDE, THREADS,
          "LDS.128"),
    _step(micro_2_l1_width, "bytes a clock of L1", run_2_l1, _WIDE, THREADS, "LDG.E.128"),
    _step(micro_3_block_start, "from a block's end to the next one's start", run_3_starts,
          _FLOATS, 32, "FFMA"),
    _step(micro_4_loaded_chase, "latency of DRAM that is busy", run_4_loaded, _LOADED, THREADS,
          "LDG.E"),
    _step(micro_5_clock, "the clock under load", run_5_clock, _CLOCK, 256, "FFMA"),
)  # fmt: skip
