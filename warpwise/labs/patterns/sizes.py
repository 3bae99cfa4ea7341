"""Patterns of a size, a whole number worked out from others: what is too much or too little."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from warpwise.labs.patterns.failure import Failure, Pattern

MOST_TIMES = 8  # a difference is told as so many times a product at most
COUNTED = (
    "an array of {what} elements is left out or counted twice, or its elements have another number "
    "of bytes"
)


def product_apart(f: Failure) -> Pattern | None:
    """One whole number is off by a few times the product of some of the arguments."""
    if f.got.size != 1 or f.got.dtype.kind not in "iu" or f.want.dtype.kind not in "iu":
        return None
    gap = f.got.item() - f.want.item()
    found = next(_products(f, abs(gap)), None)
    if found is None:
        return None
    times, what = found
    many = f"{times} * {what}" if times > 1 else what
    seen = f"it is {abs(gap)} too {'large' if gap > 0 else 'small'}, which is {many}"
    return Pattern(seen, (COUNTED.format(what=what), "one of the factors is the wrong one"))


def _products(f: Failure, gap: int) -> Iterator[tuple[int, str]]:
    """Yield how often a product of two or more arguments goes into a number, fewest times first.

    Arguments below MOST_TIMES could be the number of times themselves."""
    known = {n: int(v) for n, v in f.scalars.items() if v == int(v) and v > MOST_TIMES}
    made = (some for count in (2, 3, 4) for some in combinations(known, count))
    named = [(prod(known[name] for name in some), " * ".join(some)) for some in made]
    for times in range(1, MOST_TIMES + 1):
        for size, what in named:
            if size * times == gap:
                yield times, what
