"""Draw a chart of benchmark records: a panel for each device, one below the other.

Measurements have markers or filled bars, models thin lines or empty bars, and what the stopwatch
predicts has hollow markers or hatched bars. All differ without colour, and a chart without a
measurement does not look like one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as MatplotlibAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from warpwise.book.charts.plot import Axis, Line, Plot, amount, tick
from warpwise.book.charts.series import Panel, Series
from warpwise.views.chart import INK, STYLE, USED, WASTE, Chart, chart

WIDTH = 3.9  # inches of axes: letters stay legible on a phone
LETTER = 0.07  # inches by which each letter of a bar's label narrows the axes
LOOKS = (
    (USED, "o", "-"),
    (WASTE, "s", "-"),
    (INK, "^", "-"),
    (USED, "D", "--"),
    (WASTE, "v", "--"),
    (INK, "<", "--"),  # each can be hollow, as a prediction's is
    (USED, "P", ":"),
)
Look = dict[str, Any]  # matplotlib's options for a line or a bar
SOME, MANY = 30, 80  # points: a line with more has small marks, or is drawn as dots
NUMBER = 0.28  # the width of the column of numbers, as a share of the longest bar
EMPTY: Look = {"fc": "none", "ec": USED, "lw": 1.4}  # the bar of a model
HATCHED: Look = {"fc": "none", "ec": USED, "lw": 1.0, "hatch": "////"}  # of a prediction
HOLLOW: Look = {"ls": "", "mfc": "none", "mew": 1.1, "ms": 5.5}  # a prediction's marker
ROOM = 1.25  # the factor by which logarithmic axes extend beyond the points
BETWEEN = 0.55  # inches between two panels, for ticks and a title
APART = 4  # ratio of the panels' highest points beyond which each has its own scale


def picture(plot: Plot, panels: tuple[Panel, ...], alt: str) -> Chart:
    """Return the chart of a plot, with its alt text."""
    with plt.rc_context(cast(Any, STYLE)):
        return chart(_curves(plot, plot.x, panels) if plot.x else _bars(plot, panels), alt)


def _curves(plot: Plot, x: Axis, panels: tuple[Panel, ...]) -> Figure:
    made, rows = _panels(plot, panels, 2.0, WIDTH)
    for axes, panel, (low, top) in zip(rows, panels, _ranges(panels), strict=True):
        for series in panel.modelled:
            axes.plot(series.xs, series.ys, **_thin(series, bool(panel.measured)))
        for series in panel.measured:
            axes.plot(series.xs, series.ys, **_marked(series))
        for series in panel.predicted:
            axes.plot(series.xs, series.ys, **_hollow(series))
        _scaled(axes.yaxis, axes.set_yscale, plot.value.axis)
        _scaled(axes.xaxis, axes.set_xscale, x)
        limits = (low / ROOM, top * ROOM) if plot.value.axis.log else (0, top * 1.08)
        axes.set(ylabel=plot.value.axis.label, ylim=limits)
        axes.grid(axis="y")
    rows[-1].set_xlabel(x.label)
    _legend(made, _handles(panels))
    return made


def _panels(
    plot: Plot, panels: tuple[Panel, ...], tall: float, wide: float
) -> tuple[Figure, list[Axes]]:
    """Return empty axes below each other, ``tall`` by ``wide`` inches each, with titles."""
    height = tall * len(panels) + BETWEEN * (len(panels) - 1)
    made, rows = plt.subplots(
        len(panels), 1, figsize=(wide, height), sharex=bool(plot.x), squeeze=False
    )
    for axes, panel in zip(rows[:, 0], panels, strict=True):
        axes.set_title(panel.title, loc="left")
    made.subplots_adjust(top=1, bottom=0, left=0, right=1, hspace=BETWEEN / tall)
    return made, list(rows[:, 0])


def _ranges(panels: tuple[Panel, ...]) -> list[tuple[float, float]]:
    """Return each panel's least and greatest y: the same for all, unless they differ too much."""
    drawn = [(*panel.measured, *panel.predicted, *panel.modelled) for panel in panels]
    ys = [[y for series in lines for y in series.ys] for lines in drawn]
    tops = [max(values) for values in ys]
    if max(tops) > APART * min(tops):
        return [(min(values), max(values)) for values in ys]
    return [(min(map(min, ys)), max(tops))] * len(panels)


