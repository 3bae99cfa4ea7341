"""Grading: from untrusted notebooks to points, a gradebook and a feedback page for each student.

The code that decides points never runs beside student code. Kernels are interpreted
(``simulate``), host functions run in a sandbox that returns numbers (``functions``, ``sandbox``),
and the notebook's own checks are run again only to be shown (``visible``)."""

from typing import Any

__all__ = ["grade"]


def __getattr__(name: str) -> Any:
    """Import ``grade`` on first use: a submission's simulation needs little of this package."""
    if name == "grade":
        from warpwise.grading.engine import grade

        return grade
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
