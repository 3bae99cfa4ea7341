"""The marks of a cluster's timeline: works, and each message on both of its lanes.

Of more marks than a page can hold, neighbours become one, in the pieces of time that they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from warpwise.cluster.record import Record
from warpwise.cluster.spans import Intervals, length, union

MOST = 1000  #: marks of a picture, and stretches of each kind
MOST_PIECES = 4000  #: of all marks that are several
WORK, SENT, RECEIVED = range(3)  #: kinds, from top to bottom of a lane
FINEST = 2000  #: of the run's time: what is shorter is never seen

Line: TypeAlias = tuple[str, str]  #: what is done, and its place in the source
Part = TypeVar("Part")


@dataclass(frozen=True)
class Mark:
    """What one rank does in a stretch of time, in seconds: one thing, or several neighbours.

    ``passes``: how long the bytes take to pass, without the latency. ``messages``: places in the
    record's passages. ``busy``, ``pieces``: how long and when it is, of several."""

    lane: int
    kind: int
    begin: float
    end: float
    passes: float = 0.0
    nbytes: int = 0
    count: int = 1
    lines: tuple[Line, ...] = ()
    peers: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()
    busy: float = 0.0
    pieces: tuple[tuple[float, float], ...] = ()

    @property
    def seconds(self) -> float:
        """From begin to end."""
        return self.end - self.begin

    @property
    def closed(self) -> bool:
        """True if gaps between its pieces are left out."""
        return length(list(self.pieces)) > self.busy


def marks(record: Record, lanes: int) -> tuple[Mark, ...]:
    """Return the marks of the first ``lanes`` ranks, lane by lane, each in order of time."""
    rows: dict[tuple[int, int], list[Mark]] = {}
    for one in _all(record):
        if one.lane < lanes:
            rows.setdefault((one.lane, one.kind), []).append(one)
    gap = 0.0
    while sum(map(len, rows.values())) > MOST:
        gap = 2 * gap or record.seconds / FINEST
        rows = {key: list(_merged(row, gap)) for key, row in rows.items()}
    found = [one for row in rows.values() for one in row]
    gap = record.seconds / FINEST
    while sum(len(one.pieces) for one in found) > MOST_PIECES:
        found = [replace(one, pieces=tuple(_closed(one.pieces, gap))) for one in found]
        gap *= 2
    return tuple(sorted(found, key=lambda one: (one.lane, one.begin, one.kind)))


def _all(record: Record) -> Iterator[Mark]:
    """Yield works and messages, of each rank and kind in order of time."""
    for work in record.times.works:
        what = f"kernel {work.spent.what}" if work.spent.metrics else work.spent.what
        lines = ((what, work.spent.site),)
        yield Mark(work.rank, WORK, work.begin, work.end, lines=lines)
    for number, one in enumerate(record.times.passages):
        message = one.message
        ends = (message.source, SENT, message.target), (message.target, RECEIVED, message.source)
        for lane, kind, peer in ends:
            yield Mark(
                lane,
                kind,
                one.begin,
                one.end,
                one.left - one.begin,
                message.nbytes,
                lines=((message.what, message.site),),
                peers=(peer,),
                messages=(number,),
            )


def _merged(row: Sequence[Mark], gap: float) -> Iterator[Mark]:
    """Yield a row's marks, with neighbours as one: those that together are no longer than the gap.

    A mark of several of the same line grows on, if what comes next is that short."""
    group, end = [row[0]], row[0].end
    for one in row[1:]:
        last, alike = max(end, one.end), group[0].lines == group[-1].lines == one.lines
        short = one.begin - end <= gap and one.end - one.begin <= gap
        if short and (alike or last - group[0].begin <= gap):
            group.append(one)
            end = last
        else:
            yield _joined(group)
            group, end = [one], one.end
    yield _joined(group)


def _joined(group: Sequence[Mark]) -> Mark:
    if len(group) == 1:
        return group[0]
    spans = union(piece for one in group for piece in one.pieces or ((one.begin, one.end),))
    return Mark(
        group[0].lane,
        group[0].kind,
        group[0].begin,
        max(one.end for one in group),
        sum(one.passes for one in group),
        sum(one.nbytes for one in group),
        sum(one.count for one in group),
        _each(one.lines for one in group),
        _each(one.peers for one in group),
        _each(one.messages for one in group),
        length(spans),
        tuple(spans),
    )


def _closed(pieces: Iterable[tuple[float, float]], gap: float) -> Intervals:
    """Return pieces without the gaps that are no longer than this."""
    found: Intervals = []
    for begin, end in pieces:
        if found and begin - found[-1][1] <= gap:
            found[-1] = found[-1][0], end
        else:
            found.append((begin, end))
    return found


def _each(parts: Iterable[tuple[Part, ...]]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))


@dataclass(frozen=True)
class Stretch:
    """Time of a lane in which something holds. ``seconds``: of it, without gaps in between."""

    lane: int
    begin: float
    end: float
    seconds: float


def stretches(spans: Iterable[Stretch], seconds: float) -> list[Stretch]:
    """Return stretches, lane by lane and in order; of too many, neighbours as one."""
    found, gap = list(spans), seconds / FINEST
    while len(found) > MOST and gap < 2 * seconds:
        found, gap = list(_fewer(found, gap)), 2 * gap
    return found


def _fewer(spans: Sequence[Stretch], gap: float) -> Iterator[Stretch]:
    last = spans[0]
    for one in spans[1:]:
        if one.lane == last.lane and one.begin - last.end <= gap:
            last = Stretch(last.lane, last.begin, one.end, last.seconds + one.seconds)
        else:
            yield last
            last = one
    yield last


def partners(found: Sequence[Mark]) -> list[list[int]]:
    """Return for each mark the places of those that have the other side of its messages."""
    places = {(one.kind, m): place for place, one in enumerate(found) for m in one.messages}
    other = {SENT: RECEIVED, RECEIVED: SENT}
    keys = ({(other[one.kind], m) for m in one.messages} for one in found)
    return [sorted({places[key] for key in each if key in places}) for each in keys]
