"""Judge programs: functions that run on the ranks of a simulated cluster, here and now.

Student code runs, so only on their own machine; the grader runs each rank in a sandbox, and judges
results and run by the functions below. Looked at in this order: mistakes among ranks, results by
rank, budget."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import Any

import numpy as np

from warpwise import cluster
from warpwise.cluster import Record
from warpwise.errors import (
    BufferInUseError,
    ClusterError,
    DeadlockError,
    MismatchError,
)
from warpwise.labs.advice import OF_RUNS
from warpwise.labs.budgets import figure
from warpwise.labs.calls import CALL_SECONDS, late, on_error, refused
from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.counted import counted
from warpwise.labs.exercise import Program, Reason, Verdict
from warpwise.labs.helper_functions import texts_of
from warpwise.labs.in_place import advice_on_returns
from warpwise.labs.limit import TimeIsUp, at_most
from warpwise.labs.lookup import name_of
from warpwise.labs.patterns.not_numbers import NOT_COME, has_unset
from warpwise.labs.trees import parse
from warpwise.labs.values import judge_value
from warpwise.messages import NOTHING, Datum, Name, Rank, Size, message, plain

REASONS: dict[type[ClusterError], str] = {
    DeadlockError: Reason.DEADLOCK,
    MismatchError: Reason.MISMATCH,
    BufferInUseError: Reason.IN_USE,
    ClusterError: Reason.RANKS,
}


def judge_program(function: Callable[..., Any], program: Program) -> Verdict:
    """Run a function on all ranks, and judge it: student code runs, on their own machine alone."""
    name, texts = name_of(function), texts_of(function)
    if (kernel := refused(function, program.of_rank(0))) is not None:
        return kernel
    shown = message("{function}", function=Name(name))
    try:
        with at_most(CALL_SECONDS, time.process_time):  # each rank has a thread
            run = cluster.run(function, program.ranks, each=program.each, topology=program.topology)
    except TimeIsUp as error:
        return late(program.of_rank(0), shown, function, texts, error)
    except ClusterError as error:
        return on_ranks(error, program)
    except (Exception, SystemExit) as error:
        return on_error(program.of_rank(0), shown, texts, error)
    asked = replace(program, readings=borne_out(program, run.results))
    verdicts = [
        judge_value(value, asked.of_rank(rank), name) for rank, value in enumerate(run.results)
    ]
    verdict = used_too_early(on_run(run, verdicts, program), run.results)
    return instead(verdict, _text(function), name)


def _text(function: Callable[..., Any]) -> str:
    """The text of a function; "" where Python does not have it."""
    try:
        return dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def instead(verdict: Verdict, text: str, name: str) -> Verdict:
    """Return a verdict on a value of a wrong type, with what to return if ``dist`` gave it."""
    if verdict.reason != Reason.WRONG_TYPE:
        return verdict
    try:
        advice = advice_on_returns(parse(text), name)
    except SyntaxError:
        return verdict
    return replace(verdict, remedy=plain(advice)) if advice else verdict


def used_too_early(verdict: Verdict, results: Sequence[Any]) -> Verdict:
    """Say of wrong numbers that an array was used before its transfer had ended, if that was so.

    Any result can show it: the nan of such an array outlives arithmetic, but not every function."""
    arrays = (item for result in results for item in _items(result) if _is_of_floats(item))
    if verdict.reason != Reason.WRONG_RESULT or not any(map(has_unset, arrays)):
        return verdict
    return replace(verdict, remedy=message("[[{advise}]]", advise=Datum(NOT_COME)))


def _is_of_floats(item: Any) -> bool:
    return type(item) is np.ndarray and item.dtype.kind == "f"


def borne_out(program: Program, results: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the readings that are true of what every rank returned, or of one item of it."""
    return {
        clause: said
        for clause, said in program.readings.items()
        if any(any(says) and all(holds) for says, holds in _by_item(program, results, said))
    }


def _by_item(
    program: Program, results: Sequence[Any], said: Sequence[Any]
) -> Iterator[tuple[list[bool], list[bool]]]:
    """Yield of each item, by rank, whether a reading says something wrong, and whether it holds."""
    ranks = [list(map(_items, of)) for of in (results, said, program.want)]
    if any(len(one) != len(other) for one, other in zip(*ranks[:2], strict=True)):
        return
    for got, read, want in zip(*(zip(*of, strict=True) for of in ranks), strict=True):
        off = [compare(*of, program.rtol, program.atol) for of in zip(want, read, strict=True)]
        holds = [_is_as(*of, program) for of in zip(got, read, off, strict=True)]
        yield [one is not None for one in off], holds


def _items(result: Any) -> tuple[Any, ...]:
    return result if type(result) is tuple else (result,)


def _is_as(got: Any, read: np.ndarray, off: Mismatch | None, program: Program) -> bool:
    """True if a result is as a reading says, wherever that is off."""
    if off is None:
        return True
    if type(got) is not np.ndarray or got.shape != read.shape or got.dtype.kind not in "iufb":
        return False
    other = compare(got, read, program.rtol, program.atol)
    return other is None or not other.where[off.where].any()


def on_ranks(error: ClusterError, program: Program) -> Verdict:
    """Return the verdict on a mistake among ranks."""
    reason = next(REASONS[kind] for kind in type(error).__mro__ if kind in REASONS)
    return Verdict(False, reason, error.told, program.label, remedy=plain(OF_RUNS[reason]))


def on_run(run: Record, verdicts: Sequence[Verdict], program: Program) -> Verdict:
    """Judge a run by the verdicts on what its ranks returned, and its counters."""
    for rank, verdict in enumerate(verdicts):
        if not verdict.passed:
            told = message("[[{rank}: ]]{told}", rank=Rank(rank), told=verdict.message)
            return replace(verdict, message=told, run=run)
    right = Verdict(True, Reason.PASSED, NOTHING, program.label, run=run)
    for counter, value, limit in counted(right, program):
        if value > limit:
            detail = message(
                "the result is right, but {counter} is "
                "[[{value}; the budget is at most {limit}|over its budget]]",
                counter=Name(counter),
                value=Datum(figure(value)),
                limit=Size(figure(limit)),
            )
            advice = plain(program.advice.get(counter, OF_RUNS[counter]))
            reason = Reason.OVER_BUDGET + counter
            return Verdict(False, reason, detail, program.label, remedy=advice, run=run)
    return right
