"""The record of a run: bytes by link, times by rank, collectives, kernels, and one timeline.

``text()`` says it in tables, and ``show()`` draws it. A record can be timed again over another
topology, without a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from warpwise.cluster.clock import Passage, Times, Worked, timed
from warpwise.cluster.log import Log, Posted
from warpwise.cluster.spans import Intervals, RankSpans, length, union
from warpwise.cluster.topology import Topology
from warpwise.errors import LaunchError
from warpwise.model.arguments import quantity
from warpwise.model.bound import duration

BAR = 60  #: characters of the timeline
MOST_LINKS = 16  #: in a text, those with most bytes


@dataclass(frozen=True)
class LinkUse:
    """What went over a link."""

    name: str
    nbytes: int
    messages: int
    busy: float  #: seconds in which it was taken


@dataclass(frozen=True)
class RankTimes:
    """How a rank spent the run, in seconds."""

    rank: int
    compute: float  #: in kernels, and other work of its own
    communication: float  #: while something is sent or received, latencies included
    overlap: float  #: of both at once
    idle: float  #: while neither goes on
    bytes_sent: int
    bytes_received: int


@dataclass(frozen=True)
class Collected:
    """One collective, with the time from its first rank's begin to its last one's end."""

    word: str  #: such as "all_reduce"
    site: str  #: the line of its first rank
    ranks: tuple[int, ...]
    nbytes: int  #: of the whole array of a rank
    steps: int  #: rounds of messages, of the rank with most
    most_bytes_sent: int  #: of a rank
    begin: float  #: seconds
    end: float

    @property
    def seconds(self) -> float:
        """The time from ``begin`` to ``end``."""
        return self.end - self.begin


@dataclass(frozen=True, repr=False)
class Record:
    """One run of a cluster. Made by ``cluster.run``."""

    topology: Topology
    log: Log  #: what ranks did, in order and without times
    times: Times  #: when all of it happened
    results: tuple[Any, ...] = field(repr=False)  #: what each rank's program returned
    notes: tuple[str, ...] = ()  #: what may be a mistake: one collective from two lines

    @staticmethod
    def of(
        log: Log, topology: Topology, results: tuple[Any, ...], notes: tuple[str, ...] = ()
    ) -> Record:
        """Return the record of a log, timed over a topology."""
        return Record(topology, log, timed(log, topology), results, notes)

    def on(self, topology: Topology) -> Record:
        """Return the record of the same run over another topology.

        Raises LaunchError for one of another number of ranks."""
        if topology.ranks != self.log.ranks:
            raise LaunchError(f"{topology.name} joins {topology.ranks} ranks, not {self.log.ranks}")
        return Record.of(self.log, topology, self.results, self.notes)

    def __repr__(self) -> str:
        sent = sum(message.nbytes for message in self.log.messages)
        return (
            f"<{quantity(self.log.ranks, 'rank')} on {self.topology.name}: "
            f"{duration(self.seconds)}, {quantity(len(self.log.messages), 'message')} of "
            f"{quantity(sent, 'byte')}; .text() has the tables>"
        )

    @property
    def seconds(self) -> float:
        """The time of the whole run, modelled."""
        return self.times.seconds

    @property
    def timeline(self) -> tuple[Worked | Passage, ...]:
        """All works and messages, by the time at which they begin."""
        found: list[Worked | Passage] = [*self.times.works, *self.times.passages]
        return tuple(sorted(found, key=lambda one: one.begin))

    @property
    def kernels(self) -> tuple[Worked, ...]:
        """The kernels that ranks launched, with their counters in ``spent.metrics``."""
        return tuple(work for work in self.times.works if work.spent.metrics is not None)

    @cached_property
    def links(self) -> tuple[LinkUse, ...]:
        """What went over each link of the topology, in its order."""
        nbytes, messages = Counter[int](), Counter[int]()
        busy = dict.fromkeys(range(len(self.topology.links)), 0.0)
        for passage in self.times.passages:
            message = passage.message
            for link in self.topology.routes[message.source, message.target]:
                nbytes[link] += message.nbytes
                messages[link] += 1
                busy[link] += passage.left - passage.begin
        return tuple(
            LinkUse(link.name, nbytes[n], messages[n], busy[n])
            for n, link in enumerate(self.topology.links)
        )

    @cached_property
    def bytes_by_link(self) -> dict[str, int]:
        """Link -> bytes, of those over which anything went."""
        return {use.name: use.nbytes for use in self.links if use.messages}

    @cached_property
    def ranks(self) -> tuple[RankTimes, ...]:
        """Each rank's seconds."""
        return tuple(self._times_of(rank) for rank in range(self.log.ranks))

    def _times_of(self, rank: int) -> RankTimes:
        spans, messages = self.spans[rank], self.log.messages
        return RankTimes(
            rank,
            length(spans.computes),
            length(spans.moves),
            length(spans.both),
            self.seconds - length(spans.either),
            sum(message.nbytes for message in messages if message.source == rank),
            sum(message.nbytes for message in messages if message.target == rank),
        )

    @cached_property
    def spans(self) -> tuple[RankSpans, ...]:
        """By rank, when it computes, and when it sends or receives."""
        works = [list[tuple[float, float]]() for _ in range(self.log.ranks)]
        moves = [list[tuple[float, float]]() for _ in range(self.log.ranks)]
        for work in self.times.works:
            works[work.rank].append((work.begin, work.end))
        for one in self.times.passages:
            for rank in (one.message.source, one.message.target):
                moves[rank].append((one.begin, one.end))
        return tuple(RankSpans(union(w), union(m)) for w, m in zip(works, moves, strict=True))

    @cached_property
    def collectives(self) -> tuple[Collected, ...]:
        """Each collective, in the order in which they began."""
        parts: dict[Any, list[int]] = {}
        for number, track in enumerate(self.log.tracks):
            if track.call is not None:
                parts.setdefault(track.call.key, []).append(number)
        sent = Counter[int]()
        of_side = {
            step.side: n
            for n, track in enumerate(self.log.tracks)
            for step in track.steps
            if isinstance(step, Posted)
        }
        for message in self.log.messages:
            sent[of_side[message.sent]] += message.nbytes
        found = (self._collected(numbers, sent) for numbers in parts.values())
        return tuple(sorted(found, key=lambda one: one.begin))

    def _collected(self, numbers: list[int], sent: Counter[int]) -> Collected:
        tracks = [self.log.tracks[n] for n in numbers]
        calls = [track.call for track in tracks if track.call is not None]
        times = [self.times.tracks[n] for n in numbers]
        return Collected(
            calls[0].word,
            tracks[0].site,
            calls[0].key[0],
            max(call.nbytes for call in calls),
            max(call.steps for call in calls),
            max(sent[n] for n in numbers),
            min(begin for begin, _ in times),
            max(end for _, end in times),
        )

    def show(self) -> Any:  # a record does not know what draws it
        """Draw the timeline in a notebook, a lane for each rank, and below it bytes by link.

        In a terminal, a sentence."""
        from warpwise.views.ranks import of_record

        return of_record(self)

    def _repr_html_(self) -> str:
        drawn: str = self.show()._repr_html_()
        return drawn

    def text(self) -> str:
        """Return the record as tables: the timeline, ranks, links, collectives and kernels."""
        parts = [repr(self)[1:-1].partition(";")[0], _timeline(self), _ranks(self), _links(self)]
        parts += [_collectives(self)] if self.collectives else []
        parts += [_kernels(self)] if self.kernels else []
        parts += ["\n".join(self.notes)] if self.notes else []
        return "\n\n".join(parts)


