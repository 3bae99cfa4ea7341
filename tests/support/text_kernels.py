"""Kernels from text, for tests that put numbers into it; none runs outside the simulator."""

from __future__ import annotations

from functools import lru_cache

from warpwise.metrics import Metrics
from warpwise.simt import Kernel, kernels_in

HEADER = "import numpy as np\nfrom numba import cuda\n"


@lru_cache
def kernel(text: str, **values: object) -> Kernel:
    """Return the kernel ``run`` of a text, with NAMES in it replaced."""
    for name, value in values.items():
        text = text.replace(name, str(value))
    return kernels_in(HEADER + text)["run"]


def of_lines(trace, text: str) -> Metrics:
    """Return the counters of the lines that hold this text."""
    found = [
        trace.by_line.get(number, Metrics())
        for number, line in trace.source.items()
        if text in line
    ]
    return sum(found, Metrics())


def ceil(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return -(-a // b)
