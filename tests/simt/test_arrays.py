"""Arrays in kernels, beyond ``programs/oracle/``: counts, mistakes and refusals.

Results that Numba's simulator cannot give (records in shared memory, dynamic shared memory of two
types) are compared with NumPy."""

import itertools
from collections import namedtuple

import numpy as np
import pytest

from warpwise import Trace, cuda, trace
from warpwise.devices import T4
from warpwise.errors import (
    KernelTypeError,
    LaunchError,
    MisalignedError,
    OutOfBoundsError,
    UnsupportedError,
    UnwrittenReadError,
)
from warpwise.simt import kernels_in
from warpwise.simt.machine.derived_views import Bounds

PACKED = np.dtype([("k", np.int8), ("x", np.float64)])
TIGHT = np.dtype([("x", np.float64), ("k", np.int32)])
PAIR = np.dtype([("x", np.float32), ("n", np.int32)])
HEAD = """
import cmath
import numpy as np
from numba import cuda, float32, float64, int32, complex64
import numba.cuda as other
from numba.cuda import float32x4 as four

PACKED = np.dtype([("k", np.int8), ("x", np.float64)])
TIGHT = np.dtype([("x", np.float64), ("k", np.int32)])
PAIR = np.dtype([("x", np.float32), ("n", np.int32)])
TABLE = np.array([1, 2, 4, 8], dtype=np.float32)
LARGE = np.zeros(20000)
SHAPE = (2, 4)

@cuda.jit
def kernel(x, out):
    i, t = cuda.grid(1), cuda.threadIdx.x
"""
FIRST = HEAD.count("\n") + 1  # line of the kernel's text after its head
I = np.arange(64)  # noqa: E741  (the thread's number in the grid, as in the kernels, and in its block)
T = I % 32


def traced(body: str, x=None, out=None, blocks=2, threads=32, **options):
    """Return the second array after the kernel ran, and the trace."""
    kernel = kernels_in(HEAD + "".join(f"    {line}\n" for line in body.split("\n")))["kernel"]
    out = np.zeros(blocks * threads) if out is None else out
    return out, trace(
        kernel, blocks, threads, np.arange(blocks * threads) if x is None else x, out, **options
    )


def given(body: str, **more):
    return traced(body, **more)[0]


