"""A host function that uses the package, which grading does not have, is refused by its check."""

from __future__ import annotations

import pytest
from support.lab_cases import names_of, visible_cases

from warpwise.labs import Call, check
from warpwise.labs.source import load_lab
from warpwise.labs.ungraded import problem

CHEATS = {
    "def branch_efficiency(taken, n_a, n_b):\n"
    "    return counted_efficiency(branch_trace(taken, n_a, n_b))": (
        "02_simt",
        "branch_efficiency calls branch_trace, and branch_trace uses trace of warpwise",
    ),
    "def count_work(n, k):\n    return np.array([counted(t) for t in traces(n, k).values()])": (
        "04_roofline",
        "count_work calls traces, and traces uses ",
    ),
    "def tiles(*sizes):\n    return tiles_of(*sizes).count": (
        "10_matmul_mystery",
        "tiles uses tiles_of of warpwise, which grading does not have",
    ),
}


@pytest.mark.parametrize("text", CHEATS)
def test_an_answer_that_asks_the_package_is_refused(text: str, capsys):
    stem, told = CHEATS[text]
    name = text.split("(")[0].removeprefix("def ")
    names = dict(names_of(stem))
    exec(text, names)
    exec(f"check({name!r}, cases)", names | {"check": check, "cases": visible_cases(stem)[name]})
    shown = capsys.readouterr().out
    assert f"{name}: raised an error" in shown and told in shown
    assert "Try: compute the result without" in shown


@pytest.mark.parametrize("stem", ["02_simt", "04_roofline", "10_matmul_mystery"])
def test_the_solutions_use_nothing_of_it(stem: str):
    names, shown = names_of(stem), visible_cases(stem)
    hosts = [e.name for e in load_lab(stem).exercises if isinstance(shown[e.id][0], Call)]
    assert hosts and [problem(name, names) for name in hosts] == [None] * len(hosts)


FUNCTION = "def double(x):\n    return [N[one] for one in x]"
FILLED = ["N = [0] * 8", "for i in range(8):\n    N[i] = 2 * i"]


def noticed(*cells: str) -> str:
    names: dict = {"In": list(cells)}
    for cell in cells:
        if "await" not in cell:
            exec(cell, names)
    found = problem("double", names)
    return f"{found.message}; {found.remedy}" if found else ""


def test_a_table_that_other_cells_fill_is_refused_as_grading_will_not_have_it():
    assert "double needs N, which grading does not have" in noticed(*FILLED, FUNCTION)
    assert "set N inside double" in noticed(FUNCTION, *FILLED)
    assert "needs N, " in noticed(FUNCTION, "for N in ([2], [3]):\n    pass")


@pytest.mark.parametrize(
    "cells",
    [
        ["N = [2 * i for i in range(8)]"],
        ["import numpy as np", "N = np.arange(8) * 2", "N.sum()"],
        ["M, N = 3, {1: 2}"],
        ["x = [1]\nx[0] = 3", "N = (0, 2)"],
        [*FILLED, "N = [0, 2]"],  # what was filled before is no longer there
        ["y = await z", "N = (0, 2)"],
    ],
)
def test_what_grading_takes_along_is_not(cells: list[str]):
    assert noticed(*cells, FUNCTION) == ""
