"""Kernels and device functions in different cells, which all begin with line 1.

No line is taken for another."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.cells import cells

from warpwise import trace
from warpwise.errors import OutOfBoundsError, UnsupportedError
from warpwise.report import report
from warpwise.traces import reached_from
from warpwise.views import burst, divergence

TWICE = """
@cuda.jit(device=True)
def twice(v):
    return v + v
"""
PUT = """
@cuda.jit(device=True)
def put(y, i, v):
    w = twice(v)
    y[i] = w
"""
KERNEL = """
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        put(y, i, x[i])
"""
X = np.arange(40, dtype=np.float32)


def lines(t, counter: str) -> dict[str, int]:
    """Map the text of source lines to their counter, where there is any."""
    return {
        t.source[n].strip(): getattr(m, counter)
        for n, m in t.by_line.items()
        if getattr(m, counter)
    }


@pytest.mark.parametrize(
    "texts",
    [(TWICE, PUT, KERNEL), (PUT, KERNEL, TWICE), (TWICE + PUT, KERNEL), (TWICE + PUT + KERNEL,)],
    ids=len,
)
def test_each_line_has_its_own_counters(texts):
    y = np.zeros(40, np.float32)
    t = trace(cells(*texts)["kernel"], 2, 32, X, y)
    assert (y == 2 * X).all()
    assert lines(t, "global_store_requests") == {"y[i] = w": 2}
    assert lines(t, "global_load_requests") == {"put(y, i, x[i])": 2}
    assert lines(t, "flops_fp32") == {"return v + v": 40}
    assert {t.source[e.line].strip() for e in t.accesses()} == {"y[i] = w", "put(y, i, x[i])"}


def test_lines_of_other_cells_are_numbered_from_1001():
    t = trace(cells(TWICE, PUT, KERNEL)["kernel"], 2, 32, X, np.zeros(40, np.float32))
    assert {n: text.strip() for n, text in t.source.items()} == {
        3: "def kernel(x, y):",
        4: "i = cuda.grid(1)",
        5: "if i < x.size:",
        6: "put(y, i, x[i])",
        1003: "def put(y, i, v):",
        1004: "w = twice(v)",
        1005: "y[i] = w",
        2003: "def twice(v):",
        2004: "return v + v",
    }


def test_a_line_is_named_by_its_function_and_its_number_there():
    t = trace(cells(TWICE, PUT, KERNEL)["kernel"], 2, 32, X, np.zeros(40, np.float32))
    assert [t.place(n) for n in (6, 1004, 2004)] == ["line 6", "line 4 of put", "line 4 of twice"]
    assert [t.label(n) for n in (6, 1004, 2004)] == ["6", "put 4", "twice 4"]
    assert [(f.name, f.called_on) for f in t.functions] == [("put", (6,)), ("twice", (1004,))]
    assert reached_from(2004, t.functions) == reached_from(6, t.functions) == (6,)


def test_every_view_and_the_report_name_a_line_by_its_function():
    t = trace(cells(TWICE, PUT, KERNEL)["kernel"], 2, 32, X, np.zeros(40, np.float32))
    drawn = (burst.of_trace(t), divergence.of_trace(t), report(t)._repr_html_())
    for shown in drawn:
        text = shown if isinstance(shown, str) else shown._repr_html_()
        assert "put 4" in text or "Line 4 of put" in text or "line 4 of put" in text
        assert not re.search(r"\b[Ll]ine (1|2)00\d", text) and "<td>1005</td>" not in text


def test_messages_keep_the_numbers_of_the_cell():
    with pytest.raises(
        OutOfBoundsError,
        match=r"line 5 .*put, block \(0, 0, 0\), thread \(30, 0, 0\)\n    y\[i\] = w",
    ):
        trace(cells(TWICE, PUT, KERNEL)["kernel"], 2, 32, X, np.zeros(30, np.float32))


def test_a_function_used_in_two_cells_is_counted_in_each():
    other = KERNEL.replace("def kernel", "# one more\n# line\ndef other")
    names = cells(TWICE, PUT, KERNEL, other)
    for name in ("kernel", "other", "kernel"):
        t = trace(names[name], 2, 32, X, np.zeros(40, np.float32))
        assert lines(t, "global_store_requests") == {"y[i] = w": 2}


def test_functions_of_two_cells_that_call_each_other_are_refused():
    names = cells(
        TWICE.replace("v + v", "back(v)"),
        PUT.replace("put(y, i, v)", "back(v)").replace("y[i] = w", "return w"),
        KERNEL.replace("put(y, i, x[i])", "y[i] = back(x[i])"),
    )
    with pytest.raises(UnsupportedError, match="call each other"):
        trace(names["kernel"], 2, 32, X, np.zeros(40, np.float32))


def test_a_function_within_the_kernel_shares_its_numbers():
    kernel = """
@cuda.jit
def kernel(x, y):
    def doubled(v):
        return twice(v)

    i = cuda.grid(1)
    if i < x.size:
        w = doubled(x[i])
        put(y, i, w)
"""
    t = trace(
        cells(TWICE, PUT.replace("twice(v)", "v"), kernel)["kernel"],
        2,
        32,
        X,
        np.zeros(40, np.float32),
    )
    assert lines(t, "global_store_requests") == {"y[i] = w": 2}
    assert lines(t, "flops_fp32") == {"return v + v": 40}
    assert sorted({number // 1000 for number in t.source}) == [0, 1, 2]
