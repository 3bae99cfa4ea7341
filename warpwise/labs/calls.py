"""Judge host functions: call one, here and now, or judge a value that the sandbox brought back.

A value that came out of student code is looked at by its exact type and never asked to do anything,
so an object that claims to equal everything is just a wrong type."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from warpwise.labs import advice, causes
from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.exercise import Call, Reason, Verdict
from warpwise.labs.limit import Memory, TimeIsUp, at_most
from warpwise.labs.lookup import name_of
from warpwise.simt import Kernel

# for one call of a host function: long for arithmetic, and well within a grader's limit for a cell
CALL_SECONDS = 5
MOST_SHOWN = 8  # elements of an array that a message shows
KINDS = {int: "i", float: "f", bool: "b"}
NUMPY_SCALARS = {np.dtype(code).type: np.dtype(code).kind for code in "?bBhHiIlLqQefd"}


def judge_call(function: Callable[..., Any], call: Call) -> Verdict:
    """Call a host function and judge its value: student code runs, so only on their own machine.

    A call that takes more than CALL_SECONDS counts as endless, where ``limit`` can stop it."""
    name = name_of(function)
    if _is_kernel(function):
        told = f"{name} is a kernel; a plain Python function is asked for here"
        return _failed(call, Reason.WRONG_TYPE, told, "remove @cuda.jit above it")
    args = [arg.copy(order="K") if isinstance(arg, np.ndarray) else arg for arg in call.args]
    try:
        with at_most(CALL_SECONDS), Memory(call.most_bytes is not None) as memory:
            value = function(*args)
    except TimeIsUp as error:
        told = f"{_shown(call, name)} gave no answer in {CALL_SECONDS} seconds"
        return _failed(call, Reason.ENDLESS, told + _line_in(function, error), advice.ENDLESS)
    except (Exception, SystemExit) as error:
        told = f"{_shown(call, name)} raised {type(error).__name__}: {error}"
        return _failed(call, Reason.RAISED, told + _line_in(function, error))
    for given, now in zip(call.args, args, strict=True):
        if isinstance(given, np.ndarray) and compare(now, given):
            return _failed(call, Reason.INPUT_CHANGED, f"{_shown(call, name)} changed its argument")
    verdict = judge_value(value, call, name)
    if verdict.passed and memory.most_bytes > (call.most_bytes or inf):
        held = (
            f"held {memory.most_bytes:,} bytes at once; the budget is at most {call.most_bytes:,}"
        )
        told = f"the result is right, but {_shown(call, name)} {held}"
        return _failed(call, Reason.TOO_MUCH_MEMORY, told, advice.ONE_TILE)
    return verdict


def judge_value(value: Any, call: Call, name: str = "the function") -> Verdict:
    """Judge a value that came from student code, or from the sandbox that ran it.

    Safe for any object: see ``_kind``."""
    told = _shown(call, name)
    if type(call.want) is not tuple:
        return _judge_item(value, call.want, call, told)
    if type(value) is not tuple or len(value) != len(call.want):
        detail = f"{told} returned {_describe(value)}, expected {_describe(call.want)}"
        return _failed(call, Reason.WRONG_TYPE, detail, advice.SEVERAL.format(len(call.want)))
    found = (
        _judge_item(item, want, call, f"item {i} of {told}")
        for i, (item, want) in enumerate(zip(value, call.want, strict=True))
    )
    return next((verdict for verdict in found if not verdict.passed), _passed(call))


def _judge_item(value: Any, wanted: Any, call: Call, told: str) -> Verdict:
    """Judge a number or an array, which messages call ``told``."""
    kind, asked = _kind(value), _kind(wanted)
    verb = "is" if type(call.want) is tuple else "returned"
    returned = f"{told} {verb} {_describe(value)}, expected {_describe(wanted)}"
    if kind is None or (kind != asked and (kind, asked) != ("i", "f")):
        try_this = _advice_on_type(value, asked, np.shape(wanted))
        return _failed(call, Reason.WRONG_TYPE, returned, try_this)
    got, want = np.asarray(value), np.asarray(wanted)
    if got.dtype.kind == "O":  # an integer of more than 64 bits
        wrong: Mismatch | None = Mismatch(got, want, np.ones(want.shape, bool))
    else:
        wrong = compare(got, want, call.rtol, call.atol)
    if wrong is None:
        return _passed(call)
    if got.shape != want.shape:
        try_this = advice.OTHER_SHAPE
    elif causes.makes_nan(wrong):
        try_this = causes.NAN
    else:
        try_this = advice.BY_HAND if want.shape else "work this case out by hand"
    detail = wrong.say(told) if want.shape else returned
    return _failed(call, Reason.WRONG_RESULT, detail, try_this)


def _passed(call: Call) -> Verdict:
    return Verdict(True, Reason.PASSED, "", call.label, trace=call.trace)


def _failed(call: Call, reason: str, detail: str, try_this: str = "") -> Verdict:
    return Verdict(False, reason, detail, call.label, trace=call.trace, advice=try_this)


def _is_kernel(target: Any) -> bool:
    of_numba = type(target).__module__.startswith(("numba.cuda", "numba_cuda"))
    return isinstance(target, Kernel) or (of_numba and hasattr(target, "py_func"))


def _line_in(function: Any, error: BaseException) -> str:
    """The last line of the function's own cell or file that an error, or time's end, came from."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == file]
    return f"\n    line {lines[-1]}: {linecache.getline(file, lines[-1]).strip()}" if lines else ""


def _kind(value: Any) -> str | None:
    """b, i or f for a plain number or an array of numbers, by exact type; None for anything else.

    Calls nothing of the value's."""
    if type(value) in KINDS:
        return KINDS[type(value)]
    kind = value.dtype.kind if type(value) is np.ndarray else NUMPY_SCALARS.get(type(value), "")
    return {"u": "i", "i": "i", "f": "f", "b": "b"}.get(kind)


def _advice_on_type(value: Any, wanted: str | None, shape: tuple[int, ...]) -> str:
    if value is None:
        return "end the function with return"
    if shape and type(value) in (list, tuple):
        return advice.AN_ARRAY
    if type(value) in (set, frozenset, list, tuple, dict):
        return "return how many there are: len(...)" if wanted == "i" else advice.A_NUMBER
    if wanted == "i" and _kind(value) == "f":
        return advice.INTEGER_ARRAY if shape else advice.INTEGERS
    return ""


def _describe(value: Any) -> str:
    """Describe a value for a message: its type and, for a number of reasonable length, itself."""
    kind = type(value).__name__
    if value is None:
        return "None"
    if type(value) is tuple and 0 < len(value) <= MOST_SHOWN:
        return f"a tuple of {', '.join(map(_describe, value))}"
    if type(value) is np.ndarray:
        short = value.size <= MOST_SHOWN and value.dtype.kind in "biuf"
        shown = f" {value.tolist()}" if short else ""
        return f"an array of {value.dtype} with shape {value.shape}{shown}"
    if _kind(value) is None:
        return f"an object of type {kind[:40]}"
    short = type(value) is not int or value.bit_length() <= 64
    return f"the {kind} {value}" if short else f"an {kind} of {value.bit_length()} bits"


def _shown(call: Call, name: str) -> str:
    args = (_describe(a) if isinstance(a, np.ndarray) else repr(a) for a in call.args)
    return f"{name}({', '.join(args)})"