def _timeline(record: Record) -> str:
    """Draw a row for each rank: ``#`` computes, ``-`` sends or receives, ``=`` both."""
    rows = []
    for rank in range(record.log.ranks):
        spans, seconds = record.spans[rank], record.seconds
        cells = zip(_cells(spans.computes, seconds), _cells(spans.moves, seconds), strict=True)
        drawn = "".join({(1, 0): "#", (0, 1): "-", (1, 1): "=", (0, 0): "."}[one] for one in cells)
        rows.append(f"rank {rank:<3} {drawn}")
    head = f"timeline of {duration(record.seconds)}: # computes, - moves bytes, = both, . idle"
    return "\n".join([head, *rows])


def _cells(spans: Intervals, seconds: float) -> list[int]:
    """Return for each character of a row whether anything goes on in its middle."""
    middles = [(cell + 0.5) * seconds / BAR for cell in range(BAR)]
    return [int(any(begin <= middle < end for begin, end in spans)) for middle in middles]


def _ranks(record: Record) -> str:
    rows = [
        (
            str(one.rank),
            *map(duration, (one.compute, one.communication, one.overlap, one.idle)),
            f"{one.bytes_sent:,}",
        )
        for one in record.ranks
    ]
    return _table(("rank", "compute", "moves bytes", "both", "idle", "bytes sent"), rows)


def _links(record: Record) -> str:
    used = [use for use in record.links if use.messages]
    shown = sorted(used, key=lambda use: -use.nbytes)[:MOST_LINKS]
    rows = [(use.name, f"{use.nbytes:,}", f"{use.messages:,}", duration(use.busy)) for use in shown]
    more = f"\nand {len(used) - len(shown)} more links" if len(used) > len(shown) else ""
    return _table(("link", "bytes", "messages", "busy"), rows) + more


def _collectives(record: Record) -> str:
    rows = [
        (
            f"{one.word} {one.site}",
            f"{one.nbytes:,}",
            str(one.steps),
            f"{one.most_bytes_sent:,}",
            duration(one.begin),
            duration(one.seconds),
        )
        for one in record.collectives
    ]
    return _table(("collective", "bytes", "steps", "a rank sends", "begins", "takes"), rows)


def _kernels(record: Record) -> str:
    found = Counter[tuple[str, str]]()
    seconds: dict[tuple[str, str], float] = {}
    for work in record.kernels:
        key = work.spent.what, work.spent.site
        found[key] += 1
        seconds[key] = max(seconds.get(key, 0.0), work.end - work.begin)
    rows = [
        (f"{what} {site}", f"{count:,}", duration(seconds[what, site]))
        for (what, site), count in found.items()
    ]
    return _table(("kernel", "launches", "longest"), rows)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows below their heads: the first column to the left, the others to the right."""
    lines = [heads, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if not column else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
