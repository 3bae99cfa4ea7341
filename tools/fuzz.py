"""Random kernels, each with a random launch: drawn by hypothesis, run here and in Numba's
simulator, compared bit by bit.

Numba's simulator runs a kernel as Python over NumPy scalars, so a program must mean the same there
and in compiled code: each value is cast to its type where it is made, integers wrap inside that
cast, and nothing is drawn on which the two differ (floats to integers, NaN in ``min``, functions
that round differently). No two threads touch one element without a barrier, except through integer
atomics.

    python tools/fuzz.py [EXAMPLES] [SEED]      a longer run by hand
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from hypothesis import strategies as st

INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
FLOATS = ("float64", "float32")
BITS = {name: np.dtype(name).itemsize * 8 for name in (*INTEGERS, *FLOATS)}
SHAPES = (
    (1, 1),
    (1, 33),
    (2, 8),
    (3, 5),
    ((2, 2), (3, 2)),
    ((1, 2), (2, 2, 2)),
    (1, (4, 3)),
    (2, 32),
    (1, 64),
)
SIZE, ROWS, COLUMNS = 16, 4, 5
ATOMICS = ("add", "max", "min")
HEAD = """\
import math
import numpy as np
from numba import cuda

@cuda.jit(device=True)
def pick(p, q, which):
    if which:
        return p
    return q

