"""The picture of a chart of measurements: panels below each other, one for each device, on the same axes.

What was measured is drawn with marks or as a full bar, the model as a thin line or an empty bar. So the two are told apart without colour,
and a chart of the model alone does not look as if it had been measured.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from warpwise.book.measured.plot import Axis, Plot, amount, tick
from warpwise.book.measured.series import Panel, Series
from warpwise.views.chart import INK, STYLE, USED, WASTE, Chart, chart

WIDTH = 3.9  # inches of axes: small letters are still read where a phone shows it
LETTER = 0.07  # inches of the label of a bar, of which the axes have that much less
LOOKS = ((USED, "o", "-"), (WASTE, "s", "-"), (INK, "^", "-"), (USED, "D", "--"), (WASTE, "v", "--"), (INK, "x", "--"), (USED, "P", ":"))
MANY = 80  # points, from which on they are dots without a line
NUMBER = 0.24  # of a chart with bars, the width of the longest number
EMPTY = {"fc": "none", "ec": USED, "lw": 1.4}  # the bar of what is modelled
ROOM = 1.25  # of logarithmic axes, below the lowest point and above the highest
BETWEEN = 0.55  # inches between two panels: ticks and a title
APART = 4  # a panel whose highest point is so many times lower has a scale of its own


def picture(plot: Plot, panels: tuple[Panel, ...], alt: str) -> Chart:
    """The chart of a plot; ``alt`` is what it says in words."""
    with plt.rc_context(STYLE):
        return chart(_curves(plot, panels) if plot.x else _bars(plot, panels), alt)


def _curves(plot: Plot, panels: tuple[Panel, ...]) -> Figure:
    made, rows = _panels(plot, panels, 2.0, WIDTH)
    for axes, panel, (low, top) in zip(rows, panels, _ranges(panels), strict=True):
        for series in panel.modelled:
            axes.plot(series.xs, series.ys, **_thin(series, bool(panel.measured)))
        for series in panel.measured:
            axes.plot(series.xs, series.ys, **_marked(series))
        _scaled(axes.yaxis, axes.set_yscale, plot.value.axis)
        _scaled(axes.xaxis, axes.set_xscale, plot.x)
        axes.set(ylabel=plot.value.axis.label, ylim=(low / ROOM, top * ROOM) if plot.value.axis.log else (0, top * 1.08))
        axes.grid(axis="y")
    rows[-1].set_xlabel(plot.x.label)
    _legend(made, _handles(panels))
    return made


def _panels(plot: Plot, panels: tuple[Panel, ...], tall: float, wide: float) -> tuple[Figure, list[Axes]]:
    """Empty axes so many inches high and wide, below each other, with their titles."""
    height = tall * len(panels) + BETWEEN * (len(panels) - 1)
    made, rows = plt.subplots(len(panels), 1, figsize=(wide, height), sharex=bool(plot.x), squeeze=False)
    for axes, panel in zip(rows[:, 0], panels, strict=True):
        axes.set_title(panel.title, loc="left")
    made.subplots_adjust(top=1, bottom=0, left=0, right=1, hspace=BETWEEN / tall)
    return made, list(rows[:, 0])


def _ranges(panels: tuple[Panel, ...]) -> list[tuple[float, float]]:
    """The least and most that each panel shows: the same for all, unless the smallest would be lost beside the largest."""
    ys = [[y for series in (*panel.measured, *panel.modelled) for y in series.ys] for panel in panels]
    tops = [max(values) for values in ys]
    if max(tops) > APART * min(tops):
        return [(min(values), max(values)) for values in ys]
    return [(min(map(min, ys)), max(tops))] * len(panels)


def _scaled(axis, set_scale, wanted: Axis, ticks: int = 6) -> None:
    """Scale and ticks of one axis."""
    if wanted.log:
        set_scale("log", base=wanted.log)
        axis.set_major_locator(LogLocator(base=wanted.log, subs=(1,) if wanted.log == 2 else (1, 2, 5), numticks=ticks))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value, wanted, axis.get_view_interval()[1])))


def _look(series: Series) -> tuple[str, str, str]:
    return (INK, "", ":") if series.place is None else LOOKS[series.place % len(LOOKS)]


def _thin(series: Series, beside: bool) -> dict:
    """How a line of the model is drawn: thinner where it stands beside what was measured."""
    colour, _, dashes = _look(series)
    return {"color": colour, "ls": dashes, "lw": 0.9 if beside else 1.6, "alpha": 0.9}


def _marked(series: Series) -> dict:
    """How what was measured is drawn."""
    colour, mark, dashes = _look(series)
    few = len(series.xs) < MANY
    return {"color": colour, "marker": mark, "ms": 4 if few else 1.8, "ls": dashes if few else "", "lw": 1.3, "mew": 0.8}


def _handles(panels: tuple[Panel, ...]) -> list[Line2D]:
    """What the legend explains: each line once, and the model's thin line where something was measured."""
    found: dict[str, Line2D] = {}
    for panel in panels:
        for series in panel.measured or panel.modelled:
            look = _marked(series) if panel.measured else _thin(series, False)
            found.setdefault(series.label, Line2D([], [], **(look | {"ms": 4} if panel.measured else look)))
    for panel in panels:
        for series in panel.modelled if panel.measured else ():
            if series.place is None:
                found.setdefault(f"{series.label}, modelled", Line2D([], [], **_thin(series, True)))
            else:
                found["the same, modelled"] = Line2D([], [], color=INK, lw=0.9)
    for label, handle in found.items():
        handle.set_label(label)
    return list(found.values())


