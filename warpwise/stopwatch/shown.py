"""An estimate as pictures: where the clocks go, and one SM's warps over time."""

from __future__ import annotations

from html import escape

from warpwise.views import clocks, warps
from warpwise.views.clocks import Estimate
from warpwise.views.tabs import Panel, Tabs


def shown(found: Estimate) -> Tabs:
    """Return an estimate's pictures in tabs, under its time, its range and its notes."""
    panels = [_clocks(found)]
    if found.timeline is not None:
        view = warps.of_timeline(found.timeline.packed(), found.device)
        panels.append(Panel("One SM's warps", view._repr_html_(), repr(view)))
    return Tabs(f"{found.kernel} on {found.device}", tuple(panels), _lead(found))


def _lead(found: Estimate) -> tuple[str, ...]:
    """Return the time, where its range comes from, what would help most, and the notes."""
    time = f"{found.kernel} on {found.device}, grid {found.grid}: {found}"
    helps = found.helps(most=1)
    return tuple(filter(None, (time, found.origin, helps and f"{helps}.", *found.notes)))


def _clocks(found: Estimate) -> Panel:
    """Return the bars, or the bound where there are none."""
    bound = f"<p>{escape(str(found))}</p>"
    html = clocks.of_estimate(found)._repr_html_() if found.pipes else bound
    return Panel("Where the clocks go", html, found.text())