@cuda.jit(device=True)
def halvings(value):
    count = 0
    while value > np.int64(1) and count < 9:
        value = np.int64(value // np.int64(2))
        count += 1
    return np.int64(count)

@cuda.jit(device=True)
def nth(array, index):
    return array[index % len(array)]

@cuda.jit
def kernel({parameters}):
    i = np.int64(cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y)
    row = cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
    t = np.int64(cuda.threadIdx.x + cuda.blockDim.x * row)
    size = np.int64(cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z)
    i = np.int64(i * size + t)
    trips = np.int64(0)
"""


@cache
def between(low: int, high: int) -> st.SearchStrategy[int]:
    """Made once for each pair: a program takes hundreds of draws, and a strategy that is made anew
    is checked anew."""
    return st.integers(low, high)


@dataclass(frozen=True)
class Program:
    """A kernel's text, its launch, and the arrays that it is given."""

    text: str
    blocks: object
    threads: object
    arrays: tuple = field(repr=False)


@dataclass
class Scope:
    """The names and types that a kernel under way may use, and how deep in it we are."""

    draw: object
    types: tuple[str, ...]
    lines: list[str]
    budget: int
    may_return: bool
    loops: int = 0
    names: int = 0
    kinds: dict = field(default_factory=dict)

    def one_of(self, *choices):
        return choices[self.number(0, len(choices) - 1)]

    def number(self, low: int, high: int) -> int:
        return self.draw(between(low, high))

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def new_name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"


# --- expressions: each has the type that its name says, in NumPy and in Numba ---


def literal(s: Scope, t: str) -> str:
    if t in FLOATS:
        return f"np.{t}({s.number(-40, 40) / 8})"
    return f"np.{t}({s.number(0 if t[0] == 'u' else -100, 100)})"


def leaf(s: Scope, t: str) -> str:
    choices = [
        f"a_{t}",
        f"b_{t}",
        literal(s, t),
        f"x_{t}[{index(s, SIZE, 2)}]",
        f"m_{t}[{index(s, ROWS, 2)}, {index(s, COLUMNS, 2)}]",
    ]
    if t == "int64":
        choices += [
            "i",
            "t",
            "trips",
            f"mine[{index(s, 4, 2)}]",
            "np.int64(x_int64.shape[0])",
            "np.int64(len(m_int64))",
        ]
    return s.one_of(*choices)


def index(s: Scope, size: int, depth: int = 1) -> str:
    """An index of an axis: in range, from the front or from the end."""
    if depth > 1 or s.number(0, 2) == 0:
        return (
            s.one_of("t", "i", "a_int64", "b_int64") + f" % {size}" + s.one_of("", "", f" - {size}")
        )
    return f"({expression(s, 'int64', depth + 1)}) % {size}" + s.one_of("", f" - {size}")


def expression(s: Scope, t: str, depth: int = 0) -> str:
    if depth > 2 or s.number(0, 3) == 0:
        return leaf(s, t)
    return real(s, t, depth + 1) if t in FLOATS else integer(s, t, depth + 1)


def integer(s: Scope, t: str, depth: int) -> str:
    a, b = expression(s, t, depth), expression(s, t, depth)
    kind = s.number(0, 9)
    if kind < 4:
        return f"np.{t}({a} {s.one_of('+', '-', '*', '&', '|', '^')} {b})"
    if kind == 4:
        divisor = s.number(1, 9) * (1 if t[0] == "u" else s.one_of(1, 1, -1))
        return f"np.{t}({a} {s.one_of('//', '%')} np.{t}({divisor}))"
    if kind == 5:
        return f"np.{t}({a} {s.one_of('<<', '>>')} np.{t}({s.number(0, BITS[t] - 1)}))"
    if kind == 6:
        return f"np.{t}({s.one_of('-', '~')}{a})" if s.number(0, 1) else f"np.{t}(abs({a}))"
    if kind == 7:
        return common(s, t, a, b, depth)
    if kind == 8:
        return f"np.{t}({expression(s, s.one_of(*[n for n in s.types if n in INTEGERS]), depth)})"
    return f"{s.one_of('min', 'max')}({a}, {b})"


def real(s: Scope, t: str, depth: int) -> str:
    a, b = expression(s, t, depth), expression(s, t, depth)
    kind = s.number(0, 6)
    if kind < 3:
        return f"np.{t}({a} {s.one_of('+', '-', '*')} {b})"
    if kind == 3:
        return f"np.{t}({a} / {literal(s, t).replace('(0.0)', '(0.25)')})"
    if kind == 4:
        return s.one_of(f"np.{t}(-{a})", f"abs({a})", f"np.{t}(math.sqrt(abs({a})))")
    if kind == 5:
        return common(s, t, a, b, depth)
    return f"np.{t}({expression(s, s.one_of(*s.types), depth)})"


def common(s: Scope, t: str, a: str, b: str, depth: int) -> str:
    test = condition(s, depth)
    choices = [
        f"({a} if {test} else {b})",
        f"pick({a}, {b}, {test})",
        f"({a}, {b}, {leaf(s, t)})[{s.number(-3, 2)}]",
    ]
    choices += [
        f"nth(x_{t}, {index(s, SIZE, 2)})",
        f"nth(m_{t}[{index(s, ROWS, 2)}], {s.number(0, 9)})",
    ]
    if t == "int64":
        choices.append(f"halvings({a})")
    return s.one_of(*choices)


def condition(s: Scope, depth: int = 0) -> str:
    t = s.one_of(*s.types)
    a, b = expression(s, t, depth + 1), expression(s, t, depth + 1)
    plain = f"({a} {s.one_of('<', '>', '<=', '>=', '==', '!=')} {b})"
    if depth > 1:
        return plain
    kind = s.number(0, 5)
    if kind == 0:
        return f"({plain} {s.one_of('and', 'or')} {condition(s, depth + 1)})"
    return (
        f"(not {plain})" if kind == 1 else f"({literal(s, t)} < {a} <= {b})" if kind == 2 else plain
    )


# --- statements ---


def block(s: Scope, indent: int, in_loop: bool) -> None:
    t = s.one_of(*s.types)
    s.line(indent, f"a_{t} = np.{t}(a_{t} + np.{t}(1))")  # so that no block is empty
    for _ in range(s.number(1, 3)):
        if s.budget > 0 and indent < 7:
            s.budget -= 1
            statement(s, indent, in_loop)


def statement(s: Scope, indent: int, in_loop: bool) -> None:
    t = s.one_of(*s.types)
    kind = s.number(0, 14)
    if kind < 3:
        s.line(indent, f"{s.one_of('a', 'b')}_{t} = {expression(s, t)}")
    elif kind == 3:
        s.line(indent, f"out_{t}[i, {s.number(-2, 1)}] = {expression(s, t)}")
    elif kind == 4:
        s.line(indent, f"mine[{index(s, 4)}] = {expression(s, 'int64')}")
    elif kind == 5:
        pair = s.one_of(f"b_{t}, a_{t}", f"{expression(s, t)}, {expression(s, t)}")
        s.line(indent, f"a_{t}, b_{t} = {pair}")
    elif kind == 6:
        view(s, indent, t)
    elif kind == 7:
        # one kind for each row: in which order they come must not matter
        row = s.number(0, len(ATOMICS) - 1)
        place = f"({row}, {index(s, SIZE)})"
        s.line(indent, f"cuda.atomic.{ATOMICS[row]}(bins, {place}, {expression(s, 'int64')})")
    elif kind == 8 and (in_loop or s.may_return):
        s.line(indent, f"if {condition(s)}:")
        ways = (["break", "continue"] if in_loop else []) + (["return"] if s.may_return else [])
        s.line(indent + 1, s.one_of(*ways))
    elif kind < 12 or s.loops > 1:
        branch(s, indent, in_loop)
    else:
        s.loops += 1
        loop(s, indent, t)
        s.loops -= 1


def view(s: Scope, indent: int, t: str) -> None:
    """A row or a slice gets a name and is read through it."""
    name = s.new_name("view")
    if s.number(0, 1):
        s.line(indent, f"{name} = m_{t}[{index(s, ROWS)}]")
        s.line(indent, f"a_{t} = {name}[{index(s, COLUMNS)}]")
        return
    low, step = s.number(0, SIZE - 4), s.one_of("", ":2", ":3")
    s.line(indent, f"{name} = x_{t}[{low}:{s.one_of('', low + s.number(1, 4))}{step}]")
    s.line(indent, f"b_{t} = {name}[{s.one_of('0', '-1', f't % len({name})')}]")


def branch(s: Scope, indent: int, in_loop: bool) -> None:
    s.line(indent, f"if {condition(s)}:")
    block(s, indent + 1, in_loop)
    if s.number(0, 3) == 0:
        s.line(indent, f"elif {condition(s)}:")
        block(s, indent + 1, in_loop)
    if s.number(0, 1):
        s.line(indent, "else:")
        block(s, indent + 1, in_loop)


def loop(s: Scope, indent: int, t: str) -> None:
    kind, name = s.number(0, 4), s.new_name("k")
    if kind < 2:
        some = f"({expression(s, 'int64', 1)}) % 4"
        numbers = s.one_of("3", some, f"{some}, 5", f"{some}, -1, -1", f"0, 7, 1 + {some}")
        s.line(indent, f"for {name} in range({numbers}):")
        s.line(indent + 1, f"trips += {name}")
    elif kind == 2:
        count = s.new_name("n")
        s.line(indent, f"{count} = 0")
        s.line(indent, f"while {condition(s)}:")
        s.line(indent + 1, f"{count} += 1")
        s.line(indent + 1, f"if {count} > {s.number(1, 5)}:")
        s.line(indent + 2, "break")
    elif kind == 3:
        s.line(
            indent, f"for {name}, v{name} in enumerate(({leaf(s, t)}, {leaf(s, t)}, {leaf(s, t)})):"
        )
        s.line(indent + 1, f"a_{t} = np.{t}(a_{t} + v{name})")
        s.line(indent + 1, f"trips += {name}")
    else:
        first = f"({leaf(s, t)}, {leaf(s, t)})"
        second = f"({leaf(s, 'int64')}, {leaf(s, 'int64')})"
        s.line(indent, f"for {name}, v{name} in zip({first}, {second}):")
        s.line(indent + 1, f"b_{t} = {name}")
        s.line(indent + 1, f"trips += v{name} % 7")
    block(s, indent + 1, in_loop=True)


def exchange(s: Scope) -> None:
    """Threads of a block swap values through shared memory; all of them get here."""
    t, name = s.one_of(*s.types), s.new_name("shared")
    s.line(1, f"{name} = cuda.shared.array(64, np.{t})")
    s.line(1, f"{name}[t] = {expression(s, t)}")
    s.line(1, "cuda.syncthreads()")
    s.line(1, f"a_{t} = {name}[({expression(s, 'int64')}) % size]")
    if s.number(0, 1):
        s.line(1, f"b_int64 = np.int64(cuda.syncthreads_count(1 if {condition(s)} else 0))")
    else:
        s.line(1, "cuda.syncthreads()")


@st.composite
def programs(draw) -> Program:
    types = tuple(
        dict.fromkeys(
            [
                "int64",
                *draw(st.lists(st.sampled_from((*INTEGERS, *FLOATS)), min_size=1, max_size=3)),
            ]
        )
    )
    with_barriers = draw(st.booleans())
    s = Scope(draw, types, [], budget=draw(st.integers(5, 24)), may_return=not with_barriers)
    for t in types:
        s.line(1, f"a_{t} = x_{t}[i % {SIZE}]")
        s.line(1, f"b_{t} = m_{t}[i % {ROWS}, t % {COLUMNS}]")
    s.line(1, "mine = cuda.local.array(4, np.int64)")
    s.line(1, "for k in range(4):")
    s.line(2, "mine[k] = np.int64(k)")
    while s.budget > 0:
        block(s, 1, in_loop=False)
        if with_barriers:
            s.budget -= 1
            exchange(s)
    for t in types:
        s.line(1, f"out_{t}[i, 1] = np.{t}(out_{t}[i, 1] + a_{t} + b_{t})")
    s.line(1, "out_int64[i, 0] = np.int64(trips + mine[0] + mine[3])")
    names = [f"{kind}_{t}" for t in types for kind in "xm"] + ["bins"] + [f"out_{t}" for t in types]
    text = HEAD.format(parameters=", ".join(names)) + "\n".join(s.lines) + "\n"
    blocks, threads = draw(st.sampled_from(SHAPES))
    return Program(
        text, blocks, threads, arrays_for(types, blocks, threads, draw(st.integers(0, 2**32 - 1)))
    )


def arrays_for(types: tuple[str, ...], blocks, threads, seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    inputs = [
        array for t in types for array in (numbers(rng, t, SIZE), numbers(rng, t, (ROWS, COLUMNS)))
    ]
    total = int(np.prod(blocks) * np.prod(threads))
    return (
        *inputs,
        np.zeros((len(ATOMICS), SIZE), np.int64),
        *(np.zeros((total, 2), t) for t in types),
    )


def numbers(rng: np.random.Generator, t: str, shape) -> np.ndarray:
    if t in FLOATS:
        return (rng.integers(-64, 64, shape) / 8).astype(t)
    wide = rng.integers(-(2**63), 2**63 - 1, shape, dtype=np.int64).astype(t)
    return np.where(rng.random(shape) < 0.5, rng.integers(0, 20, shape).astype(t), wide)


# --- Numba's simulator, in a process of its own ---


class NumbasSimulator:
    """Runs programs one after another; ``run`` gives the arrays afterwards, or the text of the
    exception that was raised."""

    def __init__(self):
        environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, __file__, "--worker"]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, program: Program) -> tuple | str:
        _send(self.process.stdin, (program.text, program.blocks, program.threads, program.arrays))
        return _receive(self.process.stdout)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)


