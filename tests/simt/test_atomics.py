"""Atomic operations against a loop over the threads in order; their types, counts and errors.

The order is block by block, thread by thread."""

import numpy as np
import pytest
from numba import cuda
from numba.cuda import types
from numba.cuda.descriptor import cuda_target

from warpwise import trace
from warpwise.errors import (
    KernelTypeError,
    LaunchError,
    OutOfBoundsError,
    StepLimitError,
    UndefinedNameError,
    UnsupportedError,
)
from warpwise.simt import kernels_in
from warpwise.simt.compiler.atomic_calls import ELEMENTS
from warpwise.simt.compiler.function_compiler import compile_function
from warpwise.simt.types import ArrayType

UNARY = ("add", "sub", "and_", "or_", "xor", "inc", "dec", "exch", "min", "max", "nanmin", "nanmax")
CASES = [(kind, str(dtype)) for kind in UNARY for dtype in ELEMENTS[kind]]
TEXT = """
from numba import cuda
@cuda.jit
def kernel(memory, at, values, compare, old):
    i = cuda.grid(1)
    if values[i] != 5:
        {line}
"""


def kernel_of(line: str):
    return kernels_in(TEXT.format(line=line))["kernel"]


def after(kind: str, old, value):
    """Return memory after one turn, on scalars of one type."""
    t = type(old)
    if kind in ("min", "max"):
        return value if (value < old if kind == "min" else value > old) else old
    if kind in ("nanmin", "nanmax"):
        return old if np.isnan(value) else value if np.isnan(old) else after(kind[3:], old, value)
    if kind == "inc":
        return t(0) if old >= value else t(old + t(1))
    if kind == "dec":
        return value if old == 0 or old > value else t(old - t(1))
    plain = {
        "add": np.add,
        "sub": np.subtract,
        "and_": np.bitwise_and,
        "or_": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    return plain[kind](old, value) if kind in plain else value


def in_turn(kind: str, memory, at, values, compare) -> np.ndarray:
    """Change ``memory`` as the kernel does; return the old values."""
    old = np.zeros(at.size, memory.dtype)
    with np.errstate(all="ignore"):
        for i, (place, value) in enumerate(zip(at, values, strict=True)):
            if value == 5:
                continue
            old[i] = memory[place]
            if kind != "cas":
                memory[place] = after(kind, memory[place], value)
            elif memory[place] == compare[i]:
                memory[place] = value
    return old


def numbers(rng, dtype: str, n: int, most: int) -> np.ndarray:
    values = rng.integers(0, most, n).astype(dtype)
    if dtype.startswith("float"):
        values = (values + rng.standard_normal(n)).astype(dtype)
        values[rng.random(n) < 0.1] = np.nan
    elif rng.random() < 0.5:
        values[rng.random(n) < 0.2] = np.iinfo(dtype).max  # so that sums wrap around
    return values


@pytest.mark.parametrize("cells", [1, 7, 300, 70_000])
@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_each_operation_in_the_order_of_the_threads(kind, dtype, cells):
    rng = np.random.default_rng([cells, CASES.index((kind, dtype))])
    n, most = 6 * 64, int(rng.integers(2, 40))
    memory, values, at = (
        numbers(rng, dtype, cells, most),
        numbers(rng, dtype, n, most),
        rng.integers(0, cells, n),
    )
    if kind in ("inc", "dec") and cells != 7:
        values[:] = most  # one limit for all
    want = memory.copy()
    want_old = in_turn(kind, want, at, values, values)
    for line in (
        f"old[i] = cuda.atomic.{kind}(memory, at[i], values[i])",
        f"cuda.atomic.{kind}(memory, at[i], values[i])",
    ):
        got, old = memory.copy(), np.zeros(n, dtype)
        trace(kernel_of(line), 6, 64, got, at, values, values, old)
        np.testing.assert_array_equal(got, want)
        if "old" in line:
            np.testing.assert_array_equal(old, want_old)


@pytest.mark.parametrize("cells", [1, 5, 200])
@pytest.mark.parametrize("dtype", [str(t) for t in ELEMENTS["cas"]])
def test_compare_and_swap_in_the_order_of_the_threads(dtype, cells):
    rng = np.random.default_rng(cells)
    for most in (2, 4, 30):
        memory, values, compare = (
            rng.integers(0, most, k).astype(dtype) for k in (cells, 384, 384)
        )
        at, want = rng.integers(0, cells, 384), memory.copy()
        want_old = in_turn("cas", want, at, values, compare)
        old = np.zeros(384, dtype)
        trace(
            kernel_of("old[i] = cuda.atomic.cas(memory, at[i], compare[i], values[i])"),
            6,
            64,
            memory,
            at,
            values,
            compare,
            old,
        )
        np.testing.assert_array_equal(memory, want)
        np.testing.assert_array_equal(old, want_old)


def test_an_index_is_cut_to_an_integer_as_by_the_compiler():
    at = np.array([0.5, 1.9, -0.5, 2, 3.99] * 8)
    got = np.zeros(4, np.int64)
    trace(kernel_of("cuda.atomic.add(memory, at[i], 1)"), 1, 40, got, at, at * 0, at, at)
    np.testing.assert_array_equal(got, np.bincount(at.astype(int), minlength=4))
    square = np.zeros((4, 4), np.int64)
    trace(
        kernel_of("cuda.atomic.add(memory, (at[i], i % 4), 1)"), 1, 40, square, at, at * 0, at, at
    )
    assert square.sum() == 40 and list(square.sum(1)) == list(got)


@cuda.jit(device=True)
def combined(x, out, size, operation, dtype):
    t = cuda.threadIdx.x
    own = cuda.shared.array(size, dtype)
    if t < size:
        own[t] = 0
    cuda.syncthreads()
    operation(own, t % size, x[t])
    cuda.syncthreads()
    if t < size:
        operation(out, t, own[t])


@cuda.jit(device=True)
def deeper(x, out, count, operation):
    combined(x, out, count, operation, np.int64)


@cuda.jit
def passes_words(x, small, big, most):
    kind = np.int32
    combined(x, small, 3, cuda.atomic.add, kind)
    combined(x, big, size=5, operation=cuda.atomic.add, dtype=np.int64)
    deeper(x, most, 4, cuda.atomic.max)


def test_operations_types_and_sizes_are_passed_to_device_functions():
    x = np.arange(40, dtype=np.int64)
    small, big, most = np.zeros(3, np.int32), np.zeros(5, np.int64), np.zeros(4, np.int64)
    t = trace(passes_words, 1, 40, x, small, big, most)
    np.testing.assert_array_equal(small, [x[k::3].sum() for k in range(3)])
    np.testing.assert_array_equal(big, [x[k::5].sum() for k in range(5)])
    np.testing.assert_array_equal(most, [36, 37, 38, 39])
    assert not t.races and t.shared_bytes_per_block == 16 + 48 + 32


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("part(memory, int(at[0]), cuda.atomic.add)", "n must be a constant"),
        ("again(memory, 1)", "n must be a constant"),
        ("memory[0] = cuda.atomic.add + 1", "cuda.atomic.add is a function"),
    ],
)
def test_what_cannot_be_passed_is_refused(call, says):
    head = """
from numba import cuda
@cuda.jit(device=True)
def part(x, n, operation):
    own = cuda.shared.array(n, 'int64')
    operation(own, 0, 1)
@cuda.jit(device=True)
def again(x, n):
    own = cuda.shared.array(n, 'int64')
    again(x, n + 1)
"""
    kernel = kernels_in(head + TEXT.format(line=call))["kernel"]
    arrays = [np.zeros(32, np.int64) for _ in range(5)]
    with pytest.raises((UnsupportedError, KernelTypeError)) as caught:
        trace(kernel, 1, 32, *arrays)
    assert says in caught.value.what


