"""One measured figure beside its target, and timing: shared by the parts of ``bench.py``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure; ``need`` is the least, or with ``at_most`` the most, that is asked for."""

    what: str
    value: float | None
    unit: str
    need: float | None = None
    at_most: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.need is None:
            return ""
        return (
            "ok"
            if (self.value <= self.need if self.at_most else self.value >= self.need)
            else "short"
        )


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(work: Callable[[], object], times: int = 9) -> float:
    """Return the shortest of several runs, after one that compiles the kernel."""
    work()
    return min(seconds(work) for _ in range(times))


def said(error: BaseException) -> str:
    """Return an error as a row's note: its first line."""
    return (str(error).splitlines() or [type(error).__name__])[0]
