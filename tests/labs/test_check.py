"""``check`` and ``picture``: what they draw, and where they draw nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from warpwise import cluster, cuda, trace
from warpwise.labs import Call, Launch, Out, check, passed, picture, run
from warpwise.labs.check import TARGET, _card, _run_folded
from warpwise.labs.fold import headed
from warpwise.labs.judge import judge_until_wrong
from warpwise.labs.run import run_notebook
from warpwise.traces import Trace
from warpwise.views import burst
from warpwise.views.view import View


@cuda.jit
def negated(x, y):
    i = cuda.grid(1)
    y[i] = -x[i]


class Counted:
    """The usual view, counting how often it is drawn."""

    def __init__(self):
        self.drawn = 0

    def of_trace(self, traced: Trace) -> View:
        self.drawn += 1
        return burst.of_trace(traced)


@pytest.mark.parametrize(("pictures", "drawn"), [("none", 0), ("", 1)])
def test_nothing_is_drawn_where_nobody_looks(monkeypatch, capsys, pictures: str, drawn: int):
    monkeypatch.setenv("WARPWISE_PICTURES", pictures)
    view = Counted()
    picture(trace(negated, 1, 32, np.ones(32, np.float32), np.zeros(32, np.float32)), view=view)
    assert view.drawn == drawn
    assert ("(picture)" in capsys.readouterr().out) == (not drawn)


def sums(dist):
    dist.all_reduce(np.ones(4, np.float32))


def no_quickjs(view):
    raise ImportError


def test_a_run_is_folded_as_its_picture_where_it_can_be_drawn(monkeypatch):
    run = cluster.run(sums, 2)
    shown = _run_folded(run)
    assert shown["text/plain"] == run.text()
    assert shown["text/html"].startswith("<details><summary>The run, modelled</summary><ww-ranks")
    assert "<svg" in shown["text/html"]
    with monkeypatch.context() as patched:
        patched.setattr(View, "_repr_html_", no_quickjs)
        assert "<summary>The run, modelled</summary><pre>" in _run_folded(run)["text/html"]
    monkeypatch.setenv("WARPWISE_PICTURES", "none")
    assert "ww-ranks" not in _run_folded(run)["text/html"]


X = np.linspace(1, 2, 32, dtype=np.float32)


@cuda.jit
def neighbour_negated(x, y):
    i = cuda.grid(1)
    y[i] = -x[(i + 1) % 32]


@cuda.jit
def another_formula(x, y):
    i = cuda.grid(1)
    y[i] = math.sin(x[i]) + x[i] * x[i] * x[i]


def test_a_formula_is_asked_for_where_the_indices_are_right(capsys):
    launch = Launch("32 elements", 1, 32, args=(X, Out(32)), want=(X - X**2,), rtol=1e-3)
    check(another_formula, [replace(launch, reference=lambda x: x - x**2)])
    told = " ".join(capsys.readouterr().out.split())
    assert "compare the formula term by term" in told and "which thread" not in told.lower()


def half(n):
    return n // 2 + 1


def quarter(n):
    return half(half(n))


def test_an_exercise_is_not_blamed_for_another_that_it_calls(capsys):
    names = {"half": half, "quarter": quarter, "check": check, "Call": Call}
    exec("check('half', [Call('8', (8,), 4)])\ncheck('quarter', [Call('8', (8,), 2)])", names)
    told = capsys.readouterr().out
    assert told.count("it calls half, whose own check does not pass: mend that first") == 1


def checked(**changes) -> None:
    fields = {"args": (X, Out(32)), "want": (-X,), "reference": np.negative}
    check(neighbour_negated, [Launch("32 elements", 1, 32, **fields | changes)])


LOOKED = "Looked at: y[0] should depend on x[0] and does not; it depends on x[1], and should not"


def test_a_wrong_result_is_looked_at_and_its_inputs_are_drawn(monkeypatch, capsys):
    monkeypatch.delenv("WARPWISE_PICTURES", raising=False)
    monkeypatch.setattr("warpwise.labs.probes.SECONDS", 100)
    checked()
    said = capsys.readouterr().out
    assert f"    {LOOKED}\n" in said and said.index("Try: ") < said.index(LOOKED)
    assert "dependence" in said


def test_nothing_is_looked_at_where_nobody_reads_it(monkeypatch, capsys):
    monkeypatch.setenv("WARPWISE_PICTURES", "none")
    monkeypatch.setattr("warpwise.labs.repairs.repair", lambda *_: pytest.fail("mended"))
    checked(reference=lambda x: pytest.fail("the reference was called"))
    assert capsys.readouterr().out.startswith("neighbour_negated: wrong result\n")


def test_a_right_result_is_not_looked_at(monkeypatch, capsys):
    monkeypatch.delenv("WARPWISE_PICTURES", raising=False)
    checked(want=(-np.roll(X, -1),), reference=lambda x: pytest.fail("the reference was called"))
    assert "passed" in capsys.readouterr().out


@cuda.jit
def forgets_the_second_block(x, y):
    i = cuda.grid(1)
    y[i] = x[i] if cuda.blockIdx.x == 0 else 0


def of_blocks(blocks: int, budget: int) -> Launch:
    x = np.arange(1, 32 * blocks + 1, dtype=np.float32)
    counted = {"global_load_requests": budget}
    return Launch(f"{blocks} blocks", blocks, 32, (x, Out(x.size)), (x,), counted)


def said(capsys, *cases: Launch) -> list[str]:
    check(forgets_the_second_block, cases)
    return capsys.readouterr().out.splitlines()


def test_a_wrong_result_is_told_before_a_budget_that_an_earlier_case_missed(monkeypatch, capsys):
    monkeypatch.setenv("WARPWISE_PICTURES", "none")
    told = said(capsys, of_blocks(1, 0), of_blocks(1, 9), of_blocks(2, 9), of_blocks(3, 9))
    assert told[:5] == [
        "forgets_the_second_block: wrong result",
        "  over budget: global_load_requests  1 blocks",
        "  right, within budget               1 blocks",
        "  wrong result                       2 blocks",
        "counters of launch 2 blocks",
    ]


def test_the_card_tells_the_wrong_result_too_and_counts_nothing_of_it(monkeypatch):
    monkeypatch.delenv("WARPWISE_PICTURES", raising=False)
    cases = of_blocks(1, 0), of_blocks(2, 9)
    verdicts = judge_until_wrong(forgets_the_second_block, cases)
    card = _card("forgets_the_second_block", cases, verdicts, {}, "")
    assert (card.word, card.gauges) == ("Wrong result", ())
    assert "y[32] should be 33" in card.line


def test_of_a_budget_alone_the_first_case_that_missed_it_is_told(monkeypatch, capsys):
    monkeypatch.delenv("WARPWISE_PICTURES", raising=False)
    told = said(capsys, of_blocks(1, 9), of_blocks(1, 0), of_blocks(1, 9))
    assert told[:5] == [
        "forgets_the_second_block: over budget: global_load_requests",
        "  right, within budget               1 blocks",
        "  over budget: global_load_requests  1 blocks",
        "  right, within budget               1 blocks",
        "    the result is right, but global_load_requests is 1; the budget is at most 0",
    ]


def test_what_was_looked_at_is_told_in_a_terminal_too():
    verdict = {
        "exercise": "negated",
        "passed": False,
        "reason": "wrong result",
        "detail": "y[0] should be -1 and is -2",
        "case": "32 elements",
        "advice": "work it out by hand",
        "looked": LOOKED.removeprefix("Looked at: "),
    }
    cell = new_code_cell(metadata={"warpwise": {"check": "negated"}})
    cell.outputs = [new_output("display_data", metadata={"warpwise": verdict})]
    result = run._result(new_notebook(cells=[cell]), "negated", 2)
    assert result.more.splitlines() == [
        "  Case: 32 elements",
        "  Try: work it out by hand",
        f"  {LOOKED}",
    ]


CELLS = (
    """
