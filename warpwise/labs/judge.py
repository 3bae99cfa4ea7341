"""Judge a kernel or a function on a case: the one judge of check cells and of the grader.

A kernel is only ever interpreted; host functions are judged in ``calls``. Left out: running host
functions safely (the grader's sandbox does) and deciding points."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np

from warpwise import errors, trace
from warpwise.labs import advice, causes
from warpwise.labs.calls import judge_call
from warpwise.labs.compare import Mismatch, compare, is_poison, poison
from warpwise.labs.exercise import (
    OF_A_TRACE,
    Case,
    InOut,
    Launch,
    Out,
    Reason,
    Verdict,
    bound,
    counter_value,
    shape_of,
    within,
)
from warpwise.labs.lookup import is_stub, name_of
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.simt import as_kernel
from warpwise.traces import KINDS, Trace

# loop steps of one launch: a few seconds, and many times what a lab's kernel needs
MAX_STEPS = 50_000
REASONS: dict[type[errors.WarpwiseError], str] = {
    errors.OutOfBoundsError: "out of bounds",
    errors.UnwrittenReadError: "unwritten read",
    errors.MisalignedError: "misaligned access",
    errors.BarrierError: "barrier missed",
    errors.WarpMaskError: "lane missing from a warp's operation",
    errors.KernelAssertionError: "assertion failed",
    errors.UndefinedNameError: Reason.NOT_DEFINED,
    errors.UnsupportedError: "not a kernel feature",
    errors.KernelTypeError: "types do not fit",
    errors.ArithmeticFault: "division by zero",
    errors.StepLimitError: Reason.ENDLESS,
    errors.LaunchError: "launch refused",
}
Mistake = tuple[str, str, str]  # reason, detail, advice


def judge(target: Any, cases: Iterable[Case], max_steps: int = MAX_STEPS) -> tuple[Verdict, ...]:
    """Judge a kernel or a function, case by case, up to and including the first that fails."""
    if is_stub(target):
        return (Verdict(False, Reason.NOT_DONE),)
    verdicts = []
    for case in cases:
        if isinstance(case, Launch):
            verdicts.append(judge_launch(target, case, max_steps))
        else:
            verdicts.append(judge_call(target, case))
        if not verdicts[-1].passed:
            break
    return tuple(verdicts)


def judge_launch(kernel: Any, launch: Launch, max_steps: int = MAX_STEPS) -> Verdict:
    """Launch a kernel in the simulator on poisoned outputs and copies of the inputs, and judge it.

    Looked at in this order: errors, races, changed inputs, outputs, budget. The first that is wrong
    makes the verdict. A plain function is refused, for the grader knows kernels by their decorator.
    A kernel that takes more than ``max_steps`` steps in its loops counts as endless."""
    if inspect.isfunction(kernel):
        told = f"{name_of(kernel)} is a plain function; a kernel is asked for here"
        add = "write @cuda.jit above it"
        return Verdict(False, Reason.WRONG_TYPE, told, launch.label, advice=add)
    args = [fresh(arg) for arg in launch.args]
    try:
        t = trace(kernel, launch.blocks, launch.threads, *args, max_steps=max_steps)
    except errors.WarpwiseError as error:
        return _on_error(error, launch)
    names = _parameters(kernel, len(args))
    found = (
        _race(t)
        or _inputs(launch, args, names)
        or _outputs(kernel, launch, args, names, t)
        or _budget(launch, t)
    )
    passed, (reason, detail, try_this) = not found, found or (Reason.PASSED, "", "")
    return Verdict(passed, reason, detail, launch.label, t.metrics, t, try_this)


def fresh(arg: Any) -> Any:
    """Return what a launch gets for an argument of a case: a poisoned array, a copy, the number."""
    if isinstance(arg, Out):
        return poison(shape_of(arg), arg.dtype)
    arg = arg.start if isinstance(arg, InOut) else arg
    return arg.copy(order="K") if isinstance(arg, np.ndarray) else arg


def figure(value: float) -> str:
    """Format a counter for a reader: groups of three digits, at most two after the point."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def _parameters(kernel: Any, count: int) -> tuple[str, ...]:
    names = tuple(as_kernel(kernel).parameters)
    return names if len(names) == count else tuple(f"argument {i}" for i in range(count))


