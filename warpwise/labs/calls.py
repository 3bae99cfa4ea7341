"""Judge host functions by calling them, here and now.

Student code runs, so only on their own machine; what it returns is judged in ``values``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from textwrap import dedent
from typing import Any

import numpy as np

from warpwise.labs import advice
from warpwise.labs.compare import compare
from warpwise.labs.described import shown_call
from warpwise.labs.endless import stays
from warpwise.labs.exercise import Call, Case, Reason, Verdict
from warpwise.labs.helper_functions import At, Texts, texts_of
from warpwise.labs.limit import PATIENCE, Memory, TimeIsUp, at_most
from warpwise.labs.lookup import name_of
from warpwise.labs.raised import advice_on
from warpwise.labs.unusual import unusual_numbers
from warpwise.labs.values import Made, copies, failed, verdict_on, with_arguments
from warpwise.messages import (
    Chosen,
    Datum,
    Limit,
    Message,
    Name,
    Size,
    Source,
    Words,
    message,
    plain,
)
from warpwise.simt import Kernel

# of processor time, for one call of a host function: long for arithmetic, and well within a
# grader's limit for a cell
CALL_SECONDS = 5


def judge_call(function: Callable[..., Any], call: Call, others: Sequence[Case] = ()) -> Verdict:
    """Call a host function and judge its value: student code runs, so only on their own machine.

    A call that takes more than CALL_SECONDS is too slow, where ``limit`` can stop it. ``others``
    are the cases that it is judged on, which a change has to make right before it is advised."""
    made = Made(function, tuple(others) or (call,))
    return with_arguments(_judge_call(made, call), call, name_of(function))


def _judge_call(made: Made, call: Call) -> Verdict:
    function = made.function
    name = name_of(function)
    if (kernel := refused(function, call)) is not None:
        return kernel
    args, texts = copies(call), texts_of(function)
    shown = shown_call(call, name)
    try:
        with (
            unusual_numbers(texts) as unusual,
            Memory(call.most_bytes is not None) as memory,
            at_most(CALL_SECONDS),
        ):
            value = function(*args)
    except TimeIsUp as error:
        return late(call, shown, function, texts, error)
    except (Exception, SystemExit) as error:
        return on_error(call, shown, texts, error)
    for given, now in zip(call.args, args, strict=True):
        if isinstance(given, np.ndarray) and compare(now, given):
            changed = message("{call} changed its argument", call=shown)
            return failed(call, Reason.INPUT_CHANGED, changed)
    verdict = verdict_on(value, call, name, made)
    if verdict.reason == Reason.WRONG_RESULT and (asked := unusual.asked(_has_nan(value))):
        return replace(verdict, remedy=message("[[{advise}]]", advise=Datum(asked)))
    if verdict.passed and memory.most_bytes > (call.most_bytes or inf):
        told = message(
            "the result is right, but {call} held [[{held:,} bytes at once; "
            "the budget is at most {budget:,}|more memory at once than its budget]]",
            call=shown,
            held=Size(memory.most_bytes),
            budget=Size(call.most_bytes),
        )
        return failed(call, Reason.TOO_MUCH_MEMORY, told, plain(advice.ONE_TILE))
    return verdict


def refused(function: Callable[..., Any], call: Call) -> Verdict | None:
    """Return the verdict on a kernel where a plain function is asked for."""
    if not _is_kernel(function):
        return None
    name = Name(name_of(function))
    told = message("{name} is a kernel; a plain Python function is asked for here", name=name)
    return failed(call, Reason.WRONG_TYPE, told, plain("remove @cuda.jit above it"))


def _has_nan(value: Any) -> bool:
    """True if a value, or one of several, is or has nan."""
    parts = value if isinstance(value, tuple) else (value,)
    known = (part for part in parts if isinstance(part, float | np.floating | np.ndarray))
    return any(np.isnan(part).any() for part in known if np.asarray(part).dtype.kind == "f")


def on_error(call: Call, shown: Message, texts: Texts, error: BaseException) -> Verdict:
    """Judge a call that raised an error: say on which line, and what to try."""
    told = message(
        "{call} raised [[{kind}: {error}|an error]]{line}",
        call=shown,
        kind=Datum(type(error).__name__),
        error=Datum(str(error)),
        line=_lines_in(texts, error),
    )
    at = texts.lines_of(error)
    advise = Chosen(advice_on(error, texts.text(at[-1]) if at else ""))
    return failed(call, Reason.RAISED, told, message("[[{advise}]]", advise=advise))


def late(
    call: Call, shown: Message, function: Callable[..., Any], texts: Texts, error: TimeIsUp
) -> Verdict:
    """Judge a call that passed its limit of time."""
    told = message(
        "{call} gave no answer in {limit:g} seconds{kind}{line}",
        call=shown,
        limit=Limit(CALL_SECONDS * (PATIENCE if error.waited else 1)),
        kind=Words("" if error.waited else " of processor time"),
        line=_lines_in(texts, error),
    )
    if _in_endless_loop(function, texts.lines_of(error)):
        return failed(call, Reason.ENDLESS, told, plain(advice.ENDLESS))
    if error.waited:
        return failed(call, Reason.TIMED_OUT, told, plain(advice.TIMED_OUT))
    return failed(call, Reason.TOO_SLOW, told, plain(advice.TOO_SLOW))


def _in_endless_loop(function: Any, at: Sequence[At]) -> bool:
    """Return whether time ran out in a loop of the function that is known never to end."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return False
    last = next((one.line for one in at if not one.function), 0) - first + 1
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.While))
    return any(stays(loop) for loop in loops if loop.lineno <= last <= (loop.end_lineno or last))


def _is_kernel(target: Any) -> bool:
    of_numba = type(target).__module__.startswith(("numba.cuda", "numba_cuda"))
    return isinstance(target, Kernel) or (of_numba and hasattr(target, "py_func"))


def _lines_in(texts: Texts, error: BaseException) -> Source:
    """The last line of the function, and of its helpers, that an error or time's end came from."""
    return Source("".join(f"\n    {at}: {texts.text(at)}" for at in texts.lines_of(error)))
