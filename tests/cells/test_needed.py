"""Which earlier statements a cell needs, by small pages."""

from __future__ import annotations

import ast

import pytest

from warpwise.cells import needed, statements


def kept(cells: list[str], text: str) -> list[str]:
    """The statements of the cells that a text needs, as text."""
    return [ast.unparse(part.node) for part in needed(statements(cells), statements([text]))]


def test_only_what_is_read_is_needed_and_what_that_needs():
    cells = ["a = 1\nb = a + 1", "c = 5", "print(b)"]
    assert kept(cells, "b") == ["a = 1", "b = a + 1"]
    assert kept(cells, "1 + 1") == []


def test_the_last_assignment_hides_those_before():
    assert kept(["x = 1", "x = 2", "y = x"], "y") == ["x = 2", "y = x"]
    assert kept(["x = 1", "x += 2"], "x") == ["x = 1", "x += 2"]
    assert kept(["x = 1", "if x:\n    x = 2"], "x") == ["x = 1", "if x:\n    x = 2"]


def test_a_function_reads_names_when_it_is_called():
    cells = ["n = 1", "def f():\n    return n", "n = 2"]
    assert kept(cells, "f()") == ["n = 1", "def f():\n    return n", "n = 2"]


def test_names_of_a_functions_own_are_not_the_pages():
    cells = ["x = 1", "@jit\ndef k(x, y):\n    i = x\n    y[i] = x"]
    assert len(kept(cells, "k")) == 1


@pytest.mark.parametrize(
    "change",
    ["x[0] = 1", "x.size = 2", "x.sort()", "k[1, 32](x)", "t = trace(k, 1, 32, x)", "x[1] += 2"],
)
def test_a_change_in_place_is_needed(change):
    assert kept(["x = make()", change], "x") == ["x = make()", change]


def test_a_module_is_changed_by_no_call():
    assert kept(["import numpy as np", "np.seterr(all='ignore')"], "np.pi") == [
        "import numpy as np"
    ]


@pytest.mark.parametrize(
    "loop",
    [
        "for x in range(3):\n    y = x\n    print(y)",
        "with open(x) as x:\n    pass",
        "for i in range(3):\n    if i:\n        continue\n    print(i)",
        "print([x for x in range(3)])",
    ],
)
def test_a_loop_reads_only_what_it_has_not_bound(loop):
    expected = ["x = 1"] if "open" in loop else []
    assert kept(["x = 1", "y = 2", "i = 3"], loop) == expected


def test_a_loop_that_adds_up_needs_where_it_begins():
    loop = "for i in range(3):\n    total = total + i"
    assert kept(["total = 0", loop], "total") == ["total = 0", loop]


def test_what_a_try_catches_is_read():
    text = "try:\n    f()\nexcept Wrong as error:\n    print(error)"
    assert kept(["from a import Wrong", "error = 1", "def f(): pass"], text) == [
        "from a import Wrong",
        "def f():\n    pass",
    ]


def test_modules_of_an_import_are_named_whole():
    (one, two) = statements(["import a.b as c", "from d.e import f"])
    assert one.modules == ("a.b",) and two.modules == ("d.e", "d.e.f")
