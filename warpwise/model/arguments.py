"""What a reader types, checked, and numbers as words: a whole number in its range, or one line that says what it can be."""

from __future__ import annotations

from operator import index

from warpwise.errors import LaunchError


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
