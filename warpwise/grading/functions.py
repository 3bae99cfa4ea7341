"""Judge calls of host functions: the student's text runs in the sandbox on the hidden inputs.

The sandbox gets the text and the inputs, never an expected value; results are compared here. What
it sends has a known length; whatever it holds, it can only be right or wrong. Its memory is
measured from outside. No text of the student's is passed on, since it could carry the hidden inputs
out."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warpwise.grading import parts, sandbox, watch
from warpwise.grading.inside.functions import KINDS as WIDE
from warpwise.grading.inside.functions import NAME_BYTES
from warpwise.grading.inside.functions import TYPES as LETTERS
from warpwise.grading.record import ENDED, STOPPED
from warpwise.grading.warm import Warm
from warpwise.labs.advice import (
    A_NUMBER,
    AN_ARRAY,
    ENDLESS,
    NOTHING_RETURNED,
    ONE_TILE,
    OTHER_SHAPE,
    SEVERAL,
    TIMED_OUT,
    TOO_SLOW,
)
from warpwise.labs.exercise import Call, Reason, Verdict
from warpwise.labs.values import judge_value
from warpwise.messages import (
    NOTHING,
    Joined,
    Lengths,
    Limit,
    Message,
    Words,
    message,
    plain,
)

PYTHON_BYTES = 72 << 20  # twice the memory of Python, NumPy and the arguments
DTYPES = {letter: np.dtype(name) for name, letter in LETTERS.items()}
KINDS = [kind for kind in vars(builtins).values() if isinstance(kind, type)]
ERRORS = {kind.__name__ for kind in KINDS if issubclass(kind, BaseException)}
TYPES = "NoneType str bytes list tuple dict set range generator function complex ndarray".split()
ADVICE = {
    Reason.TOO_SLOW: TOO_SLOW,
    Reason.TIMED_OUT: TIMED_OUT,
    ENDED: "return the value; do not end Python",
    "NameError": "the grader knows NumPy, the standard modules it allows and what your cells "
    "define; spell the name as it was defined",
    "UnboundLocalError": "give the variable a value on every path through the function",
    "ModuleNotFoundError": "import NumPy, math, itertools, functools, operator or collections; "
    "nothing else is there",
    "ZeroDivisionError": "which argument can be zero?",
    "IndexError": "what is the first and what is the last index of the loop?",
    "TypeError": "compare the function's parameters with those that the exercise gives it",
    "NoneType": NOTHING_RETURNED,
}
ANY_ERROR = "call the function yourself, with small numbers and with zero"


def verdicts(
    text: str, name: str, calls: Sequence[Call], mode: str, warm: Warm | None, endless: bool
) -> list[Verdict]:
    """Judge the calls, up to that in which the process ended. See ``host.judge_function``."""
    stay = 3 * watch.POLL_SECONDS if any(call.most_bytes is not None for call in calls) else 0
    given = [asked(call) for call in calls]
    job = {"text": text, "name": name, "calls": given, "stay_seconds": stay}
    done = sandbox.play(parts.FUNCTIONS, job, mode, warm, limits(calls))
    judged: list[Verdict] = []
    rest = done.result
    for call in calls:
        found, left = verdict(rest, call, done, endless)
        judged.append(found)
        if left is None:
            break
        rest = left
    strictest = _strictest(calls)
    # after the last answer; or in a call without a limit, by what a child still holds
    late = judged[-1].passed or (strictest is not None and judged[-1].reason == STOPPED["memory"])
    if done.stopped == "memory" and late and all(one.passed for one in judged[:-1]):
        blamed = len(calls) - 1 if strictest is None else strictest
        judged[min(blamed, len(judged) - 1) :] = [_too_much(calls[blamed])]
    return judged


def _strictest(calls: Sequence[Call]) -> int | None:
    """Return the position of the call that allows the least memory, if one limits it."""
    limited = [(call.most_bytes, i) for i, call in enumerate(calls) if call.most_bytes is not None]
    return min(limited)[1] if limited else None


def asked(call: Call) -> dict[str, Any]:
    """A call as the sandbox gets it."""
    args = [encode(argument) for argument in call.args]
    return {"args": args, "shapes": shapes(call), "several": type(call.want) is tuple}


def shapes(call: Call) -> list[tuple[int, ...]]:
    """Return the shape of the value that is asked for, or those of a tuple's items."""
    return [np.shape(want) for want in (call.want if type(call.want) is tuple else (call.want,))]


def limits(calls: Sequence[Call]) -> watch.Limits:
    """Return the sandbox's limits, with no more memory than the strictest of the calls allows."""
    usual = parts.FUNCTIONS.limits
    most = [PYTHON_BYTES + call.most_bytes for call in calls if call.most_bytes is not None]
    return replace(usual, memory_bytes=min([usual.memory_bytes, *most]))


