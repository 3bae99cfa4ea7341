"""Accesses of 16 bytes by each lane: their values, how they are counted, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import KernelError, KernelTypeError, MisalignedError, OutOfBoundsError
from warpwise.kernels.wide import load4, store4
from warpwise.simt import kernels_in

N = 1024
THREADS = N // 4


def numbers(n: int = N) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


@cuda.jit
def reversed_quads(x, y):
    i = 4 * cuda.grid(1)
    a, b, c, d = load4(x, i)
    store4(y, i, d, c, b, a)


@cuda.jit
def some_quads(x, y, stride):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        a, b, c, d = load4(x, 4 * stride * t)
        store4(y, 4 * t, a, b, c, d)


@cuda.jit
def through_shared(x, y, stride):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(4096, np.float32, alignment=16)
    a, b, c, d = load4(x, 4 * t)
    store4(tile, 4 * stride * t, a, b, c, d)
    cuda.syncthreads()
    a, b, c, d = load4(tile, 4 * stride * t)
    store4(y, 4 * t, a, b, c, d)


def test_a_quad_is_four_neighbours_loaded_and_stored():
    x, y = numbers(), np.zeros(N, np.float32)
    trace(reversed_quads, 2, THREADS // 2, x, y)
    assert np.array_equal(y.reshape(-1, 4)[:, ::-1].reshape(-1), x)


@pytest.mark.parametrize("dtype", ("int32", "uint32", "float32"))
def test_every_type_of_4_bytes_is_moved_as_it_is(dtype):
    x = np.random.default_rng(0).integers(0, 2**32, N, dtype=np.uint32).view(dtype)
    y = np.zeros(N, dtype)
    trace(reversed_quads, 1, THREADS, x, y)
    assert y.reshape(-1, 4)[:, ::-1].tobytes() == x.tobytes()


def test_a_warp_makes_one_request_of_sixteen_sectors():
    t = trace(reversed_quads, 2, THREADS // 2, numbers(), np.zeros(N, np.float32))
    m, warps = t.metrics, THREADS // 32
    assert m.global_load_requests == m.global_store_requests == warps
    assert m.global_load_sectors == m.global_store_sectors == 16 * warps
    assert m.global_load_bytes == m.global_store_bytes == 4 * N
    assert m.global_load_sectors_distinct == N // 8 and m.global_bytes_distinct == 8 * N
    assert {event.itemsize for event in t.events if event.addresses} == {16}


def test_lanes_that_are_masked_ask_for_nothing():
    x, y = numbers(N), np.zeros(N, np.float32)
    m = trace(some_quads, 1, 32, x, y, 2).metrics
    active = len(range(0, 32, 3))
    assert m.global_load_bytes == 16 * active and m.global_load_sectors == active
    assert np.count_nonzero(y.reshape(-1, 4).any(axis=1)) == active
    assert m.global_load_sectors_distinct == active and m.global_bytes_distinct == 2 * 16 * active


@pytest.mark.parametrize(("stride", "times"), ((1, 1), (3, 1), (5, 1), (2, 2), (4, 4), (8, 8)))
def test_shared_memory_serves_eight_lanes_at_a_time(stride, times):
    """Eight lanes of 16 bytes fill a wavefront, in 8 groups of four banks: gcd(stride, 8) each."""
    x, y = numbers(128), np.zeros(128, np.float32)
    m = trace(through_shared, 1, 32, x, y, stride).metrics
    assert np.array_equal(x, y)
    assert m.shared_load_requests == m.shared_store_requests == 1
    assert m.shared_load_wavefronts == m.shared_store_wavefronts == 4 * times
    assert m.shared_load_bank_conflicts == m.shared_store_bank_conflicts == 4 * (times - 1)
    assert m.shared_load_bytes == m.shared_store_bytes == 512


def test_the_lanes_that_share_an_element_race_for_it():
    @cuda.jit
    def overlapping(y):
        t = cuda.threadIdx.x
        store4(y, 4 * (t // 2), t, t, t, t)

    @cuda.jit
    def alike(y):
        store4(y, 0, 1, 2, 3, 4)

    @cuda.jit
    def one_differs(y):
        store4(y, 0, 1, 2, cuda.threadIdx.x, 4)

    races = {
        kernel: trace(kernel, 1, 32, np.zeros(64, np.float32)).races
        for kernel in (overlapping, alike, one_differs)
    }
    assert [race.index for race in races[overlapping]] == [(0,)]
    assert [race.same for race in races[alike]] == [True]
    assert [(race.index, race.same) for race in races[one_differs]] == [((2,), False)]


HEAD = """
import numpy as np
from warpwise import cuda
from warpwise.kernels.wide import load4, store4

