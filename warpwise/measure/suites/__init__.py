"""The suites of ``warpwise measure``: a module each, with ``TITLE``, ``cases(place)`` and, where a speed is asked for, ``BARS``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: In the order in which they run.
SUITES = (
    "copy", "stride", "offset", "latency", "divergence", "banks", "fusion", "recompute", "precision", "reduction", "transpose", "softmax",
    "layernorm", "matmul_plot", "waves", "sgemm_ladder", "attention", "launch", "counters",
)  # fmt: skip


def suite(name: str) -> ModuleType:
    """The module of a suite."""
    return import_module(f"{__name__}.{name}")
