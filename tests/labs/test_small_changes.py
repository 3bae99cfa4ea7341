"""Small changes of a kernel's text: shares of a loop, running values, indices that never change."""

from __future__ import annotations

import ast
import textwrap

import pytest

from warpwise.labs import other_indices, other_loops, other_names
from warpwise.labs.elementwise import is_elementwise
from warpwise.labs.small_changes import SIGN, changes

SHARES = """
i, t = cuda.grid(1), cuda.threadIdx.x
total = 0
for k in {}:
    total += x[k]
out[i] = total
"""
SHUFFLES = """
v = x[cuda.grid(1)]
for d in {}:
    v += cuda.shfl_down_sync(ALL, {}, {})
"""
RUNNING = """
i = cuda.grid(1)
v = x[i]
for _ in range(9):
    v = v - {} * {}
"""
TILES = """
y, x_ = cuda.threadIdx.y, cuda.threadIdx.x
for start in range(0, a.shape[1], 16):
    tile[y, x_] = element(a, y, {})
    for n in range(4):
        sums[{}] += tile[{}, n]
"""
BLOCKS = "x_, y = {0}.x * cuda.blockDim.x + {1}.x, {0}.y * cuda.blockDim.y + {1}.y\nout[y, x_] = 1"
SQUARE = ("v", "v")
CASES = [
    (SHARES, ("range(x.size)",), ("range(t, x.size, 32)",), other_loops.SHARE),
    (SHARES, ("range(32)",), ("range(t, x.size, 32)",), other_loops.SHARE),
    (SHARES, ("range(0, x.size, 32)",), ("range(t, x.size, 32)",), other_loops.SHARE),
    (SHARES, ("range(9)",), ("range(1, 9)",), other_loops.FIRST_STEP),
    (SHARES, ("(1, 2, 4)",), ("(4, 2, 1)",), other_loops.BACKWARDS),
    (
        SHUFFLES,
        ("range(16, 0, -1)", "v", "d"),
        ("(16, 8, 4, 2, 1)", "v", "d"),
        other_loops.HALVING,
    ),
    (SHUFFLES, ("(8, 1)", "x[0]", "d"), ("(8, 1)", "v", "d"), other_names.EXCHANGED),
    (SHUFFLES, ("(8, 1)", "v", "16"), ("(8, 1)", "v", "d"), other_names.DISTANCE),
    (RUNNING, ("x[i]", "x[i]"), SQUARE, other_names.SO_FAR.format("v")),
    (RUNNING, ("x[i]", "v"), SQUARE, other_names.SO_FAR.format("v")),
    (TILES, ("x_", "n", "y"), ("start + x_", "n", "y"), other_indices.TRIPS.format("x_")),
    (TILES, ("start + x_", "0", "y"), ("start + x_", "n", "y"), other_indices.TRIPS.format(0)),
    (TILES, ("start + x_", "n", "y + 8"), ("start + x_", "n", "y + 8 * n"), ""),
    (TILES, ("start + x_", "n", "4 * y + n"), ("start + x_", "n", "16 * n + y"), ""),
    (BLOCKS, ("threadIdx", "blockIdx"), ("blockIdx", "threadIdx"), other_names.BLOCKS),
    ("d = a * n + b * m", (), "d = a * m + b * n", other_names.PLACES.format("n", "m")),
    ("d = c * v", (), "d = c * v * v", other_names.OFTEN.format("v")),
    ("s -= x[0]", (), "s += x[0]", SIGN),
    ("i = cuda.grid(1)\ny = x[0]", (), "i = cuda.grid(1)\ny = x[i]", "is 0 the right index here?"),
    (
        "for k in range(9):\n    s += x[k]\nn = len(x)\nr = s + 1",
        (),
        "for k in range(9):\n    s += x[k]\nn = len(x)\nr = s / n + 1",
        "should s be divided by something, such as a number of elements?",
    ),
    ("half = n // 4", (), "half = n // 2", "is 4 the right number?"),
]


def kernel(body: str) -> ast.FunctionDef:
    (tree,) = ast.parse("def f(x, a, out):\n" + textwrap.indent(body.strip(), "    ")).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[1:3])[:60])
def test_a_mistake_in_a_kernel_is_undone_by_one_change(case):
    form, wrong, right, question = case
    before = form.format(*wrong) if wrong else form
    after = form.format(*right) if wrong else right
    wanted = ast.unparse(kernel(after))
    asked = [one.question for one in changes(kernel(before)) if ast.unparse(one.make()) == wanted]
    assert asked and (not question or question in asked), asked


def test_a_loop_over_no_elements_has_no_shares_and_a_host_function_has_no_threads():
    for body in ("for k in range(9):\n    s += k", "for k in range(9):\n    s += x[k]"):
        questions = {one.question for one in changes(kernel(body))}
        assert other_loops.HALVING not in questions
        assert (other_loops.SHARE in questions) == ("x[k]" in body)


def test_words_that_are_imported_by_themselves_are_changed_too():
    assert changes(kernel("i = blockIdx.x * blockDim.x + threadIdx.x\nout[i] = x[i]"))


def test_a_value_that_was_worked_out_above_takes_the_place_of_an_element():
    body = "i = cuda.grid(1)\na = f(x[i])\nb = f(a)\nout[i] = {0} * (1 - {0})"
    wanted = ast.unparse(kernel(body.format("b")))
    found = changes(kernel(body.format("x[i]")))
    (asked,) = [one.question for one in found if ast.unparse(one.make()) == wanted]
    assert asked == other_names.WORKED_OUT.format("x[i]")


@pytest.mark.parametrize(
    ("body", "one_index"),
    [
        ("i = cuda.grid(1)\nout[i] = f(x[i]) + a[i]", True),
        ("i = cuda.grid(1)\nout[i] = x[0]", False),
        ("i = cuda.grid(1)\nfor k in range(9):\n    out[i] = x[i]", False),
        ("out[0] = x[0]", False),
    ],
)
def test_a_kernel_of_one_index_is_told_from_others(body, one_index):
    assert is_elementwise(kernel(body)) == one_index
