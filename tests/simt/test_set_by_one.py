"""Variables that one thread sets and others read: a text alone shows them."""

import ast
import textwrap

import pytest

from warpwise.simt.frontend.set_by_one import set_by_one

HEAD = "t = cuda.threadIdx.x\ntop = x[0]\n"
ALONE = "if t == 0:\n    top = x[1]\n"


def asked(body: str) -> str:
    return set_by_one(ast.parse(textwrap.dedent(body)))


@pytest.mark.parametrize(
    "body",
    [
        HEAD + ALONE + "y[t] = x[t] - top",
        HEAD + "if cuda.laneid == 0 and t < 64:\n    top = x[1]\ny[t] = top",
        "i = cuda.grid(1)\nif i == 0:\n    top = x[1]\ny[i] = top",
    ],
)
def test_a_value_that_the_others_never_see_is_named(body):
    assert asked(body).startswith("top is set only where ")
    assert "a variable is each thread's own" in asked(body)


@pytest.mark.parametrize(
    "body",
    [
        HEAD + ALONE + "top = cuda.shfl_sync(-1, top, 0)\ny[t] = top",
        HEAD + ALONE + "if t == 0:\n    y[0] = top",
        HEAD + ALONE + "top = x[2]\ny[t] = top",
        HEAD + "if t == 0:\n    s[0] = x[1]\ny[t] = s[0]",
        HEAD + "if t < 8:\n    top = x[1]\ny[t] = top",
        HEAD + "if k == 0:\n    top = x[1]\ny[t] = top",
    ],
    ids=["handed on", "read by it alone", "set again", "shared", "by several", "no thread's"],
)
def test_a_value_that_is_handed_on_is_not(body):
    assert asked(body) == ""
