"""CUDA's own words, by their path below ``cuda``: what a kernel calls, and what it reads.

Functions of numbers come from the tables in ``builtins``; every other word has its handler here. In
examples ``whole`` is an array of integers, and ``states`` is one of random states."""

from __future__ import annotations

from functools import partial

from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.builtins.random_functions import RANDOM
from warpwise.simt.compiler import (
    array_calls,
    atomic_calls,
    cached_calls,
    cuda_calls,
    random_calls,
    vectors,
    warp_calls,
)
from warpwise.simt.compiler.context import Call, Read
from warpwise.simt.compiler.entries import Entry
from warpwise.simt.compiler.language.functions import of_numbers
from warpwise.simt.frontend.written import CACHED_STORES

MASK = "0xffffffff"


def _gives(path: str, shown: str, handler: Call, arguments: str) -> Entry[Call]:
    """Make the entry of a word whose value an example stores."""
    return Entry(path, shown, handler, f"out[i] = cuda.{path}({arguments})")


def _block_vote(kind: str) -> Entry[Call]:
    handler = partial(warp_calls.block_vote, kind=kind)
    return _gives(f"syncthreads_{kind}", "(predicate)", handler, "int(i > 3)")


def _fence(path: str, scope: str) -> Entry[Call]:
    return Entry(path, "()", partial(warp_calls.fence, scope=scope), f"cuda.{path}()")


def _shuffle(path: str, kind: str, third: str, source: int) -> Entry[Call]:
    handler = partial(warp_calls.shuffle, kind=kind, third=third)
    return _gives(path, f"(mask, value, {third})", handler, f"{MASK}, i, {source}")


def _vote(kind: str) -> Entry[Call]:
    handler = partial(warp_calls.vote, kind=kind)
    return _gives(f"{kind}_sync", "(mask, predicate)", handler, f"{MASK}, i > 3")


def _atomic(kind: str) -> Entry[Call]:
    arguments = atomic_calls.ARGUMENTS[kind]
    index = "0, " if "index" in arguments else ""
    example = f"cuda.atomic.{kind}(whole, {index}{'1, 2' if 'old' in arguments else 1})"
    handler = partial(atomic_calls.atomic_call, kind=kind)
    return Entry(f"atomic.{kind}", arguments, handler, example)


def _cached_load(name: str) -> Entry[Call]:
    return _gives(name, "(array, index)", cached_calls.cached_load, "whole, 0")


def _cached_store(name: str) -> Entry[Call]:
    example = f"cuda.{name}(out, i, 1)"
    return Entry(name, "(array, index, value)", cached_calls.cached_store, example)


def _random(name: str) -> Entry[Call]:
    handler = partial(random_calls.random_call, name=name)
    return _gives(f"random.{name}", "(states, index)", handler, "states, i")


def _vector(name: str, size: int) -> Entry[Call]:
    handler, shown = partial(vectors.vector, name=name), f"({', '.join(vectors.PARTS[:size])})"
    numbers = ", ".join("1" * size)
    return Entry(name, shown, handler, f"v = cuda.{name}({numbers})\nout[i] = v.x")


#: The words of CUDA that take threads, blocks, memory and warps into account.
WORDS: tuple[Entry[Call], ...] = (
    _gives("grid", "(1)", cuda_calls.grid, "1"),
    _gives("gridsize", "(1)", cuda_calls.gridsize, "1"),
    Entry(
        "shared.array",
        "(shape, dtype)",
        array_calls.shared_array,
        "s = cuda.shared.array(32, np.float32)\ns[i] = 1\nout[i] = s[i]",
    ),
    Entry(
        "local.array",
        "(shape, dtype)",
        array_calls.local_array,
        "s = cuda.local.array((2, 2), np.float32)\ns[1, 1] = i\nout[i] = s[1, 1]",
    ),
    Entry(
        "const.array_like",
        "(TABLE)",
        array_calls.const_array_like,
        "table = cuda.const.array_like(TABLE)\nout[i] = table[i % 4]",
    ),
    Entry("syncthreads", "()", cuda_calls.syncthreads, "cuda.syncthreads()"),
    *map(_block_vote, ("count", "and", "or")),
    _fence("threadfence", "grid"),
    _fence("threadfence_block", "block"),
    _fence("threadfence_system", "system"),
    Entry("syncwarp", "(mask)", warp_calls.syncwarp, f"cuda.syncwarp()\ncuda.syncwarp({MASK})"),
    _gives("activemask", "()", warp_calls.activemask, ""),
    _gives("lanemask_lt", "()", warp_calls.lanemask_lt, ""),
    _shuffle("shfl_sync", "idx", "src_lane", 0),
    _shuffle("shfl_up_sync", "up", "delta", 1),
    _shuffle("shfl_down_sync", "down", "delta", 1),
    _shuffle("shfl_xor_sync", "xor", "lane_mask", 1),
    *map(_vote, ("all", "any", "eq", "ballot")),
    _gives(
        "match_any_sync",
        "(mask, value)",
        partial(warp_calls.match, kind="any"),
        f"{MASK}, i % 3",
    ),
    Entry(
        "match_all_sync",
        "(mask, value)",
        partial(warp_calls.match, kind="all"),
        f"mask, same = cuda.match_all_sync({MASK}, i % 3)\nout[i] = mask",
    ),
    Entry("cg.this_grid", "()", warp_calls.this_grid, "cuda.cg.this_grid().sync()"),
    *map(_atomic, "add sub and_ or_ xor inc dec exch min max nanmin nanmax".split()),
    *map(_atomic, ("cas", "compare_and_swap")),
    *map(_random, RANDOM),
    *map(_cached_load, cached_calls.LOADS),
    *map(_cached_store, CACHED_STORES),
)
OF_NUMBERS = tuple(of_numbers(f"cuda.{path}", f, path) for path, f in CUDA_FUNCTIONS.items())
OF_VECTORS = tuple(_vector(name, t.size) for name, t in vectors.VECTORS.items())
CALLED = (*WORDS, *OF_NUMBERS, *OF_VECTORS)


def _value(path: str, read: Read) -> Entry[Read]:
    return Entry(path, "", read, f"out[i] = cuda.{path}")


_PLACES = {
    "threadIdx": cuda_calls.thread_index,
    "blockIdx": cuda_calls.block_index,
    "blockDim": cuda_calls.block_size,
    "gridDim": cuda_calls.grid_size,
}
#: Words that are values.
READ: tuple[Entry[Read], ...] = (
    _value("warpsize", cuda_calls.warp_size),
    _value("laneid", cuda_calls.lane_index),
    *(
        _value(f"{name}.{axis}", partial(read, i))
        for name, read in _PLACES.items()
        for i, axis in enumerate("xyz")
    ),
)
