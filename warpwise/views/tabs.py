"""Several views under one another's tabs: HTML that is complete in itself, like each view in it.

Where no script runs, and on paper, the panels stand one below the other with their headings. ``tabs.js`` makes tabs of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from warpwise.views import html


@dataclass(frozen=True)
class Panel:
    """One tab: its title, what Jupyter shows of it, and the same as text."""

    title: str
    html: str = field(repr=False)
    text: str


@dataclass(frozen=True, repr=False)
class Tabs:
    """Panels with a label that says what all of them are about. ``lead``: sentences that stand above them, whatever tab is open."""

    label: str
    panels: tuple[Panel, ...]
    lead: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        sections = "".join(f'<div class="panel"><h3>{escape(panel.title)}</h3>{panel.html}</div>' for panel in self.panels)
        lead = f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in self.lead)}</ul>" if self.lead else ""
        start = f'{lead}<style>{html.style_of("tabs")}</style><ww-tabs data-label="{escape(self.label)}">'
        return f'{start}{sections}</ww-tabs><script type="module">{html.script("tabs")}</script>'

    def __repr__(self) -> str:
        """For a terminal: every panel's text under its title."""
        return "\n\n".join([self.label, *(f"{panel.title}\n{panel.text}" for panel in self.panels)])
