"""The state of a run: what its ranks share, tracks that grow, and collectives on their way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from warpwise.cluster.calls import Key, Register
from warpwise.cluster.collectives import Rounds
from warpwise.cluster.fabric import Fabric, Side
from warpwise.cluster.log import Awaited, Call, Log, Posted, Step, Track
from warpwise.cluster.owners import Owners
from warpwise.cluster.replicas import Boards
from warpwise.devices import Device


@dataclass
class OpenTrack:
    """A track that is being written."""

    rank: int
    site: str = ""
    call: Call | None = None
    after: int | None = None
    steps: list[Step] = field(default_factory=list)

    def closed(self) -> Track:
        """Return the track, to which nothing is added any more."""
        return Track(self.rank, tuple(self.steps), self.site, self.call, self.after)


class Run:
    """What all ranks of a run share."""

    def __init__(self, ranks: int, device: Device, algorithm: str):
        self.ranks, self.device, self.algorithm = ranks, device, algorithm
        self.fabric, self.register, self.boards = Fabric(), Register(), Boards(ranks)
        self.owners = Owners()
        self.tracks = [OpenTrack(rank) for rank in range(ranks)]

    def post(
        self,
        track: OpenTrack,
        peer: int,
        array: np.ndarray,
        sends: bool,
        call: tuple[str, str],
        channel: Key | None = None,
        tag: int = 0,
    ) -> Side:
        """Post one side of a message on a track; a sender's bytes are copied.

        ``call``: the word and the line that it belongs to."""
        values = array.copy() if sends else None
        number, self.fabric.sides = self.fabric.sides, self.fabric.sides + 1
        shape, dtype = array.shape, array.dtype
        side = Side(number, track.rank, peer, sends, *call, shape, dtype, tag, values)
        track.steps.append(Posted(number))
        self.fabric.post(side, (channel, tag))
        return side

    def begin_track(self, rank: int, site: str, after: int | None) -> tuple[int, OpenTrack]:
        """Begin a track of a collective, behind another; return its number and the track."""
        self.tracks.append(OpenTrack(rank, site, after=after))
        return len(self.tracks) - 1, self.tracks[-1]

    def log(self) -> Log:
        """Return what has happened."""
        tracks = tuple(track.closed() for track in self.tracks)
        return Log(self.ranks, tracks, tuple(self.fabric.messages))


class Place:
    """A rank's place in a group, for one collective: see ``collectives.Member``."""

    def __init__(self, run: Run, track: OpenTrack, key: Key, word: str):
        self.run, self.track, self.key, self.call = run, track, key, (word, track.site)
        self.number, self.size = key[0].index(track.rank), len(key[0])

    def send(self, array: np.ndarray, to: int) -> Side:
        """Post a copy of an array to a member."""
        return self.run.post(self.track, self.key[0][to], array, True, self.call, self.key)

    def receive(self, like: np.ndarray, sender: int) -> Side:
        """Post room for an array of this shape and type from a member."""
        return self.run.post(self.track, self.key[0][sender], like, False, self.call, self.key)


class Collective:
    """One rank's part in a collective, round by round."""

    def __init__(self, key: Key, word: str, track: OpenTrack, rounds: Rounds, nbytes: int):
        self.key, self.word, self.track, self.rounds = key, word, track, rounds
        self.nbytes, self.steps, self.done = nbytes, 0, False
        self.sides: Sequence[Side] = ()
        self.results: list[np.ndarray] = []

    def advance(self) -> Iterator[None]:
        """Go on as long as messages are done; yield for each round."""
        while not self.done and all(side.done for side in self.sides):
            if self.sides:
                self.track.steps.append(Awaited(tuple(side.number for side in self.sides)))
            try:
                self.sides = next(self.rounds)
                self.steps += 1
            except StopIteration as end:
                self.results, self.done, self.sides = end.value, True, ()
                self.track.call = Call(self.key, self.word, self.nbytes, self.steps)
            yield