def test_inc_and_dec_at_the_ends_of_their_types():
    for dtype in (np.uint32, np.uint64):
        most = np.iinfo(dtype).max
        for kind in ("inc", "dec"):
            for start, limit in [
                (0, 0),
                (9, 4),
                (most, most),
                (most - 1, most),
                (3, most),
                (0, most),
                (2, 1),
            ]:
                memory, old = np.array([start], dtype), np.zeros(64, dtype)
                at, values = np.zeros(64, np.int64), np.full(64, limit, dtype)
                want = memory.copy()
                want_old = in_turn(kind, want, at, values, values)
                trace(
                    kernel_of(f"old[i] = cuda.atomic.{kind}(memory, at[i], values[i])"),
                    2,
                    32,
                    memory,
                    at,
                    values,
                    values,
                    old,
                )
                assert memory[0] == want[0] and list(old) == list(want_old), (kind, start, limit)


@cuda.jit
def tickets(counter, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(counter, 0, 1)


def test_lanes_take_their_turns_by_block_and_then_by_thread():
    out = np.zeros(700 * 64, np.int64)
    trace(tickets, 700, 64, np.zeros(1, np.int64), out)
    np.testing.assert_array_equal(out, np.arange(out.size))


@cuda.jit
def float_sum(x, total):
    cuda.atomic.add(total, 0, x[cuda.grid(1)])


def test_a_float_sum_is_the_sum_in_that_order():
    x = (np.random.default_rng(0).standard_normal(256 * 128) * 1e3).astype(np.float32)
    total = np.zeros(1, np.float32)
    trace(float_sum, 256, 128, x, total)
    assert total[0] == np.add.accumulate(x)[-1] != x.sum()


@cuda.jit
def in_shared_memory(x, out):
    count = cuda.shared.array((2, 4), np.int64)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t < 8:
        count[t // 4, t % 4] = b
    cuda.syncthreads()
    turns = 0
    while turns < x[cuda.grid(1)]:
        cuda.atomic.add(count, (turns % 2, t % 4), 1)
        cuda.atomic.max(count, (0, -1), turns)
        turns += 1
    cuda.syncthreads()
    if t < 8:
        out[b, t] = count[t // 4, t % 4]


def test_atomics_on_shared_memory_in_a_loop_that_goes_on_compacted():
    x = np.random.default_rng(3).integers(0, 3, 40 * 64)
    x[100:103] = 300
    out = np.zeros((40, 8), np.int64)
    t = trace(in_shared_memory, 40, 64, x, out)
    for b, row in enumerate(x.reshape(40, 64)):
        want = np.full((2, 4), b)
        for turn in range(row.max()):  # all lanes, turn by turn
            for lane in np.flatnonzero(row > turn):
                want[turn % 2, lane % 4] += 1
            want[0, 3] = max(want[0, 3], turn)
        np.testing.assert_array_equal(out[b], want.ravel())
    assert t.races == ()
    assert t.metrics.atomics == 2 * x.sum()


# --- counts ---


@cuda.jit
def add_at(at, memory):
    i = cuda.grid(1)
    if i < at.size:
        cuda.atomic.add(memory, at[i], 1)


def closed_form(at: np.ndarray) -> tuple[int, int]:
    """Return (passes, sectors) of the requests of warps of 32 on 4-byte elements."""
    warps = [at[i : i + 32] for i in range(0, at.size, 32)]
    named = [np.unique(w, return_counts=True) for w in warps]
    return sum(int(counts.max()) for _, counts in named), sum(
        int(counts[places // 8 == sector].max())
        for places, counts in named
        for sector in np.unique(places // 8)
    )


@pytest.mark.parametrize("bins", [1, 2, 32, 5, 1000])
@pytest.mark.parametrize("n", [1, 31, 64, 500])
def test_what_atomics_count(n, bins):
    at, memory = np.random.default_rng(n).integers(0, bins, n), np.zeros(bins, np.float32)
    t = trace(add_at, 4, 128, at, memory)
    passes, sectors = closed_form(at)
    m = t.by_line[next(line for line, text in t.source.items() if "atomic" in text)]
    assert (m.atomics, m.atomic_passes, m.global_atomic_requests, m.global_atomic_sectors) == (
        n,
        passes,
        -(-n // 32),
        sectors,
    )
    assert (m.flops_fp32, m.global_store_requests, m.shared_atomic_requests) == (n, 0, 0)
    assert m.op_memory == 2 * n  # the index is loaded


@cuda.jit
def add_in_blocks(out):
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, t // 4, 1)
    cuda.atomic.add(s, 63, 1)
    if cuda.blockIdx.x % 2:
        cuda.atomic.add(s, cuda.blockIdx.x, 1)
    cuda.syncthreads()
    out[cuda.grid(1)] = s[t]


def test_passes_of_indices_by_thread_and_of_uniform_ones():
    t = trace(add_in_blocks, 6, 64, np.zeros(6 * 64, np.int32))
    assert t.metrics.shared_atomic_requests == 6 * 2 + 6 * 2 + 3 * 2
    assert t.metrics.atomic_passes == 12 * 4 + 12 * 32 + 6 * 32
    assert t.metrics.global_atomic_requests == 0
    assert t.metrics.shared_atomic_bytes == 4 * (6 * 64 + 6 * 64 + 3 * 64)
    assert t.metrics.shared_atomic_wavefronts == t.metrics.shared_atomic_requests


@cuda.jit
def add_in_columns(out):
    s = cuda.shared.array((64, 32), np.int32)
    t = cuda.threadIdx.x
    s[t, 0] = 0
    if t % 2:
        cuda.atomic.add(s, (t, 0), 1)
    cuda.atomic.add(out, t // 2, 1)


def test_bytes_and_bank_conflicts_of_atomics():
    t = trace(add_in_columns, 1, 64, np.zeros(32, np.int64))
    assert t.metrics.shared_atomic_wavefronts == 2 * 16  # all 16 lanes of a warp in bank 0
    assert t.metrics.shared_atomic_bank_conflicts == 2 * 15
    assert (t.metrics.shared_atomic_bytes, t.metrics.global_atomic_bytes) == (4 * 32, 8 * 64)


# --- types and errors ---


@pytest.mark.parametrize(
    "dtype",
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split(),
)
@pytest.mark.parametrize("kind", sorted(ELEMENTS))
def test_types_are_those_of_numbas_compiler(kind, dtype):
    context = cuda_target.typing_context
    context.refresh()
    element = getattr(types, "boolean" if dtype == "bool" else dtype)
    array, rest = (
        types.Array(element, 1, "C"),
        {"cas": "(x, 0, 1, 2)", "compare_and_swap": "(x, 1, 2)"}.get(kind, "(x, 0, 1)"),
    )
    try:
        given = (array, *[types.int64] * rest.count(","))
        want = str(context.resolve_function_type(getattr(cuda.atomic, kind), given, {}).return_type)
    except Exception:  # Numba has several kinds of refusal
        want = "refused"
    source = (
        "from numba import cuda\n"
        "@cuda.jit(device=True)\n"
        "def k(x):\n"
        f"    return cuda.atomic.{kind}{rest}\n"
    )
    try:
        got = str(
            compile_function(
                kernels_in(source)["k"], (ArrayType(np.dtype(dtype), 1, "global"),)
            ).result
        )
    except KernelTypeError as error:
        got = "refused"
        assert f"does not know elements of {dtype}" in error.what
    assert got == want


@pytest.mark.parametrize(
    ("line", "kind", "says"),
    [
        ("cuda.atomic.add(memory, at[i])", UnsupportedError, "takes 3 plain arguments"),
        (
            "cuda.atomic.add(memory[0], at[i], 1)",
            KernelTypeError,
            "works on an element of an array, and memory[0] is a number",
        ),
        ("cuda.atomic.add(cuda.local.array(4, 'int32'), 0, 1)", UnsupportedError, "local memory"),
        ("cuda.atomic.add(memory, 1j, 1)", KernelTypeError, "an index must be an integer"),
        ("cuda.atomic.add(memory, (0, 0), 1)", UnsupportedError, "has 1 dimension"),
        ("cuda.atomic.add(memory, 99, 1)", OutOfBoundsError, "index 99 is outside memory"),
        ("cuda.atomic.mul(memory, 0, 1)", UndefinedNameError, "cuda.atomic.mul is not defined"),
        ("cuda.atomic.cas(memory, 0, 1)", UnsupportedError, "takes 4 plain arguments"),
    ],
)
def test_what_is_no_atomic_operation_is_refused(line, kind, says):
    arrays = [np.zeros(32, np.int64) for _ in range(5)]
    with pytest.raises(kind) as caught:
        trace(kernel_of(line), 1, 32, *arrays)
    assert says in caught.value.what


def test_a_read_only_array_is_refused():
    memory = np.zeros(4, np.int64)
    memory.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        trace(
            kernel_of("cuda.atomic.add(memory, 0, 1)"),
            1,
            32,
            memory,
            *[np.zeros(32, np.int64) for _ in range(4)],
        )


# --- loops that wait ---


@cuda.jit
def one_block_after_another(turn, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(turn, 0, 0) != b:
            pass
        out[b] = out[b - 1] * 2 + 1 if b > 0 else 1
        cuda.threadfence()
        cuda.atomic.add(turn, 0, 1)


@cuda.jit
def look_back(x, out, state, total):
    """A scan over blocks in one pass: each waits for the sum before it."""
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    before = cuda.shared.array(1, np.int64)
    if t == 0:
        own = 0
        for k in range(cuda.blockDim.x):
            own += x[b * cuda.blockDim.x + k]
        before[0] = 0
        if b > 0:
            while cuda.atomic.add(state, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before[0] = total[b - 1]
        total[b] = before[0] + own
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
    cuda.syncthreads()
    running = before[0]
    for k in range(t + 1):
        running += x[b * cuda.blockDim.x + k]
    out[cuda.grid(1)] = running


@cuda.jit
def lock_of_each_block(lock, out):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        out[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


def test_a_block_can_wait_for_those_before_it():
    out = np.zeros(9, np.int64)
    trace(one_block_after_another, 9, 32, np.zeros(1, np.int32), out)
    assert list(out) == [2 ** (b + 1) - 1 for b in range(9)]
    x, scanned = np.arange(8 * 32), np.zeros(8 * 32, np.int64)
    trace(look_back, 8, 32, x, scanned, np.zeros(8, np.int32), np.zeros(8, np.int64))
    np.testing.assert_array_equal(scanned, np.cumsum(x))
    total = np.zeros(1, np.int64)
    trace(lock_of_each_block, 20, 32, np.zeros(1, np.int32), total)
    assert total[0] == 20


@cuda.jit
def lock_of_each_thread(lock, out):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # the winner waits for the others here
        pass
    out[0] += 1
    cuda.atomic.exch(lock, 0, 0)


@pytest.mark.threads
def test_threads_of_a_warp_that_wait_for_one_another_are_told_so():
    with pytest.raises(StepLimitError) as caught:
        trace(
            lock_of_each_thread, 3, 48, np.zeros(1, np.int32), np.zeros(1, np.int64), max_steps=900
        )
    error = caught.value
    assert error.what == (
        "the kernel can never end: 143 threads wait in this loop, "
        "`while cuda.atomic.cas(lock, 0, 0, 1) != 0`, "
        "first of them lanes 1-31 of warp 0 of block (0, 0, 0); they look at lock[0], "
        "which is 1, and nobody changes it; lane 0 of that warp has left the loop"
    )
    assert "as before Volta" in error.try_this
    assert error.where.thread == (1, 0, 0)


WAITING = {
    "while cuda.atomic.cas(flag, 0, 0, 1) != 0:\n  pass": True,
    "while flag[0] == 0:\n  pass": True,
    "while True:\n  old = flag[i]\n  seen = old > 0\n  if seen:\n    break": True,
    "while taken(flag):\n  pass": True,
    "while True:\n  k = cuda.atomic.add(flag, 0, 1)\n  if k > 9:\n    return": True,
    "while i < x.size:\n  cuda.atomic.add(flag, x[i], 1)\n  i += 32": False,
    "while x[i] > 0:\n  i += 1": False,
    "while flag[i] > 0:\n  flag[i] -= 1": False,
    "while i > 0:\n  i -= flag[0] * 0 + 1": True,
    "for k in range(9):\n  cuda.atomic.add(flag, 0, 1)": False,
    "while i < 9:\n  if flag[i] > 3:\n    v = x[0]\n  i += 1": False,
}


@pytest.mark.parametrize(("loop", "waits"), WAITING.items())
def test_which_loops_may_wait(loop, waits):
    body = "\n".join("    " + line for line in loop.splitlines())
    source = (
        "from numba import cuda\n"
        "@cuda.jit(device=True)\n"
        "def taken(lock):\n"
        "    return cuda.atomic.cas(lock, 0, 0, 1) != 0\n"
        "@cuda.jit\n"
        "def k(x, flag):\n"
        "    i = cuda.grid(1)\n"
        f"{body}\n"
        "    flag[i] = 1\n"
    )
    array = ArrayType(np.dtype(np.int32), 1, "global")
    assert compile_function(kernels_in(source)["k"], (array, array)).waits is waits
