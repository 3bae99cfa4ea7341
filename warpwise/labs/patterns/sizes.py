"""Patterns of a size, a whole number worked out from others: what is too much or too little."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod

from warpwise.labs.patterns.failure import Failure, Pattern

MOST_TIMES = 8  # a difference is told as so many times a product at most
COUNTED = (
    "an array of {what} elements is left out or counted twice, or its elements have another number "
    "of bytes"
)
TOGETHER = "is {other} counted in {name} as well, though it is a result of its own?"
APART = "is {other} left out of {name}, of which it is a part?"


def product_apart(f: Failure) -> Pattern | None:
    """One whole number is off by another result, or a few times a product of the arguments."""
    if f.got.size != 1 or f.got.dtype.kind not in "iu" or f.want.dtype.kind not in "iu":
        return None
    gap = f.got.item() - f.want.item()
    seen = f"it is {abs(gap)} too {'large' if gap > 0 else 'small'}"
    for other, due in f.due.items():
        if due.size == 1 and due.item() == abs(gap) > MOST_TIMES:
            asked = (TOGETHER if gap > 0 else APART).format(name=f.name, other=other)
            return Pattern(f"{seen}, which is {other}", (asked,))
    found = next(_products(f, abs(gap)), None)
    if found is None:
        return None
    times, what = found
    many = f"{times} * {what}" if times > 1 else what
    seen = f"{seen}, which is {many}"
    return Pattern(seen, (COUNTED.format(what=what), "one of the factors is the wrong one"))


def _products(f: Failure, gap: int) -> Iterator[tuple[int, str]]:
    """Yield how often a product of arguments goes into a number, fewest times first.

    Arguments below MOST_TIMES could be the number of times themselves."""
    known = {n: int(v) for n, v in f.scalars.items() if v == int(v) and v > MOST_TIMES}
    ways = (1, 2, 3, 4)
    made = (some for count in ways for some in combinations_with_replacement(known, count))
    named = [(prod(known[name] for name in some), " * ".join(some)) for some in made]
    for times in range(1, MOST_TIMES + 1):
        for size, what in named:
            if size * times == gap:
                yield times, what
