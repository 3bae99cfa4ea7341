"""Tables of a student's own kernels: a ladder of those that passed, and attempts at a puzzle.

A check adds a row when its kernel was judged right, from the trace of its first launch. A table is
an object of the notebook: it lasts as long as the session, and nothing is written anywhere.

Kernels are compared by a modelled time: that of the slowest resource of a device whose SMs all have
work, as in a large product, and whose caches help with nothing. ``model.bound`` has the rates. Its
issue slots are left out, since they count the index arithmetic that a compiler removes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from warpwise.devices import Device
from warpwise.labs.budgets import counter_value, figure
from warpwise.labs.rates import Rates
from warpwise.metrics import Metrics
from warpwise.model import bound
from warpwise.model.bound import duration
from warpwise.traces import Trace

#: resources of ``bound`` that do not count here; DRAM counts, with every sector that warps ask for
LEFT_OUT = ("L1", "issue slots")
Bundle = dict[str, str]  # a notebook's output, by MIME type


@dataclass(frozen=True)
class Row:
    """One kernel: the values of a table's counters, its modelled time, and what takes that time."""

    name: str
    values: tuple[float, ...]
    seconds: float
    limiter: str


class Ladder:
    """The kernels that passed, in the order in which they first did; ``counters`` are columns.

    ``rates``: a chart below the table, of how fast they are, modelled."""

    def __init__(self, device: Device, *counters: str, rates: Rates | None = None) -> None:
        self.device, self.counters, self.rates = device, counters, rates
        self.rows: dict[str, Row] = {}

    def add(self, name: str, trace: Trace) -> Bundle:
        """Add a kernel, or what became of it, and return the table."""
        self.rows[name] = _row(name, trace, self.counters, self.device)
        title = f"your ladder (time: modelled, {self.device.name}, without caches)"
        table = _table(title, ("kernel", *self.counters), self.rows.values())
        chart = self.rates.add(name, trace) if self.rates else {}
        return {kind: f"{text}\n{chart[kind]}" if chart else text for kind, text in table.items()}


class Attempts:
    """A leaderboard of attempts at a puzzle: the fastest first, and of equals the earlier one.

    ``to_beat`` is in seconds. An attempt that counts the same as one before is no new one."""

    def __init__(self, device: Device, to_beat: float, *counters: str) -> None:
        self.device, self.to_beat, self.counters = device, to_beat, counters
        self.rows: list[Row] = []

    def add(self, name: str, trace: Trace) -> Bundle:
        """Add an attempt, and return the table."""
        row = _row(name, trace, self.counters, self.device)
        if row not in self.rows:
            self.rows.append(row)
        numbered = (replace(r, name=f"{n}. {r.name}") for n, r in enumerate(self.rows, 1))
        ranked = sorted(numbered, key=lambda row: row.seconds)
        reached = "reached" if ranked[0].seconds <= self.to_beat else "not yet"
        goal = f"at most {duration(self.to_beat)}: {reached}"
        title = f"your attempts, best first (time: modelled, {self.device.name}, without caches)"
        return _table(f"{title}; {goal}", ("attempt", *self.counters), ranked)


def slowest(metrics: Metrics, device: Device) -> tuple[float, str]:
    """Return the modelled time of a launch in seconds, and the resource that takes it."""
    times = {r.name: r.seconds for r in bound(metrics, device).resources if r.name not in LEFT_OUT}
    times["DRAM"] = metrics.dram_bytes_moved[1] / device.dram_bytes_per_s
    return max((seconds, name) for name, seconds in times.items())


def _row(name: str, trace: Trace, counters: Sequence[str], device: Device) -> Row:
    values = tuple(counter_value(trace, counter) for counter in counters)
    return Row(name, values, *slowest(trace.metrics, device))


def _table(title: str, head: Sequence[str], rows: Iterable[Row]) -> Bundle:
    """Lay out rows as plain text and as HTML."""
    lines = [(*head, "time", "set by"), *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [title]
    for first, *figures, last in lines:
        right = (f"{cell:>{width}}" for cell, width in zip(figures, widths[1:], strict=False))
        text.append("  ".join((f"  {first:{widths[0]}}", *right, last)))
    html = "".join(_html(line, "td" if number else "th") for number, line in enumerate(lines))
    table = f"<table><caption>{escape(title)}</caption>{html}</table>"
    return {"text/plain": "\n".join(text), "text/html": table}


def _cells(row: Row) -> tuple[str, ...]:
    return row.name, *map(figure, row.values), duration(row.seconds), row.limiter


def _html(line: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in line)}</tr>"
