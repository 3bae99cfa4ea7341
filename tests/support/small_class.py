"""A made-up class for reports: answers that are alike or not, and records of six students."""

from __future__ import annotations

import random

from warpwise.grading import fingerprints
from warpwise.grading.class_report.build import ClassReport
from warpwise.grading.class_report.overview import overview
from warpwise.grading.class_report.similar import pairs
from warpwise.grading.record import SHOWN_PASSED, Counter, Finding, Record, Result, Visible
from warpwise.labs.exercise import Reason

LAB = "08_coalescing"
REVERSE = """
@cuda.jit
def reverse(x, y):
    # from the end
    i = cuda.grid(1)
    width = cuda.gridsize(1)
    while i < x.size:
        y[x.size - 1 - i] = 2 * x[i] + 32
        i += width
"""
DISGUISED = '''
from warpwise import cuda as gpu

OFFSET = 32


@gpu.jit
def reverse(source: object, target):
    """Each thread
    takes steps."""
    at = gpu.grid(1)
    step = gpu.gridsize(1)
    while source.size > at:
        target[source.size - 1 - at] = (
            source[at] * 2 + OFFSET)
        at = at + step  # the next one
'''
OTHER = """
@cuda.jit
def reverse(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k = x.size - i - 1
        y[k] = 32 + x[i] + x[i]
"""


def record(
    student: str,
    texts: dict[str, str],
    findings: dict[str, Finding] | None = None,
    lab: str = LAB,
    **more,
) -> Record:
    """Return a graded submission with these answers, right ones unless told otherwise."""
    found = findings or {}
    results = (
        Result(id, 2, found.get(id, PASSED), SHOWN, "", text, fingerprints.fingerprint(text))
        for id, text in texts.items()
    )
    return Record(student, f"{student}/{lab}.ipynb", lab, tuple(results), seconds=1.5, **more)


PASSED = Finding(True, Reason.PASSED, tried=9, cases=9)
SHOWN = Visible(SHOWN_PASSED)


def different(seed: int) -> str:
    """Return a program that shares little with that of another seed."""
    chance = random.Random(seed)
    lines = [
        (
            f"    y[i + {chance.randrange(999)}] = "
            f"x[i * {chance.randrange(999)}] - {chance.randrange(999)}"
        )
        for _ in range(8)
    ]
    return "def f(x, y, i):\n" + "\n".join(lines) + "\n"


def over(name: str, value: float, limit: float) -> Finding:
    return Finding(
        False,
        f"{Reason.OVER_BUDGET}{name}",
        tried=3,
        cases=9,
        counters=(Counter(name, value, limit), Counter("branches", 1, 2)),
    )


def small_class() -> list[Record]:
    """Return six records of lab 8: two copied, one made no start, one sent an empty file."""
    ragged = Finding(
        False,
        Reason.WRONG_RESULT,
        tried=5,
        cases=9,
        case="41 x 1",
        behaviour="fails where there is only one column",
    )
    bytes_moved, not_done = "global_bytes_moved", Finding(False, Reason.NOT_DONE)

    def both(
        student: str,
        copy: str,
        transpose: str,
        of_copy: Finding = PASSED,
        of_transpose: Finding = PASSED,
        **more,
    ) -> Record:
        findings = {"copy_matrix": of_copy, "transpose": of_transpose}
        return record(student, {"copy_matrix": copy, "transpose": transpose}, findings, **more)

    return [
        both(
            "ada", REVERSE, different(1), name="Ada Lovelace", submitted="2026-11-20T09:00:00+01:00"
        ),
        both("ben", DISGUISED, different(1), late=True),
        both("carla", OTHER, different(2), of_transpose=over(bytes_moved, 300, 100)),
        both("dmitri", different(3), different(4), ragged, over(bytes_moved, 500, 100)),
        both("elif", "", "", not_done, not_done),
        Record(
            "farah",
            "farah.ipynb",
            LAB,
            (Result("copy_matrix", 2, Finding(False, "not graded")),),
            "the file is empty",
            seconds=0.1,
        ),
    ]


def report_on(records: list[Record], labs: dict | None = None) -> ClassReport:
    return ClassReport(overview(records, labs or {}), pairs(records, labs or {}), ())
