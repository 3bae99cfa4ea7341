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