import numpy as np

from warpwise import cuda
from warpwise.labs import Call, Launch, Out, check


@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


@cuda.jit
def half(x, y):
    i = cuda.grid(1)
    y[i] = x[i] / 2


x = np.arange(32, dtype=np.float32)
case = Launch("32 <b>", 1, 32, (x, Out(32)), (x,), {"sectors_per_request_load": 4})""",
    headed("check('copy', [case])", "copy", (("copy",), ("half",))),
    headed("check('half', [case])", "half", (("copy",), ("half",))),
    "check('copy', [case])",
)


@pytest.mark.slow
def test_in_a_notebook_a_check_answers_with_a_card_and_the_same_text(tmp_path):
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    ran = run_notebook(nbformat.v4.new_notebook(cells=cells), tmp_path)
    passed, wrong, alone = (cell.outputs for cell in ran.cells[1:])
    assert passed[0].data["text/plain"] == "copy: passed\n  right, within budget  32 <b>"
    card = passed[0].data["text/html"]
    assert "1 of 2 exercises done in this session. Next: half" in card
    assert "32 &lt;b&gt;" in card and 'aria-valuetext="4 of at most 4"' in card
    assert passed[0].metadata["warpwise"]["placeholder"].startswith(TARGET)
    assert "counters of launch 32 <b>" in passed[1].data["text/plain"]
    assert "32 &lt;b&gt;" in passed[1].data["text/html"]
    text = wrong[0].data["text/plain"]
    assert text.startswith("half: wrong result\n") and "1 of 2 exercises" not in text
    card = wrong[0].data["text/html"]
    assert "Wrong result" in card and "1 of 2 exercises done in this session.<" in card
    assert "aria-valuetext" not in card  # of a wrong kernel counters say nothing
    assert "exercises done" not in alone[0].data["text/html"]


def test_an_exercise_has_passed_when_its_last_check_was_right(capsys):
    def grown(n):
        return 2 * n

    assert not passed("grown")
    for want, right in ((6, True), (7, False), (6, True)):
        check(grown, [Call("of 3", (3,), want=want)])
        assert passed("grown") == right
    capsys.readouterr()
