"""Finer points of the language, and launches as a learner writes them.

Programs in ``programs/oracle/`` cannot show these."""

import re
import warnings

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.cuda import RaceWarning
from warpwise.errors import LaunchError
from warpwise.simt import kernels_in

HEAD = """
import numpy as np
from numba import cuda, float32, int64

@cuda.jit(device=True)
def low_and_high(a, b):
    if a > b:
        return b, a
    return a, b

@cuda.jit(device=True)
def number_or_float(n):
    if n > 3:
        return 0.5
    return n

@cuda.jit(device=True)
def gcd(a, b):
    while True:
        if b == 0:
            return a
        a, b = b, a % b

@cuda.jit(device=True)
def bump(x, i):
    x[i] += 1
    return x[i]

@cuda.jit
def kernel(x, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
"""


def run(body: str, threads=40, blocks=2, x=None, dtype=np.float64, **options):
    """Return the second array after the kernel ran over ``blocks`` blocks."""
    kernel = kernels_in(HEAD + re.sub("^", "    ", body.strip("\n"), flags=re.MULTILINE))["kernel"]
    out = np.zeros(threads * blocks, dtype)
    x = np.arange(threads * blocks, dtype=np.int64) if x is None else x
    trace(kernel, blocks, threads, x, out, **options)
    return out


I = np.arange(80, dtype=np.int64)  # noqa: E741  (the thread's number in the grid, as in the kernels, and in its block)
T = I % 40

