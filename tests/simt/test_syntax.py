"""Python's syntax in kernels, where Numba's simulator cannot judge.

This is about keywords, print, assert, what is known early, and notes."""

import contextlib
import math

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import (
    KernelAssertionError,
    KernelTypeError,
    RaisedError,
    UndefinedNameError,
    UnsupportedError,
)
from warpwise.simt import kernels_in
from warpwise.simt.compiler.outputs import MAX_LINES

N = 8
HEAD = """
import math
import numpy as np
from numba import cuda

MODE = "fast"
T = 4
HALF = 0.5
@cuda.jit(device=True)
def scaled(x, by=2, extra=None, *more, sign=-1):
    if extra is None:
        return sign * x * by
    return sign * (x * by + extra + len(more))
@cuda.jit(device=True)
def applied(function, x):
    return function(x)
@cuda.jit(device=True)
def squared(x):
    return x * x
cubed = cuda.jit(device=True)(lambda x: x * x * x)
minus = cuda.jit(lambda x, by=1: x - by, device=True)
@cuda.jit(device=True)
def total(*rest):
    found = 0
    for value in rest:
        found += value
    return found
@cuda.jit(device=True)
def again(n):
    return again(n - 1)
@cuda.jit
def k(x, out):
    i = cuda.grid(1)
"""


def run(body: str, dtype=np.float64, launch=(1, N), out=None):
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    out = np.zeros(launch[0] * launch[1], out or dtype)
    return out, trace(kernels_in(text)["k"], *launch, np.arange(out.size).astype(dtype), out)