def encode(argument: Any) -> Any:
    """Encode an argument as JSON: plain numbers as they are, arrays with their dtype and shape."""
    if isinstance(argument, np.ndarray):
        data = argument.ravel().tolist()
        return {"dtype": argument.dtype.name, "shape": argument.shape, "data": data}
    return argument.item() if isinstance(argument, np.generic) else argument


def verdict(
    frames: bytes, call: Call, done: watch.Finished, endless: bool
) -> tuple[Verdict, bytes | None]:
    """Judge one call by the frame that should stand first, and return the frames after it.

    None instead of these if the process ended in this call: ``endless`` is True if it could never
    have ended by itself. For frames see ``inside/functions.py``."""
    kind, rest = frames[:1], frames[1:]
    if kind in (b"e", b"t", b"s") and len(rest) >= NAME_BYTES:
        name = rest[:NAME_BYTES].decode("utf-8", "replace").rstrip()
        return _named(kind, name, call), rest[NAME_BYTES:]
    values, rest = _values(frames, call)
    if values:
        value = values if type(call.want) is tuple else values[0]
        return judge_value(value, call), rest
    if done.stopped == "memory":
        return _over_memory(call), None
    reason, usual = STOPPED[done.stopped], parts.FUNCTIONS.limits
    details = {
        Reason.TOO_SLOW: message(
            "used more than {most:g} s of processor time", most=Limit(usual.cpu_seconds)
        ),
        Reason.TIMED_OUT: message("gave no answer in {most:g} s", most=Limit(usual.wall_seconds)),
    }
    detail = details.get(reason, NOTHING)
    if endless and done.stopped in ("cpu", "wall"):
        return _failed(call, Reason.ENDLESS, detail, ENDLESS), None
    return _failed(call, reason, detail, ADVICE.get(reason, "")), None


def _failed(call: Call, reason: str, detail: Message, advice: str) -> Verdict:
    return Verdict(False, reason, detail, call.label, remedy=plain(advice))


def _over_memory(call: Call) -> Verdict:
    """Judge a call that took too much memory: more than it allows, or than the sandbox has."""
    if call.most_bytes is not None:
        return _too_much(call)
    return _failed(call, STOPPED["memory"], NOTHING, "")


def _too_much(call: Call) -> Verdict:
    return _failed(call, Reason.TOO_MUCH_MEMORY, NOTHING, ONE_TILE)


def _named(kind: bytes, name: str, call: Call) -> Verdict:
    """Judge a call that raised an error or returned no number.

    Only names that Python itself has are passed on."""
    if kind == b"e" and name == "MemoryError":  # at the system's limit, before anybody looked
        return _over_memory(call)
    if kind == b"e":
        told = name if name in ERRORS else "an error of its own"
        raised = message("raised {error}", error=Words(told))
        return _failed(call, Reason.RAISED, raised, ADVICE.get(told, ANY_ERROR))
    if kind == b"s":
        other = message("returned numbers of another shape; {asked}", asked=_asked_for(call))
        return _failed(call, Reason.WRONG_RESULT, other, OTHER_SHAPE)
    told = name if name in TYPES else "an object of another type"
    advice = AN_ARRAY if shapes(call)[0] else A_NUMBER
    if type(call.want) is tuple:
        advice = SEVERAL.format(len(call.want))
    returned = message("returned {type}; {asked}", type=Words(told), asked=_asked_for(call))
    return _failed(call, Reason.WRONG_TYPE, returned, ADVICE.get(told, advice))


def _asked_for(call: Call) -> Message:
    """Say what a call should return."""
    items = tuple(
        message("an array of [[shape {shape}|{shape}]]", shape=Lengths(shape))
        if shape
        else message("one number")
        for shape in shapes(call)
    )
    several = Words("a tuple of " if type(call.want) is tuple else "")
    return message("{several}{items} was asked for", several=several, items=Joined(items, ", "))


def _values(frames: bytes, call: Call) -> tuple[tuple[Any, ...], bytes]:
    """Read a call's numbers and arrays from their frames, and return the frames after them.

    Nothing is returned if they are malformed."""
    found = []
    for shape in shapes(call):
        kind, end = frames[:1], 1 + 8 * math.prod(shape)
        if kind not in DTYPES or len(frames) < end:
            return (), b""
        found.append(_value(kind, frames[1:end], shape))
        frames = frames[end:]
    return tuple(found), frames


def _value(kind: bytes, content: bytes, shape: tuple[int, ...]) -> Any:
    """Read a frame: a plain Python number if it is a single one, an array otherwise."""
    dtype = DTYPES[kind]
    numbers = np.frombuffer(content, WIDE[dtype.kind]).reshape(shape)
    with np.errstate(over="ignore", invalid="ignore"):  # where student code wrote the frame
        numbers = numbers.astype(dtype)
    return numbers if shape else numbers.item()
