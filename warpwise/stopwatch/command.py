"""The command ``warpwise time``: from the words of the command line to what is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from warpwise.benchmark_records import is_of, read
from warpwise.errors import LaunchError
from warpwise.model.arguments import quantity
from warpwise.model.bound import duration
from warpwise.stopwatch.cards import CARDS, Card, find, matching
from warpwise.stopwatch.clock import GRIDS, time
from warpwise.stopwatch.estimate import Details, Estimate
from warpwise.stopwatch.launches import largest_of_each, launches_of
from warpwise.traces import Trace

EVERY = "all"
USUAL = ("H100 SXM",)
HEADS = ("device", "modelled", "range", "bound by", "rate")

Tick = Callable[[int, int], None]


@dataclass(frozen=True)
class Timed:
    """A launch and its estimates, one for each device."""

    trace: Trace
    estimates: tuple[Estimate, ...]

    @property
    def title(self) -> str:
        """The launch in words."""
        blocks, threads = (_product(shape) for shape in (self.estimates[0].grid, self.trace.block))
        words = f"{quantity(blocks, 'block')} of {quantity(threads, 'thread')}"
        return f"{self.trace.kernel}: {words}"

    def lines(self, show: bool) -> Iterator[str]:
        """Yield a line for each device, what is to be said of them, and all of it on demand."""
        yield self.title
        yield from _table([HEADS, *map(_row, self.estimates)])
        for note in dict.fromkeys(note for found in self.estimates for note in found.notes):
            yield f"  {note}"
        for found in self.estimates if show else ():
            yield from ("", found.text())


@dataclass(frozen=True)
class Said:
    """What the command prints; ``warnings`` on standard error."""

    timed: tuple[Timed, ...]
    warnings: tuple[str, ...]

    def text(self, show: bool) -> str:
        return "\n\n".join("\n".join(one.lines(show)) for one in self.timed)

    def json(self) -> str:
        every = [_plain(one, found) for one in self.timed for found in one.estimates]
        return json.dumps(every, indent=2)


def run(
    kernel: str,
    devices: Sequence[str],
    grid: str | None,
    tick: Tick | None = None,
    constants: Path | None = None,
) -> Said:
    """Execute ``FILE`` and time the launches of ``KERNEL``; ``tick`` is told of each estimate.

    ``constants``: a record of measured ones, for its device or the only one that is named.
    Raises WarpwiseError, whose message is one line."""
    cards, blocks = _cards(devices, constants), _blocks(grid)
    traces, failure = launches_of(kernel)
    if blocks:
        traces = largest_of_each(traces)
    total = len(traces) * len(cards)
    timed = []
    for number, trace in enumerate(traces):
        found = []
        for card in cards:
            found.append(time(trace, card, blocks))
            if tick:
                tick(number * len(cards) + len(found), total)
        timed.append(Timed(trace, tuple(found)))
    stopped = (f"{failure}; what ran before that is timed",) if failure else ()
    return Said(tuple(timed), stopped)


def _cards(devices: Sequence[str], constants: Path | None) -> tuple[Card, ...]:
    if constants is None:
        return cards_named(devices or USUAL)
    if len(devices) > 1:
        raise LaunchError("--constants are those of one device: name it alone, or leave it out")
    return (find(devices[0] if devices else _measured_on(constants), measured=constants),)


def _measured_on(constants: Path) -> str:
    """Return the name of the device that a record is of, which its driver calls otherwise."""
    device = read(constants).device
    names = [card.name for card in CARDS if is_of(card.name, device)]
    if len(names) != 1:
        may = f"which may be {', '.join(names)}" if names else "which the stopwatch does not know"
        raise LaunchError(f"{constants} is of {device}, {may}: name one with --device")
    return names[0]


def cards_named(devices: Sequence[str]) -> tuple[Card, ...]:
    """Return the cards of all names, each once. Raises LaunchError for an unknown one."""
    found = [card for name in devices for card in (CARDS if name == EVERY else matching(name))]
    return tuple({card.name: card for card in found}.values())


def _blocks(text: str | None) -> tuple[int, ...] | None:
    """Read "4096", "64x64" or "64,64"."""
    if text is None:
        return None
    if not re.fullmatch(r"\d+([x,]\d+){0,2}", text.replace(" ", "")):
        raise LaunchError(f"{text!r} is not a grid; write it as 4096 or 64x64")
    blocks = tuple(map(int, re.findall(r"\d+", text)))
    if 0 in blocks:
        raise LaunchError(f"{GRIDS}, not {text}")
    return blocks


def _row(found: Estimate) -> tuple[str, ...]:
    if not isfinite(found.high):
        return found.device, f"at least {duration(found.seconds)}", "", found.binds, found.rate
    low, high = duration(found.low), duration(found.high)
    same_unit = low.split()[1] == high.split()[1]
    span = f"{low.split()[0] if same_unit else low} to {high}"
    return found.device, duration(found.seconds), span, found.binds, found.rate


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _plain(one: Timed, found: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON can have it, with its rates; without a range ``high`` is null."""
    rates = {
        name: getattr(found, name)
        for name in ("flops_per_s", "dram_bytes_per_s", "share_of_peak", "rate")
    }
    high = found.high if isfinite(found.high) else None
    plain = asdict(replace(found, details=Details())) | {"hints": list(map(asdict, found.hints))}
    del plain["details"]
    return plain | {"block": one.trace.block, "high": high} | rates


def _product(shape: tuple[int, ...]) -> str:
    """(32, 8, 1) as "32 x 8"; a one-dimensional shape as its number alone."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return " x ".join(f"{n:,}" for n in shape)
