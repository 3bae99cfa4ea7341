"""What is advised where threads write one element: it follows from their index."""

import re
import textwrap

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import StepLimitError
from warpwise.races import Race
from warpwise.simt import kernels_in


def race(body: str, blocks, threads) -> Race:
    text = "from numba import cuda\n@cuda.jit\ndef kernel(x, out, rows):\n"
    kernel = kernels_in(text + textwrap.indent(textwrap.dedent(body).strip(), "    "))["kernel"]
    arrays = (np.ones(64, np.float32), np.zeros(64, np.float32), np.zeros((8, 8), np.float32))
    return trace(kernel, blocks, threads, *arrays).races[0]


SAME_INDEX = "^several threads come to the same index here: should each have an index of its own"
REPEAT = "^thread numbers repeat from block to block: .* as {} does"
ADVICE = {
    "a loop over all elements": (
        "for i in range(x.size):\n    out[i] = x[i]",
        (4, 16),
        r"^every thread takes these elements, .* begin with cuda\.grid\(1\)\?",
    ),
    "no block's number": (
        "i = cuda.threadIdx.x\nout[i] = x[i]",
        (4, 16),
        REPEAT.format(r"cuda\.grid\(1\)"),
    ),
    "no block's number, in a loop": (
        "for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):\n    out[i] = x[i]",
        (4, 16),
        REPEAT.format(r"cuda\.grid\(1\)"),
    ),
    "no block's number, in two dimensions": (
        "i = cuda.threadIdx.y * 8 + cuda.threadIdx.x\nout[i] = x[i]",
        ((2, 2), (8, 2)),
        REPEAT.format(r"cuda\.grid\(2\)"),
    ),
    "blocks that are not multiplied": (
        "i = cuda.blockIdx.x + cuda.threadIdx.x\nout[i] = x[i]",
        (4, 16),
        SAME_INDEX,
    ),
    "a step that is too short": (
        "for i in range(cuda.grid(1), x.size, cuda.blockDim.x):\n    out[i] = x[i]",
        (2, 16),
        "^two blocks come to the same index in a loop: .*go on by as many as there are",
    ),
    "a block's number alone": (
        "out[cuda.blockIdx.x] = x[cuda.threadIdx.x]",
        (2, 64),
        r"^the index is the same for all threads of a block: .* as cuda\.grid\(1\) does",
    ),
    "two lines without a block's number": (
        "i = cuda.threadIdx.x\nv = out[i]\nout[i] = v + x[i]",
        (4, 16),
        REPEAT.format(r"cuda\.grid\(1\)"),
    ),
    "one axis of two": (
        "i = cuda.grid(1)\nout[i] = x[i]",
        (2, (16, 2)),
        r"^the two threads differ in threadIdx\.y, which the index does not use: should it\?",
    ),
    "one axis of three": (
        "x_, y_ = cuda.threadIdx.x, cuda.threadIdx.y\nout[y_ * 8 + x_] = x[0]",
        (1, (8, 4, 2)),
        r"differ in threadIdx\.z, which .*, where cuda\.threadIdx\.z == 0;",
    ),
    "all of a block": (
        "out[cuda.blockIdx.x] = 1",
        (4, 16),
        r"^if one element is meant .* where cuda\.threadIdx\.x == 0;",
    ),
    "all of a warp": (
        "w = cuda.threadIdx.x // 32\nout[w] = 1",
        (1, 64),
        r"where cuda\.laneid == 0;",
    ),
    "all of a grid": ("out[0] = 1", (4, 1), r"where cuda\.grid\(1\) == 0;"),
    "all of a grid of two dimensions": (
        "out[0] = 1",
        ((2, 2), 1),
        r"where all of cuda\.grid\(2\) are 0;",
    ),
}


