"""The table of the kernel language: its page, its examples, and the refusals."""

import ast
import textwrap
from typing import get_type_hints

import numpy as np
import pytest

from warpwise import cuda, hopper, trace
from warpwise.book import language
from warpwise.errors import KernelError
from warpwise.simt import kernels_in
from warpwise.simt.compiler.language import LANGUAGE
from warpwise.simt.compiler.language.cuda_words import CALLED, READ
from warpwise.simt.compiler.language.functions import (
    FUNCTIONS,
    OF_COMPLEX,
    OF_NUMBERS,
    OPERATORS,
    PYTHON,
    TYPES,
)
from warpwise.simt.compiler.language.hopper_words import HOPPER
from warpwise.simt.compiler.language.instructions import INSTRUCTIONS
from warpwise.simt.compiler.language.refused import REFUSED
from warpwise.simt.compiler.language.syntax import SYNTAX
from warpwise.simt.frontend import names

N = 32
HEAD = """
import cmath
import math
import operator
from enum import Enum
import numpy as np
from numba import cuda
class Side(Enum):
    LEFT = 1
    RIGHT = 2
MODE = "fast"
SCALE = np.float32(0.5)
SIZES = (3, 4)
WIDTH = 8
halved = cuda.jit(device=True)(lambda v: v / 2)
@cuda.jit(device=True)
def squared(v):
    return v * v
@cuda.jit(device=True)
def positive(v):
    if v > 0:
        return v
@cuda.jit(device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)
@cuda.jit(device=True)
def scaled(v, by=2):
    return v * by
@cuda.jit(device=True)
def applied(function, v):
    return function(v)
@cuda.jit(device=True)
def again(n):
    return again(n - 1)
@cuda.jit(device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)
@cuda.jit
def k(x, out, whole, states):
    i = cuda.grid(1)
"""


def run(body: str, head: str = HEAD) -> np.ndarray:
    kernel = kernels_in(head + "".join(f"    {line}\n" for line in body.splitlines()))["k"]
    out, whole = np.zeros(N), np.ones(4, np.uint32)
    states = np.ones(N, [("s0", np.uint64), ("s1", np.uint64)])
    trace(kernel, 1, N, np.arange(N, dtype=np.float32), out, whole, states)
    return out


def test_the_page_is_what_the_table_says():
    assert language.PATH.read_text("utf-8") == language.page(), (
        "run: .venv/bin/python -m warpwise.book.language"
    )


