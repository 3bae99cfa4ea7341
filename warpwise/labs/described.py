"""What a call, and a value that it gave, are called in messages.

A value that came out of student code is looked at by its exact type and never asked to do anything,
so an object that claims to equal everything is just a wrong type."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpwise.labs import advice
from warpwise.labs.digits import all_digits, digits
from warpwise.labs.exercise import Call
from warpwise.messages import (
    Datum,
    Joined,
    Lengths,
    Message,
    Name,
    Size,
    TypeName,
    Words,
    message,
    plain,
)

MOST_SHOWN = 8  # elements of an array that a message shows
MOST_CHARACTERS = 40  # of arguments that stand in front of what is wrong
KINDS = {int: "i", float: "f", bool: "b"}
NUMPY_SCALARS = {np.dtype(code).type: np.dtype(code).kind for code in "?bBhHiIlLqQefd"}


def shown_call(call: Call, name: str) -> Message:
    """A call as messages show it; the hidden rendering, and that of a long one, is its name."""
    if not is_short(call):
        return message("{function}", function=Name(name))
    return message("{function}[[({args})]]", function=Name(name), args=Datum(arguments(call)))


def is_short(call: Call) -> bool:
    """True if a call's arguments stand in front of what is wrong, and not below."""
    return len(arguments(call)) <= MOST_CHARACTERS


def shows_values(value: Any) -> bool:
    """True if messages show what a value is, not the type and the shape of an array alone."""
    return not isinstance(value, np.ndarray) or value.size <= MOST_SHOWN


def arguments(call: Call) -> str:
    """Return the arguments of a call as messages show them."""
    args = (described(a).open() if isinstance(a, np.ndarray) else repr(a) for a in call.args)
    return ", ".join(args)


def told_value(told: Message, verb: str, value: Any, wanted: Any) -> Message:
    """Say what a call gave, and what was asked for."""
    return message(
        "{call} {verb} {value}[[, expected {wanted}|; {wanted} was asked for]]",
        call=told,
        verb=Words(verb),
        value=described(value),
        wanted=described(wanted),
    )


def described(value: Any) -> Message:
    """Describe a value for a message: its type and, for a number of reasonable length, itself."""
    kind = TypeName(type(value).__name__)
    if value is None:
        return plain("None")
    if type(value) is tuple and 0 < len(value) <= MOST_SHOWN:
        return message("a tuple of {items}", items=Joined(tuple(map(described, value)), ", "))
    if type(value) is np.ndarray:
        return _described_array(value)
    if kind_of(value) is None:
        name = Datum(kind.open()[:40])  # student code chose it
        return message("[[an object of type {name}|an object of another type]]", name=name)
    if type(value) is int and value.bit_length() > 64:
        bits = Size(value.bit_length())
        return message("an {kind}[[ of {bits} bits]]", kind=kind, bits=bits)
    article = Words("an" if kind.open()[0] in "aeiou" else "a")
    return message(
        "[[the {kind} {value}|{article} {kind}]]",
        kind=kind,
        value=Datum(_number(value)),
        article=article,
    )


def _number(value: Any) -> str:
    """A number, of Python's with all its digits and of NumPy's with those of its type."""
    return digits(value) if isinstance(value, np.float32 | np.float16) else str(value)


def _described_array(array: np.ndarray) -> Message:
    short = shows_values(array) and array.dtype.kind in "biuf"
    return message(
        "an array of {dtype} with [[shape {shape}{values}|{shape}]]",
        dtype=TypeName(array.dtype),
        shape=Lengths(array.shape),
        values=Datum(f" {all_digits(array)}" if short else ""),
    )


def kind_of(value: Any) -> str | None:
    """b, i or f for a plain number or an array of numbers, by exact type; None for anything else.

    Calls nothing of the value's."""
    if type(value) in KINDS:
        return KINDS[type(value)]
    kind = value.dtype.kind if type(value) is np.ndarray else NUMPY_SCALARS.get(type(value), "")
    return {"u": "i", "i": "i", "f": "f", "b": "b"}.get(kind)


def advice_on_type(value: Any, wanted: str | None, shape: tuple[int, ...]) -> str:
    """Say how to give the right type instead; "" if nothing is known to help."""
    if value is None:
        return advice.NOTHING_RETURNED
    if shape and type(value) in (list, tuple):
        return advice.AN_ARRAY
    if type(value) in (set, frozenset, list, tuple, dict):
        return "return how many there are: len(...)" if wanted == "i" else advice.A_NUMBER
    if wanted == "i" and kind_of(value) in ("b", "f"):
        return advice.INTEGER_ARRAY if shape else advice.INTEGERS
    return ""
