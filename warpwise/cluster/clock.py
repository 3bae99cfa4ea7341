"""The clock: times a log over a topology, by the alpha-beta model.

A message starts when both of its sides are ready and every link on its way is free; the links are
then taken for bytes / bandwidth, and it arrives a latency later. Both sides are done when it has
arrived. Of messages that could start and want one link, that which was ready first goes first, then
by number; one that waits for another link of its way keeps none from others meanwhile. What a
collective adds or copies on the rank itself costs nothing here, and a send or a kernel starts at
once.

Left out: messages that share a link's bandwidth, as they do in a real network. Here a message that
has begun keeps its links to the end, even if a more urgent one comes, so a run with fewer waits can
take longer (Graham 1969, SIAM J. Appl. Math. 17, on any such order). Of random sets of groups,
about one in a hundred takes a few percent longer with its collectives at once than in turn."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from warpwise.cluster.log import Awaited, Joined, Log, Posted, SentMessage, Spent, Started
from warpwise.cluster.topology import Topology


@dataclass(frozen=True)
class Passage:
    """A message on its way, in seconds: ``begin``, when the links are free again, ``end``."""

    message: SentMessage
    begin: float
    left: float
    end: float


@dataclass(frozen=True)
class Worked:
    """A rank's own work, in seconds."""

    rank: int
    spent: Spent
    begin: float
    end: float


@dataclass(frozen=True)
class Times:
    """When everything happened. ``tracks``: begin and end of each track of the log."""

    works: tuple[Worked, ...]
    passages: tuple[Passage, ...]
    tracks: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        """The end of the last track."""
        return max((end for _, end in self.tracks), default=0.0)


def timed(log: Log, topology: Topology) -> Times:
    """Return when each step of a log happens. Raises nothing for a log that ``run`` made."""
    return _Clock(log, topology).run()


class _Clock:
    def __init__(self, log: Log, topology: Topology):
        self.log, self.topology = log, topology
        self.free = [0.0] * len(topology.links)
        self.place = [0] * len(log.tracks)  #: of each track's next step
        self.now = [0.0] * len(log.tracks)
        self.began = [0.0] * len(log.tracks)
        self.ended: dict[int, float] = {}
        self.posted: dict[int, float] = {}  #: by side
        self.arrived: dict[int, float] = {}  #: by side
        self.of_side = {
            side: n for n, m in enumerate(log.messages) for side in (m.sent, m.received)
        }
        #: when to try, when both sides were ready, message; a heap
        self.ready: list[tuple[float, float, int]] = []
        self.works: list[Worked] = []
        self.passages: list[Passage] = []
        #: what tracks wait for -> the tracks
        self.waiting: dict[tuple[str, int], list[int]] = {}

    def run(self) -> Times:
        awake = list(range(self.log.ranks))
        while awake or self.ready:
            while awake:
                awake += self._advance(awake.pop(0))
            if self.ready:
                awake += self._pass(*heapq.heappop(self.ready))
        tracks = tuple((self.began[n], self.ended[n]) for n in range(len(self.log.tracks)))
        works = sorted(self.works, key=lambda work: (work.begin, work.rank))
        passages = sorted(self.passages, key=lambda one: (one.begin, one.message.source))
        return Times(tuple(works), tuple(passages), tracks)

    def _advance(self, number: int) -> list[int]:
        """Let a track go on as far as it can; return the tracks that can go on because of it."""
        track, awake = self.log.tracks[number], list[int]()
        if track.after is not None and not self.place[number]:
            self.now[number] = max(self.now[number], self.ended[track.after])
        if not self.place[number]:
            self.began[number] = self.now[number]
        while self.place[number] < len(track.steps):
            step = track.steps[self.place[number]]
            match step:
                case Spent():
                    end = self.now[number] + step.seconds
                    self.works.append(Worked(track.rank, step, self.now[number], end))
                    self.now[number] = end
                case Posted():
                    self._post(step.side, self.now[number])
                case Awaited():
                    for side in step.sides:
                        if side not in self.arrived:
                            return [*awake, *self._wait("side", side, number)]
                    self.now[number] = max(
                        self.now[number], *map(self.arrived.__getitem__, step.sides)
                    )
                case Started():
                    awake += self._start(step.track, self.now[number])
                case Joined():
                    if step.track not in self.ended:
                        return [*awake, *self._wait("track", step.track, number)]
                    self.now[number] = max(self.now[number], self.ended[step.track])
            self.place[number] += 1
        self.ended[number] = self.now[number]
        return [*awake, *self.waiting.pop(("track", number), [])]

    def _start(self, number: int, now: float) -> list[int]:
        """Start a collective, behind that before it; return it if it can go on."""
        after = self.log.tracks[number].after
        self.now[number] = now
        if after is None or after in self.ended:
            return [number]
        return self._wait("track", after, number)

    def _wait(self, kind: str, what: int, number: int) -> list[int]:
        self.waiting.setdefault((kind, what), []).append(number)
        return []

    def _post(self, side: int, now: float) -> None:
        self.posted[side] = now
        number = self.of_side.get(side)
        if number is not None:
            message = self.log.messages[number]
            if message.sent in self.posted and message.received in self.posted:
                at = max(self.posted[message.sent], self.posted[message.received])
                heapq.heappush(self.ready, (at, at, number))

    def _pass(self, now: float, since: float, number: int) -> list[int]:
        """Let a message pass, or try again when its links are free; return what waited for it."""
        message = self.log.messages[number]
        pair = message.source, message.target
        latency, bytes_per_s = self.topology.ways[pair]
        route = self.topology.routes[pair]
        free = max(self.free[link] for link in route)
        if free > now:
            heapq.heappush(self.ready, (free, since, number))
            return []
        left = now + message.nbytes / bytes_per_s
        for link in route:
            self.free[link] = left
        self.passages.append(Passage(message, now, left, left + latency))
        awake = []
        for side in (message.sent, message.received):
            self.arrived[side] = left + latency
            awake += self.waiting.pop(("side", side), [])
        return awake
