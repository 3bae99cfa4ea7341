"""Arguments of models and widgets: checked, with one-line errors, and numbers with their nouns."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TypeVar

from warpwise.errors import LaunchError

T = TypeVar("T")


def quantity(number: int | str, noun: str) -> str:
    """Return a number and its noun: "1 block", "1,056 blocks"; a number in words stays as it is."""
    words = f"{number:,}" if isinstance(number, int) else number
    return f"{words} {noun}" if words == "1" else f"{words} {noun}s"


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """Return ``value`` as an int. Raises LaunchError unless it is whole, ``least`` to ``most``."""
    try:
        number = index(value)
    except TypeError:
        raise LaunchError(f"{name} is {value!r}; it has to be a whole number") from None
    if number < least or (most is not None and number > most):
        span = f"{least} or more" if most is None else f"{least} to {most:,}"
        raise LaunchError(f"{name} is {number:,}; it can be {span}")
    return number


def one_of(name: str, value: object, able: Iterable[T]) -> T:
    """Return the one of ``able`` that ``value`` equals. Raises LaunchError, which lists them."""
    able = tuple(able)
    if value not in able:
        raise LaunchError(f"{name} is {value!r}; it can be {', '.join(map(str, able))}")
    return able[able.index(value)]
