"""What a host function takes along into grading, out of the cells around it."""

from __future__ import annotations

import pytest

from warpwise.grading import extract

CELL = "def f(x):\n    return x + {}\n"


def result(uses: str, *others: str, before: str = "") -> float:
    """What the function gives for 1 that adds such an expression, where only its text is there."""
    found = extract.host_function(before + CELL.format(uses), "f", others)
    names: dict = {}
    exec(found, names)
    return names["f"](1)


KEPT = {
    "two at once": ("N", "M, N = 2, 3"),
    "a computed number": ("int(N)", "import math\nM = 4\nN = math.sqrt(M) + 1"),
    "a number with a type": ("N", "N: int = 3"),
    "an array": ("N[1]", "import numpy as np\nN = np.arange(3) * 3"),
    "a function without a name": ("N()", "N = lambda: M\nM = 3"),
    "a class": ("N(3).n", "class N:\n    def __init__(self, n):\n        self.n = n"),
    "a dataclass": (
        "N(3).n",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass N:\n    n: int = 0",
    ),
    "an object": ("N.n", "from collections import namedtuple as of\nN = of('N', 'n')(3)"),
    "a list that stays as it is": ("N[0]", "N = [3]\nprint(N)\nM = list(N)\nM.append(4)"),
    "a number that a kernel is given, too": ("N", "N = 3\nkernel[1, N](N)"),
    "a helper and what it reads": (
        "g()",
        "M = 2\ndef g():\n    return h() + 1\ndef h():\n    return M",
    ),
}


@pytest.mark.parametrize("what", KEPT)
def test_it_is_kept(what):
    uses, around = KEPT[what]
    assert result(uses, around) == 4
    assert result(uses, before=around + "\n") == 4


@pytest.mark.parametrize(
    "around",
    [
        "N = trace(kernel, 1, 32).metrics.flops",
        "M = trace(kernel, 1, 32)\nN = M.metrics.flops",
        "N = [0] * 8\nfor i in range(8):\n    N[i] = i",
        "N = []\nN.append(3)",
        "N = 0.5 + 1\nN += 2",
        "class N(torch.nn.Module):\n    pass",
        "for N in range(4):\n    pass",
    ],
)
def test_what_cannot_be_had_or_only_in_part_is_left_out(around):
    with pytest.raises(NameError, match="'N'"):
        result("N", around)


def test_nothing_is_run_that_the_function_does_not_read():
    around = "import numpy as np\nx = np.ones(2**40)\nresult = f(x)\nN = 1"
    found = extract.host_function(CELL.format("N"), "f", [around])
    assert "ones" not in found and "result" not in found


def test_of_equal_names_the_last_counts_and_the_own_cell_is_last():
    assert result("N", "N = 7", before="N = 3\n") == 4
    helper = "def g():\n    return {}\n"
    assert result("g()", helper.format(7), before=helper.format(3)) == 4