Point = namedtuple("Point", "x y")
RESULTS = {
    "dynamic shared memory": (
        (
            "s = cuda.shared.array(0, float32)\n"
            "s[t] = i\n"
            "cuda.syncthreads()\n"
            "out[i] = s[31 - t] + s.size"
        ),
        {"shared_bytes": 128},
        I - T + 31 - T + 32,
    ),
    "dynamic shared memory cut in two": (
        (
            "s = cuda.shared.array(0, float32)\n"
            "a = s[:32]\n"
            "b = s[32:].view(int32)\n"
            "a[t] = 1.5\n"
            "b[t] = t\n"
            "out[i] = a[t] + b[t]"
        ),
        {"shared_bytes": 256},
        1.5 + T,
    ),
    "dynamic arrays begin at one address": (
        (
            "s = cuda.shared.array(0, float32)\n"
            "d = cuda.shared.array(0, int32)\n"
            "s[t] = 1.0\n"
            "out[i] = d[t]"
        ),
        {"shared_bytes": 128},
        np.full(64, np.float32(1).view(np.int32)),
    ),
    "halves of a double": (
        (
            "s = cuda.shared.array(0, int32)\n"
            "d = cuda.shared.array(0, float64)\n"
            "d[t] = i\n"
            "out[i] = s[2 * t + 1]"
        ),
        {"shared_bytes": 256},
        I.astype(float).view(np.int32)[1::2],
    ),
    "records in shared memory": (
        (
            "s = cuda.shared.array(32, PAIR)\n"
            "s[t].x = i\n"
            "s[t].n = t\n"
            "cuda.syncthreads()\n"
            "r = s[31 - t]\n"
            "out[i] = r.x + 100 * r['n']"
        ),
        {},
        I - T + 31 - T + 100 * (31 - T),
    ),
    "records in local memory": (
        (
            "s = cuda.local.array((2, 2), PAIR)\n"
            "s[1, 0].x = i\n"
            "s[1, 0].n = t\n"
            "r = s[1]\n"
            "out[i] = r[0].x + r.n[0]"
        ),
        {},
        I + T,
    ),
    "a record is copied": (
        (
            "s = cuda.shared.array(32, PAIR)\n"
            "m = cuda.local.array(1, PAIR)\n"
            "m[0].x = i\n"
            "m[0].n = 1\n"
            "s[t] = m[0]\n"
            "out[i] = s[t].x + s[t].n"
        ),
        {},
        I + 1,
    ),
    "constants from text": (
        "out[i] = TABLE[i % 4] + cuda.const.array_like(TABLE)[-1] + TABLE.size",
        {},
        np.array([1, 2, 4, 8])[I % 4] + 12.0,
    ),
    "vectors, by any name": (
        (
            "v = four(1, 2, 3, i)\n"
            "w = other.float4(cuda.float32x2(5, 6), v.x, 7)\n"
            "out[i] = v.w + w.y + w.z + cuda.int2(2.7, t).x"
        ),
        {},
        I + 9.0,
    ),
    "a vector chosen by lane": (
        "v = cuda.int2(1, 2) if t < 5 else cuda.int2(3, 4)\nout[i] = v.x",
        {},
        np.where(T < 5, 1, 3),
    ),
    "two arrays on a line": (
        (
            "a, b = cuda.shared.array(32, float32), cuda.shared.array(32, float32)\n"
            "a[t] = 1\n"
            "b[t] = 2\n"
            "out[i] = a[t] + 10 * b[t]"
        ),
        {},
        np.full(64, 21),
    ),
    "a shape from a variable that is one number": (
        "n = 32\na = cuda.shared.array(n, float32)\na[t] = 1\nout[i] = a[t] + a.size",
        {},
        np.full(64, 33),
    ),
    "a shape from a tuple": (
        "a = cuda.local.array(SHAPE[1], float32)\na[3] = 1\nout[i] = a[3] + a.size",
        {},
        np.full(64, 5),
    ),
    "an alignment": (
        "a = cuda.shared.array(shape=32, dtype=float32, alignment=16)\na[t] = 1\nout[i] = a[t]",
        {},
        np.ones(64),
    ),
    "a type of an array": (
        "m = cuda.local.array(2, x.dtype)\nm[0] = x.dtype.type(i + 0.5)\nout[i] = m[0]",
        {},
        I,
    ),
    "a filled array": (
        (
            "m = cuda.local.array((2, 2), float32)\n"
            "m.fill(3)\n"
            "m[1].fill(4)\n"
            "out[i] = m[0, 1] + m[1, 1]"
        ),
        {},
        np.full(64, 7),
    ),
    "backwards": ("out[i] = x[i]", {"x": I[::-1].astype(float)}, I[::-1]),
    "every other element": ("out[i] = x[i]", {"x": np.arange(128.0)[::2]}, 2 * I),
    "between elements, with gaps": (
        "out[i] = x[i]",
        {"x": np.ones(64, [("x", "f4"), ("gap", "u1", 8)])["x"]},
        np.ones(64),
    ),
    "a named tuple": ("out[i] = x.x + x[1]", {"x": Point(2, 0.5)}, np.full(64, 2.5)),
    "a named tuple of arrays": ("out[i] = x.y[i] + x.x[i]", {"x": Point(I, 2.0 * I)}, 3 * I),
    "a tuple of tuples": ("out[i] = x[0][1][i] + x[1]", {"x": ((1, I), 0.5)}, I + 0.5),
    "one array of several, in a loop": (
        "for k in range(2):\n    out[i] += x[k][i]",
        {"x": (I, 10 * I)},
        11 * I,
    ),
    "an item of a tuple, by lane": (
        "out[i] = (5, 7, 9)[t % 3] + (1, 2)[-1]",
        {},
        np.array([5, 7, 9])[T % 3] + 2,
    ),
    "complex parts": (
        "z = complex(t, 2) * 1j\nout[i] = z.real + 100 * z.imag + abs(3 + 4j) + z.conjugate().imag",
        {},
        -2 + 100 * T + 5 - T,
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    body, options, want = RESULTS[name]
    np.testing.assert_array_equal(given(body, **options), want)


def test_a_view_moves_on_in_the_few_lanes_that_stay_in_a_loop():
    """Forty blocks, so that these lanes go on in a lane group of their own."""
    body = (
        "part = x[t:]\n"
        "for k in range(40 if t == 3 else 1):\n"
        "    part = part[:-1] if k % 2 else part[1:]\n"
    )
    body += "out[i] = part[0] + 1000 * len(part)"
    want = np.where(
        np.arange(32) == 3,
        3 + 20 + 1000 * (197 - 40),
        np.arange(32) + 1 + 1000 * (200 - np.arange(32) - 1),
    )
    np.testing.assert_array_equal(given(body, x=np.arange(200), blocks=40), np.tile(want, 40))


def test_slices_are_cut_as_python_cuts_them():
    ends = [None, *range(-6, 7)]
    for size, step in itertools.product(range(5), (1, 2, 3, -1, -2, -3)):
        for first, last in itertools.product(ends, ends):
            want = range(size)[first:last:step]
            lanes = [None if end is None else np.array([[end, 0]]) for end in (first, last)]
            plain = Bounds(first, last, step)
            for bounds, wide in (
                (plain, size),
                (Bounds(*lanes, step), size),
                (plain, np.array([[size]])),
            ):
                start, length = (int(np.asarray(part).flat[0]) for part in bounds.of(wide))
                assert length == len(want) and (not length or start == want[0]), (
                    first,
                    last,
                    step,
                    size,
                )


def test_a_store_through_a_view_reaches_the_callers_array():
    x = np.zeros((4, 6))
    given("if i < 4:\n    row = x[i, ::2]\n    row[1] = i + 1\n    x.T[5, i] = 9", x=x)
    np.testing.assert_array_equal(x[:, 2], [1, 2, 3, 4])
    np.testing.assert_array_equal(x[:, 5], 9)
    pairs = np.zeros(8, PAIR)
    given("if i < 8:\n    x[i].x = i + 0.5\n    x[i].n -= 1", x=pairs)
    np.testing.assert_array_equal(pairs["x"], np.arange(8) + 0.5)
    np.testing.assert_array_equal(pairs["n"], -1)
    packed = np.zeros(64, PACKED)
    packed["x"], packed["k"] = np.arange(64), 3
    given("if t < 16:\n    x[i] = x[i + 16]", x=packed)
    np.testing.assert_array_equal(packed["x"], np.where(T < 16, I + 16, I))


def test_fields_that_are_not_aligned():
    with pytest.raises(
        UnsupportedError,
        match=r"x lies 1 bytes into its record, where float64 is not aligned.*\n(.|\n)*align=True",
    ):
        traced("v = x[i].x", x=np.zeros(64, PACKED))
    for body in ("v = x[i].x", "v = x.x[i]"):
        with pytest.raises(MisalignedError, match=r"thread \(1, 0, 0\)"):
            traced(body, x=np.zeros(64, TIGHT))
    given("v = x.k[i] + x[i].k + x[2 * (i // 2)].x", x=np.zeros(64, TIGHT))


def test_an_atomic_operation_goes_through_a_view():
    x = np.zeros((2, 4), np.int64)
    given("row = x[t % 2]\ncuda.atomic.add(row, t % 4, 1)", x=x)
    np.testing.assert_array_equal(x, [[16, 0, 16, 0], [0, 16, 0, 16]])


# --- counts ---


def counted(body: str, **options) -> tuple:
    m = traced(body, **options)[1].metrics
    return (
        m.global_load_requests,
        m.global_load_sectors,
        m.global_load_bytes,
        m.global_load_sectors_distinct,
    )


@pytest.mark.parametrize(
    ("body", "x", "want"),
    [
        ("v = x[i]", np.zeros(64, np.complex64), (2, 16, 512, 16)),
        ("v = x[i]", np.zeros(64, np.complex128), (2, 32, 1024, 32)),
        ("v = x.imag[i]", np.zeros(64, np.complex128), (2, 32, 512, 32)),
        ("v = x[i].n", np.zeros(64, PAIR), (2, 16, 256, 16)),
        ("v = x[2 * i].n", np.zeros(128, PAIR), (2, 32, 256, 32)),
        ("v = x[i].k", np.zeros(64, PACKED), (2, 18, 64, 18)),
        ("v = x[8:][i]", np.zeros(72, np.float32), (2, 8, 256, 8)),
        ("v = x[1:][i]", np.zeros(72, np.float32), (2, 10, 256, 9)),
        ("v = x[:, 1][i]", np.zeros((64, 8), np.float32), (2, 64, 256, 64)),
        ("v = x[0][i]", np.zeros((2, 64), np.float32), (2, 8, 256, 8)),
        ("v = x.view(np.int8)[i]", np.zeros(64, np.float32), (2, 2, 64, 2)),
    ],
)
def test_an_access_is_as_wide_as_what_it_names(body, x, want):
    assert counted(body, x=x) == want


def test_distinct_bytes_are_those_of_the_fields():
    assert traced("v = x[i].n", x=np.zeros(64, PAIR))[1].by_line[FIRST].global_bytes_distinct == 256
    assert (
        traced("v = x[i].n + x[i].x", x=np.zeros(64, PAIR))[1].by_line[FIRST].global_bytes_distinct
        == 512
    )


@pytest.mark.parametrize(
    ("dtype", "stride", "wavefronts"),
    [("complex64", 1, 2), ("complex128", 1, 4), ("complex64", 2, 4), ("float64", 1, 2)],
)
def test_shared_accesses_of_wide_elements_take_several_wavefronts(dtype, stride, wavefronts):
    body = f"s = cuda.shared.array({32 * stride}, np.{dtype})\ns[t * {stride}] = 1"
    assert traced(body, blocks=1)[1].metrics.shared_store_wavefronts == wavefronts


def test_making_a_view_is_no_request():
    m = traced("a = x[2:]\nb = a[::2]\nc = x.reshape(8, 8)[1]\nd = c.T")[1].metrics
    assert m.global_load_requests == m.global_store_requests == 0


def test_a_slice_is_filled_element_by_element():
    m = traced("if i == 0:\n    x[2:7] = 1", x=np.zeros(64, np.float32))[1].metrics
    assert (m.global_store_requests, m.global_store_bytes) == (5, 20)


def test_constants_count_no_requests():
    assert counted("v = TABLE[t % 4]") == (0, 0, 0, 0)


def test_events_name_the_array_behind_a_view(tmp_path):
    x = np.zeros((4, 64), np.float32)
    found = traced("row = x[2]\nout[i] = row[t]", x=x)[1]
    load, store = found.accesses()[:2]
    assert (load.array, load.itemsize, load.addresses[1] - load.addresses[0], store.array) == (
        "x",
        4,
        4,
        "out",
    )
    info = next(a for a in found.arrays if a.name == "x")
    assert (info.shape, info.strides) == ((4, 64), (256, 4))
    assert load.addresses[0] - info.address == 2 * 256
    field = traced("out[i] = x[i].n", x=np.zeros(64, PAIR))[1]
    load = field.accesses()[0]
    info = next(a for a in field.arrays if a.name == load.array)
    assert (load.array, load.itemsize, info.strides, info.dtype) == ("x.n", 4, (8,), "int32")
    field.save(tmp_path / "trace")
    assert Trace.load(tmp_path / "trace").arrays == field.arrays


# --- mistakes ---


def bytes_as(dtype, skip: int, count: int = 64) -> cuda.DeviceArray:
    """Return an array that begins ``skip`` bytes after a multiple of its elements' size."""
    memory = np.zeros(count * np.dtype(dtype).itemsize + skip, np.uint8)
    return cuda.to_device(memory)[skip:].view(dtype)


@pytest.mark.parametrize(
    ("dtype", "skip"),
    [("float32", 1), ("float64", 4), ("int16", 1), ("complex128", 4), ("complex64", 2)],
)
def test_a_misaligned_element_is_an_error_where_it_is_used(dtype, skip):
    with pytest.raises(
        MisalignedError,
        match=r"multiples of \d+ bytes only.*\n.*block \(0, 0, 0\), thread \(5, 0, 0\)",
    ) as error:
        traced("if t > 4:\n    out[i] = x[i].real", x=bytes_as(dtype, skip))
    assert error.value.where.line == FIRST + 1
    given("if t > 40:\n    out[i] = x[i].real", x=bytes_as(dtype, skip))


@pytest.mark.parametrize(
    ("dtype", "skip"), [("float32", 4), ("complex128", 8), ("complex64", 4), ("int8", 1)]
)
def test_what_is_aligned_enough_is_none(dtype, skip):
    given("y = x[i]", x=bytes_as(dtype, skip))


def test_a_misaligned_view_of_shared_memory():
    body = "s = cuda.shared.array(0, float32)\nd = s[1:].view(float64)\nd[t] = 1"
    with pytest.raises(MisalignedError, match="begin the view at a multiple of 8 bytes"):
        traced(body, shared_bytes=260)
    given(body.replace("s[1:]", "s[2:]"), shared_bytes=264)


def test_fields_of_a_record_do_not_race_with_each_other():
    body = "s = cuda.shared.array(32, PAIR)\ns[t].x = t\ns[(t + 1) % 32].{} = 2"
    assert traced(body.format("n"))[1].races == ()
    assert "race on s[1]" in str(traced(body.format("x"))[1].races[0])
    body = "x[i].x = 1\nx[(i + 1) % 64].{} = 2"
    assert traced(body.format("n"), x=np.zeros(64, PAIR))[1].races == ()
    assert traced(body.format("x"), x=np.zeros(64, PAIR))[1].races != ()


def test_rows_of_a_tile_do_not_race_with_each_other():
    body = (
        "s = cuda.shared.array((32, 2), float32)\n"
        "mine, next = s[t], s[(t + 1) % 32]\n"
        "mine[0] = t\n"
        "out[i] = {}[0]"
    )
    assert traced(body.format("mine"))[1].races == ()
    with pytest.raises(UnwrittenReadError):
        traced(body.format("mine") + "\nv = mine[1]")


@pytest.mark.parametrize(
    "body",
    [
        "s = cuda.shared.array(32, PAIR)\ns[t].x = t\nout[i] = s[t].n",
        "s = cuda.local.array(32, PAIR)\ns[1].x = t\nout[i] = s[1].n",
        "s = cuda.local.array(2, complex64)\ns.real[1] = t\nz = s[1]",
        (
            "s = cuda.shared.array(0, float32)\n"
            "d = cuda.shared.array(0, float64)\n"
            "s[2 * t] = 1\n"
            "out[i] = d[t]"
        ),
        "s = cuda.shared.array(0, float32)\nout[i] = s[t]",
        "s = cuda.shared.array((4, 8), float32)\nrow = s[2]\nrow[:4] = 1\nout[i] = s[2, 5]",
    ],
)
def test_what_nobody_wrote_is_told_by_its_bytes(body):
    with pytest.raises(UnwrittenReadError):
        traced(body, shared_bytes=256, threads=1, blocks=1)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("part = x[60:]\nout[i] = part[t]", r"index 4 is outside x\[60:\], whose size there is 4"),
        ("part = x[i:]\nout[i] = part[62]", r"index 62 is outside x\[i:\], whose size there is 62"),
        ("row = x[i:].reshape(64 - i)[64]", None),
        ("v = TABLE[t]", "index 4 is outside TABLE, whose size there is 4"),
        ("v = (1, 2)[t]", "the tuple has 2 items"),
        ("v = x[5:3][0]", "whose size there is 0"),
        ("v = x.reshape(8, 8)[t]", r"index 8 of axis 0 is outside x"),
    ],
)
def test_out_of_bounds_of_a_view(body, what):
    with pytest.raises(
        OutOfBoundsError if what else UnsupportedError, match=what or "differs between threads"
    ):
        traced(body)