def _scaled(
    axis: MatplotlibAxis, set_scale: Callable[..., None], wanted: Axis, ticks: int = 6
) -> None:
    """Set the scale and ticks of one axis."""
    if wanted.log:
        subs = (1,) if wanted.log == 2 else (1, 2, 5)
        set_scale("log", base=wanted.log)
        axis.set_major_locator(LogLocator(base=wanted.log, subs=subs, numticks=ticks))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: tick(value, wanted, axis.get_view_interval()[1]))
    )


def _look(series: Series) -> tuple[str, str, str]:
    return (INK, "", ":") if series.place is None else LOOKS[series.place % len(LOOKS)]


def _thin(series: Series, beside: bool) -> Look:
    """Return the look of a model's line, thinner if it is beside a measurement."""
    colour, _, dashes = _look(series)
    return {"color": colour, "ls": dashes, "lw": 0.9 if beside else 1.6, "alpha": 0.9}


def _marked(series: Series) -> Look:
    """Return the look of a measured line."""
    colour, mark, dashes = _look(series)
    points = len(series.xs)
    size, line = (1.8, "") if points >= MANY else (4 if points < SOME else 2.4, dashes)
    return {"color": colour, "marker": mark, "ms": size, "ls": line, "lw": 1.3, "mew": 0.8}


def _hollow(series: Series) -> Look:
    """Return the look of a line's predictions."""
    colour, mark, _ = _look(series)
    return HOLLOW | {"color": colour, "marker": mark}


def _handles(panels: tuple[Panel, ...]) -> list[Line2D]:
    """Return the legend's entries: each line once, and the model's beside measurements."""
    found: dict[str, Line2D] = {}
    for panel in panels:
        predicted = {series.label for series in panel.predicted}
        for series in panel.measured or panel.modelled:
            look = _marked(series) | {"ms": 4} if panel.measured else _thin(series, False)
            if series.label in predicted and not panel.measured:
                look |= _hollow(series) | {"ls": look["ls"]}
            found.setdefault(series.label, Line2D([], [], **look))
    for panel in panels:
        for series in panel.modelled if panel.measured else ():
            if series.place is None:
                found.setdefault(f"{series.label}, modelled", Line2D([], [], **_thin(series, True)))
            else:
                found["the same, modelled"] = Line2D([], [], color=INK, lw=0.9)
        for series in panel.predicted:
            if panel.measured or series.label in found:
                found["hollow: predicted"] = Line2D([], [], **HOLLOW, color=INK, marker="o")
            else:
                found.setdefault(f"{series.label}, predicted", Line2D([], [], **_hollow(series)))
    for label, handle in found.items():
        handle.set_label(label)
    return list(found.values())


