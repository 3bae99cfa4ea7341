"""From records to what a chart draws: for each device the lines that were measured, and the model's beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from warpwise.book.measured.model import device_of
from warpwise.book.measured.plot import Line, Plot
from warpwise.devices import H200, Device
from warpwise.measurements import Record, Row


@dataclass(frozen=True)
class Series:
    """A line's points, by rising x. ``place``: which of the plot's lines it is; a roof has none."""

    label: str
    place: int | None
    xs: tuple[float, ...]
    ys: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """One device. ``device``: as its record calls it, or the model's; ``measured`` is empty where nothing was measured.

    ``size``: of bars, which case they are of, such as "n = 4,096"; "" where the plot has only one.
    """

    device: str
    measured: tuple[Series, ...]
    modelled: tuple[Series, ...]
    size: str = ""

    @property
    def title(self) -> str:
        if self.measured:
            return f"measured on {self.device}{self.size and ', '}{self.size}"
        return f"modelled for an {self.device}" if self.device else "modelled"


def panels(plot: Plot, records: Iterable[Record]) -> tuple[Panel, ...]:
    """A panel for each record that has something to draw, in their order; where none has, one with the model alone."""
    found = [(record, drawn) for record in records if (drawn := measured(plot, record))]
    drawn = (Panel(record.device, drawn, beside(plot, drawn, device_of(record)), _size(plot, drawn)) for record, drawn in found)
    return tuple(drawn) or (Panel(H200.name if needs_device(plot) else "", (), modelled(plot, H200, plot.at)),)


def measured(plot: Plot, record: Record) -> tuple[Series, ...]:
    """The plot's lines that a record has."""
    cases = _cases(record)
    found = [Series(line.label, place, *_points(plot, line, cases)) for place, line in enumerate(plot.lines)]
    if not plot.x:  # bars side by side are of one case, the largest that any of them has
        largest = max((x for series in found for x in series.xs), default=None)
        found = [series for series in found if largest in series.xs]
    return tuple(series for series in found if series.xs)


def _size(plot: Plot, drawn: tuple[Series, ...]) -> str:
    return f"{plot.over} = {drawn[0].xs[-1]:,}" if plot.over and not plot.x else ""


def modelled(plot: Plot, device: Device | None, at: Iterable[float], places: Iterable[int] | None = None) -> tuple[Series, ...]:
    """The model of each line, or of those at ``places``, and of the roofs."""
    at, chosen = tuple(at), range(len(plot.lines)) if places is None else places
    lines = [(place, plot.lines[place]) for place in chosen] + [(None, roof) for roof in plot.roofs]
    found = (Series(line.label, place, *_curve(plot, line, device, at)) for place, line in lines if line.model)
    return tuple(series for series in found if series.xs)


def beside(plot: Plot, drawn: tuple[Series, ...], device: Device | None) -> tuple[Series, ...]:
    """The model of the lines that were measured, as far as they reach."""
    xs = {x for series in drawn for x in series.xs}
    at = sorted(xs | {x for x in plot.at if min(xs) <= x <= max(xs)}) if plot.x else plot.at
    return modelled(plot, device, at, [series.place for series in drawn])


def needs_device(plot: Plot) -> bool:
    """Whether any of the plot's models is one of a device."""
    models = [line.model for line in (*plot.lines, *plot.roofs) if line.model]
    return any(model(None, plot.at[-1]) is None for model in models)


def _cases(record: Record) -> dict[str, dict[str, Row]]:
    """Case -> variant -> row, without what went wrong."""
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in record.rows:
        if row.median_ms and not row.problem:
            found[row.case][row.variant] = row
    return found


def _points(plot: Plot, line: Line, cases: dict[str, dict[str, Row]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    found: dict[float, float] = {}
    for rows in cases.values():
        for x, y in _point(plot, line, rows):
            found.setdefault(x, y)
    places = sorted(found) if plot.x else sorted(found)[-1:]
    return _scaled(plot, [(x, found[x]) for x in places])


def _point(plot: Plot, line: Line, rows: dict[str, Row]) -> Iterator[tuple[float, float]]:
    """The point that a case gives a line, if any."""
    row = next((rows[name] for pattern in line.variants for name in rows if fnmatchcase(name, pattern)), None)
    if row is None or not _holds(line, row):
        return
    x, value = row.parameters.get(plot.over) if plot.over else 0, plot.value.of(row, rows)
    if value and isinstance(x, (int, float)):
        yield x, value


def _holds(line: Line, row: Row) -> bool:
    """Whether the row's parameters are those that the line is about."""
    return all(row.parameters.get(name) == wanted for name, wanted in line.when.items())


def _curve(plot: Plot, line: Line, device: Device | None, at: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return _scaled(plot, [(x, y) for x in at if (y := line.model(device, x))])


def _scaled(plot: Plot, points: list[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The points as two tuples; where the plot asks for it how many times the first they are, and none where the first is missing."""
    unit = dict(points).get(plot.at[0]) if plot.value.relative else 1.0
    return (tuple(x for x, _ in points), tuple(y / unit for _, y in points)) if unit else ((), ())