# --- refusals ---


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("n = 32\nif t > 3:\n    n = 16\ns = cuda.shared.array(n, float32)", "use a number"),
        ("x[2:4] = x[4:6]", "copy its elements in a loop"),
        ("x[2:4] += 1", "write a loop over the elements"),
        ("u = x[i:i + 4]\nu[:] = (1, 2, 3)", "3 values do not fit"),
        ("x[0] = 1j", "store its .real, its .imag or its abs"),
        ("TABLE[0] = 1", "pass the array as an argument"),
        ("cuda.const.array_like(TABLE)[t] += 1", "pass the array as an argument"),
        ("out[i] = LARGE[i]", "pass LARGE to the kernel as an argument"),
        ("y = x if t < 4 else out", "use two variables"),
        ("y = x[::2].reshape(32)", "compute the index from the shape"),
        ("y = x.reshape(7, 9)", "a shape of as many elements"),
        ("v = cuda.float32x4(1, 2, 3)", r"cuda.float32x4\(x, y, z, w\)"),
        ("v = cuda.float2(1, 2).z", "it has .x, .y"),
        ("v = cuda.float2(1, 2)\nv.x = 1", "assign to a name"),
        ("v = cuda.float2(1, 2) + 1", r"one of its parts: cuda.float2\(1, 2\).x"),
        ("x.shape = (8, 8)", "assign to a name"),
        ("y = cuda.shared.array(4, float32, alignment=3)", "alignment=16"),
        ("y = cuda.local.array(4, float32)\nz = y.view(float64)", "make it of float64"),
        ("v = 1j // 2", "take its .real"),
        ("v = np.sin(1j)", r"cmath.sin\(z\)"),
        ("v = max(1j, 2)", "take its .real"),
        ("v = int(1j)", "take its .real"),
        ("s = cuda.shared.array(4, PAIR)\nv = s[0].z", "its fields are x, n"),
        ("s = cuda.shared.array(4, PAIR)\ns[0] = 1", "store its fields one by one: x, n"),
        ("s = cuda.shared.array(4, PAIR)\nv = s[0] + 1", r"one of its fields: s\[0\].x"),
        ("t = (1, 2)" + "\nt = t + t" * 10, "cuda.local.array"),
    ],
)
def test_what_is_refused_says_what_to_write_instead(body, what):
    with pytest.raises((UnsupportedError, KernelTypeError), match=what) as error:
        traced(body)
    assert error.value.where.line >= FIRST


