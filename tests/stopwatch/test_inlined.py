"""Intrinsics, whose lines no instruction names: their work belongs to the lines that call them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.kernels import copy
from warpwise.kernels.native import native
from warpwise.kernels.wide import store4
from warpwise.stopwatch.evidence import named_lines
from warpwise.stopwatch.inlined import inlined
from warpwise.toolchain import missing
from warpwise.traces import KINDS, Function

N = 2**14
U32 = np.uint32


def _one_by_one(array, index):
    return (
        array[index],
        array[index + U32(1)],
        array[index + U32(2)],
        array[index + U32(3)],
    )


@native(_one_by_one)
def load_four(typingctx, array, index):
    """An intrinsic that the simulator runs as plain Python; no kernel here is compiled."""


def _each(array, index, a, b, c, d):
    array[index] = a
    array[index + U32(1)] = b
    array[index + U32(2)] = c
    array[index + U32(3)] = d


@native(_each)
def store_four(typingctx, array, index, a, b, c, d):
    """One that stores."""


@cuda.jit
def add_wide(x, y, z):
    i = U32(4) * U32(cuda.grid(1))
    a, b, c, d = load_four(x, i)  # the first call
    for _ in range(3):
        e, f, g, h = load_four(y, i)  # the second one
        a, b, c, d = a + e, b + f, c + g, d + h
    store4(z, i, a, b, c, d)


def line(t, text: str) -> int:
    return next(n for n, source in t.source.items() if text in source)


def added():
    x, y, z = (np.ones(N, np.float32) for _ in range(3))
    return trace(add_wide, N // 1024, 256, x, y, z)


def test_each_call_gets_the_loads_that_it_made():
    t = added()
    first, second = line(t, "# the first call"), line(t, "# the second one")
    (function,) = t.functions
    made = inlined(t, sorted(n for n in t.source if n > function.last))
    assert made.functions == () and min(made.by_line) > function.last
    loads = made.records.line[made.records.kind == KINDS.index("load")].tolist()
    assert (loads.count(first), loads.count(second)) == (4, 12)
    requests = made.by_line[first].global_load_requests, made.by_line[second].global_load_requests
    assert requests == (N // 32, 3 * N // 32)
    assert sum(m.warp_instructions for m in made.by_line.values()) == t.metrics.warp_instructions


def test_without_records_calls_share_alike():
    t = added()
    bare = trace(add_wide, N // 1024, 256, *[np.ones(N, np.float32)] * 3, record=())
    made = inlined(bare, [line(t, "# the first call")])
    assert sum(m.global_load_requests for m in made.by_line.values()) == 4 * N // 32
    assert min(made.by_line) > t.functions[0].last


@cuda.jit
def staged(x, y, trips):
    tile = cuda.shared.array(512, np.float32, alignment=16)
    i = U32(4) * U32(cuda.threadIdx.x)
    a, b, c, d = load_four(x, i)
    store_four(tile, i, a, b, c, d)  # before
    for _ in range(trips):
        e, f, g, h = load_four(x, i)  # from global memory
        a, b, c, d = load_four(tile, i)  # from shared memory
        store_four(tile, i + U32(0), a + e, b + f, c + g, d + h)  # within
        cuda.syncthreads()
    store_four(y, i + U32(0), a, b, c, d)  # after


def test_calls_beyond_the_recorded_events_count_as_often_as_their_lines():
    """And those with another type, from other lines, have what is of their own space."""
    x, y = (np.ones(512, np.float32) for _ in range(2))
    t = trace(staged, 1, 128, x, y, 40, sanitize=False, max_records=400)
    assert t.truncated
    made = inlined(t, sorted(n for n in t.source if n >= line(t, "def staged")))
    stores = {text: made.by_line[line(t, text)] for text in ("# before", "# within", "# after")}
    requests = {text: m.shared_store_requests for text, m in stores.items()}
    assert requests == {"# before": 16, "# within": 640, "# after": 0}
    assert stores["# after"].global_store_requests == 16
    assert made.by_line[line(t, "# from shared memory")].shared_load_requests == 640
    assert made.by_line[line(t, "# from global memory")].global_load_requests == 640


def test_a_function_that_instructions_name_stays():
    t = added()
    (function, *_) = t.functions
    assert function in inlined(t, [function.first]).functions
    assert inlined(t, [f.first for f in t.functions]) is t


@pytest.mark.skipif(bool(missing()), reason=f"no {', '.join(missing())}")
def test_a_wide_copy_moves_what_a_plain_one_does():
    plain, wide = (
        trace(kernel, N // threads, 256, np.ones(N, np.float32), np.ones(N, np.float32), U32(n))
        for kernel, threads, n in ((copy.copy_1_plain, 256, N), (copy.copy_2_wide, 1024, N // 4))
    )
    one, other = plain.time("RTX A6000", grid=2**18), wide.time("RTX A6000", grid=2**16)
    assert one.binds == other.binds == "DRAM"
    assert other.dram_bytes == pytest.approx(one.dram_bytes, rel=0.01)
    assert other.seconds == pytest.approx(one.seconds, rel=0.1)


def test_lines_of_another_file_are_not_the_kernel_s_of_the_same_number():
    """Line 95 of a device function's file is 1095 where the kernel has a line 95 of its own."""
    other = Function("add", 1084, 1101, 1000, (97,))
    t = SimpleNamespace(file="kernel.py", source={95: "wait()", 97: "add()"}, functions=(other,))
    places = [("/a/kernel.py", 95), ("/a/tiles.py", 95), ("/a/tiles.py", 97), ("/a/math.py", 40)]
    ops = [SimpleNamespace(file=file, line=line) for file, line in places]
    assert named_lines(t, ops) == [95, 1095, 1097, 0]
    in_a_cell = [SimpleNamespace(file="/tmp/12.py", line=95)]
    assert named_lines(t, in_a_cell) == [95]
