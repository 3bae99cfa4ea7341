"""How far the stopwatch is off, by families of kernels whose times are published.

The errors are those of ``make stopwatch``, which writes them beside the published points. A kernel
gets the range of the family that is limited by the same kind of thing."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ERRORS = Path(__file__).parent / "published" / "errors.csv"
#: By what binds a kernel, the family that is most like it.
FAMILY_OF = {
    "DRAM": "streams",
    "L2": "streams",
    "latency": "reductions",
    "shared memory": "matrix products",
    "L1": "matrix products",
    "float32 arithmetic": "matrix products",
    "issue slots": "matrix products",
}
UNKNOWN = 0.5  #: range for kernels like none of the published ones, to both sides


@dataclass(frozen=True)
class Family:
    """A family of published kernels: points, mean error, and the worst, as shares."""

    name: str
    points: int
    mean: float
    worst: float

    def __str__(self) -> str:
        return f"{self.name}, {self.points} published points, {100 * self.mean:.0f} % mean error"


@cache
def families() -> dict[str, Family]:
    """Return the families by name."""
    with open(ERRORS, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        row["family"]: Family(
            row["family"], int(row["points"]), float(row["mean"]), float(row["worst"])
        )
        for row in rows
    }


def nearest(binds: str) -> Family | None:
    """Return the family of kernels that the same thing binds, None if none was published."""
    return families().get(FAMILY_OF.get(binds, ""))