@pytest.mark.parametrize(
    ("body", "options", "what"),
    [
        ("s = cuda.shared.array(0, float32)", {}, "the launch asks for 0 bytes of it"),
        (
            "s = cuda.shared.array(12000, float32)\nd = cuda.shared.array(0, float32)",
            {"shared_bytes": 200 * 1024},
            "can have 232,448",
        ),
        ("s = cuda.shared.array(12300, float32)", {}, "a block has 49,152"),
        ("out[i] = 1", {"shared_bytes": 300 * 1024}, "a block can have 232,448 on H100"),
        ("out[i] = 1", {"shared_bytes": 100 * 1024, "device": T4}, "a block can have 65,536 on T4"),
        ("out[i] = 1", {"shared_bytes": -1}, "is a number of bytes"),
    ],
)
def test_more_shared_memory_than_there_is(body, options, what):
    with pytest.raises(LaunchError, match=what):
        traced(body, **options)


@pytest.mark.parametrize(
    "text",
    [
        "TABLE = np.zeros(10**9)",
        "TABLE = np.arange(10**12)",
        "TABLE = np.zeros((60000, 60000))",
        "TABLE = np.full(10**9, 1)",
        "TABLE = np.array(open('/etc/passwd').read())",
        "TABLE = np.arange(0, 1, 1e-30)",
        "TABLE = np.array(['a'])",
        "TABLE = np.zeros(-5)",
        "TABLE = np.array([1], dtype='O')",
        "TABLE = np.dtype([('x', object)])",
        "TABLE = np.arange(float('nan'))",
    ],
)
def test_hostile_tables_are_no_constants(text):
    kernel = kernels_in(
        "import numpy as np\n"
        "from numba import cuda\n"
        f"{text}\n"
        "@cuda.jit\n"
        "def k(x):\n"
        "    x[0] = TABLE[0]\n"
    )["k"]
    with pytest.raises(UnsupportedError):
        trace(kernel, 1, 1, np.zeros(1))