PROGRAMS = {
    "lane and warp": ("out[i] = cuda.laneid + 100 * cuda.warpsize", T % 32 + 3200),
    "a tuple from a function, its items of different types": (
        "low, high = low_and_high(i, 40.5)\nout[i] = low + 100 * high",
        np.minimum(I, 40.5) + 100 * np.maximum(I, 40.5),
    ),
    "results of different types": ("out[i] = number_or_float(t) / 2", np.where(T > 3, 0.25, T / 2)),
    "a function that only returns inside its loop": ("out[i] = gcd(i, 12)", np.gcd(I, 12)),
    "a function with a side effect is called once": (
        "v, w = bump(out, i), 0\nout[i] += v",
        np.full(80, 2),
    ),
    "a tuple of arrays": ("pair = (x, out)\npair[1][i] = pair[0][i]", I),
    "a tuple of tuples, chosen by lane": (
        "p = ((1, 2), 3) if t > 5 else ((4, 5), 6)\nout[i] = p[0][1]",
        np.where(T > 5, 2, 5),
    ),
    "a shape": (
        "n = out.shape[0]\nm, = out.shape\nout[i] = n + m + out.ndim + len(out.shape)",
        np.full(80, 162),
    ),
    "a variable changes its type": (
        "v = i\nv = v / 2\nv = v > 10\nout[i] = v + 1",
        (I / 2 > 10) + 1,
    ),
    "a variable changes its type in a loop": (
        "v = 0\nfor k in range(3):\n    v = v / 2 + i\nout[i] = v",
        1.75 * I,
    ),
    "a value carried from the trip before": (
        "for k in range(4):\n    if k > 0:\n        out[i] += before\n    before = k * i\n",
        3 * I,
    ),
    "annotated assignment": ("v: int = i\nw: float\nout[i] = v", I),
    "pass and docstrings and constants": ('"""Text."""\npass\n...\nout[i] = 1', np.ones(80)),
    "a condition without a branch": (
        "out[i] = (t > 3) * 10 + (not t) + (t > 3 and t < 9)",
        (T > 3) * 10 + (T == 0) + ((T > 3) & (T < 9)),
    ),
    "and, or give a truth value": ("v = t > 3 or t == 0\nout[i] = v", (T > 3) | (T == 0)),
    "division by a power of two of either sign": (
        "v = i - 40\nout[i] = v // 8 * 1000 + v % 8",
        (I - 40) // 8 * 1000 + (I - 40) % 8,
    ),
    "integers wrap in a loop": (
        "v = 1\nfor k in range(70):\n    v = v * 3\nout[i] = v % 1000",
        np.full(80, np.int64(3) ** 70 % 1000),
    ),
    "uniform loop, lanes leaving": (
        "for k in range(50):\n    if k == t:\n        break\n    out[i] += 1",
        T,
    ),
    "return in the middle": (
        "for k in range(50):\n    if k == t:\n        return\n    out[i] += 1",
        T,
    ),
    "continue in a while": (
        "k = 0\nwhile k < 10:\n    k += 1\n    if (k + t) % 2:\n        continue\n    out[i] += k",
        np.where(T % 2, 25, 30),
    ),
    "a range of steps that differ": (
        "for k in range(20, t, -3 if t % 2 else -7):\n    out[i] += 1",
        [len(range(20, t, -3 if t % 2 else -7)) for t in T],
    ),
    "an element of an element": ("out[x[(i + 1) % 80]] = i", (I - 1) % 80),
    "augmented assignment, its index computed once": (
        "k = 0\nout[i] += x[i]\nout[i] *= out[i]",
        I**2,
    ),
    "and guards what is to its right, twice": (
        "if i + 1 < 80 and i >= 0 and x[i + 1] > 40:\n    out[i] = 1",
        (I > 39) & (I < 79),
    ),
    "or guards what is to its right, twice": (
        "if i == 79 or i < 0 or x[i + 1] > 40:\n    out[i] = 1",
        I > 39,
    ),
    "negative numbers as indices": (
        (
            "s = cuda.local.array((2, 3), int64)\n"
            "s[-1, -2] = i\n"
            "s[0, 1] = 7\n"
            "out[i] = s[1, 1] + 100 * s[-2, 1]"
        ),
        I + 700,
    ),
    "shared memory by indices computed anew on each trip": (
        (
            "s = cuda.shared.array(40, int64)\n"
            "s[t] = t\n"
            "cuda.syncthreads()\n"
            "for k in range(9):\n"
            "    out[i] += s[(t + k) % 40] * 10**k % 97"
        ),
        sum((T + k) % 40 * 10**k % 97 for k in range(9)),
    ),
    "a variable that each side of a branch gives a value": (
        "if t % 2:\n    v = i\n    w = 1\nelse:\n    v = -i\n    w = 2\nout[i] = 10 * v + w",
        np.where(T % 2, 10 * I + 1, 2 - 10 * I),
    ),
    "a variable that one side gives a value twice": (
        "if t % 2:\n    v = 1\nif t % 2 == 0:\n    v = 2\nif t % 2:\n    v = 3\nout[i] = v",
        np.where(T % 2, 3, 2),
    ),
    "continue on one trip, break on another": (
        (
            "for k in range(9):\n"
            "    if k == t % 3:\n"
            "        continue\n"
            "    if k == t % 5 + 2:\n"
            "        break\n"
            "    out[i] += 10**k"
        ),
        [
            sum(10**k for k in range(9 if t % 5 + 2 == t % 3 else t % 5 + 2) if k != t % 3)
            for t in T
        ],
    ),
    "min and max of more than two": (
        "out[i] = min(i, 50, 2 * i - 3) + max(i, 7, 3)",
        np.minimum(np.minimum(I, 50), 2 * I - 3) + np.maximum(I, 7),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_language(name):
    body, want = PROGRAMS[name]
    np.testing.assert_array_equal(run(body), want)


def test_buffers_that_change_places():
    out = run(
        "a, b = x, out\nfor k in range(3):\n    a, b = b, a\na[i] = 7\nb[i] = 5", dtype=np.int64
    )
    np.testing.assert_array_equal(out, 7)


def test_nothing_is_left_of_lanes_that_returned():
    out = run(
        "if t % 2:\n"
        "    return\n"
        "for k in range(t):\n"
        "    out[i] += 1\n"
        "    if k > 5:\n"
        "        return\n"
        "out[i] += 100"
    )
    want = [0 if t % 2 else t + 100 if t <= 6 else 7 for t in T]
    np.testing.assert_array_equal(out, want)


def test_blocks_in_many_batches_are_all_run():
    out = run("out[i] = cuda.blockIdx.x", threads=3, blocks=20_000)
    np.testing.assert_array_equal(out, np.repeat(np.arange(20_000), 3))


# --- launches as a learner writes them ---


@cuda.jit
def scale(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i]


@cuda.jit
def turned_without_a_barrier(x):
    part = cuda.shared.array(32, np.float32)
    part[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    x[cuda.threadIdx.x] = part[31 - cuda.threadIdx.x]


@cuda.jit(device=True)
def helper(x):
    return x


def test_a_launch_updates_the_arrays():
    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    scale[2, 32](x, y, 3)
    np.testing.assert_array_equal(y, 3 * x)
    scale[(2,), (32,)](x, y, np.float32(2))
    np.testing.assert_array_equal(y, 2 * x)
    scale[2, 32, 0, 0](x, y, 1)  # a stream and dynamic shared memory, as for Numba
    np.testing.assert_array_equal(y, x)


def test_device_arrays():
    x = cuda.to_device(np.arange(50, dtype=np.float32))
    y = cuda.device_array_like(x)
    assert (y.shape, y.dtype, y.size, y.ndim, len(y), y.nbytes) == (
        (50,),
        np.float32,
        50,
        1,
        50,
        200,
    )
    scale[2, 32](x, y, 2)
    np.testing.assert_array_equal(y.copy_to_host(), 2 * np.arange(50))
    scale[2, 32](x[10:], y[:40], 1)
    np.testing.assert_array_equal(y.copy_to_host()[:40], np.arange(10, 50))
    host = np.zeros(50, np.float32)
    assert y.copy_to_host(host) is host and host[0] == 10
    y[0] = 5
    assert y[0] == 5
    z = cuda.device_array((2, 3), np.int32)
    assert (z.shape, z.dtype) == ((2, 3), np.int32)
    z.copy_to_device(np.ones((2, 3), np.int32))
    assert z.copy_to_host().sum() == 6
    cuda.synchronize()


def test_to_device_copies():
    host = np.zeros(3)
    device = cuda.to_device(host)
    host[0] = 1
    assert device.copy_to_host()[0] == 0


def test_a_launch_warns_of_races():
    with pytest.warns(
        RaceWarning, match=r"turned_without_a_barrier: race on part\[31\] in shared memory"
    ):
        turned_without_a_barrier[1, 32](np.zeros(32, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale[1, 32](np.zeros(9), np.zeros(9), 1)


def test_a_kernel_is_launched_and_not_called():
    with pytest.raises(
        LaunchError,
        match=r"scale is a kernel, .*: scale\[blocks, threads\].* take the decorator away",
    ):
        scale(1, 2, 3)
    with pytest.raises(LaunchError, match="helper is a device function"):
        helper(1)
    with pytest.raises(LaunchError, match=r"1 parts? (was|were) given"):
        scale[32](np.zeros(9), np.zeros(9), 1)


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (
            (np.zeros(9),),
            (
                r"scale\(x, y, a\) takes 3 arguments, and the launch passes 1: "
                r"an array of float64 with shape \(9,\)"
            ),
        ),
        ((np.zeros(9), np.zeros(9), "3"), "argument a is a str"),
        ((np.zeros(9), [0] * 9, 3), "argument y is a list"),
        ((np.zeros(9, "M8[s]"), np.zeros(9), 3), r"x is an array of datetime64\[s\]"),
        ((np.zeros(9, "U3"), np.zeros(9), 3), "x is an array of <U3"),
        ((np.zeros(9), np.broadcast_to(np.zeros(1), 9), 3), "read-only"),
    ],
)
def test_arguments_that_a_kernel_does_not_take(args, what):
    with pytest.raises(LaunchError, match=what):
        trace(scale, 1, 32, *args)


def test_a_read_only_array_can_be_read():
    x = np.ones(9)
    x.flags.writeable = False
    y = np.zeros(9)
    trace(scale, 1, 32, x, y, 2)
    np.testing.assert_array_equal(y, 2)


def test_arguments_that_share_memory_see_each_others_writes():
    text = """
from numba import cuda
@cuda.jit
def shift(a, b):
    i = cuda.threadIdx.x
    a[i] = 7
    b[i] += 1
"""
    d = cuda.to_device(np.zeros(10))
    trace(kernels_in(text)["shift"], 1, 9, d[:9], d[1:])
    np.testing.assert_array_equal(d.copy_to_host(), [7] + [8] * 8 + [1])


def test_host_arrays_that_share_memory_are_copies_which_come_back_in_order():
    text = """
from numba import cuda
@cuda.jit
def shift(a, b):
    i = cuda.threadIdx.x
    a[i] = b[i] + 1
    b[i] += 2
"""
    x = np.arange(5.0)
    t = trace(kernels_in(text)["shift"], 1, 4, x[:4], x[1:])
    np.testing.assert_array_equal(x, [2, 3, 4, 5, 6])
    (note,) = t.notes
    assert "a and b share memory on the host" in str(note) and "to_device" in note.try_this
    assert t.races == () and [array.address % 256 for array in t.arrays] == [0, 0]
    y = np.zeros(4)
    trace(kernels_in(text.replace("b[i] += 2", "pass"))["shift"], 1, 4, y, y)
    np.testing.assert_array_equal(y, 0)  # the copy of b comes back last


def test_an_unknown_name_of_cuda():
    with pytest.raises(AttributeError, match=r"cuda\.nothing is not known"):
        _ = cuda.nothing
    assert cuda.is_available()  # as in Numba's simulator: kernels can be launched


def test_negative_powers_of_integers_are_cut_to_integers_alike_for_one_value_and_for_many():
    @cuda.jit
    def powers(base, exponent, many, one):
        i = cuda.grid(1)
        many[i] = base[i] ** exponent[i]
        one[0] = base[0] ** exponent[0]

    for base, exponent in [(2, -1), (1, -5), (-1, -3), (-1, -2), (3, 4), (0, 3), (-3, 3), (0, -1)]:
        many, one = np.zeros(4, np.int64), np.zeros(1, np.int64)
        trace(powers, 1, 4, np.full(4, base), np.full(4, exponent), many, one)
        want = base**exponent if exponent >= 0 else base ** (-exponent) if abs(base) == 1 else 0
        assert [*many, *one] == [want] * 5