def test_two_lines_of_one_part_of_several_are_asked_for_the_other():
    body = """
        s = cuda.shared.array((2, 32), "float32")
        t = cuda.threadIdx.x
        for k in range(4):
            s[k % 2, t] = x[t]
            out[t] = s[k % 2, 31 - t]
    """
    asked = "both lines take s[k % 2, ...], without a barrier between them: should one"
    assert race(body, 1, 32).try_this.startswith(asked)
    alone = body.replace("(2, 32)", "(2, 1, 32)").replace("[k % 2", "[0, 0")
    asked = "both lines take s[0, ...], without a barrier between them"
    assert race(alone, 1, 32).try_this.startswith(asked)


def test_what_is_read_beside_in_one_round_is_asked_about():
    body = """
        s = cuda.shared.array(64, "float32")
        r = cuda.shared.array(64, "float32")
        t = cuda.threadIdx.x
        s[t] = r[t] = x[t]
        cuda.syncthreads()
        if t < 33:
            s[t], r[t] = s[t] + s[t + 1], r[t] + r[t + 1]
    """
    assert "how far apart should the two elements lie?" in race(body, 1, 64).try_this


def test_one_thread_that_does_it_all_is_told_of_the_others():
    text = "from numba import cuda\n@cuda.jit\ndef k(x):\n    if cuda.grid(1) == 0:\n"
    text += "        for i in range(x.size * 100):\n            x[i % 64] += 1\n"
    with pytest.raises(StepLimitError, match="the launch has 64 threads, and one alone is in"):
        trace(kernels_in(text)["k"], 2, 32, np.zeros(64, np.float32), max_steps=500)


@pytest.mark.parametrize("name", ADVICE)
def test_what_to_try_is_taken_from_the_index(name):
    body, size, expected = ADVICE[name]
    advice = race(body, *size).try_this
    assert re.search(expected, advice), advice
    if expected == SAME_INDEX or "repeat" in expected or "every thread" in expected:
        assert "let one thread" not in advice


def test_a_row_from_the_grid_does_not_repeat_from_block_to_block():
    found = race("x_, y = cuda.grid(2)\nout[4 * y + x_] = 8 * y + x_", (2, 2), (4, 1))
    assert found.try_this.startswith("several threads come to the same index")
    assert "repeat" not in found.try_this


def test_a_tile_that_is_read_and_then_written_may_be_one_of_two():
    body = (
        "s = cuda.shared.array((2, 64), 'float32')\nt = cuda.threadIdx.x\ns[0, t] = x[t]\n"
        "cuda.syncthreads()\n{} = {}\n{}\ns[0, t] = v"
    )
    told = race(body.format("v", "s[0, 63 - t]", "v += x[0]"), 1, 64).try_this
    assert "if s has two tiles that take turns, line 8 should read one in this trip while " in told
    assert told.endswith("line 10 writes the other")


WITHOUT_ATOMICS = {
    "a row of two blocks": (
        "for r in range(cuda.blockIdx.x, 8):\n    rows[r, cuda.threadIdx.x] += x[r]",
        (2, 8),
        "^two blocks take the same row of rows: does each begin with its own",
    ),
    "an element of two blocks": (
        "out[cuda.threadIdx.x] += x[0]",
        (2, 16),
        "^two blocks take the same element of out",
    ),
    "an element of two warps": (
        "out[cuda.threadIdx.x % 32] += x[0]",
        (1, 64),
        r"^several threads .*or each warp, .*add these up after cuda\.syncthreads\(\)",
    ),
    "an element of two lanes": (
        "out[cuda.threadIdx.x // 2] += x[0]",
        (1, 32),
        "^several lanes .*what shuffles have added up",
    ),
    "stores": (
        "out[cuda.threadIdx.x // 2] = cuda.threadIdx.x",
        (1, 32),
        "give each a place of its own, and let one thread add these up in the end$",
    ),
}


@pytest.mark.parametrize("name", WITHOUT_ATOMICS)
def test_where_atomics_are_not_allowed_none_is_advised(name):
    body, size, expected = WITHOUT_ATOMICS[name]
    found = race(body, *size)
    remedy = found.remedy_without_atomics
    assert re.search(expected, remedy.open()), remedy.open()
    assert "atomic" in found.remedy.open() and "atomic" in found.remedy.hidden()
    assert "atomic" not in remedy.open() + remedy.hidden()