def test_a_record_is_an_argument_that_comes_back():
    records = np.array([(1.5, 2), (0, 0)], PAIR)
    out, _ = traced("out[i] = x.x + x.n", x=records[0])
    assert set(out) == {3.5}
    own = records[0].copy()
    for one in (records[1], own):
        traced("if i == 0:\n    x.n = 7\n    x[0] += 0.5", x=one)
    assert records.tolist() == [(1.5, 2), (0.5, 7)] and own.tolist() == (2.0, 7)


NESTED = np.dtype([("n", np.int32), ("v", np.float32, (2, 3))], align=True)


def test_an_array_within_a_record_is_assigned_as_a_whole():
    x, values = np.zeros(4, NESTED), np.arange(6, dtype=np.float32).reshape(2, 3)
    traced("if i < 3:\n    x[i].v = out\n    x[3]['v'] = x[0].v", x=x, out=values)
    np.testing.assert_array_equal(x["v"], [values] * 4)
    with pytest.raises(KernelTypeError, match="which is a 2D array of float32"):
        traced("x[i].v = out", x=x)
    with pytest.raises(OutOfBoundsError):
        traced("x[0].v = out", x=x, out=values[:, :2])


def test_a_record_is_one_that_numba_knows():
    named = np.array([("ab", 2)], [("x", object), ("n", np.int32)])[0]
    with pytest.raises(LaunchError, match=r"argument x is a record of .*'O'"):
        traced("out[i] = x.n", x=named)