VALUES = {
    "out[i] = scaled(i)": lambda i: -2 * i,
    "out[i] = scaled(x=i, by=3)": lambda i: -3 * i,
    "out[i] = scaled(i, extra=4, by=1)": lambda i: -(i + 4),
    "out[i] = scaled(i, 1, 2, 3, 4, sign=1)": lambda i: i + 4,
    "out[i] = scaled(*(i, 5))": lambda i: -5 * i,
    "f = squared\nout[i] = applied(f, i) + applied(lambda v: v + 1, 2)": lambda i: i * i + 3,
    "def f(v, w=10):\n    return v + w + i\nout[i] = f(1) + f(0, w=0)": lambda i: 11 + 2 * i,
    "def f(v):\n"
    "    def g(w):\n"
    "        return w * v\n"
    "    return g(v) + g(1)\n"
    "out[i] = f(i)": lambda i: i * i + i,
    "def f(v):\n"
    "    t = v\n"
    "    for k in range(3):\n"
    "        t += k\n"
    "    return t\n"
    "t = 5\n"
    "out[i] = f(i) + t": lambda i: i + 8,
    "if i % 2:\n    f = squared\nelse:\n    f = squared\nout[i] = f(i)": lambda i: i * i,
    "v = None\nif v is None:\n    v = 3\nout[i] = v": lambda i: 3,
    "out[i] = 1 if x is None else 2": lambda i: 2,
    "out[i] = x is not None": lambda i: 1,
    "if MODE == 'fast':\n    out[i] = 1\nelse:\n    out[i] = 'no number'": lambda i: 1,
    "if MODE != 'fast':\n    out[i] = 'no number'": lambda i: 0,
    "for k in range(9):\n"
    "    if k == i:\n"
    "        continue\n"
    "    if k > 5:\n"
    "        break\n"
    "    out[i] += 1\n"
    "else:\n"
    "    out[i] = -1": lambda i: 6 - (i < 6),
    "for k in range(i):\n"
    "    for n in range(3):\n"
    "        if n > k:\n"
    "            break\n"
    "    else:\n"
    "        out[i] += 1": lambda i: max(i - 2, 0),
    "k = 0\n"
    "while True:\n"
    "    k += 1\n"
    "    if k > i:\n"
    "        break\n"
    "else:\n"
    "    out[i] = 99\n"
    "out[i] += k": lambda i: i + 1,
    "for a in zip(range(i), x):\n    out[i] += a[0] * a[1]": lambda i: sum(k * k for k in range(i)),
    "for k, v in enumerate(x, start=i):\n    out[i] += k": lambda i: N * i + 28,
    "v = x\nfor w in v:\n    v = out\n    out[i] += w": lambda i: 28,
    "out[i] = (i > 3 or 5) + (i and 2)": lambda i: (1 if i > 3 else 5) + (2 if i else 0),
    "match (i % 4, 1)[0]:\n    case 0 | 1 if i > 3:\n        out[i] = 5\n"
    "    case n if n > 2:\n        out[i] = n\n    case _:\n        out[i] = 9": lambda i: (
        5 if i % 4 < 2 and i > 3 else i % 4 if i % 4 > 2 else 9
    ),
    "out[i] = sum((i, 1.5)) + max((i, 3)) + min(*(4, i)) + divmod(i, 3)[1]": lambda i: (
        i + 1.5 + max(i, 3) + min(4, i) + i % 3
    ),
    "out[i] = round(i / 7, 3) + round(i * 111 / 2, -2)": lambda i: (
        round(i / 7, 3) + round(i * 111 / 2, -2)
    ),
    "out[i] = float('-inf') if i else float('inf')": lambda i: -np.inf if i else np.inf,
    "for k in range(math.ceil(x[i] / 4)):\n    out[i] += 1": lambda i: math.ceil(i / 4),
    "for k in range(x[i] / 2):\n    out[i] += k + 1": lambda i: sum(k + 1 for k in range(i // 2)),
    "for k in range(0, x[i] + 0.9, 2):\n    out[i] += k": lambda i: sum(range(0, i, 2)),
    "for k in range(-1.9, np.float32(2.9)):\n    out[i] += 10 + k": lambda i: 9 + 10 + 11,
    "for k in range(float('nan')):\n    out[i] = 1": lambda i: 0,
    "for k in range(x[i] * float('inf')):\n"
    "    out[i] = k\n"
    "    if k == 3:\n"
    "        break": lambda i: 3 if i else 0,
    "for k, (n, m) in enumerate(zip(range(2.5), range(x[i]))):\n    out[i] += 1": lambda i: min(
        2, i
    ),
    "out[i] = cubed(i) + minus(i) + minus(1, by=i)": lambda i: i**3,
    "i > 2 and cuda.atomic.add(out, i, 5)\n"
    "i > 4 or i < 1 or cuda.atomic.add(out, i, 1)": lambda i: 5 * (i > 2) + (1 <= i <= 4),
    "cuda.atomic.add(out, i, 5) if i > 2 else None\n"
    "cuda.atomic.add(out, i, 1) if i < 2 else cuda.threadfence()": lambda i: 5 * (i > 2) + (i < 2),
    "t = cuda.threadIdx\nd = cuda.blockDim\nout[t.x] = t.x + d.x": lambda i: i + N,
    "add = cuda.atomic.add\nadd(out, i, 2)\nf = math.sqrt\nout[i] += f(16)": lambda i: 6,
    "small = min\n"
    "real = np.float32\n"
    "m = math\n"
    "r = range\n"
    "for k in r(2):\n"
    "    out[i] += real(small(i, 3)) + m.floor(0.5)": lambda i: 2 * min(i, 3),
    "f = squared\ndef g(v):\n    return f(v) + 1\nout[i] = g(i)": lambda i: i * i + 1,
    "mode = 'a'\nif mode == 'a':\n    out[i] = 1\nelse:\n    out[i] = 'no number'": lambda i: 1,
    "n = T\n"
    "m = n\n"
    "s = cuda.shared.array((m, n), np.float32)\n"
    "s[0, 0] = 1\n"
    "out[i] = s.shape[0] + s.shape[1]": lambda i: 8,
}

VALUES |= {"def f(v):\n    return v + i\nout[i] = applied(f, 1)": lambda i: i + 1}
# Types that a loop's body gives only further down; a bool is refused there.
VALUES |= {
    "seen = False\n"
    "for k in range(3):\n"
    "    out[i] = cuda.syncthreads_or(seen)\n"
    "    seen = k": lambda i: 1,
    "for k in range(3):\n"
    "    if k > 0:\n"
    "        out[i] = cuda.syncthreads_or(seen)\n"
    "    seen = k": lambda i: 1,
}


@pytest.mark.parametrize("body", VALUES)
def test_value(body):
    out, _ = run(body)
    np.testing.assert_allclose(out, [VALUES[body](i) for i in range(N)])


REFUSED = {
    "for k in range(3):\n"
    "    if k > 0:\n"
    "        out[i] = cuda.syncthreads_or(seen)\n"
    "    seen = k > 1": ("takes an integer, and seen is a bool", "int(seen)"),
    "for k in range(3):\n    if k > 0:\n        out[i] = seen & 1\n    seen = 1.5": (
        "integers are needed, not float64 and int64",
        "made whole",
    ),
    "out[i] = again(3)": ("before it is known what it returns", "first return a value"),
    "f = lambda n: f(n)\nout[i] = f(1)": ("calls itself", "loop"),
    "out[i] = scaled()": (
        "is called with 0 arguments",
        "scaled(x, by=2, extra=None, *more, sign=-1)",
    ),
    "out[i] = scaled(1, x=2)": ("has no free parameter x", "scaled(x"),
    "out[i] = scaled(1, wide=2)": ("has no free parameter wide", "scaled(x"),
    "out[i] = scaled(1, **x)": ("** cannot be used", "write the arguments out"),
    "out[i] = scaled(*x)": ("cannot be taken apart", "write the arguments out"),
    "out[i] = squared(1, 2)": ("squared(x) is called with 2 arguments", "squared(x)"),
    "@cuda.jit(device=True)\ndef f(v):\n    return v\nout[i] = f(1)": (
        "cannot be decorated within a kernel",
        "outside the kernel",
    ),
    "def made(v):\n    def f(w):\n        return v + w\n    return f\ng = made(1)\nout[i] = g(2)": (
        "f reads v of the function that it was defined in",
        "pass v to it",
    ),
    "for v in (1, 2.5):\n    pass": ("items of several types (int64, float64)", "of one type"),
    "for v in reversed(range(3)):\n    pass": ("reversed", "range(n - 1, -1, -1)"),
    "for v in ():\n    pass": ("() is a tuple of no items", "leave the loop out"),
    "out[i] = total()": ("rest is a tuple of no items", "one value or more"),
    "a, *b = (1, 2, 3)": (
        "a, *b = ...: a star is not allowed",
        "a name for each value, such as a, b",
    ),
    "print('{}'.format(x[i]))": ("cannot format text", "print(x[i])"),
    "print('v={}, {}'.format(x[i], i))": ("cannot format text", "print('v=', x[i], i)"),
    "print('v = %d' % x[i])": ("cannot format text", "print('v =', x[i])"),
    "print('v = %d %d' % (x[i], i))": ("cannot format text", "print('v =', x[i], i)"),
    "print('v = ' + str(x[i]))": ("cannot format text", "print('v =', x[i])"),
    "n = T * 2\ns = cuda.shared.array((n, n), np.float32)": (
        "must be a constant",
        "bound to one outside",
    ),
    "n = T\nn = 5\ns = cuda.shared.array(n, np.float32)": (
        "n must be a constant",
        "bound to one outside",
    ),
    "mode = 'a'\nif i:\n    mode = 'b'\nif mode == 'a':\n    pass": (
        "mode is text 'b' on one path and text 'a' on another",
        "use two variables",
    ),
    "f = math.sqrt\nout[i] = f": ("a function sqrt cannot be stored", "call it, or store a number"),
    "t = cuda.threadIdx\nout[t] = 1": ("not value cuda.threadIdx", "t.x, t.y or t.z"),
    "i > 2 and x[i]": ("a value that is not used", "delete the line"),
    "i > 2 and x[minus(i)]": ("x[minus(i)]: a value that is not used", "delete the line"),
    "for x[i] in zip(x, x):\n    pass": ("gives its items to names", "value in values"),
    "for v in enumerate():\n    pass": ("enumerate takes", "enumerate(x, 1)"),
    "for v in zip():\n    pass": ("zip takes", "zip(x, y)"),
    "for a, b in zip(x, x, x):\n    pass": ("cannot unpack a tuple of 3 into 2", "unpack 2"),
    "print(i, sep='')": ("print takes plain positional arguments", "leave sep= out"),
    "print(f'{i}')": ("cannot format text", "print('x', x)"),
    "print(x)": ("cannot be printed", "numbers and text"),
    "assert i < 3, i": ("must be plain text", "assert condition"),
    "if (k := i) > 2:\n    pass": ("k := i", "line of its own"),
    "match i:\n    case (1, 2):\n        pass": ("match has no meaning", "use if and elif"),
    "out[i] = int('3')": ("no strings", "without quotes"),
    "out[i] = np.left_shift(1.5, 2)": ("needs integers", "int(x)"),
    "out[i] = cuda.selp(i > 2, 1, 2.5)": ("two numbers of one type", "a if condition else b"),
    "out[i] = cuda.popc(a=1)": ("positional", "leave a= out"),
    "try:\n    pass\nfinally:\n    pass": ("try has no meaning", "if"),
}


@pytest.mark.parametrize("body", [b for b in REFUSED if REFUSED[b][1]])
def test_what_is_refused_says_what_to_write(body):
    what, try_this = REFUSED[body]
    with pytest.raises((UnsupportedError, KernelTypeError)) as error:
        run(body)
    assert what in error.value.what and try_this in error.value.try_this


def test_a_short_name_that_hides_a_mistake_is_told_at_its_line():
    with pytest.raises(UndefinedNameError) as error:
        run("f = nowhere\nout[i] = 1\nout[i] = f(i)")
    assert (
        error.value.what.startswith("nowhere is not defined")
        and error.value.where.text == "f = nowhere"
    )


def test_a_pair_of_indices_among_others_says_what_to_write():
    text = (
        "from numba import cuda\n"
        "@cuda.jit\n"
        "def k(x):\n"
        "    i = cuda.grid(2)\n"
        "    x[i] = 1\n"
        "    x[i, 0] = 1\n"
    )
    with pytest.raises(UnsupportedError) as error:
        trace(kernels_in(text)["k"], 1, (2, 2), np.zeros((2, 2)))
    assert error.value.what == "x[i, 0]: i is a pair of indices: i[0] is one"
    assert error.value.try_this == "x[i], or x[i[0], 0], or i, j = cuda.grid(2)"
    with pytest.raises(UnsupportedError) as error:
        trace(kernels_in(text.replace("x[i] = 1", "pass"))["k"], 1, (2, 2), np.zeros((2, 2, 2)))
    assert error.value.try_this == "x[i[0], i[1], 0], or i, j = cuda.grid(2)"


def test_an_inner_function_whose_variable_has_no_value_yet():
    with pytest.raises(UndefinedNameError, match="later may be used before"):
        run("def f():\n    return later\nout[i] = f()\nlater = 1")


# --- print, assert, raise ---


def test_print_writes_a_line_for_each_active_thread_in_their_order(capsys):
    run("if i % 2:\n    print('thread', i, x[i] / 2, i > 4, (i, x[i]))", launch=(2, 4))
    assert capsys.readouterr().out.splitlines() == [
        f"thread {i} {i / 2:f} {i > 4} ({i}, {i:f})" for i in range(1, 8, 2)
    ]


def test_print_of_what_is_the_same_for_all_and_of_known_text(capsys):
    run("if i < 2:\n    print(MODE, cuda.blockDim.x, HALF, (1,))\n    print()")
    assert capsys.readouterr().out == "fast 8 0.500000 (1,)\n" * 2 + "\n" * 2


@pytest.mark.parametrize(
    "body", ["for k in range(99):\n    print(i)", "while i >= 0:\n    print(i)\n    i -= 1"]
)
def test_print_ends_with_a_line_that_says_so(capsys, body):
    run(body, launch=(99, 32))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == MAX_LINES + 1
    assert lines[-1] == "... and more: a launch prints 1,000 lines here"


def test_assert_names_the_thread_the_condition_and_the_message():
    with pytest.raises(KernelAssertionError) as error:
        run("assert x[i] < 5, 'too large'", launch=(2, 4))
    assert error.value.what == "assert x[i] < 5 does not hold: too large"
    assert (error.value.where.block, error.value.where.thread) == ((1, 0, 0), (1, 0, 0))
    assert error.value.where.text == "assert x[i] < 5, 'too large'"
    out, t = run("assert i < 100\nout[i] = 1")
    assert out.sum() == N and t.metrics.warp_instructions


def test_raise_names_the_first_thread_that_comes_there():
    with pytest.raises(RaisedError) as error:
        run("if i > 5:\n    raise ValueError('odd')\nout[i] = 1")
    assert (
        error.value.what == "raise ValueError('odd') was reached"
        and error.value.where.thread == (6, 0, 0)
    )
    run("if i > 50:\n    raise ValueError('odd')\nout[i] = 1")


# --- notes ---

NOTES = {
    "out[i] = x[i] * 0.5": ("float32 * float64 is computed in float64", "np.float32(0.5)"),
    "out[i] = 2.0 + x[i]": ("float64 + float32", "np.float32(2.0)"),
    "out[i] = x[i] * HALF": ("float32 * float64", "np.float32(HALF)"),
    "out[i] = x[i] * i": ("float32 * int64", "np.float32(i)"),
    "out[i] = i / 3": ("integers are divided in float64", "np.float32(i) / np.float32(3), or //"),
    "out[i] = math.sqrt(i)": ("math.sqrt of int64", "np.float32(i)"),
    "out[i] = math.pow(x[i], 1.5)": ("math.pow of float32 and float64", "np.float32(1.5)"),
    "t = 0.0\nfor k in range(3):\n    t += x[k]\nout[i] = t": (
        "t += x[k]: float64 + float32",
        "t = np.float32(0)",
    ),
    "out[i] += x[i] * 0.1": ("x[i] * 0.1", "np.float32(0.1)"),
    "def f(v):\n    return v * 1.5\nout[i] = f(x[i])": ("v * 1.5", "np.float32(1.5)"),
}


@pytest.mark.parametrize("body", NOTES)
def test_silent_float64_is_noted(body):
    _, t = run(body, np.float32)
    (note,) = t.notes
    assert NOTES[body][0] in note.what and NOTES[body][1] in note.try_this
    assert t.source[note.line].strip() == note.text
    _, wide = run(body, np.float64)
    assert wide.notes == ()


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = x[i] * np.float32(0.5)",
        "out[i] = x[i] * x[i] + x[0]",
        "out[i] = 0.5",
        "out[i] = x[i] if x[i] > 0.5 else 0.25",
        "k = i // 2\nout[k] = math.sqrt(x[i])",
        "t = np.float32(0)\nfor k in range(3):\n    t += x[k]\nout[i] = t",
        "t = x[i]\nfor k in range(3):\n    t = t * t\nout[i] = t",
    ],
)
def test_what_stays_float32_has_no_note(body):
    assert run(body, np.float32)[1].notes == ()


