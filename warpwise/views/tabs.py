"""Several views under tabs: HTML that is complete in itself, like each view in it.

Where no script runs, and on paper, the panels stand one below the other with their headings.
``tabs.js`` makes tabs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from warpwise.views import html


@dataclass(frozen=True)
class Panel:
    """One tab: its title, the HTML that Jupyter shows, and the same as text."""

    title: str
    html: str = field(repr=False)
    text: str


@dataclass(frozen=True, repr=False)
class Tabs:
    """Panels, with a label for all of them.

    ``lead``: sentences that stand above them, whatever tab is open."""

    label: str
    panels: tuple[Panel, ...]
    lead: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lead)
        sections = "".join(
            f'<div class="panel"><h3>{escape(panel.title)}</h3>{panel.html}</div>'
            for panel in self.panels
        )
        return (
            f"{f'<ul>{items}</ul>' if items else ''}<style>{html.style('tabs')}</style>"
            f'<ww-tabs data-label="{escape(self.label)}">{sections}</ww-tabs>'
            f"{html.script_element('tabs')}"
        )

    def text(self) -> str:
        """Return every panel's text under its title, as a terminal prints it."""
        return "\n\n".join([self.label, *(f"{panel.title}\n{panel.text}" for panel in self.panels)])

    __repr__ = text