@pytest.mark.parametrize("items", ["()", "(0,)", "(1, 2, 40)", "(T, 3)"])
def test_a_number_is_in_a_tuple_or_not(items):
    out, _ = traced(f"T = 5\nout[i] = (i in {items}) + 2 * (i not in {items}) + 4 * (7 not in ())")
    among = {n for n in range(64) if n in eval(items, {"T": 5})}
    assert out.tolist() == [4 + (1 if n in among else 2) for n in range(64)]


MEANT = [
    "out[i] = x[-1 - i] + x[-1] + x[-n]",
    "if i > 0:\n    out[i] = x[i - 1]",
    "out[i] = x[i - 1] if i > 0 else 0",
    "last = -1\nout[i] = x[last] + x[~i]",
    "for k in range(4):\n    if k:\n        out[k] = x[k - 1]",
    "out[i] = x[(i - 1) % n]",
]
SURPRISING = {
    "out[i] = x[i] - x[i - 1]": "index -1 is the last element of x: meant?",
    "j = i - 3\nout[i] = x[j]": "index -3 counts from the end of x: meant?",
    "for k in range(3):\n    out[i] = x[k - 1]": "index -1 is the last element of x: meant?",
    "out[i - 2] = 1": "index -2 counts from the end of out: meant?",
    "v = x[2:n]\nout[i] = v[(i - 1) // 2]": "index -1 is the last element of x[2:n]: meant?",
    "cuda.atomic.add(out, i - 1, 1)": "index -1 is the last element of out: meant?",
    "cells = x.reshape((8, 8))\nout[i] = cells[i // 8, i % 8 - 1]": (
        "index -1 of axis 1 is the last element of x: meant?"
    ),
}


