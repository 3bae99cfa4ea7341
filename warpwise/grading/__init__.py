"""Grading: from a folder of notebooks that nobody trusts to points, a gradebook and a page of feedback for each student.

What decides points never runs beside student code. Kernels are interpreted (``simulate``), host functions run in a sandbox that
returns numbers (``functions``, ``sandbox``), and the notebook's own checks are run again only to be shown (``visible``).
"""

from typing import Any

__all__ = ["grade"]


def __getattr__(name: str) -> Any:
    """``grade``, imported on first use: each submission's simulation is a new process, which needs little of this package."""
    if name == "grade":
        from warpwise.grading.engine import grade

        return grade
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
