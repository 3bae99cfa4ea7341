"""What a reader types, checked: a whole number in its range, or one of some words, or one line that says what it can be.

And numbers as words.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TypeVar

from warpwise.errors import LaunchError

T = TypeVar("T")


def counted(number: int | str, noun: str) -> str:
    """A number and its noun: "1 block", "1,056 blocks"; a number in words stays as it is."""
    words = f"{number:,}" if isinstance(number, int) else number
    return f"{words} {noun}" if words == "1" else f"{words} {noun}s"


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """``value`` as a Python int; raises LaunchError if it is no whole number from ``least`` to ``most``."""
    try:
        number = index(value)
    except TypeError:
        raise LaunchError(f"{name} is {value!r}; it has to be a whole number") from None
    if number < least or (most is not None and number > most):
        span = f"{least} or more" if most is None else f"{least} to {most:,}"
        raise LaunchError(f"{name} is {number:,}; it can be {span}")
    return number


def one_of(name: str, value: object, able: Iterable[T]) -> T:
    """The one of ``able`` that ``value`` equals; raises LaunchError, which lists them, if there is none."""
    able = tuple(able)
    if value not in able:
        raise LaunchError(f"{name} is {value!r}; it can be {', '.join(map(str, able))}")
    return able[able.index(value)]