@pytest.mark.parametrize("body", MEANT)
def test_an_index_from_the_end_that_is_meant_has_no_note(body):
    assert not traced(f"n = x.size\n{body}")[1].notes


@pytest.mark.parametrize("body", SURPRISING)
def test_an_index_that_is_negative_in_some_threads_only_has_a_note(body):
    lines = f"n = x.size\n{body}"
    _, t = traced(lines, sanitize=False)
    (note,) = t.notes
    assert note.what == SURPRISING[body]
    assert note.text == body.split("\n")[-1].strip()


def test_an_array_without_dimensions_is_an_array():
    one = np.array(2.5)
    out, _ = traced("out[i] = x[()] + x.size + x.ndim + len(x.shape)", x=one)
    assert set(out) == {3.5}
    traced("if i == 0:\n    x[()] += 4\n    x[...] = x[()] * 2", x=one)
    assert one == 13
    for body in ("out[i] = x + 1", "cuda.atomic.add(x, (), 1)"):
        with pytest.raises(KernelTypeError):
            traced(body, x=one)


CACHED = """
from numba import cuda
@cuda.jit
def k(x, y):
    i, j = cuda.grid(2)
    cuda.stcs(y, (i, j), cuda.ldcg(x, (i, -1 - j)) + 1)
    cuda.stwt(y[3], j, cuda.ldca(x[0], j))
"""


