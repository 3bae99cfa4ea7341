"""The alt text of a chart of benchmark records: each line's first, last and extreme values.

It is read aloud, so what several lines share is said once: the ends of the x axis, and beside
measured bars the name of each.
"""

from __future__ import annotations

from collections import Counter

from warpwise.book.charts.plot import Axis, Plot, amount, whole
from warpwise.book.charts.series import Panel, Series

Ends = tuple[float, float]  # the first and the last x of a line


def alt_text(plot: Plot, panels: tuple[Panel, ...]) -> str:
    """Return a sentence for each panel, with the numbers that its lines show."""
    return " ".join(f"{plot.title}, {panel.title}: {_panel(plot, panel)}" for panel in panels)


def _panel(plot: Plot, panel: Panel) -> str:
    if panel.measured and not plot.x:
        return _bars(plot, panel)
    first, *others = (
        (name, lines)
        for name, lines in (
            ("Measured", panel.measured),
            ("Predicted", panel.predicted),
            ("Modelled", panel.modelled),
        )
        if lines
    )
    said = [_lines(plot, first[1]), *(f"{name}: {_lines(plot, lines)}" for name, lines in others)]
    return " ".join(said)


def _bars(plot: Plot, panel: Panel) -> str:
    """Return each measured bar's value, with what was predicted and what is modelled of it."""
    beside = {"predicted": panel.predicted, "modelled": panel.modelled}
    said = []
    for bar in panel.measured:
        others = [
            f"{name} {amount(series.ys[-1])}"
            for name, lines in beside.items()
            for series in lines
            if series.label == bar.label
        ]
        value = f"{bar.label}: {amount(bar.ys[-1], plot.value.axis.unit)}"
        said.append(f"{value} ({', '.join(others)})" if others else value)
    return "; ".join(said) + "."


def _lines(plot: Plot, lines: tuple[Series, ...]) -> str:
    shared = _shared(lines)
    said = "; ".join(f"{series.label}: {_line(plot, series, shared)}" for series in lines) + "."
    if plot.x and shared:
        return f"from {_x(plot.x, shared[0])} to {_x(plot.x, shared[1])}, {said}"
    return said


def _shared(lines: tuple[Series, ...]) -> Ends | None:
    """Return the ends of most of the lines, if several have the same."""
    ends = Counter((series.xs[0], series.xs[-1]) for series in lines if len(series.xs) > 1)
    return next((these for these, count in ends.most_common(1) if count > 1), None)


def _line(plot: Plot, series: Series, shared: Ends | None) -> str:
    first, last, top, low = series.ys[0], series.ys[-1], max(series.ys), min(series.ys)
    end = amount(last, plot.value.axis.unit)
    if (x := plot.x) is None:
        return end
    last_x, known = _x(x, series.xs[-1]), shared == (series.xs[0], series.xs[-1])
    if len(series.xs) == 1:
        return f"{end} at {last_x}"
    if top < 1.02 * low:
        return f"{end} throughout"

    def at(value: float) -> str:
        return f"{amount(value)} at {_x(x, series.xs[series.ys.index(value)])}"

    most = f", at most {at(top)}," if top > 1.05 * max(first, last) else ""
    least = f", at least {at(low)}," if 1.05 * low < min(first, last) else ""
    if known:
        return f"{amount(first)}{most}{least} to {end}"
    return f"from {at(first)}{most}{least} to {end} at {last_x}"


def _x(axis: Axis, value: float) -> str:
    return amount(value, "bytes") if axis.unit == "bytes" else axis.unit.format(whole(value))
