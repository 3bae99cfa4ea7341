"""The suites of ``warpwise measure``, a module each.

A suite has ``TITLE``, ``cases(place)`` and, for performance targets, ``BARS``. One with ``reduced``
makes constants of its rows.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: In the order in which they run.
SUITES = tuple(
    "copy stride offset latency divergence banks fusion recompute precision reduction transpose "
    "softmax layernorm matmul_plot waves sgemm_ladder attention launch gpt2 counters "
    "constants".split()
)

#: How many times the limit of a suite's time; GPT-2's compiles many kernels, and PyTorch does, too.
LONGER = {"gpt2": 4}


def suite(name: str) -> ModuleType:
    """Return the module of a suite."""
    return import_module(f"{__name__}.{name}")
