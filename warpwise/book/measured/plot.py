"""What a chart of measurements is: which rows of a record it draws, against what, and the model that stands beside them.

A ``Plot`` is a row of the table; ``series`` turns it and the records into numbers, ``draw`` into a picture, ``words`` into a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

from warpwise.devices import Device
from warpwise.measurements import Row

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

#: What a model says of a device at one place of the x axis, in the unit of the y axis; None where it says nothing. The device is None
#: for a record's GPU that ``warpwise.devices`` does not have: a model that needs no device still has its answer.
Model = Callable[[Device | None, float], float | None]


@dataclass(frozen=True)
class Axis:
    """``unit``: for sentences; of an x axis with {} for the number, or "bytes", which has ticks such as 16 KB. ``log``: base, or 0."""

    label: str
    unit: str = ""
    log: int = 0


@dataclass(frozen=True)
class Value:
    """The y axis. ``of``: a row's value, given the other variants of its case by name; None where it has none.

    ``relative``: each line is divided by what it is at the first of the plot's ``at``, and passed over where it is nothing there.
    """

    axis: Axis
    of: Callable[[Row, Mapping[str, Row]], float | None]
    relative: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the chart, or a bar. ``variants``: patterns of the names that it can have in a record, the first that is there counts.

    ``when``: what parameters its cases have, and their values. ``model``: None where there is none.
    """

    label: str
    variants: tuple[str, ...]
    model: Model | None = None
    when: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_library(self) -> bool:
        """Whether it is no kernel of ours."""
        return self.variants[0].startswith(("cupy", "torch"))


@dataclass(frozen=True)
class Plot:
    """A chart of a suite. ``over``: the parameter along the x axis. Without ``x`` the chart has bars: of the case where ``over`` is
    largest, or of each line's first case if there is no ``over`` either.

    ``at``: where the model is drawn, in bars the one place. ``roofs``: models that belong to no variant. ``suite``: whose
    records it draws, where that is not the chart's name.
    """

    title: str
    over: str
    value: Value
    lines: tuple[Line, ...]
    at: tuple[float, ...] = (0,)
    x: Axis | None = None
    roofs: tuple[Line, ...] = ()
    suite: str = ""


def amount(value: float, unit: str = "") -> str:
    """A number for ticks and sentences, three figures: "1,230 GB/s", "64 KB", "0.41"; bytes in the units that are powers of 1,024."""
    if unit == "bytes":
        return _bytes(value)
    few = f"{float(f'{value:.3g}'):,.10g}"
    return f"{few} {unit}" if unit else few


def whole(value: float) -> str:
    """A place of the x axis: a whole number in full, for a size is a size."""
    return f"{value:,.0f}" if value == int(value) else amount(value)


def tick(value: float, axis: Axis, most: float) -> str:
    """A number beside an axis that goes up to ``most``, short: powers of two as such where some are long."""
    if axis.unit == "bytes":
        return _bytes(value)
    if axis.log == 2 and most > 2**15:
        return "2" + f"{log2(value):.0f}".translate(RAISED)
    return whole(value)


def _bytes(value: float) -> str:
    for size, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} bytes"


def times_as_fast_as(variant: str) -> Callable[[Row, Mapping[str, Row]], float | None]:
    """How many times as fast a row is as another variant of its case."""
    return lambda row, others: others[variant].median_ms / row.median_ms if variant in others else None


def times_as_long_as(variant: str) -> Callable[[Row, Mapping[str, Row]], float | None]:
    """How many times as long a row takes as another variant of its case."""
    return lambda row, others: row.median_ms / others[variant].median_ms if variant in others else None


def gb_per_s(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.GB_per_s


def tflop_per_s(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.TFLOP_per_s


def ns_per_step(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.ns_per_step


def microseconds(row: Row, others: Mapping[str, Row]) -> float | None:
    return 1e3 * row.median_ms


GB_PER_S = Value(Axis("GB/s", "GB/s"), gb_per_s)
TFLOP_PER_S = Value(Axis("TFLOP/s", "TFLOP/s"), tflop_per_s)
MICROSECONDS = Value(Axis("microseconds", "microseconds", log=10), microseconds)