def _legend(made: Figure, handles: list[Line2D]) -> None:
    """The legend, below everything, in as many columns as there is room for."""
    longest = max(len(handle.get_label()) for handle in handles)
    columns = 3 if longest < 12 else 2 if longest < 27 else 1
    below = 0.5 / made.get_figheight()  # inches: ticks and the label of the x axis
    made.legend(handles=handles, loc="upper left", bbox_to_anchor=(-0.05, -below), ncols=columns, columnspacing=1.4, handletextpad=0.6)


def _bars(plot: Plot, panels: tuple[Panel, ...]) -> Figure:
    """A bar for each line that any panel has: filled where it was measured, empty where it is modelled; a stroke is the model beside."""
    labels = [line.label for line in plot.lines if any(line.label == s.label for p in panels for s in (*p.measured, *p.modelled))]
    made, rows = _panels(plot, panels, 0.3 * len(labels) + 0.1, WIDTH - LETTER * max(map(len, labels)))
    for axes, panel, (_, top) in zip(rows, panels, _ranges(panels), strict=True):
        models = {series.label: series.ys[0] for series in panel.modelled}
        for series in panel.measured or panel.modelled:
            if series.place is not None:
                look = _filled(plot, series) if panel.measured else EMPTY
                _bar(axes, labels.index(series.label), series.ys[0], top, look, models.get(series.label) if panel.measured else None)
        for roof in (series for series in panel.modelled if series.place is None):
            axes.axvline(roof.ys[0], color=INK, ls=":", lw=1.2)
        axes.set(yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.45, -0.55), xlim=(0, top * 1.2))
        axes.tick_params(axis="y", length=0)
        _scaled(axes.xaxis, axes.set_xscale, Axis(""), 4)
    rows[-1].set_xlabel(plot.value.axis.label)
    if handles := _strokes(panels):
        _legend(made, handles)
    return made


def _filled(plot: Plot, series: Series) -> dict:
    """How the bar of what was measured is drawn: a library's in the page's ink."""
    return {"color": INK, "alpha": 0.6, "lw": 0} if plot.lines[series.place].of_library else {"color": USED, "lw": 0}


def _bar(axes: Axes, row: int, value: float, top: float, look: dict, beside: float | None) -> None:
    """One bar and its number; ``beside``: where the model's stroke goes. The number stands behind it, unless there is room between."""
    axes.barh(row, value, height=0.6, **look)
    end = value
    if beside:
        axes.plot([beside, beside], [row - 0.42, row + 0.42], color=INK, lw=1.2)
        end = value if beside > value + NUMBER * top else max(value, beside)
    axes.text(end + 0.02 * top, row, amount(value), va="center")


def _strokes(panels: tuple[Panel, ...]) -> list[Line2D]:
    """What a stroke in a chart with bars means, as far as there are any."""
    beside = any(series.place is not None for panel in panels if panel.measured for series in panel.modelled)
    roofs = {series.label for panel in panels for series in panel.modelled if series.place is None}
    stroke = [Line2D([], [], color=INK, lw=1.2, label="modelled")] if beside else []
    return stroke + [Line2D([], [], color=INK, ls=":", lw=1.2, label=f"{label}, modelled") for label in sorted(roofs)]
