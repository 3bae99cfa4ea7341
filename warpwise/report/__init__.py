"""What a trace counted, on one screen: each source line with its memory requests, the launch as a whole, then what to do.

A report is text in a terminal and a table in a notebook: ``figures`` has its lines about the launch, ``advice`` its rules. What a
cache saves it does not know, nor how long anything takes: occupancy, waves and the bound on time are modelled, and say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from warpwise.devices import H100, Device
from warpwise.metrics import Metrics
from warpwise.model.arguments import counted
from warpwise.report.advice import Row, advice, needed_sectors
from warpwise.report.figures import figures, traffic
from warpwise.trace import Trace

__all__ = ["Column", "Report", "Row", "needed_sectors", "report"]

TOTAL = "total"
LEFT, RIGHT = "text-align:left;padding:0.1em 0.4em", "text-align:right;padding:0.1em 0.4em"


@dataclass(frozen=True)
class Column:
    """One figure of a line: its heading, a short one for the text form, and its text, empty where the line does nothing of the kind."""

    heading: str
    short: str
    text: Callable[[Metrics], str]


COLUMNS = (
    Column("loads", "loads", lambda m: _some(m.global_load_requests, f"{m.global_load_requests:,}")),
    Column("sectors per load", "sect/load", lambda m: _some(m.global_load_requests, f"{m.sectors_per_request_load:.1f}")),
    Column("stores", "stores", lambda m: _some(m.global_store_requests, f"{m.global_store_requests:,}")),
    Column("sectors per store", "sect/store", lambda m: _some(m.global_store_requests, f"{m.sectors_per_request_store:.1f}")),
    Column("atomics", "atomics", lambda m: _some(m.atomic_requests, f"{m.atomic_requests:,}")),
    Column("bank conflicts", "conflicts", lambda m: _some(_shared_requests(m), f"{m.shared_bank_conflicts:,}")),
    Column("active lanes", "active", lambda m: f"{100 * m.warp_efficiency:.0f} %"),
)


@dataclass(frozen=True, repr=False)
class Report:
    """The table of a launch: ``str()`` is its text form, a notebook shows ``_repr_html_``. The last row is the total."""

    title: str
    rows: tuple[Row, ...]
    traffic: str
    figures: tuple[str, ...]
    advice: tuple[str, ...]

    def columns(self) -> tuple[Column, ...]:
        """The columns in which some line has a figure."""
        return tuple(column for column in COLUMNS if any(column.text(row.metrics) for row in self.rows))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        columns = self.columns()
        table = [("line", *(column.short for column in columns), "source")]
        table += [(row.name, *(column.text(row.metrics) for column in columns), row.source) for row in self.rows]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = [_text_line(cells, widths) for cells in table]
        return "\n".join([self.title, "", *lines, "", self.traffic, *self.figures, *(f"- {advice}" for advice in self.advice)])

    def _repr_html_(self) -> str:
        columns = self.columns()
        head = "".join(f'<th scope="col" style="{RIGHT}">{column.heading}</th>' for column in columns)
        body = "".join(_html_row(row, columns) for row in self.rows)
        figures = "<br>".join(escape(line) for line in (self.traffic, *self.figures))
        advice = "".join(f"<li>{escape(advice)}</li>" for advice in self.advice)
        # A wide table scrolls inside its box, which the keyboard can reach.
        return (
            f'<div class="ww-report" role="region" tabindex="0" aria-label="Report on {escape(self.title)}" style="overflow-x:auto">'
            f'<table style="font-size:0.85em;margin:0 0 0.7em"><caption style="text-align:left">{escape(self.title)}</caption>'
            f'<thead><tr><th scope="col" style="{RIGHT}">line</th>{head}<th scope="col" style="{LEFT}">source</th></tr></thead>'
            f"<tbody>{body}</tbody></table></div><p>{figures}</p>" + (f"<ul>{advice}</ul>" if advice else "")
        )


def report(t: Trace, device: Device = H100, registers: int = 32) -> Report:
    """The lines of a trace that did something, their total, the launch on a device, and what to do: it prints and displays itself.

    ``registers`` of each thread are an assumption, unless a compiler said so; occupancy, waves and time are modelled.
    """
    lines = sorted(t.by_line.items())
    sources = _dedented([t.source.get(line, "").rstrip() for line, _ in lines])
    rows = [Row(str(line), source, metrics) for (line, metrics), source in zip(lines, sources, strict=True)]
    title = f"{t.kernel}: {counted(_product(t.grid), 'block')} of {counted(_product(t.block), 'thread')}"
    launch = tuple(figures(t, device, registers))
    return Report(title, (*rows, Row(TOTAL, "", t.metrics)), traffic(t.metrics), launch, tuple(advice(rows, t, device)))


def _shared_requests(m: Metrics) -> int:
    return m.shared_load_requests + m.shared_store_requests


def _some(count: int, text: str) -> str:
    return text if count else ""


def _dedented(sources: list[str]) -> list[str]:
    """The same lines without the indentation that all of them share."""
    shared = min((len(source) - len(source.lstrip()) for source in sources if source), default=0)
    return [source[shared:] for source in sources]


def _product(shape: tuple[int, int, int]) -> str:
    """(32, 8, 1) as "32 x 8"; a one-dimensional shape as its number alone."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return " x ".join(f"{n:,}" for n in shape)


def _text_line(cells: tuple[str, ...], widths: list[int]) -> str:
    """Figures side by side, each on the right of its column, then the source."""
    *figures, source = cells
    return "  ".join([*(cell.rjust(width) for cell, width in zip(figures, widths, strict=False)), source]).rstrip()


def _html_row(row: Row, columns: tuple[Column, ...]) -> str:
    rule = ' style="border-top:1px solid"' if row.name == TOTAL else ""
    source = f'<code style="white-space:pre;border:0;padding:0;background:none">{escape(row.source)}</code>' if row.source else ""
    figures = "".join(f'<td style="{RIGHT};white-space:nowrap">{column.text(row.metrics)}</td>' for column in columns)
    return f'<tr{rule}><th scope="row" style="{RIGHT}">{row.name}</th>{figures}<td style="{LEFT}">{source}</td></tr>'
