"""What a page's cell shows when a reader runs it: text, value, picture, error and its line."""

from __future__ import annotations

import pytest

from warpwise.cells import Page
from warpwise.cells.run import MOST_HTML, MOST_TEXT, Printed

KERNEL = """@cuda.jit
def k(x):
    i = cuda.grid(1)
    x[i] = i
"""
PAGE = Page(
    [
        "import numpy as np\nfrom warpwise import cuda, trace",
        "print('earlier')\nx = np.zeros(40, np.float32)",
        KERNEL,
        "1 / 0",
    ]
)


def test_it_shows_what_it_prints_and_its_last_value_and_nothing_of_earlier_cells():
    shown = PAGE.run("print(x.size)\nx[0] + 1", 3)
    assert shown.data == {
        "printed": "40\n", "html": "", "value": "np.float32(1.0)", "error": "", "line": 0
    }  # fmt: skip


def test_a_run_begins_anew():
    assert PAGE.run("x[:] = 7\nx.sum()", 3).value == PAGE.run("x[:] = 7\nx.sum()", 3).value
    assert PAGE.run("x.sum()", 3).value == "np.float32(0.0)"
    assert "NameError" in PAGE.run("mine", 3).error


def test_html_is_shown_for_what_has_it():
    shown = PAGE.run("from warpwise.views import burst\nburst.explorer(8)")
    assert shown.html.startswith("<ww-burst") and not shown.value


def test_then_is_shown_where_the_text_ends_without_a_value():
    then = "len(trace(k, 1, 32, np.zeros(32, np.float32)).by_line)"
    assert PAGE.run(KERNEL, 2, then).value == "2"
    assert PAGE.run(f"{KERNEL}\n'mine'", 2, then).value == "'mine'"


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("a = 1\nb = a / 0", "ZeroDivisionError: division by zero", 2),
        ("a = 1\nfor", "SyntaxError: invalid syntax", 2),
        ("\n\nnp.zeros(3)[5]", "IndexError: index 5 is out of bounds", 3),
        ("import matplotlib_of_no_page", "ModuleNotFoundError: No module", 1),
        ("def f():\n    return g\n\nf()", "NameError: name 'g' is not defined", 2),
        ("raise SystemExit", "SystemExit", 1),
    ],
)
def test_an_error_names_the_line_of_the_cell(text, error, line):
    shown = PAGE.run(text, 3)
    assert shown.error.startswith(error) and shown.line == line


def test_a_missing_name_of_the_package_is_said_to_be_there():
    shown = Page([]).run("trace(None, 1, 32)")
    assert shown.error == "NameError: name 'trace' is not defined\nTry: from warpwise import trace"


def test_an_error_of_a_kernel_names_the_line_in_the_kernel():
    text = KERNEL + "trace(k, 1, 32, np.zeros(31, np.float32))"
    shown = PAGE.run(text, 3)
    assert shown.line == 4
    assert shown.error.startswith("OutOfBoundsError: index 31 is outside x")
    assert "line 4 of the cell that defines k" in shown.error


def test_an_error_in_a_kernel_of_an_earlier_cell_marks_the_launch():
    shown = PAGE.run("\ntrace(k, 2, 32, x)", 3)
    assert shown.error.startswith("OutOfBoundsError") and shown.line == 2


def test_a_race_is_told_as_a_warning():
    text = "@cuda.jit\ndef r(x):\n    x[0] = cuda.grid(1)\n\nr[2, 32](x)"
    assert "RaceWarning" in PAGE.run(text, 3).printed


def test_what_is_too_long_is_cut():
    printed = PAGE.run(f"print('x' * {MOST_TEXT + 5})\nfor i in range(9): print(i)", 3).printed
    assert len(printed) < MOST_TEXT + 100 and printed.endswith("(the rest is left out)")
    assert len(PAGE.run(f"'x' * {2 * MOST_TEXT}", 3).value) < MOST_TEXT + 100
    big = f"class Big:\n    def _repr_html_(self): return 'x' * {MOST_HTML + 1}\nBig()"
    assert "more than a page can show" in PAGE.run(big, 3).value


def test_printed_text_is_what_was_written():
    printed = Printed()
    assert printed.write("ab") == 2 and printed.write("c") == 1 and printed.text == "abc"
