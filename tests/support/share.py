"""Which of many alike parameters an ordinary run tests: every n-th; ``make thorough`` tests all."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")

THOROUGH = bool(os.environ.get("WARPWISE_THOROUGH"))


def share(of: Iterable[T], one_in: int) -> list[T]:
    """Return every ``one_in``-th, or all in a thorough run. What must be tested always, such as one
    of each kind, is asked for by itself."""
    return [*of][:: 1 if THOROUGH else one_in]


def share_of_kinds(of: Iterable[T], kind: Callable[[T], Hashable], one_in: int) -> list[T]:
    """Return the first of each kind and a share of the others, in their order."""
    given = [*of]
    first: dict[Hashable, int] = {}
    for number, one in enumerate(given):
        first.setdefault(kind(one), number)
    others = share(sorted({*range(len(given))} - {*first.values()}), one_in)
    return [given[number] for number in sorted([*first.values(), *others])]