def _legend(made: Figure, handles: Sequence[Artist]) -> None:
    """Add the legend below everything, in as many columns as fit."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = 3 if longest < 12 else 2 if longest < 27 else 1
    below = 0.5 / made.get_figheight()  # inches: ticks and the label of the x axis
    made.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(-0.05, -below),
        ncols=columns,
        columnspacing=1.4,
        handletextpad=0.6,
    )


def _bars(plot: Plot, panels: tuple[Panel, ...]) -> Figure:
    """Draw a bar for each line of any panel: filled if measured, hatched if predicted, or empty.

    A stroke marks the model beside it, and a diamond a prediction beside a measurement.
    """
    drawn = {series.label for panel in panels for series in (*panel.bars, *panel.modelled)}
    labels = [line.label for line in plot.lines if line.label in drawn]
    wide = WIDTH - LETTER * max(map(len, labels))
    made, rows = _panels(plot, panels, 0.3 * len(labels) + 0.1, wide)
    for axes, panel, (_, top) in zip(rows, panels, _ranges(panels), strict=True):
        for series in panel.bars:
            if series.place is not None:
                look = _look_of_bar(plot.lines[series.place], panel)
                beside = _beside(panel, series.label)
                _bar(axes, labels.index(series.label), series.ys[0], top, look, *beside)
        for series in _roofs_alone(panel):
            _stroke(axes, labels.index(series.label), series.ys[0])
        for roof in (series for series in panel.modelled if series.place is None):
            axes.axvline(roof.ys[0], color=INK, ls=":", lw=1.2)
        axes.set(yticks=range(len(labels)), yticklabels=labels)
        axes.set(ylim=(len(labels) - 0.45, -0.55), xlim=(0, top * (1 + NUMBER)))
        axes.tick_params(axis="y", length=0)
        _scaled(axes.xaxis, axes.set_xscale, Axis(""), 4)
    rows[-1].set_xlabel(plot.value.axis.label)
    if handles := _strokes(panels):
        _legend(made, handles)
    return made


def _look_of_bar(line: Line, panel: Panel) -> Look:
    return _filled(line) if panel.measured else HATCHED if panel.predicted else EMPTY


def _beside(panel: Panel, label: str) -> tuple[float | None, float | None]:
    """Return the model's and the stopwatch's values of a bar that is neither's own."""

    def value(lines: tuple[Series, ...]) -> float | None:
        return next((series.ys[0] for series in lines if series.label == label), None)

    model = value(panel.modelled) if panel.measured or panel.predicted else None
    return model, value(panel.predicted) if panel.measured else None


def _filled(line: Line) -> Look:
    """Return the look of a measured bar: a library's is in the page's ink."""
    return {"color": INK, "alpha": 0.6, "lw": 0} if line.of_library else {"color": USED, "lw": 0}


def _bar(
    axes: Axes,
    row: int,
    value: float,
    top: float,
    look: Look,
    beside: float | None,
    predicted: float | None,
) -> None:
    """Draw one bar, with the model's stroke at ``beside``, and its number in a column at the right.

    Beside the bar's end the number would stand next to a stroke, and be read as the stroke's.
    """
    axes.barh(row, value, height=0.6, **look)
    if beside:
        _stroke(axes, row, beside)
    if predicted:
        axes.plot([predicted], [row], **HOLLOW, color=INK, marker="D")
    axes.text(top * (1 + NUMBER), row, amount(value), va="center", ha="right")


def _stroke(axes: Axes, row: int, value: float) -> None:
    axes.plot([value, value], [row - 0.42, row + 0.42], color=INK, lw=1.2)


def _roofs_alone(panel: Panel) -> list[Series]:
    """Return what is modelled of lines of which nothing is measured or predicted."""
    known = {series.label for series in panel.bars}
    return [one for one in panel.modelled if one.place is not None and one.label not in known]


def _strokes(panels: tuple[Panel, ...]) -> list[Artist]:
    """Return the legend's entries for marks in a chart with bars, if there are any."""
    found: list[Artist] = []
    if any(not panel.measured and panel.predicted for panel in panels):
        found.append(Patch(**HATCHED, label="predicted"))
    if any(panel.measured and panel.predicted for panel in panels):
        found.append(Line2D([], [], **HOLLOW, color=INK, marker="D", label="predicted"))
    if any(_strokes_in(panel) for panel in panels):
        found.append(Line2D([], [], color=INK, lw=1.2, label="modelled roof"))
    roofs = {series.label for panel in panels for series in panel.modelled if series.place is None}
    return found + [
        Line2D([], [], color=INK, ls=":", lw=1.2, label=f"{label}, modelled")
        for label in sorted(roofs)
    ]


def _strokes_in(panel: Panel) -> bool:
    drawn = any(series.place is not None for series in panel.modelled)
    return drawn and bool(panel.measured or panel.predicted)
