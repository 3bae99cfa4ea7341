"""The page of the kernel language: its tables, the names that work, and the refusals."""

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.book import language
from warpwise.errors import KernelError
from warpwise.simt import kernels_in
from warpwise.simt.builtins import CUDA_FUNCTIONS
from warpwise.simt.builtins.intrinsics import CASTS, FUNCTIONS
from warpwise.simt.frontend.refused import REFUSED
from warpwise.simt.frontend.words import CALLED, READ, VECTOR_TYPES

N = 32
HEAD = """
import math
import numpy as np
from numba import cuda
MODE = "fast"
SCALE = np.float32(0.5)
SIZES = (3, 4)
WIDTH = 8
halved = cuda.jit(device=True)(lambda v: v / 2)
@cuda.jit(device=True)
def squared(v):
    return v * v
@cuda.jit(device=True)
def scaled(v, by=2):
    return v * by
@cuda.jit(device=True)
def applied(function, v):
    return function(v)
@cuda.jit(device=True)
def again(n):
    return again(n - 1)
@cuda.jit
def k(x, out, whole, states):
    i = cuda.grid(1)
"""
MASK = "0xffffffff"

#: CUDA's names that are not functions of numbers -> lines that use them.
WORDS = {
    "grid": "out[i] = cuda.grid(1)",
    "gridsize": "out[i] = cuda.gridsize(1)",
    "shared.array": "s = cuda.shared.array(32, np.float32)\ns[i] = 1\nout[i] = s[i]",
    "local.array": "s = cuda.local.array((2, 2), np.float32)\ns[1, 1] = i\nout[i] = s[1, 1]",
    "syncthreads": "cuda.syncthreads()",
    "syncthreads_count": "out[i] = cuda.syncthreads_count(int(i > 3))",
    "syncthreads_and": "out[i] = cuda.syncthreads_and(int(i > 3))",
    "syncthreads_or": "out[i] = cuda.syncthreads_or(int(i > 3))",
    "threadfence": "cuda.threadfence()",
    "threadfence_block": "cuda.threadfence_block()",
    "threadfence_system": "cuda.threadfence_system()",
    "syncwarp": "cuda.syncwarp()",
    "activemask": "out[i] = cuda.activemask()",
    "lanemask_lt": "out[i] = cuda.lanemask_lt()",
    "shfl_sync": f"out[i] = cuda.shfl_sync({MASK}, i, 0)",
    "shfl_up_sync": f"out[i] = cuda.shfl_up_sync({MASK}, i, 1)",
    "shfl_down_sync": f"out[i] = cuda.shfl_down_sync({MASK}, i, 1)",
    "shfl_xor_sync": f"out[i] = cuda.shfl_xor_sync({MASK}, i, 1)",
    "all_sync": f"out[i] = cuda.all_sync({MASK}, i > 3)",
    "any_sync": f"out[i] = cuda.any_sync({MASK}, i > 3)",
    "eq_sync": f"out[i] = cuda.eq_sync({MASK}, i > 3)",
    "ballot_sync": f"out[i] = cuda.ballot_sync({MASK}, i > 3)",
    "match_any_sync": f"out[i] = cuda.match_any_sync({MASK}, i % 3)",
    "match_all_sync": f"mask, same = cuda.match_all_sync({MASK}, i % 3)\nout[i] = mask",
    "cg.this_grid": "cuda.cg.this_grid().sync()",
    "atomic.cas": "out[i] = cuda.atomic.cas(whole, 0, 1, 2)",
    "atomic.compare_and_swap": "out[i] = cuda.atomic.compare_and_swap(whole, 1, 2)",
} | {
    f"atomic.{name}": f"cuda.atomic.{name}(whole, 0, 1)"
    for name in "add sub and_ or_ xor inc dec exch min max nanmin nanmax".split()
}
WORDS |= {path: f"out[i] = cuda.{path}(states, i)" for path in CALLED if path.startswith("random.")}
WORDS |= {
    path: f"v = cuda.{path}({', '.join('1' * int(path[-1]))})\nout[i] = v.x"
    for path in VECTOR_TYPES
}
WORDS["const.array_like"] = "table = cuda.const.array_like(x)\nout[i] = table[i]"
#: Functions of integers only.
WHOLE = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
)


def run(body: str, head: str = HEAD) -> np.ndarray:
    kernel = kernels_in(head + "".join(f"    {line}\n" for line in body.splitlines()))["k"]
    out, whole = np.zeros(N), np.ones(4, np.uint32)
    states = np.ones(N, [("s0", np.uint64), ("s1", np.uint64)])
    trace(kernel, 1, N, np.arange(N, dtype=np.float32), out, whole, states)
    return out


def test_the_page_is_what_the_tables_say():
    assert language.PATH.read_text("utf-8") == language.page(), (
        "run: .venv/bin/python -m warpwise.book.language"
    )


@pytest.mark.parametrize("title", language.SYNTAX)
def test_syntax_works(title, capsys):
    run(language.SYNTAX[title])
    assert bool(capsys.readouterr().out) == title.startswith("print")


def test_every_word_has_an_example():
    assert set(WORDS) == set(CALLED) - set(CUDA_FUNCTIONS)


@pytest.mark.parametrize("path", [path for path in WORDS if path != "const.array_like"])
def test_word_works(path):
    run(WORDS[path])


def test_a_table_of_constants_works():
    """The table's values are NumPy's, which only running code can know."""
    table = np.arange(4, dtype=np.float32)

    @cuda.jit
    def looked_up(out):
        mine = cuda.const.array_like(table)
        out[cuda.grid(1)] = mine[cuda.grid(1) % 4]

    out = np.zeros(8)
    trace(looked_up, 1, 8, out)
    assert out.tolist() == [0, 1, 2, 3] * 2


@pytest.mark.parametrize("path", READ)
def test_value_can_be_read(path):
    run(f"out[i] = cuda.{path}")


@pytest.mark.parametrize("path", CUDA_FUNCTIONS)
def test_function_of_cuda_works(path):
    values = (
        "i > 3, x[i], x[0]" if path == "selp" else ", ".join(["x[i]"] * CUDA_FUNCTIONS[path].arity)
    )
    call = f"cuda.{path}({values})"
    body = call if path == "nanosleep" else f"v = {call}"
    run(body)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda f: f.name)
def test_function_works(function):
    value = "i" if function.name.partition(".")[2] in WHOLE else "x[i]"
    run(f"v = {function.name}({', '.join([value] * function.arity)})")


@pytest.mark.parametrize("cast", CASTS, ids=lambda cast: cast.__name__)
def test_cast_works(cast):
    name = cast.__name__ if cast in (int, float, bool) else f"np.{cast.__name__}"
    run(f"v = {name}(x[i])")


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.shown)
def test_what_is_refused_is_refused_with_the_advice_shown(refused):
    with pytest.raises(KernelError) as error:
        run(refused.example)
    assert refused.instead in error.value.try_this
    assert error.value.where.text in [
        line.strip() for line in (*refused.example.splitlines(), *HEAD.splitlines())
    ]
