"""Charts of the benchmark records of ``warpwise measure``: ``measured_chart("copy")``.

Each chart reads ``measurements/<device>/<suite>.json``. It names the device that its figures were
measured on and draws the model thinly beside them, and what the stopwatch predicts in hollow marks;
without a record it draws these alone and says *predicted* or *modelled*. Records of a reader's own
GPU become further panels.
"""

from __future__ import annotations

from functools import partial

from warpwise.benchmark_records import recorded
from warpwise.book.charts.alt_text import alt_text
from warpwise.book.charts.catalogue import PLOTS
from warpwise.book.charts.draw import picture
from warpwise.book.charts.listings import measured_counters, measured_list
from warpwise.book.charts.predicted import predictions
from warpwise.book.charts.series import panels
from warpwise.errors import MeasureError
from warpwise.views.chart import Chart

__all__ = ["measured_chart", "measured_counters", "measured_list"]


def measured_chart(name: str) -> Chart:
    """Return a chart by its name, usually that of its suite.

    Raises MeasureError for an unknown name, or a file that is not a record.
    """
    if name not in PLOTS:
        raise MeasureError(f"there is no chart of {name!r}; there are {', '.join(PLOTS)}")
    plot = PLOTS[name]
    suite = plot.suite or name
    drawn = panels(plot, recorded(suite), partial(predictions, suite))
    return picture(plot, drawn, alt_text(plot, drawn))
