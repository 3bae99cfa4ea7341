"""Judge a kernel or a function on a case: the one judge of check cells and of the grader.

A kernel is only ever interpreted; host functions are judged in ``calls``, and those that run on the
ranks of a cluster in ``programs``. Left out: running host
functions safely (the grader's sandbox does) and deciding points."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from warpwise import errors, trace
from warpwise.labs.advice import less_of
from warpwise.labs.blame import blame
from warpwise.labs.budgets import bound, counter_value, counts_atomics, figure, within
from warpwise.labs.calls import judge_call
from warpwise.labs.compare import compare
from warpwise.labs.exercise import (
    Case,
    InOut,
    Launch,
    Out,
    Program,
    Reason,
    Verdict,
    fresh,
    value_of,
)
from warpwise.labs.lookup import is_stub, name_of, names_of_arguments
from warpwise.labs.programs import judge_program
from warpwise.labs.results import Mistake, on_outputs
from warpwise.labs.uses import uses
from warpwise.messages import NOTHING, Datum, Name, Size, Words, message, plain
from warpwise.metrics import MORE_IS_BETTER
from warpwise.simt import Kernel, as_kernel
from warpwise.traces import Trace

# loop steps of one launch: a few seconds, and many times what a lab's kernel needs
MAX_STEPS = 50_000
FIRST_BLOCK = (0,)
REASONS: dict[type[errors.WarpwiseError], str] = {
    errors.OutOfBoundsError: "out of bounds",
    errors.UnwrittenReadError: "unwritten read",
    errors.AsyncCopyError: "copy not waited for",
    errors.MisalignedError: "misaligned access",
    errors.BarrierError: "barrier missed",
    errors.WarpMaskError: "lane missing from a warp's operation",
    errors.KernelAssertionError: "assertion failed",
    errors.RaisedError: "exception raised",
    errors.UndefinedNameError: Reason.NOT_DEFINED,
    errors.UnsupportedError: "not a kernel feature",
    errors.KernelTypeError: "types do not fit",
    errors.ArithmeticFault: "division by zero",
    errors.EndlessError: Reason.ENDLESS,
    errors.StepLimitError: Reason.TOO_SLOW,
    errors.LaunchError: "launch refused",
}
#: of a budget on loads or stores, for a kernel that has atomics
ATOMICS_TOO = ", atomics included,"


def judge(
    target: Any,
    cases: Iterable[Case],
    max_steps: int = MAX_STEPS,
    record: Sequence[int] = FIRST_BLOCK,
) -> tuple[Verdict, ...]:
    """Judge a kernel or a function, case by case, up to and including the first that fails.

    ``record`` is as ``judged`` takes it."""
    verdicts = []
    for verdict in judged(target, cases, max_steps, record):
        verdicts.append(verdict)
        if not verdict.passed:
            break
    return tuple(verdicts)


def judged(
    target: Any,
    cases: Iterable[Case],
    max_steps: int = MAX_STEPS,
    record: Sequence[int] = FIRST_BLOCK,
) -> Iterator[Verdict]:
    """Yield a verdict on each case when it is asked for; only one on an exercise not begun.

    ``record`` names the blocks whose events the traces keep, for pictures and for what only the
    owner of the data is told."""
    if is_stub(target):
        yield Verdict(False, Reason.NOT_DONE)
        return
    known = tuple(cases) if isinstance(cases, tuple | list) else ()
    for case in cases:
        if isinstance(case, Launch):
            yield judge_launch(target, case, max_steps, known, record)
        elif isinstance(case, Program):
            yield judge_program(target, case)
        else:
            yield judge_call(target, case, known)


def judge_until_wrong(
    target: Any, cases: Iterable[Case], record: Sequence[int] = FIRST_BLOCK
) -> tuple[Verdict, ...]:
    """Judge a kernel or a function up to the first case that is wrong.

    One over its budget ends nothing, for a wrong result may follow, and is ``telling``. ``record``
    is as ``judged`` takes it."""
    verdicts: list[Verdict] = []
    for verdict in judged(target, cases, record=record):
        verdicts.append(verdict)
        if not verdict.passed and not verdict.reason.startswith(Reason.OVER_BUDGET):
            break
    return tuple(verdicts)


def telling(verdicts: Sequence[Verdict]) -> int:
    """Return the place of the verdict that a student is told.

    It is the first that failed, but a wrong result comes before a right one over budget."""
    over = [verdict.reason.startswith(Reason.OVER_BUDGET) for verdict in verdicts]
    failed = [at for at, verdict in enumerate(verdicts) if not verdict.passed]
    return min(failed, key=lambda at: (over[at], at), default=len(verdicts) - 1)


def judge_launch(
    kernel: Any,
    launch: Launch,
    max_steps: int = MAX_STEPS,
    others: Sequence[Case] = (),
    record: Sequence[int] = FIRST_BLOCK,
) -> Verdict:
    """Launch a kernel in the simulator on poisoned outputs and copies of the inputs, and judge it.

    Looked at in this order: errors, races, changed inputs, outputs, budget. The first that is wrong
    makes the verdict. A plain function is refused, for the grader knows kernels by their decorator.
    A kernel that takes more than ``max_steps`` steps in its loops is too slow. ``others`` are the
    cases that it is judged on, which a change has to make right as well before it is advised.
    ``record`` is as ``judged`` takes it."""
    if inspect.isfunction(kernel):
        name = Name(name_of(kernel))
        told = message("{name} is a plain function; a kernel is asked for here", name=name)
        add = plain("write @cuda.jit above it")
        return Verdict(False, Reason.WRONG_TYPE, told, launch.label, remedy=add)
    args = [fresh(arg) for arg in launch.args]
    try:
        t = trace(
            kernel,
            launch.blocks,
            launch.threads,
            *args,
            record=record,
            max_steps=max_steps,
            whole_barriers=True,
        )
    except errors.WarpwiseError as error:
        return _on_error(error, launch)
    names = names_of_arguments(as_kernel(kernel).parameters, len(args))
    found = (
        _race(kernel, launch, t)
        or _inputs(launch, args, names)
        or on_outputs(kernel, launch, args, names, t, others)
        or _budget(as_kernel(kernel), launch, t)
    )
    if found is None:
        return Verdict(True, Reason.PASSED, case=launch.label, metrics=t.metrics, trace=t)
    reason, detail, remedy = found
    return Verdict(False, reason, detail, launch.label, t.metrics, t, remedy)


def _on_error(error: errors.WarpwiseError, case: Case) -> Verdict:
    reason = next((REASONS[kind] for kind in type(error).__mro__ if kind in REASONS), Reason.RAISED)
    remedy = error.remedy if isinstance(error, errors.KernelError) else NOTHING
    return Verdict(False, reason, error.told, case.label, remedy=remedy)


# Each of the four looks for one kind of mistake.


def _race(kernel: Any, launch: Launch, t: Trace) -> Mistake | None:
    if not t.races:
        return None
    race = t.races[0]
    without = launch.budget.get("atomics") == 0
    remedy = race.remedy_without_atomics if without else race.remedy
    return Reason.RACE, race.told(uses(as_kernel(kernel), race.array).listed), remedy


def _inputs(launch: Launch, args: list[Any], names: tuple[str, ...]) -> Mistake | None:
    for given, now, name in zip(launch.args, args, names, strict=True):
        before = None if isinstance(given, Out | InOut) else value_of(given)
        if isinstance(before, np.ndarray) and (changed := compare(value_of(now), before)):
            array = Name(name)
            only = message("write only to the output; {array} is read-only here", array=array)
            return Reason.INPUT_CHANGED, changed.say(array, was=True), only
    return None


def _budget(kernel: Kernel, launch: Launch, t: Trace) -> Mistake | None:
    for counter, limit in launch.budget.items():
        value = counter_value(t, counter)
        if not within(counter, value, limit):
            missed = "below" if counter in MORE_IS_BETTER else "over"
            detail = message(
                "the result is right, but {counter}{atomics} is "
                "[[{value}; the budget is {bound} {limit}|{missed} its budget]]{blame}",
                counter=Name(counter),
                atomics=Words(ATOMICS_TOO if counts_atomics(t, counter) else ""),
                value=Datum(figure(value)),
                bound=Words(bound(counter)),
                limit=Size(figure(limit)),
                missed=Words(missed),
                blame=blame(t, counter, limit),
            )
            return Reason.OVER_BUDGET + counter, detail, less_of(kernel, launch, counter, t)
    return None
