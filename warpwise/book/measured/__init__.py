"""Charts of what ``warpwise measure`` has recorded, for the book: ``measured_chart("copy")``.

Each chart reads ``measurements/<device>/<suite>.json``. It says on which device its figures were measured and draws the model thinly beside
them; with no record it draws the model alone, and says *modelled*. Records of a reader's own GPU come as further panels.
"""

from __future__ import annotations

from warpwise.book.measured.draw import picture
from warpwise.book.measured.series import panels
from warpwise.book.measured.table import PLOTS
from warpwise.book.measured.tables import measured_counters, measured_list
from warpwise.book.measured.words import words
from warpwise.errors import MeasureError
from warpwise.measurements import recorded
from warpwise.views.chart import Chart

__all__ = ["measured_chart", "measured_counters", "measured_list"]


def measured_chart(name: str) -> Chart:
    """A chart by its name, mostly that of its suite. Raises MeasureError for a name that none has, or a file that is no record."""
    if name not in PLOTS:
        raise MeasureError(f"there is no chart of {name!r}; there are {', '.join(PLOTS)}")
    plot = PLOTS[name]
    drawn = panels(plot, recorded(plot.suite or name))
    return picture(plot, drawn, words(plot, drawn))
