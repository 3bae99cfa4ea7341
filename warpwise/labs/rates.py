"""A chart of how fast a student's kernels are, modelled, beside the published steps of a ladder.

A kernel that passed runs once more in the simulator, on the product that ``launch`` has, and the
stopwatch says how long a large grid of its blocks takes. That needs the compiler, and at first some
seconds, so only somebody who sits before the notebook gets it, as with ``modelled_time``; without
the compiler the published steps stand alone. It is no part of a verdict, and never graded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import isfinite, prod

from warpwise import trace
from warpwise.labs.exercise import Launch, fresh
from warpwise.person import live_notebook
from warpwise.report.modelled_time import registers
from warpwise.traces import Trace

TITLE = "GFLOP/s on an {device}: published steps, and your kernels (modelled, not graded)"
NO_COMPILER = "your kernels stand here too where the compiler is: see warpwise doctor"
WIDTH = 32  #: characters of the longest bar
COLOURS = {True: "#2f6fb0", False: "#9aa3ad"}  #: of a student's own, and of published ones


@dataclass(frozen=True)
class Bar:
    """A step of a ladder: GFLOP/s, and what else there is to say of it."""

    name: str
    rate: float
    told: str = ""
    own: bool = False


@dataclass
class Rates:
    """The published steps, ``{name: GFLOP/s}`` on a device, and a student's own as they pass.

    ``launch`` is a product, and ``grid`` as many of its blocks as a large one has."""

    device: str
    published: Mapping[str, float]
    launch: Launch
    grid: tuple[int, ...]
    own: dict[str, Bar] = field(default_factory=dict)

    def add(self, name: str, traced: Trace) -> dict[str, str]:
        """Add a kernel, and return the chart as a notebook's output; {} where nobody looks."""
        if not live_notebook():
            return {}
        found = self.bar(name, traced)
        if found is not None:
            self.own[name] = found
        return self.chart()

    def bar(self, name: str, traced: Trace) -> Bar | None:
        """Return the modelled rate of a kernel; None without the compiler, or where it fails."""
        try:
            kernel, _ = traced.launched or (None, ())
            args = [fresh(arg) for arg in self.launch.args]
            large = trace(kernel, self.launch.blocks, self.launch.threads, *args, progress=False)
            found = large.time(self.device, grid=self.grid)
        except Exception:  # whatever is wrong with a model, a right answer stays right
            return None
        if not isfinite(found.high):
            return None
        flops = large.metrics.flops * prod(self.grid) / prod(large.grid)
        low, high, rate = (flops / t / 1e9 for t in (found.high, found.low, found.seconds))
        kept = registers(found.registers, found.spill_bytes, found.stack_bytes)
        slots = f"{found.flops_per_issue_slot:.0f} of at most 64 FLOPs in an issue slot"
        told = f"{low:,.0f} to {high:,.0f}; bound by {found.binds}, {kept}, {slots} of its loop"
        return Bar(name, rate, told, own=True)

    @property
    def bars(self) -> list[Bar]:
        """All steps, the slowest first."""
        published = (Bar(name, rate, "published") for name, rate in self.published.items())
        return sorted([*published, *self.own.values()], key=lambda bar: bar.rate)

    def chart(self) -> dict[str, str]:
        bars, title = self.bars, TITLE.format(device=self.device)
        notes = [] if self.own else [NO_COMPILER]
        most = max(bar.rate for bar in bars)
        wide = max(len(bar.name) for bar in bars)
        lines = [_line(bar, wide, most) for bar in bars]
        rows = "".join(_row(bar, most) for bar in bars)
        below = "".join(f"<p>{escape(note)}</p>" for note in notes)
        table = f"<table><caption>{escape(title)}</caption>{rows}</table>{below}"
        return {"text/plain": "\n".join([title, *lines, *notes]), "text/html": table}


def _line(bar: Bar, wide: int, most: float) -> str:
    mark = "#" if bar.own else "-"
    length = max(1, round(WIDTH * bar.rate / most))
    return f"  {bar.name:{wide}}  {bar.rate:>8,.0f}  {mark * length:{WIDTH}}  {bar.told}"


def _row(bar: Bar, most: float) -> str:
    style = (
        f"background:{COLOURS[bar.own]};width:{max(1, 240 * bar.rate / most):.0f}px;height:0.8em"
    )
    name = f"<b>{escape(bar.name)}</b>" if bar.own else escape(bar.name)
    cells = name, f"{bar.rate:,.0f}", f'<div style="{style}"></div>', escape(bar.told)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
