"""``trace(...).time(device).show()``: its tabs as text and as HTML."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import inf

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.stopwatch import Estimate
from warpwise.stopwatch.estimate import Details, Hint
from warpwise.toolchain import missing


@cuda.jit
def double(x):
    i = cuda.grid(1)
    x[i] = x[i] + x[i]


@cache
def timed() -> Estimate:
    if missing():
        pytest.skip(f"no {', '.join(missing())}")
    return trace(double, 8, 256, np.ones(8 * 256, np.float32)).time("A100 80 GB", grid=8192)


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_what_nobody_asks_for_is_not_worked_out():
    """Neither by the time nor by its line; then once, also for copies."""
    found = trace(double, 8, 256, np.ones(8 * 256, np.float32)).time("T4", grid=64)
    kept = vars(found.details)
    assert str(found) and found.pipes and not {"hints", "timeline"} & kept.keys()
    assert found.text() and "hints" in kept and "timeline" not in kept
    assert replace(found, notes=("copied",)).hints is found.hints
    assert found.timeline is found.timeline is not None


BOUND = Estimate("k", "T4", (1, 1, 1), 1e-3, 1e-3, inf, "DRAM", notes=("no <compiler>",))


def test_printed_it_is_the_text_and_a_sentence_of_the_warps():
    shown = str(timed().show())
    assert shown.startswith("double on A100 80 GB SXM\n\nWhere the clocks go\n")
    assert timed().text() in shown
    assert "\n\nOne SM's warps\nOne SM of A100 80 GB SXM, clocks " in shown


def test_its_lead_has_the_time_and_where_the_range_comes_from():
    lead = timed().show().lead
    assert lead[0] == f"double on A100 80 GB SXM, grid (8192, 1, 1): {timed()}"
    assert lead[1].startswith("The range comes from kernels bound by DRAM, ")


def test_it_has_both_pictures_complete_in_themselves():
    html = timed().show()._repr_html_()
    assert html.count("<ww-clocks") == html.count("<ww-warps") == 1
    assert html.count("<svg") >= 2 and "http" not in html.replace("http://www.w3.org", "")


def test_what_would_help_stands_above_and_among_the_bars():
    hints = (
        Hint("conflict-free stores", timed().seconds / 2, ("line 3",)),
        Hint("half the loads", timed().seconds * 0.9),
    )
    found = replace(timed(), details=Details(hints))
    first = f"with conflict-free stores (line 3): {str(found.hints[0]).rpartition(': ')[2]}"
    assert f"What would help: {first}." in found.show().lead
    assert f"What would help: {first}; with half the loads" in found.text()
    html = found.show()._repr_html_()
    assert "with conflict-free stores, line 3" in html and "as it is" in html
    without = replace(timed(), details=Details(), pipes=timed().pipes[1:])  # not near a limit
    assert "What would help: nothing that was tried saves 5 %." in without.show().lead
    doubtful = replace(without, doubtful=True)
    assert "not worked out, for the estimate is doubtful" in doubtful.text()
    assert BOUND.helps() == ""


def test_a_bound_has_its_reason_and_no_picture():
    shown = BOUND.show()
    assert shown.lead[-1] == "no <compiler>"
    html = shown._repr_html_()
    assert "no &lt;compiler&gt;" in html and "at least 1 ms" in html and "<svg" not in html
    assert "no <compiler>" in str(shown) and "at least 1 ms" in BOUND.text()


def test_its_text_is_what_it_prints():
    shown = timed().show()
    assert shown.text() == str(shown) and timed().text() in shown.text()