@pytest.mark.parametrize("part", SYNTAX, ids=lambda part: part.shown)
def test_syntax_works_and_shows_what_it_compiles(part, capsys):
    run(part.lines)
    assert bool(capsys.readouterr().out) == part.shown.startswith("print")
    nodes = list(ast.walk(ast.parse(part.lines)))
    assert {*part.statements, *part.expressions} <= set(map(type, nodes))
    named = {n.id for n in nodes if isinstance(n, ast.Name)}
    named |= {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    assert {f.__name__ for f in part.iterables} | {*part.attributes, *part.methods} <= named


@pytest.mark.parametrize("part", SYNTAX, ids=lambda part: part.shown)
def test_a_handler_takes_the_syntax_that_it_is_listed_for(part):
    for kind, handler in (part.statements | part.expressions).items():
        _, taken, *_ = get_type_hints(handler).values()
        assert taken is kind


def test_a_thing_has_one_entry():
    """What two entries had in common would have the handler of the later one, silently."""
    for kind in ("statements", "expressions", "iterables", "attributes", "methods"):
        listed = [key for part in SYNTAX for key in getattr(part, kind)]
        assert sorted(map(str, listed)) == sorted(map(str, getattr(LANGUAGE, kind)))
    assert len({word.name for word in CALLED}) == len(CALLED)
    kinds = (PYTHON, TYPES, OF_NUMBERS, OF_COMPLEX, OPERATORS)
    assert sum(map(len, kinds)) == len(FUNCTIONS)


#: What an example needs that text alone cannot say: a table of NumPy's values.
TABLE_WORD = "const.array_like"
WORDS = {word.name: word for word in (*CALLED, *READ)}


@pytest.mark.parametrize("name", [name for name in WORDS if name != TABLE_WORD])
def test_word_works(name):
    assert f"cuda.{name}" in WORDS[name].example
    run(WORDS[name].example)


IMPORTED = "".join(
    f"from {names.KERNELS}.{module} import {', '.join(words)}\n"
    for module, words in names.INSTRUCTIONS.items()
)
WRITES_WORDS = """
@cuda.jit
def k(flat, out):
    i = cuda.threadIdx.x
    words = cuda.shared.array(128, np.uint32, alignment=16)
    for part in range(4):
        words[i + 32 * part] = flat[i + 32 * part]
    cuda.syncthreads()
"""


@pytest.mark.parametrize("word", INSTRUCTIONS, ids=lambda word: word.name)
def test_an_instruction_works(word):
    assert word.name.partition(".")[2] in word.example
    body = "".join(f"    {line}\n" for line in word.example.splitlines())
    kernel = kernels_in(
        f"import numpy as np\nfrom numba import cuda\n{IMPORTED}{WRITES_WORDS}{body}"
    )
    trace(kernel["k"], 1, N, np.arange(128, dtype=np.uint32), np.zeros(N, np.float32))


FILLS_TILE = """
import numpy as np
from warpwise import cuda, hopper

@cuda.jit
def k(box_map):
    bars = cuda.shared.array(2, np.uint64)
    tile = cuda.shared.array((64, 64), np.float16, alignment=1024)
    if cuda.threadIdx.x == 0:
        hopper.mbarrier_init(bars, 0, 1)
        hopper.mbarrier_init(bars, 1, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        hopper.mbarrier_arrive_expect_tx(bars, 1, 64 * 64 * 2)
        hopper.tma_load(tile, box_map, (0, 0), bars, 1)
    while not hopper.mbarrier_try_wait(bars, 1, 0):
        pass
    cuda.syncthreads()
    if cuda.threadIdx.x < {threads}:
"""


@pytest.mark.parametrize("word", HOPPER, ids=lambda word: word.name)
def test_a_word_of_hoppers_units_works(word):
    assert f"{word.name}(" in word.example
    threads = 1 if word.name.startswith(("hopper.mbarrier", "hopper.tma")) else 128
    body = textwrap.indent(word.example, " " * 8)
    kernel = kernels_in(FILLS_TILE.format(threads=threads) + body)["k"]
    trace(kernel, 1, 128, hopper.tensor_map(np.ones((64, 64), np.float16), (64, 64), 128))


def test_every_instruction_has_a_name_that_a_text_can_import():
    listed = [f"{module}.{name}" for module, words in names.INSTRUCTIONS.items() for name in words]
    assert sorted(listed) == sorted(word.name for word in INSTRUCTIONS)


def test_a_table_of_constants_works():
    """The table's values are NumPy's, which only running code can know."""
    TABLE = np.arange(4, dtype=np.float32)
    assert (
        WORDS[TABLE_WORD].example == "table = cuda.const.array_like(TABLE)\nout[i] = table[i % 4]"
    )

    @cuda.jit
    def looked_up(out):
        i = cuda.grid(1)
        table = cuda.const.array_like(TABLE)
        out[i] = table[i % 4]

    out = np.zeros(8)
    trace(looked_up, 1, 8, out)
    assert out.tolist() == [0, 1, 2, 3] * 2


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_function_works(function):
    assert f"{function.name}(" in function.example
    run(function.example)


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.shown)
def test_what_is_refused_is_refused_with_the_advice_shown(refused):
    with pytest.raises(KernelError) as error:
        run(refused.example)
    assert refused.instead in error.value.try_this
    assert error.value.where.text in [
        line.strip() for line in (*refused.example.splitlines(), *HEAD.splitlines())
    ]
