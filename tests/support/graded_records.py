"""Records of graded submissions, made up: which exercises of a lab are right."""

from __future__ import annotations

from functools import cache

from warpwise.grading.record import Finding, Record, Result
from warpwise.labs.exercise import Reason
from warpwise.labs.source import Lab, load_lab

COALESCING = "08_coalescing"


def record(
    student: str,
    lab: str = COALESCING,
    right: tuple[str, ...] = ("copy_matrix", "transpose"),
    **more,
) -> Record:
    """Return the record of a submission in which these exercises are right."""
    found = {True: Finding(True, Reason.PASSED), False: Finding(False, Reason.WRONG_RESULT)}
    results = tuple(
        Result(e.id, e.points, found[e.id in right], choice=e.choice) for e in _lab(lab).exercises
    )
    about = {"student": student, "file": f"{student}/{lab}.ipynb", "lab": lab, "results": results}
    return Record(**about | more)


@cache
def _lab(stem: str) -> Lab:
    return load_lab(stem)
