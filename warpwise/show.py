"""``trace(...).show()``: the student's own kernel in tabs, drawn from its trace.

By line, one warp over time, shared memory over time, and the report, whose first advice stands
above all tabs. Views and report do not import each other: they meet here. A tab that cannot show
its part of a trace, such as requests where events were left out, explains why. Nothing here needs a
kernel, a network or anywidget."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from warpwise.errors import WarpwiseError
from warpwise.report import report
from warpwise.traces import Trace
from warpwise.views import banks, burst, divergence, shared_memory
from warpwise.views.tabs import Panel, Tabs

MOST_ADVICE = 3  #: sentences of the report above the tabs; its own tab has all

#: Title, and the functions that make the parts of the tab: values with an HTML and a text form.
PANELS: tuple[tuple[str, tuple[Callable[[Trace], Any], ...]], ...] = (
    ("By line", (burst.of_trace,)),
    ("One warp", (divergence.of_trace,)),
    ("Shared memory", (banks.of_trace, shared_memory.of_trace)),
    ("Report", (report,)),
)


def show(trace: Trace) -> Tabs:
    """Return all panels of a trace, under the most important advice."""
    panels = tuple(_panel(trace, title, parts) for title, parts in PANELS)
    return Tabs(f"{trace.kernel}, traced", panels, report(trace).advice[:MOST_ADVICE])


def _panel(trace: Trace, title: str, parts: tuple[Callable[[Trace], Any], ...]) -> Panel:
    shown = [_part(trace, part) for part in parts]
    return Panel(
        title,
        "".join(html for html, _ in shown),
        "\n".join(dict.fromkeys(text for _, text in shown)),
    )


def _part(trace: Trace, part: Callable[[Trace], Any]) -> tuple[str, str]:
    """Return a part as HTML and as text, or the reason why it cannot be shown."""
    try:
        made = part(trace)
        return made._repr_html_(), repr(made)
    except WarpwiseError as error:
        return f"<p>{escape(str(error))}</p>", str(error)
