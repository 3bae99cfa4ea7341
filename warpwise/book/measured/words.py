"""A chart of measurements in words, for a reader who does not see it: where each line begins and ends, and how high it gets."""

from __future__ import annotations

from warpwise.book.measured.plot import Plot, amount, whole
from warpwise.book.measured.series import Panel, Series


def words(plot: Plot, panels: tuple[Panel, ...]) -> str:
    """A sentence for each line of each panel, with the numbers that it shows."""
    told = [f"{plot.title}, {panel.title}: {_told(plot, panel)}" for panel in panels]
    return " ".join(told)


def _told(plot: Plot, panel: Panel) -> str:
    if not panel.measured:
        return _lines(plot, panel.modelled)
    modelled = f" Modelled: {_lines(plot, panel.modelled)}" if panel.modelled else ""
    return _lines(plot, panel.measured) + modelled


def _lines(plot: Plot, lines: tuple[Series, ...]) -> str:
    return "; ".join(f"{series.label} {_line(plot, series)}" for series in lines) + "."


def _line(plot: Plot, series: Series) -> str:
    first, last, top, low = series.ys[0], series.ys[-1], max(series.ys), min(series.ys)
    if not plot.x:
        return _y(plot, last)
    if len(series.xs) == 1:
        return _at(plot, series, last)
    if top < 1.02 * low:
        return f"{_y(plot, last)} throughout"
    most = f", at most {_at(plot, series, top)}," if top > 1.05 * max(first, last) else ""
    least = f", at least {_at(plot, series, low)}," if 1.05 * low < min(first, last) else ""
    return f"from {_at(plot, series, first)}{most}{least} to {_y(plot, last)} at {_x(plot, series.xs[-1])}"


def _at(plot: Plot, series: Series, value: float) -> str:
    return f"{_y(plot, value)} at {_x(plot, series.xs[series.ys.index(value)])}"


def _x(plot: Plot, value: float) -> str:
    return amount(value, "bytes") if plot.x.unit == "bytes" else plot.x.unit.format(whole(value))


def _y(plot: Plot, value: float) -> str:
    return amount(value, plot.value.axis.unit)
