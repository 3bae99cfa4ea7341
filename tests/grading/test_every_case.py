"""All hidden cases are judged: what failed and what was right, and where judging had to stop."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from support.feedback_pages import given
from support.paths import ROOT
from support.wrong_answers import wrong_answer

from warpwise import cuda
from warpwise.grading import hidden, outcome, simulate, store
from warpwise.grading.host import judge_function
from warpwise.grading.notebook import Answer
from warpwise.grading.record import Counter, Finding, Record, Result
from warpwise.grading.sandbox import isolation
from warpwise.grading.simulate import Progress
from warpwise.labs.exercise import Call, Launch, Out
from warpwise.labs.source import load_lab, role, solved_notebook

LAB = "08_coalescing"


@cuda.jit
def zero_and_large(x, y):
    """y = x, but for zeros; twice loaded where there are several blocks."""
    i = cuda.grid(1)
    if i < x.size:
        if cuda.gridDim.x > 1:
            y[i] = x[(i + 1) % x.size]
        if x[i] != 0:
            y[i] = x[i]
        else:
            y[i] = 1


def launch(values, loads: int | None = None) -> Launch:
    x = np.asarray(values, np.float32)
    budget = {} if loads is None else {"global_load_bytes": loads}
    blocks = -(-x.size // 32)
    return Launch(f"{x.size} values", blocks, 32, (x, Out(x.size)), (x,), budget)


SMALL, LARGE, ZERO = launch(range(1, 9), 200), launch(range(1, 65), 300), launch([3, 0, 5])


def test_every_case_is_judged_and_a_wrong_result_is_told_before_a_right_one_over_budget():
    found = simulate.finding(zero_and_large, [SMALL, LARGE, SMALL, ZERO, SMALL])
    assert (found.reason, found.case, found.failed) == (
        "wrong result",
        "3 values",
        ("64 values", "3 values"),
    )
    assert (found.right, found.tried, found.cases) == (3, 5, 5)
    assert [counter.over for counter in found.counters] == [True]  # of a case after the first


def test_only_over_budget_is_what_was_right_in_every_case():
    assert simulate.finding(zero_and_large, [SMALL, LARGE, SMALL]).only_over_budget
    assert not simulate.finding(zero_and_large, [SMALL, LARGE, ZERO]).only_over_budget
    assert not simulate.finding(zero_and_large, [SMALL]).only_over_budget  # it passed
    stopped = Finding(False, "over budget: barriers", tried=2, cases=3)
    assert not stopped.only_over_budget and replace(stopped, tried=3).only_over_budget
    assert not replace(stopped, tried=3, reason="over budget: memory").only_over_budget


def test_after_a_wrong_result_judging_stops_when_time_is_used_up_but_not_over_a_budget():
    late = Progress(until=0)
    found = simulate.finding(zero_and_large, [SMALL, ZERO, SMALL], progress=late)
    assert (found.tried, found.right) == (2, 1)
    assert outcome.hidden_cases(found) == (
        "stopped at case 2 of 3; 1 before it right, 1 more was not tried"
    )
    assert simulate.finding(zero_and_large, [LARGE, SMALL], progress=late).tried == 2


@pytest.mark.slow
def test_a_kernel_without_an_end_meets_no_further_case():
    @cuda.jit
    def endless(x, y):
        while x[0] > 0:
            pass

    found = simulate.finding(endless, [SMALL, SMALL])
    assert (found.reason, found.tried) == ("too slow", 1)
    assert outcome.hidden_cases(found) == "stopped at case 1 of 2; 1 more was not tried"


def test_an_ended_process_is_told_with_the_case_and_what_had_failed_before():
    steps = [{"case": "a", "tried": 1, "cases": 4}, {"case": "b", "tried": 2, "cases": 4}]
    stopped = Finding(False, "too slow", "used much")
    found = simulate._interrupted(stopped, steps)
    assert (found.reason, found.tried, found.right, found.failed) == ("too slow", 2, 1, ("b",))
    wrong = {"passed": False, "reason": "wrong result", "counters": (), "failed": ["b"]}
    steps += [{"so_far": wrong | {"tried": 2}}, {"case": "c", "tried": 3, "cases": 4}]
    found = simulate._interrupted(stopped, steps)
    assert (found.reason, found.tried, found.right) == ("wrong result", 3, 1)
    assert found.failed == ("b", "c") and simulate._interrupted(stopped, []) == stopped
    steps[2]["so_far"]["reason"] = "over budget: barriers"
    steps[3]["tried"] = 4  # the last case: its result is not known, and earns nothing
    found = simulate._interrupted(stopped, steps)
    assert (found.reason, found.tried, found.failed) == ("too slow", 4, ("b", "c"))
    steps.append({"so_far": wrong | {"tried": 4}})  # ended among probes
    found = simulate._interrupted(stopped, steps)
    assert (found.tried, found.right, found.failed) == (4, 3, ("b",))


@pytest.mark.slow
def test_an_answer_that_uses_up_the_time_costs_the_others_nothing():
    slow, right = wrong_answer(LAB, "never_ends"), load_lab(LAB).exercise("copy_matrix")
    solved = (c for c in solved_notebook(load_lab(LAB)).cells if role(c) == "exercise")
    text = next(c.source for c in solved if c.metadata["warpwise"]["id"] == right.id)
    answers = [
        Answer(slow.exercise, "kernel", slow.exercise, slow.text),
        Answer(right.id, "kernel", right.name, text),
    ]
    limits = replace(simulate.LIMITS, cpu_seconds=3)
    for order in (answers, answers[::-1]):
        found = simulate.simulate(ROOT, LAB, 1, order, given(LAB), limits=limits)
        assert found[right.id].finding.passed
        ended = found[slow.exercise].finding
        assert (ended.reason, ended.tried, ended.right) == ("too slow", 1, 0)
        assert ended.cases == 9 and ended.failed == (ended.case,)


def double(n: int) -> Call:
    return Call(f"n = {n}", (n,), 2 * n)


@pytest.mark.parametrize(
    ("body", "reason", "right", "tried"),
    [
        ("return 2 * n + (n % 2)", "wrong result", 2, 4),
        ("return 2 * n if n % 2 else 1 // 0", "raised an error", 2, 4),
        ("return 2 * n if n < 2 else exit_now()", "ended the process", 2, 3),
    ],
)
def test_every_call_is_judged_until_the_process_ends(sandbox, body, reason, right, tried):
    ends = "import os\n" if "exit_now" in body else ""
    text = f"{ends}def exit_now():\n    os._exit(0)\ndef double(n):\n    {body}\n"
    found = judge_function(text, "double", [double(n) for n in range(4)], isolation())
    assert (found.reason, found.right, found.tried, found.cases) == (reason, right, tried, 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True:\n        n += 1", "does not end"),
        ("for _ in iter(int, 1): n += 1", "too slow"),
    ],
)
def test_a_function_does_not_end_where_its_text_shows_it(sandbox, body, reason):
    written = Answer("sectors_for", "host", "double", f"def double(n):\n    {body}\n    return n\n")
    read = simulate.judge_answer(written, hidden.load(ROOT, LAB), 1, ())
    asked = (read["text"], "double", [double(1), double(2)], isolation())
    found = judge_function(*asked, endless=read["endless"])
    assert (found.reason, found.tried) == (reason, 1)
    assert found.detail == "used more than 3 s of processor time"


def test_calls_too_are_explained_by_what_new_ones_confirm(sandbox):
    calls = [double(n) for n in (2, 3, 4, 5, 8)]
    text = "def double(n):\n    return 2 * n + (n % 2)\n"
    again = [double(n) for n in (6, 7, 10, 11)]
    found = judge_function(text, "double", calls, isolation(), lambda: again)
    assert found.behaviour == "fails where the first argument is odd"


def test_a_record_of_an_earlier_version_stopped_at_the_first_that_failed():
    fields = {"passed": False, "reason": "race", "tried": 3, "cases": 9, "counters": []}
    found = store.finding(fields)
    assert (found.right, found.failed) == (2, ())
    assert outcome.hidden_cases(found).startswith("stopped at case 3 of 9; 2 before it right")


def test_a_record_keeps_labels_and_an_outline_knows_what_a_share_needs():
    counters = (Counter("barriers", 2, 1),)
    finding = Finding(False, "over budget: barriers", tried=2, cases=2, counters=counters)
    finding = replace(finding, failed=("a", "b"))
    assert store.finding({**vars(finding), "counters": [vars(counters[0])]}) == finding
    record = Record("s", "f", "l", (Result("e", 3, finding),))
    assert store.outline(record).earned(50) == record.earned(50) == 1.5


def test_a_folder_of_modules_named_from_here_is_so_from_anywhere(monkeypatch, tmp_path):
    """Otherwise the judge would look for its modules beside the answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f".{os.pathsep}more")
    _, *given = simulate.environment()["PYTHONPATH"].split(os.pathsep)
    assert given == [str(tmp_path), str(tmp_path / "more")]
