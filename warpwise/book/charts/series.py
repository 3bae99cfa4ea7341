"""The numbers that a chart draws: each device's lines from benchmark records, and the models'."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from warpwise.benchmark_records import Record, Row
from warpwise.book.charts.model import device_of
from warpwise.book.charts.plot import Line, Model, Plot
from warpwise.devices import H200, Device

Points = tuple[tuple[float, ...], tuple[float, ...]]  # all x, and all y
Predicted = Callable[[str], Record | None]  # by a device's name


@dataclass(frozen=True)
class Series:
    """A line's points by rising x. ``place``: its index in the plot's lines; a roof has none."""

    label: str
    place: int | None
    xs: tuple[float, ...]
    ys: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """One device's part of a chart. ``device``: the name in its record, or the model's device.

    ``measured``: empty if there is no record. ``predicted``: by the stopwatch, for this device.
    ``size``: the case of bars, such as "n = 4,096"; "" for a plot with a single case.
    """

    device: str
    measured: tuple[Series, ...]
    modelled: tuple[Series, ...]
    size: str = ""
    predicted: tuple[Series, ...] = ()

    @property
    def bars(self) -> tuple[Series, ...]:
        """The lines that are drawn as bars: measured or else predicted ones."""
        return self.measured or self.predicted or self.modelled

    @property
    def title(self) -> str:
        size = f"{self.size and ', '}{self.size}"
        if self.measured:
            return f"measured on {self.device}{size}"
        if self.predicted:
            return f"predicted for an {self.device}{size}"
        return f"modelled for an {self.device}" if self.device else "modelled"


def nothing(device: str) -> Record | None:
    """Predict nothing."""
    return None


def panels(
    plot: Plot, records: Iterable[Record], predicted: Predicted = nothing
) -> tuple[Panel, ...]:
    """Return a panel for each record with something to draw, or one with models alone.

    ``predicted``: what the stopwatch says of the plot's suite on a device."""
    found = tuple(
        Panel(
            record.device,
            lines,
            beside(plot, lines, device := device_of(record)),
            _size(plot, lines),
            _foretold(plot, predicted(device.name) if device else None, record),
        )
        for record in records
        if (lines := measured(plot, record))
    )
    return found or (_of_models(plot, predicted(H200.name)),)


def _of_models(plot: Plot, predicted: Record | None) -> Panel:
    foretold = _told(plot, predicted) if predicted else ()
    named = needs_device(plot) or foretold
    size = _size(plot, foretold) if foretold else ""
    return Panel(H200.name if named else "", (), modelled(plot, H200, plot.at), size, foretold)


def _foretold(plot: Plot, predicted: Record | None, record: Record) -> tuple[Series, ...]:
    """Return what was predicted of the cases that were measured."""
    if predicted is None:
        return ()
    cases = {row.case for row in record.rows}
    return _told(plot, replace(predicted, rows=tuple(r for r in predicted.rows if r.case in cases)))


def _told(plot: Plot, predicted: Record) -> tuple[Series, ...]:
    """Return the predicted lines that say something: of a relative plot, one point alone is 1."""
    found = measured(plot, predicted)
    return tuple(line for line in found if len(line.xs) > 1 or not plot.value.relative)


def measured(plot: Plot, record: Record) -> tuple[Series, ...]:
    """Return the plot's lines that a record has."""
    cases = _cases(record)
    found = [
        Series(line.label, place, *_points(plot, line, cases))
        for place, line in enumerate(plot.lines)
    ]
    if not plot.x:  # bars side by side are of one case, the largest that any of them has
        largest = max((x for series in found for x in series.xs), default=None)
        found = [series for series in found if largest in series.xs]
    return tuple(series for series in found if series.xs)


def _size(plot: Plot, drawn: tuple[Series, ...]) -> str:
    return f"{plot.over} = {drawn[0].xs[-1]:,}" if plot.over and not plot.x else ""


def modelled(
    plot: Plot, device: Device | None, at: Iterable[float], places: Iterable[int] | None = None
) -> tuple[Series, ...]:
    """Return the model of each line, or of those at ``places``, and of the roofs."""
    at, chosen = tuple(at), range(len(plot.lines)) if places is None else places
    lines: list[tuple[int | None, Line]] = [(place, plot.lines[place]) for place in chosen]
    lines += [(None, roof) for roof in plot.roofs]
    found = (
        Series(line.label, place, *_curve(plot, line.model, device, at))
        for place, line in lines
        if line.model
    )
    return tuple(series for series in found if series.xs)


def beside(plot: Plot, drawn: tuple[Series, ...], device: Device | None) -> tuple[Series, ...]:
    """Return the model of the lines that were measured, as far as they reach."""
    xs = {x for series in drawn for x in series.xs}
    at = sorted(xs | {x for x in plot.at if min(xs) <= x <= max(xs)}) if plot.x else plot.at
    return modelled(plot, device, at, [s.place for s in drawn if s.place is not None])


def needs_device(plot: Plot) -> bool:
    """Return True if any of the plot's models needs to know the device."""
    models = [line.model for line in (*plot.lines, *plot.roofs) if line.model]
    return any(model(None, plot.at[-1]) is None for model in models)


def _cases(record: Record) -> dict[str, dict[str, Row]]:
    """Return case -> variant -> row, without failed rows."""
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in record.rows:
        if row.median_ms and not row.problem:
            found[row.case][row.variant] = row
    return found


def _points(plot: Plot, line: Line, cases: dict[str, dict[str, Row]]) -> Points:
    found: dict[float, float] = {}
    for rows in cases.values():
        for x, y in _point(plot, line, rows):
            found.setdefault(x, y)
    places = sorted(found) if plot.x else sorted(found)[-1:]
    return _scaled(plot, [(x, found[x]) for x in places])


def _point(plot: Plot, line: Line, rows: dict[str, Row]) -> Iterator[tuple[float, float]]:
    """Yield the point that a case gives a line, if any."""
    names = (name for wanted in line.variants for name in rows if fnmatchcase(name, wanted))
    row = rows.get(next(names, ""))
    if row is None or not _holds(line, row):
        return
    x, value = row.parameters.get(plot.over) if plot.over else 0, plot.value.of(row, rows)
    if value and isinstance(x, (int, float)):
        yield x, value


def _holds(line: Line, row: Row) -> bool:
    """Return True if the row has the parameters that the line requires."""
    return all(row.parameters.get(name) == wanted for name, wanted in line.when.items())


def _curve(plot: Plot, model: Model, device: Device | None, at: tuple[float, ...]) -> Points:
    return _scaled(plot, [(x, y) for x in at if (y := model(device, x))])


def _scaled(plot: Plot, points: list[tuple[float, float]]) -> Points:
    """Return all x and all y; of a relative plot, y over the first one, or nothing without it."""
    unit = dict(points).get(plot.at[0]) if plot.value.relative else 1.0
    return (tuple(x for x, _ in points), tuple(y / unit for _, y in points)) if unit else ((), ())
