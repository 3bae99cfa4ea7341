"""The description of a chart of benchmark records: the rows it draws, its axes and its models.

``catalogue`` lists the plots; ``series`` turns a plot and the records into numbers, ``draw`` turns
those into a picture, and ``alt_text`` into sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

from warpwise.benchmark_records import Row
from warpwise.devices import Device

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

#: A device and a position on the x axis -> the modelled value in the unit of the y axis, or None.
#: The device is None for a GPU of a record that ``warpwise.devices`` does not know: a model that
#: needs no device still has its answer.
Model = Callable[[Device | None, float], float | None]
#: A row and the other variants of its case by name -> the row's value on the y axis, or None.
RowValue = Callable[[Row, Mapping[str, Row]], float | None]


@dataclass(frozen=True)
class Axis:
    """One axis. ``unit``: for sentences; of an x axis with {} for the number, or "bytes", which has
    ticks such as 16 KiB. ``log``: the base of a logarithmic axis, or 0.
    """

    label: str
    unit: str = ""
    log: int = 0


@dataclass(frozen=True)
class Value:
    """The y axis. ``relative``: divide each line by its value at the first of the plot's ``at``,
    and leave out a line that has none there.
    """

    axis: Axis
    of: RowValue
    relative: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the chart, or a bar. ``variants``: patterns of its name in a record, of which the
    first match counts. ``when``: parameters that its cases must have, with their values.
    """

    label: str
    variants: tuple[str, ...]
    model: Model | None = None
    when: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_library(self) -> bool:
        """True for a library's variant, not one of our kernels."""
        return self.variants[0].startswith(("cupy", "torch"))


@dataclass(frozen=True)
class Plot:
    """A chart of a suite. ``over``: the parameter along the x axis. Without ``x`` the chart has
    bars: of the case where ``over`` is largest, or of each line's first case if there is no
    ``over`` either.

    ``at``: x values at which the model is drawn, a single one for bars. ``roofs``: models that
    belong to no variant. ``suite``: the records it draws, if not those of the chart's name.
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
    """Return a number to three figures: "1,230 GB/s", "64 KB" (of 1,024 bytes), "0.41"."""
    if unit == "bytes":
        return _bytes(value)
    few = f"{float(f'{value:.3g}'):,.10g}"
    return f"{few} {unit}" if unit else few


def whole(value: float) -> str:
    """Return an x value, with all digits of a whole number."""
    return f"{value:,.0f}" if value == int(value) else amount(value)


def tick(value: float, axis: Axis, most: float) -> str:
    """Return the short label of a tick on an axis up to ``most``; long ones as powers of two."""
    if axis.unit == "bytes":
        return _bytes(value)
    if axis.log == 2 and most > 2**15:
        return "2" + f"{log2(value):.0f}".translate(RAISED)
    return whole(value)


def _bytes(value: float) -> str:
    for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} bytes"


def times_as_fast_as(variant: str) -> RowValue:
    """Return the ratio of another variant's time to a row's."""

    def ratio(row: Row, others: Mapping[str, Row]) -> float | None:
        other = others[variant].median_ms if variant in others else None
        return other / row.median_ms if other and row.median_ms else None

    return ratio


def times_as_long_as(variant: str) -> RowValue:
    """Return the ratio of a row's time to another variant's."""

    def ratio(row: Row, others: Mapping[str, Row]) -> float | None:
        other = others[variant].median_ms if variant in others else None
        return row.median_ms / other if other and row.median_ms else None

    return ratio


def milliseconds(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.median_ms


def gb_per_s(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.GB_per_s


def tflop_per_s(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.TFLOP_per_s


def ns_per_step(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.ns_per_step


def microseconds(row: Row, others: Mapping[str, Row]) -> float | None:
    return row.median_ms and 1e3 * row.median_ms


GB_PER_S = Value(Axis("GB/s", "GB/s"), gb_per_s)
TFLOP_PER_S = Value(Axis("TFLOP/s", "TFLOP/s"), tflop_per_s)
MICROSECONDS = Value(Axis("microseconds", "microseconds", log=10), microseconds)
