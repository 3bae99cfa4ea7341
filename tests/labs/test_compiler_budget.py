"""Budgets on what NVIDIA's compiler gives a thread, as a check shows them."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda
from warpwise.errors import LabError, ToolchainError
from warpwise.labs import Launch, Out, check
from warpwise.labs import compiler_budget as budgets
from warpwise.labs.compiler_budget import budget_of, with_compiled
from warpwise.labs.exercise import InOut, Reason
from warpwise.labs.judge import judge
from warpwise.labs.kept_places import kept_places
from warpwise.labs.unknown_places import unknown_places
from warpwise.metrics.compiler_figures import CompilerFigures
from warpwise.simt import as_kernel

NONE = {"registers_per_thread": 64, "spilled_bytes": 0, "local_memory_bytes": 0}
EIGHT = 8
X = np.arange(64, dtype=np.float32)


def launch(**budget: int) -> Launch:
    return Launch("64", 2, 32, (X, Out(64)), (2 * X,), compiled=budget or NONE)


@cuda.jit
def doubled(x, y):
    i = cuda.grid(1)
    y[i] = 2 * x[i]


@cuda.jit
def kept_in_memory(x, y):
    i = cuda.grid(1)
    kept = cuda.local.array(32, np.float32)
    for j in range(x.size // 2):
        kept[j] = x[i] * np.float32(j)
    y[i] = kept[x.size // 32]


@cuda.jit
def kept_in_registers(x, y):
    i = cuda.grid(1)
    kept = cuda.local.array((EIGHT, 2), np.float32)
    for half in range(2):
        for j in range(4):
            at = 4 * half + j
            kept[at, 1] = x[i]
    for j in range(EIGHT):
        for k in range(j):
            kept[j, 0] = kept[k, 1]
    y[i] = kept[7, 1] * 2


@cuda.jit
def turned_round(x, y):
    i = cuda.grid(1)
    kept = cuda.local.array(8, np.float32)
    for n in range(8):
        j = (n + i) % 8
        kept[j] = x[i]
    y[i] = 2 * kept[0]


@cuda.jit
def divided_in_each_step(x, y):
    t = cuda.grid(1)
    total = np.float32(0)
    for s in range(x.size // 64):
        for i in range(EIGHT):
            e = t % 32 + 8 * i
            total += x[64 * s + e // 8 + s % 8]
    y[t] = 2 * x[t] + 0 * total


@cuda.jit
def divided_while_it_steps(x, y):
    t, at = cuda.grid(1), 0
    while at < x.size:
        for i in range(8):
            y[t] = 2 * x[t] + 0 * x[(at + 8 * i) // 8]
        at += 64
        for i in range(8):
            y[t] += 0 * x[(t + i) % 64]


@cuda.jit
def divided_once(x, y):
    t = cuda.grid(1)
    row, total = t // 8, np.float32(0)
    for first in range(0, x.size, 64):
        half = first // 64 % 2
        for i in range(8):
            e = row + 8 * i
            total += x[(first + e) % 64] + x[e] + x[half // 2 * i]
    for i in range(8):
        total += x[(t + i) // 8]
    y[t] = 2 * x[t] + 0 * total


def given(*numbers: int):
    return lambda kernel, types: CompilerFigures(*numbers)


def judged(kernel, case: Launch, *numbers: int):
    return with_compiled(kernel, [case], judge(kernel, [case]), given(*numbers))


def test_a_kernel_within_its_budget_passes_with_its_figures():
    verdicts, counters, said = judged(doubled, launch(), 10, 0, 0)
    assert verdicts[0].passed and not said
    assert counters == tuple(
        (name, n, NONE[name]) for name, n in zip(NONE, (10, 0, 0), strict=True)
    )


@pytest.mark.parametrize(
    ("numbers", "over"),
    [
        ((65, 0, 0), "registers_per_thread"),
        ((64, 8, 16), "spilled_bytes"),
        ((64, 0, 16), "local_memory_bytes"),
        ((99, 0, 16), "local_memory_bytes"),  # with the array in registers there would be more
        ((99, 8, 16), "spilled_bytes"),
    ],
)
def test_what_is_over_is_named_with_what_to_try(numbers, over):
    [verdict], counters, _ = judged(doubled, launch(), *numbers)
    assert not verdict.passed and verdict.reason == Reason.OVER_BUDGET + over
    assert f"the result is right, but {over} is" in verdict.detail
    assert verdict.advice == budgets.ADVICE[over] and len(counters) == 3


def test_only_what_the_budget_names_counts():
    [verdict], counters, _ = judged(doubled, launch(spilled_bytes=4), 255, 4, 8)
    assert verdict.passed and counters == (("spilled_bytes", 4, 4),)


SLOTS = {"flops_per_issue_slot": 16}


def test_a_loop_that_computes_too_little_is_named_with_what_fills_it():
    within = (99, 0, 0, 7, 256, 128, 64, 150, 20, 10, 0, 0, 2)
    [verdict], counters, _ = judged(doubled, launch(**SLOTS), *within)
    assert verdict.passed and counters == (("flops_per_issue_slot", 16.0, 16),)
    [verdict], counters, _ = judged(doubled, launch(**SLOTS), *within[:4], 300, *within[5:])
    assert verdict.reason == "over budget: flops_per_issue_slot"
    assert verdict.detail == (
        "the result is right, but flops_per_issue_slot is 13.65; the budget is at least 16: in the "
        "loop on line 7, 64 of 300 instructions are FFMA; the others are mainly arithmetic on "
        "whole numbers, as for addresses (150)"
    )
    assert verdict.advice == budgets.CONSTANT


@pytest.mark.parametrize("first", [(9, 8, 16), (9, 0, 16), (65, 0, 0)])
def test_what_spoils_the_loop_is_told_before_the_loop(first):
    [verdict], _, _ = judged(doubled, launch(**NONE, **SLOTS), *first, 7, 900, 128, 64)
    assert verdict.reason.startswith(Reason.OVER_BUDGET)
    assert not verdict.reason.endswith("flops_per_issue_slot")


def test_the_kinds_of_instructions_are_named_by_their_number():
    told = CompilerFigures(0, 0, 0, 7, 100, 128, 64, 4, 16, 0, 0, 2, 13).told
    assert told.endswith(
        "mainly loads from shared memory (16), moves from register to register (13) and "
        "arithmetic on whole numbers, as for addresses (4)"
    )
    assert CompilerFigures(0, 0, 0, 0, 3).told == (
        "in the kernel, without a loop, 0 of 3 instructions are FFMA"
    )


def test_a_kernel_that_the_compiler_refuses_does_not_pass():
    def refuse(kernel, types):
        raise ToolchainError("lab.py:3: no such thing")

    verdicts, _, _ = with_compiled(doubled, [launch()], judge(doubled, [launch()]), refuse)
    assert (verdicts[0].reason, verdicts[0].detail) == (Reason.REFUSED, "lab.py:3: no such thing")


def test_a_wrong_result_is_not_compiled():
    wrong = Launch("64", 2, 32, (X, Out(64)), (3 * X,), compiled=NONE)
    verdicts, counters, _ = with_compiled(doubled, [wrong], judge(doubled, [wrong]), None)
    assert verdicts[0].reason == Reason.WRONG_RESULT and not counters


def test_types_are_those_of_the_arguments():
    args = (X.reshape(8, 8), InOut(np.zeros(3, np.int32)), 7, 0.5, True, np.float16(1))
    case = Launch("", 1, 1, args, (np.zeros(3, np.int32),), compiled=NONE)
    plain = Launch("", 1, 1, (X, Out(64)), (X,))
    types, budget = budget_of([plain, case])
    assert types == "float32[:, ::1], int32[::1], int64, float64, boolean, float16"
    assert budget == NONE and budget_of([plain]) is None


def test_an_unknown_name_is_refused():
    with pytest.raises(LabError, match="no counter is called registers"):
        launch(registers=3)


def test_places_that_are_not_known_are_named():
    def place(kernel):
        return unknown_places(as_kernel(kernel))

    assert place(kept_in_memory).startswith("kept is there, for on line ")
    assert place(kept_in_memory).endswith("know how often `for j in range(x.size // 2)` runs")
    assert place(turned_round).endswith("the compiler does not know the place kept[j]")
    assert place(kept_in_registers) == place(doubled) == ""


def test_places_that_are_divided_out_in_each_step_are_named():
    def found(kernel):
        return kept_places(as_kernel(kernel))

    assert found(divided_in_each_step).startswith("on line ")
    assert "the values of `e // 8` are the same in every trip" in found(divided_in_each_step)
    assert "the values of `(t + i) % 64` are the same" in found(divided_while_it_steps)
    assert found(divided_once) == found(doubled) == ""


def test_too_many_registers_are_put_down_to_places_that_are_divided_out():
    [verdict], _, _ = judged(divided_in_each_step, launch(), 65, 0, 0)
    assert "at most 64: on line " in verdict.detail and "`e // 8`" in verdict.detail
    assert verdict.advice == budgets.ONCE and budgets.ONCE.endswith(budgets.FEWER)


def test_the_compiler_finds_the_array_in_memory():
    toolchain = pytest.importorskip("warpwise.toolchain")
    if toolchain.missing():
        pytest.skip("CUDA's compiler is not here")
    for kernel, reason in (
        (doubled, Reason.PASSED),
        (kept_in_registers, Reason.PASSED),
        (kept_in_memory, "over budget: local_memory_bytes"),
    ):
        verdicts, counters, said = with_compiled(kernel, [launch()], judge(kernel, [launch()]))
        assert (verdicts[0].reason, len(counters), said) == (reason, 3, ""), kernel


def test_without_the_compiler_a_check_says_so_and_passes(monkeypatch, capsys):
    monkeypatch.setattr(budgets, "find_spec", lambda name: None)
    check(kept_in_memory, [launch()])
    said = capsys.readouterr().out
    assert said.startswith("kept_in_memory: passed") and budgets.MISSING in said.splitlines()


def test_with_another_compiler_a_check_says_so_and_passes(monkeypatch, capsys):
    monkeypatch.setattr(budgets, "package", lambda: "numba-cuda-mlir")
    check(kept_in_memory, [launch()])
    said = capsys.readouterr().out
    assert said.startswith("kept_in_memory: passed") and budgets.SUCCESSOR in said.splitlines()


def test_a_check_shows_figures_and_fails_over_the_budget(monkeypatch, capsys):
    monkeypatch.setattr(budgets, "_compiler", lambda: given(40, 0, 128))
    check(kept_in_memory, [launch()])
    said = capsys.readouterr().out
    assert said.startswith("kept_in_memory: over budget: local_memory_bytes")
    assert "range(x.size // 2)` runs" in said and "Try: an array is in registers only if" in said
    rows = [line.split() for line in said.splitlines()]
    assert ["local_memory_bytes", "128", "at", "most", "0"] in rows


def test_in_the_graders_run_a_check_leaves_it_to_the_grader(monkeypatch, capsys):
    monkeypatch.setenv("WARPWISE_PICTURES", "none")
    monkeypatch.setattr(budgets, "_compiler", lambda: given(40, 0, 128))
    check(kept_in_memory, [launch()])
    assert capsys.readouterr().out.startswith("kept_in_memory: passed")