@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    local = cuda.local.array(8, np.float32)
    square = x.reshape(32, 4)
"""

REFUSED = {
    "a, b, c, d = load4(x, 4 * t + 1)": (MisalignedError, "from index 1 on"),
    "a, b, c, d = load4(x, 4 * t + 4)": (OutOfBoundsError, "index 128 is outside x"),
    "store4(x, 4 * t - 4, 1, 2, 3, 4)": (OutOfBoundsError, "index -4 is outside x"),
    "a, b, c, d = load4(x[1:], 4 * t if t < 31 else 0)": (MisalignedError, "from index 0 on"),
    "a, b, c, d = load4(x[::2], 0)": (KernelError, "has gaps"),
    "a, b, c, d = load4(x, 4.0)": (KernelTypeError, "an index is an integer, and 4.0 is float64"),
    "a, b, c, d = load4(local, 0)": (KernelTypeError, "Try: name the elements one by one"),
    "a, b, c, d = load4(square, 0)": (KernelTypeError, "Try: pass a flat array"),
    "a, b, c, d = load4(x)": (KernelError, "load4(array, index) takes 2 arguments"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_a_gpu_would_stop_at_or_get_wrong_is_refused(line):
    """The kernel is read from a text that does not run, as the grader reads it."""
    kind, said = REFUSED[line]
    with pytest.raises(kind) as error:
        trace(kernels_in(f"{HEAD}    {line}\n")["kernel"], 1, 32, numbers(128))
    assert said in str(error.value) and line in str(error.value)


MAKES = "s = cuda.shared.array({}, np.{}{})\n    for k in range(4):\n        s[4 * t + k] = k"
BY_CHANCE = {
    MAKES.format(128, "float32", ""): "s is sure to begin at a multiple of 4 bytes alone",
    MAKES.format(128, "float32", ", alignment=8"): "at a multiple of 8 bytes alone",
    MAKES.format(0, "float32", ""): "at a multiple of 4 bytes alone",
    MAKES.format(128, "float32", ", alignment=32"): "",
    MAKES.format(0, "float32", ", alignment=16"): "",
}


@pytest.mark.parametrize("makes", BY_CHANCE)
def test_sixteen_bytes_of_a_shared_array_are_aligned_by_more_than_chance(makes):
    """Whether they are does not depend on where the array happens to lie: here all begin at 0."""
    kernel = kernels_in(f"{HEAD}    {makes}\n    a, b, c, d = load4(s, 4 * t)\n")["kernel"]
    if not BY_CHANCE[makes]:
        trace(kernel, 1, 32, numbers(128), shared_bytes=512 if "(0," in makes else 0)
        return
    with pytest.raises(MisalignedError, match=BY_CHANCE[makes]) as error:
        trace(kernel, 1, 32, numbers(128), shared_bytes=512 if "(0," in makes else 0)
    assert "Try: alignment=16 in the cuda.shared.array(...) that makes s" in str(error.value)


def test_a_warp_that_waits_sees_a_wide_store():
    """A scheduled warp polls one element of what another one stores four at a time."""

    @cuda.jit
    def signal(flags, y):
        t = cuda.threadIdx.x
        if t == 32:
            store4(flags, 4, 0, 0, 1, 0)
        if t == 0:
            seen = load4(flags, 4)
            while seen[2] == 0:
                seen = load4(flags, 4)
            y[0] = seen[2]

    flags, y = np.zeros(8, np.int32), np.zeros(1, np.int32)
    trace(signal, 1, 64, flags, y)
    assert y[0] == 1