def _on_error(error: errors.WarpwiseError, case: Case) -> Verdict:
    reason = next((REASONS[kind] for kind in type(error).__mro__ if kind in REASONS), Reason.RAISED)
    return Verdict(False, reason, str(error), case.label, advice=getattr(error, "try_this", ""))


# Each of the four looks for one kind of mistake.


def _race(t: Trace) -> Mistake | None:
    if not t.races:
        return None
    race = t.races[0]
    return Reason.RACE, f"{race.what}\n{race.places}", race.try_this


def _inputs(launch: Launch, args: list[Any], names: tuple[str, ...]) -> Mistake | None:
    for given, now, name in zip(launch.args, args, names, strict=True):
        if isinstance(given, np.ndarray) and (changed := compare(now, given)):
            only = f"write only to the output; {name} is read-only here"
            return Reason.INPUT_CHANGED, changed.say(name, was=True), only
    return None


def _outputs(
    kernel: Any, launch: Launch, args: list[Any], names: tuple[str, ...], t: Trace
) -> Mistake | None:
    named = zip(launch.args, args, names, strict=True)
    outs = [(now, name) for given, now, name in named if isinstance(given, Out | InOut)]
    for (got, name), want in zip(outs, launch.want, strict=True):
        wrong = compare(got, want, launch.rtol, launch.atol)
        if wrong is None:
            continue
        unwritten = is_poison(got) & wrong.where
        if unwritten.any():
            return Reason.NOT_WRITTEN, *_on_unwritten(kernel, launch, name, unwritten, t)
        return Reason.WRONG_RESULT, *_on_wrong(name, wrong)
    return None


def _on_unwritten(
    kernel: Any, launch: Launch, name: str, unwritten: np.ndarray, t: Trace
) -> tuple[str, str]:
    """Detail and advice for an output that still holds its poison, or was computed from it."""
    first = ", ".join(map(str, np.argwhere(unwritten)[0].tolist()))
    count = f"{int(unwritten.sum())} of {unwritten.size} elements"
    if _loads_from(name, t):
        before = f"{name}[{first}] was computed from what the output held before the launch"
        zeros = (
            f"begin with =, not with +=: {name} holds no zeros, so write to it and never read it"
        )
        return f"{before}; so were {count}", zeros
    try_this = causes.of_missing(as_kernel(kernel), launch, name, unwritten, t)
    return f"{name}[{first}] was never written; {count} are missing", try_this


def _loads_from(name: str, t: Trace) -> bool:
    """True if a recorded block loaded from this array."""
    numbers = [i for i, array in enumerate(t.arrays) if array.name == name]
    return bool((np.isin(t.records.array, numbers) & (t.records.kind == KINDS.index("load"))).any())


def _on_wrong(name: str, wrong: Mismatch) -> tuple[str, str]:
    times = causes.factor(wrong.got, wrong.want)
    each = "" if times is None else f"; each is {times:.6g} times what it should be"
    return wrong.say(name) + each, causes.of_wrong(name, wrong, times is not None)


def _budget(launch: Launch, t: Trace) -> Mistake | None:
    for counter, limit in launch.budget.items():
        value = counter_value(t, counter)
        if not within(counter, value, limit):
            budget = f"the budget is {bound(counter)} {figure(limit)}"
            detail = f"the result is right, but {counter} is {figure(value)}; {budget}"
            usual = f"bring {counter} down on the line that has most of it"
            try_this = advice.OVER_BUDGET.get(counter, usual)
            return Reason.OVER_BUDGET + counter, detail + _blame(t, counter), try_this
    return None


def _blame(t: Trace, counter: str) -> str:
    """The line that has most of a counter."""
    if not t.by_line or counter in OF_A_TRACE:
        return ""
    if counter == "warp_efficiency":
        line = max(t.by_line, key=lambda number: _idle_lanes(t.by_line[number]))
        return f"\nmost of the idle lanes on\n{_quoted(t, line)}"
    line = max(t.by_line, key=lambda number: getattr(t.by_line[number], counter))
    return f"\nmost of it, {figure(getattr(t.by_line[line], counter))}, on\n{_quoted(t, line)}"


def _idle_lanes(m: Metrics) -> int:
    """Lanes that stood idle, summed over the warps' instructions."""
    return WARP_SIZE * m.warp_instructions - m.thread_instructions


def _quoted(t: Trace, line: int) -> str:
    return f"    line {line}: {t.source.get(line, '').strip()}"
