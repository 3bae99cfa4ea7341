"""What a trace counted, on one screen: each source line with its memory requests, then what to do about the costly ones.

A report is text in a terminal and a table in a notebook. It judges by counters alone. A line earns advice when it wastes at
least a tenth of what its launch spends on the same thing; below that, mending it would not pay. What a cache saves, and how
long anything takes, it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from warpwise.metrics import SECTOR_BYTES, WARP_SIZE, Metrics
from warpwise.trace import Trace

WORTH_A_WORD = 0.1  # share of the launch's sectors, shared passes or lane slots that one line must waste
SCATTERED = 2.0  # sectors per needed sector; below it, requests that begin inside a sector explain the excess
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
    Column("bank conflicts", "conflicts", lambda m: _some(_shared_requests(m), f"{m.shared_bank_conflicts:,}")),
    Column("active lanes", "active", lambda m: f"{100 * m.warp_efficiency:.0f} %"),
)


@dataclass(frozen=True)
class Row:
    """One source line and its counters, or the launch's total."""

    name: str
    source: str
    metrics: Metrics


@dataclass(frozen=True, repr=False)
class Report:
    """The table of a launch: ``str()`` is its text form, a notebook shows ``_repr_html_``. The last row is the total."""

    title: str
    rows: tuple[Row, ...]
    traffic: str
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
        return "\n".join([self.title, "", *lines, "", self.traffic, *(f"- {advice}" for advice in self.advice)])

    def _repr_html_(self) -> str:
        columns = self.columns()
        head = "".join(f'<th scope="col" style="{RIGHT}">{column.heading}</th>' for column in columns)
        body = "".join(_html_row(row, columns) for row in self.rows)
        advice = "".join(f"<li>{escape(advice)}</li>" for advice in self.advice)
        # A wide table scrolls inside its box, which the keyboard can reach.
        return (
            f'<div class="ww-report" role="region" tabindex="0" aria-label="Report on {escape(self.title)}" style="overflow-x:auto">'
            f'<table style="font-size:0.85em;margin:0 0 0.7em"><caption style="text-align:left">{escape(self.title)}</caption>'
            f'<thead><tr><th scope="col" style="{RIGHT}">line</th>{head}<th scope="col" style="{LEFT}">source</th></tr></thead>'
            f"<tbody>{body}</tbody></table></div><p>{escape(self.traffic)}</p>" + (f"<ul>{advice}</ul>" if advice else "")
        )


def report(t: Trace) -> Report:
    """The lines of a trace that did something, their total, and what to do: a Report, which prints and displays itself."""
    lines = sorted(t.by_line.items())
    sources = _dedented([t.source.get(line, "").rstrip() for line, _ in lines])
    rows = [Row(str(line), source, metrics) for (line, metrics), source in zip(lines, sources, strict=True)]
    title = f"{t.kernel}: {_product(t.grid)} blocks of {_product(t.block)} threads"
    return Report(title, (*rows, Row(TOTAL, "", t.metrics)), _traffic(t.metrics), tuple(_advice(rows, t)))


def needed_sectors(requests: int, bytes_used: int) -> int:
    """The fewest sectors that could serve these requests: their bytes packed, and at least one for each."""
    return max(requests, -(-bytes_used // SECTOR_BYTES))


def _advice(rows: list[Row], t: Trace) -> Iterator[str]:
    """Sentences: races, then sectors, bank conflicts and idle lanes, the most wasteful line of each kind first."""
    yield from (f"{race}." for race in t.races[:2])
    for rule in (_sectors_advice, _conflicts_advice, _lanes_advice):
        found = [(waste, f"line {row.name}: {sentence}") for row in rows for waste, sentence in rule(row.metrics, t.metrics)]
        yield from (sentence for waste, sentence in sorted(found, key=lambda pair: -pair[0]) if waste >= WORTH_A_WORD)


def _sectors_advice(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    """(waste, sentence) for the line's loads and for its stores; waste is a share of all sectors of the launch."""
    spent = max(total.global_load_sectors + total.global_store_sectors, 1)
    sides = (
        ("load", "read", m.global_load_requests, m.global_load_sectors, m.global_load_bytes),
        ("store", "write", m.global_store_requests, m.global_store_sectors, m.global_store_bytes),
    )
    for noun, verb, requests, sectors, used in sides:
        needed = needed_sectors(requests, used)
        if sectors <= needed:
            continue
        cost = f"{sectors / requests:.1f} sectors per {noun} where {needed / requests:.1f} would do"
        remedy = f"let neighbouring lanes {verb} neighbouring elements"
        if sectors < SCATTERED * needed:
            remedy = f"begin each warp's {noun} on a multiple of {SECTOR_BYTES} bytes, for example by padding rows"
        yield (sectors - needed) / spent, f"{cost}; {remedy}."


def _conflicts_advice(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    waste = m.shared_bank_conflicts / max(total.shared_load_wavefronts + total.shared_store_wavefronts, 1)
    yield waste, f"{m.shared_bank_conflicts:,} bank conflicts; make each row of the shared array one element longer."


def _lanes_advice(m: Metrics, total: Metrics) -> Iterator[tuple[float, str]]:
    waste = (m.warp_instructions - m.thread_instructions / WARP_SIZE) / max(total.warp_instructions, 1)
    yield waste, f"{100 * m.warp_efficiency:.0f} % of the lanes are active; let whole warps take the same way, and fill each warp."


def _traffic(m: Metrics) -> str:
    """How far apart the least and the most that may move are. Both are modelled: a cache decides what moves."""
    if not m.global_bytes_moved:
        return "No global memory was used."
    if m.global_bytes_moved == m.global_bytes_distinct:
        return f"Global memory: {m.global_bytes_distinct:,} bytes used, and no others moved (modelled)."
    return (
        f"Global memory: {m.global_bytes_distinct:,} different bytes used, {m.global_bytes_moved:,} moved if no cache helps: "
        f"{m.global_bytes_moved / m.global_bytes_distinct:.1f} times as many (modelled)."
    )


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
