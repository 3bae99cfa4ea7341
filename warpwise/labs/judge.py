"""Judge a kernel or a function on a case: the one judge of check cells and of the grader.

A kernel is only ever interpreted; host functions are judged in ``calls``. Left out: running host
functions safely (the grader's sandbox does) and deciding points."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from warpwise import errors, trace
from warpwise.labs import causes, repairs
from warpwise.labs.advice import less_of
from warpwise.labs.blame import blame
from warpwise.labs.budgets import bound, counter_value, counts_atomics, figure, within
from warpwise.labs.calls import judge_call
from warpwise.labs.compare import Mismatch, compare, is_poison, makes_nan, poison
from warpwise.labs.exercise import (
    Case,
    InOut,
    Launch,
    Out,
    Reason,
    Verdict,
    named_before,
    named_inputs,
    read_as,
    shape_of,
)
from warpwise.labs.first_nan import first_nan
from warpwise.labs.lookup import is_stub, name_of
from warpwise.labs.patterns import Failure
from warpwise.labs.unused import unused
from warpwise.labs.uses import uses
from warpwise.messages import (
    NOTHING,
    Chosen,
    Datum,
    Element,
    Later,
    Message,
    Name,
    Size,
    Words,
    message,
    plain,
)
from warpwise.metrics import MORE_IS_BETTER
from warpwise.simt import Kernel, as_kernel
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
    errors.RaisedError: "exception raised",
    errors.UndefinedNameError: Reason.NOT_DEFINED,
    errors.UnsupportedError: "not a kernel feature",
    errors.KernelTypeError: "types do not fit",
    errors.ArithmeticFault: "division by zero",
    errors.EndlessError: Reason.ENDLESS,
    errors.StepLimitError: Reason.TOO_SLOW,
    errors.LaunchError: "launch refused",
}
#: of an output whose text reads it, or hands it on
OR_READ = ", or computed from what it held before the launch"
#: of a budget on loads or stores, for a kernel that has atomics
ATOMICS_TOO = ", atomics included,"
Mistake = tuple[str, Message, Message]  # reason, detail, advice


def judge(target: Any, cases: Iterable[Case], max_steps: int = MAX_STEPS) -> tuple[Verdict, ...]:
    """Judge a kernel or a function, case by case, up to and including the first that fails."""
    verdicts = []
    for verdict in judged(target, cases, max_steps):
        verdicts.append(verdict)
        if not verdict.passed:
            break
    return tuple(verdicts)


def judged(target: Any, cases: Iterable[Case], max_steps: int = MAX_STEPS) -> Iterator[Verdict]:
    """Yield a verdict on each case when it is asked for; only one on an exercise not begun."""
    if is_stub(target):
        yield Verdict(False, Reason.NOT_DONE)
        return
    known = tuple(cases) if isinstance(cases, tuple | list) else ()
    for case in cases:
        if isinstance(case, Launch):
            yield judge_launch(target, case, max_steps, known)
        else:
            yield judge_call(target, case, known)


def judge_launch(
    kernel: Any, launch: Launch, max_steps: int = MAX_STEPS, others: Sequence[Case] = ()
) -> Verdict:
    """Launch a kernel in the simulator on poisoned outputs and copies of the inputs, and judge it.

    Looked at in this order: errors, races, changed inputs, outputs, budget. The first that is wrong
    makes the verdict. A plain function is refused, for the grader knows kernels by their decorator.
    A kernel that takes more than ``max_steps`` steps in its loops is too slow. ``others`` are the
    cases that it is judged on, which a change has to make right as well before it is advised."""
    if inspect.isfunction(kernel):
        name = Name(name_of(kernel))
        told = message("{name} is a plain function; a kernel is asked for here", name=name)
        add = plain("write @cuda.jit above it")
        return Verdict(False, Reason.WRONG_TYPE, told, launch.label, remedy=add)
    args = [fresh(arg) for arg in launch.args]
    try:
        t = trace(
            kernel, launch.blocks, launch.threads, *args, max_steps=max_steps, whole_barriers=True
        )
    except errors.WarpwiseError as error:
        return _on_error(error, launch)
    names = _parameters(kernel, len(args))
    found = (
        _race(kernel, t)
        or _inputs(launch, args, names)
        or _outputs(kernel, launch, args, names, t, others)
        or _budget(launch, t)
    )
    if found is None:
        return Verdict(True, Reason.PASSED, case=launch.label, metrics=t.metrics, trace=t)
    reason, detail, remedy = found
    return Verdict(False, reason, detail, launch.label, t.metrics, t, remedy)


def fresh(arg: Any) -> Any:
    """Return what a launch gets for an argument of a case: a poisoned array, a copy, the number."""
    if isinstance(arg, Out):
        return poison(shape_of(arg), arg.dtype)
    arg = arg.start if isinstance(arg, InOut) else arg
    return arg.copy(order="K") if isinstance(arg, np.ndarray) else arg


def _parameters(kernel: Any, count: int) -> tuple[str, ...]:
    names = tuple(as_kernel(kernel).parameters)
    return names if len(names) == count else tuple(f"argument {i}" for i in range(count))


def _on_error(error: errors.WarpwiseError, case: Case) -> Verdict:
    reason = next((REASONS[kind] for kind in type(error).__mro__ if kind in REASONS), Reason.RAISED)
    remedy = error.remedy if isinstance(error, errors.KernelError) else NOTHING
    return Verdict(False, reason, error.told, case.label, remedy=remedy)


# Each of the four looks for one kind of mistake.


def _race(kernel: Any, t: Trace) -> Mistake | None:
    if not t.races:
        return None
    race = t.races[0]
    return Reason.RACE, race.told(uses(as_kernel(kernel), race.array).listed), race.remedy


def _inputs(launch: Launch, args: list[Any], names: tuple[str, ...]) -> Mistake | None:
    for given, now, name in zip(launch.args, args, names, strict=True):
        if isinstance(given, np.ndarray) and (changed := compare(now, given)):
            array = Name(name)
            only = message("write only to the output; {array} is read-only here", array=array)
            return Reason.INPUT_CHANGED, changed.say(array, was=True), only
    return None


def _outputs(
    kernel: Any,
    launch: Launch,
    args: list[Any],
    names: tuple[str, ...],
    t: Trace,
    others: Sequence[Case] = (),
) -> Mistake | None:
    named = zip(launch.args, args, names, strict=True)
    outs = [(now, name) for given, now, name in named if isinstance(given, Out | InOut)]
    for number, ((got, name), want) in enumerate(zip(outs, launch.want, strict=True)):
        wrong = compare(got, want, launch.rtol, launch.atol)
        if wrong is None:
            continue
        unwritten = is_poison(got) & wrong.where
        if unwritten.any():
            told = _on_unwritten(kernel, launch, name, unwritten, want, t, others)
            return Reason.NOT_WRITTEN, *told
        failure = partial(_failure, kernel, launch, names, number, name, wrong, others)
        repaired = partial(_repaired, as_kernel(kernel), launch, others)
        known = causes.BY_HAND.format(name=name)
        seen, remedy = causes.told(failure, repaired, known)
        nan = NOTHING
        if makes_nan(wrong):
            fresh_args = [fresh(arg) for arg in launch.args]
            found = cache(partial(first_nan, as_kernel(kernel), launch, fresh_args))
            nan = message("[[{line}]]", line=Later(found))
        detail = message("{wrong}{seen}{nan}", wrong=wrong.say(Name(name)), seen=seen, nan=nan)
        return Reason.WRONG_RESULT, detail, remedy
    return None


def _repaired(kernel: Kernel, launch: Launch, cases: Sequence[Case]) -> str:
    """Say where a small change of a kernel makes its cases right; "" if none is found.

    ``launch`` is the one that fails, and so is tried first."""
    others = [case for case in cases if isinstance(case, Launch) and case is not launch]
    launches = [launch, *others]

    def passes(tree: ast.FunctionDef) -> bool:
        changed = repairs.changed_kernel(kernel, tree)
        return all(_is_right(changed, launch) for launch in launches)

    found = repairs.repair(kernel.tree, passes, "kernel")
    return repairs.told(found, found.line - kernel.base if found else 0)


def _is_right(kernel: Kernel, launch: Launch) -> bool:
    """Return whether a launch gives what is wanted, whatever it costs."""
    args = [fresh(arg) for arg in launch.args]
    size = launch.blocks, launch.threads
    most = repairs.MAX_STEPS
    try:
        trace(kernel, *size, *args, max_steps=most, record=(), sanitize=False, progress=False)
    except errors.WarpwiseError:
        return False
    pairs = zip(launch.args, args, strict=True)
    outs = [now for given, now in pairs if isinstance(given, Out | InOut)]
    wanted = zip(outs, launch.want, strict=True)
    return all(compare(got, want, launch.rtol, launch.atol) is None for got, want in wanted)


def _failure(
    kernel: Any,
    launch: Launch,
    names: tuple[str, ...],
    number: int,
    name: str,
    wrong: Mismatch,
    others: Sequence[Case],
) -> Failure:
    """Gather what is known of a wrong output, the ``number``-th."""
    given = dict(zip(names, launch.args, strict=True))
    starts = {n: arg.start for n, arg in given.items() if isinstance(arg, InOut)}
    outputs = [n for n, arg in given.items() if isinstance(arg, Out | InOut)]
    return Failure(
        name,
        wrong.got,
        wrong.want,
        wrong.where,
        inputs=named_inputs(launch, names),
        start=starts.get(name),
        tile=causes.tile_of(launch),
        words=causes.words_of(as_kernel(kernel).tree),
        rtol=launch.rtol,
        atol=launch.atol,
        before=named_before(launch, others, names),
        readings=read_as(launch, number),
        unused=unused(as_kernel(kernel).tree, outputs),
    )


def _on_unwritten(
    kernel: Any,
    launch: Launch,
    name: str,
    unwritten: np.ndarray,
    want: np.ndarray,
    t: Trace,
    others: Sequence[Case],
) -> tuple[Message, Message]:
    """Detail and advice for an output that still holds its poison, or was computed from it.

    Which of the two can depend on the data; the text says if it can be the second."""
    seen = uses(as_kernel(kernel), name)
    read_back = _loads_from(name, t)
    element = Element(Name(name), tuple(np.argwhere(unwritten)[0].tolist()))
    count, size = Size(int(unwritten.sum())), Size(unwritten.size)
    detail = message(
        "[[{element} {happened}|{array} is never written{or_read}]]",
        element=element,
        happened=message(
            "was computed from what the output held before the launch; "
            "so were {count} of {size} elements",
            count=count,
            size=size,
        )
        if read_back
        else message(
            "was never written; {count} of {size} elements are missing[[{where}]]",
            count=count,
            size=size,
            where=Chosen(causes.where_missing(launch, unwritten, want)),
        ),
        array=Name(name),
        or_read=Words(OR_READ if seen.read or seen.otherwise else ""),
    )
    guess = (
        (causes.READ_BACK.format(name=name),)
        if read_back
        else causes.of_missing(as_kernel(kernel), launch, name, unwritten, want, t)
    )
    repaired = partial(_repaired, as_kernel(kernel), launch, others)
    first = cache(partial(causes.with_place, guess, repaired))
    known = causes.of_missing_by_text(as_kernel(kernel), name, seen)
    return detail, message("[[{guess}|{known}]]", guess=Later(first), known=Words(known))


def _loads_from(name: str, t: Trace) -> bool:
    """True if a recorded block loaded from this array."""
    numbers = [i for i, array in enumerate(t.arrays) if array.name == name]
    return bool((np.isin(t.records.array, numbers) & (t.records.kind == KINDS.index("load"))).any())


def _budget(launch: Launch, t: Trace) -> Mistake | None:
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
            return Reason.OVER_BUDGET + counter, detail, less_of(launch, counter, t)
    return None