def _send(stream, value) -> None:
    data = pickle.dumps(value)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream):
    size = stream.read(8)
    return pickle.loads(stream.read(struct.unpack("<Q", size)[0])) if size else None


def work() -> None:
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    np.seterr(all="ignore")
    while (job := _receive(sys.stdin.buffer)) is not None:
        text, blocks, threads, arrays = job
        names: dict = {}
        try:
            exec(compile(text, "<kernel>", "exec"), names)
            names["kernel"][blocks, threads](*arrays)
            _send(out, arrays)
        except Exception as error:
            _send(out, f"{type(error).__name__}: {error}")


# --- comparing ---


def here(program: Program) -> tuple:
    """The arrays after our simulator ran the program; it has to find no race."""
    from warpwise import trace
    from warpwise.simt import kernels_in

    arrays = tuple(array.copy() for array in program.arrays)
    t = trace(kernels_in(program.text)["kernel"], program.blocks, program.threads, *arrays)
    assert t.races == (), f"{t.races[0]}\n{program.text}"
    return arrays


def compare(program: Program, numba: NumbasSimulator) -> None:
    """Raises AssertionError, with the program's text, where the two simulators differ."""
    theirs = numba.run(program)
    assert not isinstance(theirs, str), f"Numba's simulator: {theirs}\n{program.text}"
    for number, (one, other) in enumerate(zip(here(program), theirs, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=f"array {number} of\n{program.text}")


def compare_many(examples: int, seed: int, numba: NumbasSimulator, done=lambda: None) -> None:
    """Compare random programs, the same for a seed; ``done`` is called after each.

    Raises AssertionError with the shortest program on which the simulators differ."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    @seeded(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(programs())
    def run(program):
        compare(program, numba)
        done()

    run()


def main(examples: int = 20_000, seed: int = 0) -> None:
    """A longer run by hand; shows how far it is, and the shortest program on which the simulators
    differ."""
    from tqdm import tqdm

    numba = NumbasSimulator()
    with tqdm(total=examples, unit=" kernels") as bar:
        compare_many(examples, seed, numba, bar.update)
    numba.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
    else:
        main(*map(int, sys.argv[1:]))
