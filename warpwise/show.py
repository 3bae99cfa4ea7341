"""``trace(...).show()``: the student's own kernel in tabs, drawn from its trace.

By line, one warp over time, shared memory over time, and the report, whose first advice stands above all tabs. Views and report do not
know each other: they meet here. What a tab cannot show of a trace, such as requests where events were left out, it says in words.
Nothing here needs a kernel, a network or anywidget.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from warpwise.errors import WarpwiseError
from warpwise.report import report
from warpwise.trace import Trace
from warpwise.views import banks, burst, divergence, shared_memory
from warpwise.views.tabs import Panel, Tabs

MOST_ADVICE = 3  #: sentences of the report above the tabs; all are in its own

#: Title, and what makes the parts of the tab: values that show themselves to Jupyter and as text.
PANELS: tuple[tuple[str, tuple[Callable[[Trace], Any], ...]], ...] = (
    ("By line", (burst.of_trace,)),
    ("One warp", (divergence.of_trace,)),
    ("Shared memory", (banks.of_trace, shared_memory.of_trace)),
    ("Report", (report,)),
)


def show(trace: Trace) -> Tabs:
    """All panels of a trace, and above them what to do first."""
    panels = tuple(_panel(trace, title, parts) for title, parts in PANELS)
    return Tabs(f"{trace.kernel}, traced", panels, report(trace).advice[:MOST_ADVICE])


def _panel(trace: Trace, title: str, parts: tuple[Callable[[Trace], Any], ...]) -> Panel:
    shown = [_part(trace, part) for part in parts]
    return Panel(title, "".join(html for html, _ in shown), "\n".join(dict.fromkeys(text for _, text in shown)))


def _part(trace: Trace, part: Callable[[Trace], Any]) -> tuple[str, str]:
    """A part as HTML and as text, or why it cannot be shown."""
    try:
        made = part(trace)
        return made._repr_html_(), repr(made)
    except WarpwiseError as error:
        return f"<p>{escape(str(error))}</p>", str(error)
