"""NVIDIA's compiler on kernels that were read from text, as the grader has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from warpwise.grading.gpu_kernel import compiled
from warpwise.labs.compiler_budget import CC, with_compiled
from warpwise.labs.exercise import Case, Verdict
from warpwise.metrics.compiler_figures import CompilerFigures


def last(kernel: Any, cases: Sequence[Case], verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return the verdict that counts, after the budget for the compiler; as it is without one."""
    found, _, _ = with_compiled(kernel, cases, verdicts, taken)
    return next((verdict for verdict in found if not verdict.passed), found[-1])


def taken(kernel: Any, types: str) -> CompilerFigures:
    """Compile a kernel, if the compiler is here."""
    toolchain = pytest.importorskip("warpwise.toolchain")
    if toolchain.missing():
        pytest.skip(f"CUDA's compiler is not here: {', '.join(toolchain.missing())}")
    from warpwise.toolchain.figures import figures_of_text

    return figures_of_text(kernel, compiled(kernel).py_func, types, CC)