def test_a_line_has_one_note_and_a_saved_trace_keeps_it(tmp_path):
    _, t = run("out[i] = x[i] * 0.5 + x[i] * 0.25\nout[i] = x[i] / 3.0", np.float32)
    assert [note.line for note in t.notes] == [34, 35]
    t.save(tmp_path / "t.npz")
    assert type(t).load(tmp_path / "t.npz").notes == t.notes


def test_print_is_silent_where_there_is_no_output(capsys):
    """The grader runs kernels so, since its own output is its findings."""
    with contextlib.redirect_stdout(None):
        run("print('a finding', i)")
    assert capsys.readouterr().out == ""


def test_a_loop_over_a_tuple_within_a_branch_that_some_threads_take_in_some_trips():
    """Found by the fuzzer: kept from other threads, the trip's number was no single number."""
    text = """
from numba import cuda

@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    for k in range(3):
        if x[i] % 3 != k:
            for n, v in enumerate((x[i], k, i)):
                if v == n:
                    break
                out[i] += v * n
"""
    x, out = np.arange(64, dtype=np.int64), np.zeros(64, np.int64)
    trace(kernels_in(text)["kernel"], 2, 32, x, out)
    want = np.zeros(64, np.int64)
    for i in range(64):
        for k in (k for k in range(3) if i % 3 != k):
            for n, v in enumerate((i, k, i)):
                if v == n:
                    break
                want[i] += v * n
    np.testing.assert_array_equal(out, want)
