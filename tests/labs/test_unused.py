"""Names that an answer never uses: asked about in a wrong answer, absent from every solution."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from support.lab_cases import STEMS

from warpwise import cuda
from warpwise.labs import Call, Launch, Out
from warpwise.labs.calls import judge_call
from warpwise.labs.judge import judge_launch
from warpwise.labs.source import load_lab, role, solved_notebook
from warpwise.labs.unused import unused

X = np.arange(1, 41, dtype=np.float32)


def asked(text: str, outputs=()) -> str:
    """Return what is asked of the one function of a text."""
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    return unused(tree, outputs)


RUNNING = """
def f(a):
    m, d = {first}, 0.0
    for x in a:
        above = max(m, x)
        d = d * math.exp(m - above) + math.exp(x - above)
        {last}
    return d
"""


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("def f(a, b):\n    return a", "b is never read: which step of the exercise needs it?"),
        ("def f(a, b):\n    return a + b", ""),
        ("def f(a, b):\n    return a[: b.size]", "b is never read: which step of the exercise"),
        ("def f(a, b, c):\n    return 1", "a, b and c are never read"),
        (
            "def f(a, b, c):\n    return a",
            "b and c are never read: which step of",
        ),
        ("def f(a):\n    b = a * a\n    return a", "b is worked out and never used: where is it"),
        ("def f(a):\n    b, c = a.shape\n    return a[b]", ""),
        ("def f(a):\n    _b = a\n    return a", ""),
        ("def f(a):\n    for i in range(3):\n        a[0] += 1", ""),
        ("def f(a, out):\n    out[0] = a[0]", ""),
        (
            RUNNING.format(first="np.float32(-math.inf)", last="pass"),
            "m begins at -inf and is never",
        ),
        (RUNNING.format(first="np.full(3, -np.inf)", last="pass"), "m begins at -inf and is never"),
        (RUNNING.format(first="np.full(3, -np.inf)", last="m[0] = above"), ""),
        (RUNNING.format(first="-math.inf", last="m = above"), ""),
        (RUNNING.format(first="-math.inf", last="np.copyto(m, x, out=m)"), ""),
        (RUNNING.format(first="a[0] if a[0] > -math.inf else 0", last="pass"), ""),
        (RUNNING.format(first="np.float32(0)", last="pass"), ""),
        ("def f(a):\n    none = -math.inf\n    for x in a:\n        a[0] = max(none, x)", ""),
        ("def f(a):\n    def inner(b):\n        return a + b\n    return inner(1)", ""),
    ],
)
def test_a_name_that_is_never_used_is_asked_about(text: str, question: str):
    assert asked(text).startswith(question)
    assert bool(asked(text)) == bool(question)


def test_nobody_has_to_read_an_output():
    text = "def f(a, out, more):\n    out[0] = a[0]"
    assert asked(text).startswith("more is never read")
    assert asked(text, outputs=("out", "more")) == ""


@pytest.mark.parametrize("stem", STEMS)
def test_a_solution_uses_all_its_names(stem: str):
    cells = (c for c in solved_notebook(load_lab(stem)).cells if role(c) == "exercise")
    functions = [
        node
        for cell in cells
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert functions
    for function in functions:
        assert unused(function) == "", function.name


def test_a_wrong_kernel_is_asked_about_the_names_that_it_leaves_out():
    @cuda.jit
    def scaled(x, weight, shift, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i] * x[i] + shift

    weight = np.cos(X)
    args = (X, weight, np.float32(2), Out(40))
    launch = Launch("40", 2, 32, args, want=(X * X * weight + np.float32(2),), rtol=1e-5)
    assert "weight is never read" in judge_launch(scaled, launch).advice


def test_a_wrong_function_is_asked_too():
    def waves(blocks, sms, each):
        return -(-blocks // sms)

    told = judge_call(waves, Call("", (80, 40, 2), want=1)).advice
    assert told.startswith("each is never read: which step of the exercise needs it? Or: ")
