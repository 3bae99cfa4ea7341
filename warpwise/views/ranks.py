"""The ranks widget: a run of a cluster, a lane for each rank over modelled time, and bytes by link.

Times are those of the record's clock, by the alpha-beta model; shares are of all ranks, shown or
not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwise.cluster.record import Record
from warpwise.views.rank_marks import Mark, Stretch, marks, partners, stretches
from warpwise.views.view import Json, View

MOST_LANES = 64
MOST_LINKS = 16  #: those with most bytes, and of equal ones the busiest
MOST_NAMED = 3  #: of a mark's lines, and of its partners
CELL = re.compile(r"line (\d+) of the cell that defines (.+)")
FILE = re.compile(r"(.+):(\d+)")


def of_record(record: Record) -> View:
    """Show what each rank does and when, up to 64 ranks, and the links with most bytes."""
    lanes = min(record.log.ranks, MOST_LANES)
    found = marks(record, lanes)
    lines = list(dict.fromkeys(line for one in found for line in one.lines))
    used = [use for use in record.links if use.messages]
    used.sort(key=lambda use: (-use.nbytes, -_short(use.busy)))
    ranks = record.ranks
    data = {
        "name": record.topology.name,
        "ranks": record.log.ranks,
        "seconds": record.seconds,
        "shares": [
            sum(getattr(one, part) for one in ranks)
            for part in ("compute", "communication", "overlap", "idle")
        ],
        "lanes": [
            [
                *map(_short, (one.compute, one.communication, one.overlap, one.idle)),
                one.bytes_sent,
                one.bytes_received,
            ]
            for one in ranks[:lanes]
        ],
        "lines": [[what, _place(site)] for what, site in lines],
        "marks": [
            _packed(one, [lines.index(line) for line in one.lines[:MOST_NAMED]], others)
            for one, others in zip(found, partners(found), strict=True)
        ],
        "both": _stretches(record, lanes, idle=False),
        "idle": _stretches(record, lanes, idle=True),
        "links": [
            [use.name, use.nbytes, use.messages, _short(use.busy)] for use in used[:MOST_LINKS]
        ],
        "closed": any(one.closed for one in found),
        "more": len(used[MOST_LINKS:]),
    }
    return View("ranks", data)


def _packed(one: Mark, lines: list[int], others: list[int]) -> Json:
    """Return a mark as an object that leaves out what is not there."""
    packed: Json = {"r": one.lane, "k": one.kind, "t": _short(one.begin), "d": _short(one.seconds)}
    more = {
        "n": one.count if one.count > 1 else 0,
        "b": one.nbytes,
        "p": _short(one.passes),
        "l": lines,
        "x": len(one.lines) - len(lines),
        "with": others,
        "to": list(one.peers[:MOST_NAMED]),
        "y": len(one.peers[MOST_NAMED:]),
        "u": _short(one.busy),
        "at": [_short(time) for piece in one.pieces for time in piece],
    }
    return packed | {key: value for key, value in more.items() if value}


def _stretches(record: Record, lanes: int, idle: bool) -> list[list[float]]:
    """Return when ranks are idle, or else when they work and send at once."""
    found = stretches(
        (
            Stretch(rank, begin, end, end - begin)
            for rank in range(lanes)
            for begin, end in (_idle(record, rank) if idle else record.spans[rank].both)
        ),
        record.seconds,
    )
    return [[s.lane, *map(_short, (s.begin, s.end - s.begin, s.seconds))] for s in found]


def _idle(record: Record, rank: int) -> Iterator[tuple[float, float]]:
    """Yield the gaps between what a rank does."""
    now = 0.0
    for begin, end in (*record.spans[rank].either, (record.seconds, record.seconds)):
        if begin > now:
            yield now, begin
        now = end


def _short(seconds: float) -> float:
    return float(f"{seconds:.6g}")


def _place(site: str) -> str:
    """Return a call site without a colon, which in a mark's words stands before its figures."""
    if cell := CELL.fullmatch(site):
        return f"line {cell[1]} of {cell[2]}'s cell"
    if file := FILE.fullmatch(site):
        return f"line {file[2]} of {file[1]}"
    return site