def test_loads_and_stores_with_hints_to_the_caches():
    x, y = np.arange(16.0).reshape(4, 4), np.zeros((4, 4), np.float32)
    t = trace(kernels_in(CACHED)["k"], 1, (3, 4), x, y)
    np.testing.assert_array_equal(y, [*(x[:3, ::-1] + 1), x[0]])
    assert t.races and all(race.array == "y" for race in t.races)
    assert t.metrics.global_load_requests == t.metrics.global_store_requests == 2


@pytest.mark.parametrize(
    "call",
    [
        "cuda.ldcs(x, 1.0)",
        "cuda.ldcs(x, (1, 2))",
        "cuda.ldcs(cuda.shared.array(4, 'int64'), 0)",
        "cuda.stwb(x, 0)",
        "cuda.ldcs(3, 0)",
        "cuda.ldcs(x, 0, 0)",
    ],
)
def test_hints_to_the_caches_are_for_elements_of_global_arrays(call):
    with pytest.raises((KernelTypeError, UnsupportedError)):
        traced(f"out[i] = {call}")


@pytest.mark.parametrize("alignment", [16, None])
def test_an_alignment_may_be_none(alignment):
    out, _ = traced(f"s = cuda.shared.array(32, 'int64', {alignment})\ns[t] = i\nout[i] = s[t]")
    np.testing.assert_array_equal(out, np.arange(64))


@cuda.jit
def from_the_end(a, out):
    i = cuda.grid(1)
    out[i] = a.flat[i - 1]


@cuda.jit
def one_from_the_end(a, out):
    out[0] = a.flat[-1]


@pytest.mark.parametrize("kernel", [from_the_end, one_from_the_end])
def test_a_negative_index_of_flat_is_outside(kernel):
    """An H200 reads what lies before the array; the axes of an array do count from the end."""
    with pytest.raises(OutOfBoundsError, match="axis 0 is outside a"):
        trace(kernel, 1, 4, np.ones((3, 4)), np.zeros(4))
