"""The alt text of a chart of benchmark records: each line's first, last and extreme values."""

from __future__ import annotations

from warpwise.book.charts.plot import Axis, Plot, amount, whole
from warpwise.book.charts.series import Panel, Series


def alt_text(plot: Plot, panels: tuple[Panel, ...]) -> str:
    """Return a sentence for each panel, with the numbers that its lines show."""
    return " ".join(f"{plot.title}, {panel.title}: {_panel(plot, panel)}" for panel in panels)


def _panel(plot: Plot, panel: Panel) -> str:
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


def _lines(plot: Plot, lines: tuple[Series, ...]) -> str:
    return "; ".join(f"{series.label} {_line(plot, series)}" for series in lines) + "."


def _line(plot: Plot, series: Series) -> str:
    first, last, top, low = series.ys[0], series.ys[-1], max(series.ys), min(series.ys)
    end = amount(last, plot.value.axis.unit)
    if (x := plot.x) is None:
        return end
    last_x = _x(x, series.xs[-1])
    if len(series.xs) == 1:
        return f"{end} at {last_x}"
    if top < 1.02 * low:
        return f"{end} throughout"

    def at(value: float) -> str:
        place = series.xs[series.ys.index(value)]
        return f"{amount(value, plot.value.axis.unit)} at {_x(x, place)}"

    most = f", at most {at(top)}," if top > 1.05 * max(first, last) else ""
    least = f", at least {at(low)}," if 1.05 * low < min(first, last) else ""
    return f"from {at(first)}{most}{least} to {end} at {last_x}"


def _x(axis: Axis, value: float) -> str:
    return amount(value, "bytes") if axis.unit == "bytes" else axis.unit.format(whole(value))
