"""Host functions: the student's text runs in the sandbox on the hidden inputs, and numbers come back, to be compared here.

The sandbox gets the text and the inputs, never an expected value. What it sends has a length that is known beforehand; whatever it
holds, it can only be right or wrong. How much memory it takes is seen from outside. No text of the student's making is passed on,
since it could carry the hidden inputs out.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warpwise.grading import sandbox, watch
from warpwise.grading.inside.functions import NAME_BYTES
from warpwise.grading.record import ENDED, STOPPED, TOO_LONG, TOO_SLOW, Finding
from warpwise.grading.simulate import public, summary
from warpwise.labs.exercise import Call, Reason, Verdict
from warpwise.labs.judge import A_NUMBER, AN_ARRAY, ONE_TILE, OTHER_SHAPE, SEVERAL, judge_value

PYTHON_BYTES = 72 << 20  # what Python, NumPy and the arguments take, and as much again
DTYPES = {b"q": np.int64, b"d": np.float64, b"?": np.int64}
ERRORS = {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)}
TYPES = ("NoneType", "str", "bytes", "list", "tuple", "dict", "set", "range", "generator", "function", "complex", "ndarray")
ADVICE = {
    TOO_LONG: "look for a loop whose condition never becomes false",
    ENDED: "return the value; do not end Python",
    "NameError": "the grader knows NumPy, the standard modules it allows and what your cells define; spell the name as it was defined",
    "UnboundLocalError": "give the variable a value on every way through the function",
    "ModuleNotFoundError": "import NumPy, math, itertools, functools, operator or collections; nothing else is there",
    "ZeroDivisionError": "which argument can be zero?",
    "IndexError": "what is the first and what is the last index of the loop?",
    "TypeError": "compare the function's parameters with those that the exercise gives it",
    "NoneType": "end the function with return",
}
ANY_ERROR = "call the function yourself, with small numbers and with zero"


def judge_function(text: str, name: str, calls: Sequence[Call], mode: str) -> Finding:
    """The finding on a host function, given as text. ``mode`` is how it is kept apart: see ``sandbox.isolation``."""
    asked = [{"args": [encode(a) for a in c.args], "shapes": shapes(c), "several": type(c.want) is tuple} for c in calls]
    stay = 3 * watch.POLL_SECONDS if any(call.most_bytes is not None for call in calls) else 0
    done = sandbox.run(sandbox.FUNCTIONS, {"text": text, "name": name, "calls": asked, "stay_seconds": stay}, mode, limits(calls))
    verdicts = []
    rest = done.result
    for call in calls:
        verdict, rest = _verdict(rest, call, done)
        verdicts.append(verdict)
        if not verdict.passed:
            break
    if verdicts[-1].passed and done.stopped == "memory":  # seen when all was said
        limited = [i for i, call in enumerate(calls) if call.most_bytes is not None]
        strictest = min(limited, key=lambda i: calls[i].most_bytes, default=len(calls) - 1)
        verdicts[strictest:] = [_too_much(calls[strictest])]
    return summary(verdicts, calls)


def shapes(call: Call) -> list[tuple[int, ...]]:
    """The shape of the value that is asked for, or those of a tuple's items."""
    return [np.shape(want) for want in (call.want if type(call.want) is tuple else (call.want,))]


def limits(calls: Sequence[Call]) -> watch.Limits:
    """Those of the sandbox, with no more memory than the strictest of the calls allows."""
    usual = sandbox.FUNCTIONS.limits
    most = [PYTHON_BYTES + call.most_bytes for call in calls if call.most_bytes is not None]
    return replace(usual, memory_bytes=min([usual.memory_bytes, *most]))


def encode(argument: Any) -> Any:
    """An argument as JSON: plain numbers as they are, arrays with their dtype and shape."""
    if isinstance(argument, np.ndarray):
        return {"dtype": argument.dtype.name, "shape": argument.shape, "data": argument.ravel().tolist()}
    return argument.item() if isinstance(argument, np.generic) else argument


def _verdict(frames: bytes, call: Call, done: watch.Finished) -> tuple[Verdict, bytes]:
    """The verdict on one call from the frame that should stand first, and the frames after it. For frames: ``inside/functions.py``."""
    kind, rest = frames[:1], frames[1:]
    if kind in (b"e", b"t", b"s") and len(rest) >= NAME_BYTES:
        return _named(kind, rest[:NAME_BYTES].decode("utf-8", "replace").rstrip(), call), rest[NAME_BYTES:]
    values, rest = _values(frames, call)
    if values:
        return public(judge_value(values if type(call.want) is tuple else values[0], call)), rest
    if done.stopped == "memory" and call.most_bytes is not None:
        return _too_much(call), b""
    reason, usual = STOPPED[done.stopped], sandbox.FUNCTIONS.limits
    details = {TOO_LONG: f"used more than {usual.cpu_seconds:g} s of CPU time", TOO_SLOW: f"gave no answer in {usual.wall_seconds:g} s"}
    return Verdict(False, reason, details.get(reason, ""), call.label, advice=ADVICE.get(reason, "")), b""


def _too_much(call: Call) -> Verdict:
    return Verdict(False, Reason.TOO_MUCH_MEMORY, "", call.label, advice=ONE_TILE)


def _named(kind: bytes, name: str, call: Call) -> Verdict:
    """The verdict on a call that raised an error or returned no number. Only names that Python itself has are passed on."""
    if kind == b"e":
        told = name if name in ERRORS else "an error of its own"
        return Verdict(False, Reason.RAISED, f"raised {told}", call.label, advice=ADVICE.get(told, ANY_ERROR))
    said = [f"an array of shape {shape}" if shape else "one number" for shape in shapes(call)]
    wanted = f"a tuple of {', '.join(said)}" if type(call.want) is tuple else said[0]
    if kind == b"s":
        told = f"returned numbers of another shape; {wanted} was asked for"
        return Verdict(False, Reason.WRONG_RESULT, told, call.label, advice=OTHER_SHAPE)
    told = name if name in TYPES else "an object of another type"
    advice = SEVERAL.format(len(said)) if type(call.want) is tuple else AN_ARRAY if shapes(call)[0] else A_NUMBER
    return Verdict(False, Reason.WRONG_TYPE, f"returned {told}; {wanted} was asked for", call.label, advice=ADVICE.get(told, advice))


def _values(frames: bytes, call: Call) -> tuple[tuple, bytes]:
    """The numbers and arrays of a call from their frames, and the frames after them; nothing if they are not as they should be."""
    found = []
    for shape in shapes(call):
        kind, end = frames[:1], 1 + 8 * math.prod(shape)
        if kind not in DTYPES or len(frames) < end:
            return (), b""
        found.append(_value(kind, frames[1:end], shape))
        frames = frames[end:]
    return tuple(found), frames


def _value(kind: bytes, content: bytes, shape: tuple[int, ...]) -> Any:
    """Numbers of a frame: a plain Python number for a single one, an array otherwise."""
    numbers = np.frombuffer(content, DTYPES[kind]).reshape(shape)
    numbers = numbers != 0 if kind == b"?" else numbers
    return numbers if shape else numbers.item()
