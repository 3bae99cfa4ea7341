"""Reports: a trace on one screen, by source line and as a whole, with advice.

A report is text in a terminal and a table in a notebook: ``figures`` has its lines about the
launch, ``advice`` its rules. It knows nothing of caches: occupancy, waves and the bound on time are
modelled, and say so, and so does the stopwatch's line, which only a person who reads it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape

from warpwise.devices import H100, Device
from warpwise.metrics import ABOUT, Metrics
from warpwise.model.arguments import quantity
from warpwise.report.advice import Row, advice, needed_sectors
from warpwise.report.figures import figures, traffic
from warpwise.report.modelled_time import of_interest
from warpwise.traces import Trace

__all__ = ["Column", "Report", "Row", "needed_sectors", "report"]

TOTAL = "total"
LEFT, RIGHT = "text-align:left;padding:0.1em 0.4em", "text-align:right;padding:0.1em 0.4em"


@dataclass(frozen=True)
class Column:
    """One figure of a line: its metric, a short heading for the text form, and its text.

    ``text`` is empty where the line does nothing of the kind."""

    metric: str
    short: str
    text: Callable[[Metrics], str]

    @property
    def heading(self) -> str:
        return ABOUT[self.metric].label


def _count(requests: int) -> str:
    return f"{requests:,}" if requests else ""


def _sectors_per_load(m: Metrics) -> str:
    return f"{m.sectors_per_request_load:.1f}" if m.global_load_requests else ""


def _sectors_per_store(m: Metrics) -> str:
    return f"{m.sectors_per_request_store:.1f}" if m.global_store_requests else ""


def _conflicts(m: Metrics) -> str:
    requests = m.shared_load_requests + m.shared_store_requests
    return f"{m.shared_bank_conflicts:,}" if requests else ""


COLUMNS = (
    Column("global_load_requests", "loads", lambda m: _count(m.global_load_requests)),
    Column("sectors_per_request_load", "sect/load", _sectors_per_load),
    Column("global_store_requests", "stores", lambda m: _count(m.global_store_requests)),
    Column("sectors_per_request_store", "sect/store", _sectors_per_store),
    Column("atomic_requests", "atomics", lambda m: _count(m.atomic_requests)),
    Column("shared_bank_conflicts", "conflicts", _conflicts),
    Column("warp_efficiency", "active", lambda m: f"{100 * m.warp_efficiency:.0f} %"),
)


@dataclass(frozen=True, repr=False)
class Report:
    """The table of a launch: ``str()`` is its text form, a notebook shows ``_repr_html_``.

    The last row is the total."""

    title: str
    rows: tuple[Row, ...]
    traffic: str
    figures: tuple[str, ...]
    advice: tuple[str, ...]
    timed: Callable[[], str] = field(default=str, repr=False, compare=False)

    @cached_property
    def time(self) -> str:
        """What the stopwatch says, where somebody may read it; worked out when the report is."""
        return self.timed()

    @property
    def below(self) -> tuple[str, ...]:
        """The lines below the table."""
        return (self.traffic, *self.figures, *filter(None, [self.time]))

    def columns(self) -> tuple[Column, ...]:
        """The columns in which some line has a figure."""
        return tuple(
            column for column in COLUMNS if any(column.text(row.metrics) for row in self.rows)
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        columns = self.columns()
        table = [("line", *(column.short for column in columns), "source")]
        table += [
            (row.name, *(column.text(row.metrics) for column in columns), row.source)
            for row in self.rows
        ]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = [_text_line(cells, widths) for cells in table]
        sentences = [f"- {advice}" for advice in self.advice]
        return "\n".join([self.title, "", *lines, "", *self.below, *sentences])

    def _repr_html_(self) -> str:
        columns = self.columns()
        head = "".join(
            f'<th scope="col" style="{RIGHT}">{name}</th>'
            for name in ("line", *(column.heading for column in columns))
        )
        title, body = escape(self.title), "".join(_html_row(row, columns) for row in self.rows)
        figures = "<br>".join(escape(line) for line in self.below)
        advice = "".join(f"<li>{escape(advice)}</li>" for advice in self.advice)
        # A wide table scrolls inside its box, which the keyboard can reach. On a phone the site
        # puts each source line above its figures, in so many columns.
        return (
            '<div class="ww-report" role="region" tabindex="0" '
            f'aria-label="Report on {title}" style="overflow-x:auto;--columns:{len(columns) + 1}">'
            '<table style="font-size:0.85em;margin:0 0 0.7em">'
            f'<caption style="text-align:left">{title}</caption>'
            f'<thead><tr>{head}<th scope="col" style="{LEFT}">source</th></tr></thead>'
            f"<tbody>{body}</tbody></table></div><p>{figures}</p>"
            + (f"<ul>{advice}</ul>" if advice else "")
        )


def report(t: Trace, device: Device = H100, registers: int = 32) -> Report:
    """Return the report on a trace: active lines, total, launch on a device, and advice.

    ``registers`` per thread are an assumption, unless a compiler reported them; occupancy, waves
    and time are modelled."""
    lines = sorted(t.by_line.items())
    sources = _dedented([t.source.get(line, "").rstrip() for line, _ in lines])
    rows = [
        Row(t.label(line), source, metrics, t.place(line))
        for (line, metrics), source in zip(lines, sources, strict=True)
    ]
    blocks, threads = quantity(_product(t.grid), "block"), quantity(_product(t.block), "thread")
    return Report(
        f"{t.kernel}: {blocks} of {threads}" + ", from a sample" * t.partial,
        (*rows, Row(TOTAL, "", t.metrics)),
        traffic(t.metrics),
        tuple(figures(t, device, registers)),
        tuple(advice(rows, t, device)),
        partial(of_interest, t, device),
    )


def _dedented(sources: list[str]) -> list[str]:
    """Return the lines without the indentation that all of them share."""
    shared = min((len(source) - len(source.lstrip()) for source in sources if source), default=0)
    return [source[shared:] for source in sources]


def _product(shape: tuple[int, ...]) -> str:
    """(32, 8, 1) as "32 x 8"; a one-dimensional shape as its number alone."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return " x ".join(f"{n:,}" for n in shape)


def _text_line(cells: tuple[str, ...], widths: list[int]) -> str:
    """Return the figures side by side, each on the right of its column, then the source."""
    *figures, source = cells
    columns = [cell.rjust(width) for cell, width in zip(figures, widths, strict=False)]
    return "  ".join([*columns, source]).rstrip()


def _html_row(row: Row, columns: tuple[Column, ...]) -> str:
    rule = ' style="border-top:1px solid"' if row.name == TOTAL else ""
    style = "white-space:pre-wrap;border:0;padding:0;background:none"
    source = f'<code style="{style}">{escape(row.source)}</code>' if row.source else ""
    figures = "".join(
        f'<td style="{RIGHT};white-space:nowrap">{column.text(row.metrics)}</td>'
        for column in columns
    )
    return (
        f'<tr{rule}><th scope="row" style="{RIGHT}">{row.name}</th>{figures}'
        f'<td style="{LEFT}">{source}</td></tr>'
    )
