"""One rank in a process of its own: the communicator of the simulated cluster, over an engine.

Collectives go on while the program waits. A rank to which nothing comes for ``timeout`` seconds
of such a wait gives up with a DeadlockError; what is computed in between takes as long as it will.
"""

from __future__ import annotations

import functools
import inspect
import math
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warpwise.cluster import collectives
from warpwise.cluster.calls import Key, Part, Register
from warpwise.cluster.collectives import Rounds
from warpwise.cluster.communicator import Communicator
from warpwise.cluster.engines.job import packed
from warpwise.cluster.engines.wire import Done, Transport, Wire
from warpwise.cluster.fabric import Side
from warpwise.cluster.log import Step
from warpwise.cluster.replicas import Boards, Pinned
from warpwise.cluster.state import Collective, OpenTrack, Place, Run
from warpwise.cluster.stuck import waits_for_side
from warpwise.cluster.tasks import Awaitable, Yielding
from warpwise.cluster.transfers import Transfers
from warpwise.cluster.work import Work
from warpwise.cuda.redirected import redirected
from warpwise.devices import Device
from warpwise.errors import DeadlockError

LONGEST_PAUSE = 1e-3  #: seconds between two looks at what has come


class StalledError(DeadlockError):
    """A rank that nothing came to. ``waits``: who, where and for what."""

    def __init__(self, waits: str, seconds: float = 0.0):
        after = f"nothing came for {seconds:g} s, and " if seconds else ""
        super().__init__(f"deadlock: {after}{waits}")
        self.waits = waits


class Untraced(list[Step]):
    """The steps of a track that nobody reads."""

    def append(self, step: Step) -> None:
        """Forget a step."""


class Own(Register):
    """The collectives of this rank that go on; other ranks' come with their messages."""

    def add(self, key: Key, part: Part) -> None:
        """Note a call."""
        self.parts[key] = {part.rank: part}

    def through(self, key: Key) -> None:
        """Forget a call that is done."""
        del self.parts[key]


class Apart(Run):
    """What the simulated ranks of a run share, of one rank alone."""

    def __init__(self, transport: Transport, device: Device, algorithm: str):
        super().__init__(transport.ranks, device, algorithm)
        self.register = Own()
        self.wire = self.fabric = Wire(transport, self.register)
        self.tracks = [OpenTrack(rank, steps=Untraced()) for rank in range(self.ranks)]

    def begin_track(self, rank: int, site: str, after: int | None) -> tuple[int, OpenTrack]:
        """Return a track that is not kept."""
        return 0, OpenTrack(rank, site, steps=Untraced())


class Shared(Boards):
    """Boards on which the ranks' values are sent to all, to be compared by each."""

    def __init__(self, rank: Rank):
        super().__init__(rank.run.ranks)
        self.swap = rank.swap

    def pin(self, check: str, rank: int, pinned: Pinned) -> tuple[dict[int, Pinned], int]:
        """Return the values of all ranks. Raises MismatchError if they are unlike."""
        everyone = self.swap(check, pinned.site, pinned)
        pins = [super(Shared, self).pin(check, *one) for one in enumerate(everyone)]
        return pins[-1]


class Straight:
    """A plain function, which waits where it stands. See ``tasks.Task``."""

    advice = ".wait() on what it returns"

    def __init__(self, rank: Rank):
        self.rank, self.result, self.ended = rank, None, False
        self.blocked: list[Awaitable] = []
        self.site = ""

    def wait(self, work: Awaitable, site: str) -> None:
        """Wait for a work, and finish it."""
        self.rank.until([work], site)
        work.finish(site)

    def resume(self) -> None:
        """Do nothing: it was never interrupted."""

    def stop(self) -> None:
        """Do nothing: the process ends it."""


class Rank:
    """This process's rank, from its first message to its last."""

    def __init__(self, transport: Transport, device: Device, algorithm: str, timeout: float):
        self.transport, self.timeout = transport, timeout
        self.run = Apart(transport, device, algorithm)
        self.run.boards = Shared(self)
        self.dist = Communicator(self.run, transport.rank)
        self.transfers: Transfers = self.dist._transfers

    def call(self, program: Callable[..., Any], *args: Any) -> Any:
        """Run a program to its end, and return its result.

        NumPy is quiet about NaN, as it is on the simulated cluster."""
        with np.errstate(all="ignore"):
            return self._call(program, *args)

    def _call(self, program: Callable[..., Any], *args: Any) -> Any:
        called = functools.partial(program, self.dist, *args)
        if not inspect.isgeneratorfunction(program):
            self.transfers.task = Straight(self)
            with redirected(self.transfers.launch):
                result = called()
        else:
            self.transfers.task = task = Yielding(called(), self.transfers.launch)
            while not task.ended:
                self.until(task.blocked, task.site)
                task.resume()
            result = task.result
        self.transfers.need_waited()
        return result

    def close(self) -> None:
        """Wait until all ranks have ended, however long they take."""
        self.run.wire.say_end()
        self._pump(lambda: self.run.wire.all_ended)
        self.transport.close()

    def until(self, works: Sequence[Awaitable], site: str) -> None:
        """Let all transfers go on until these works are done. Raises StalledError."""
        self._pump(lambda: all(work.ready for work in works), works, site)

    def _pump(self, ready: Done, works: Sequence[Awaitable] = (), site: str = "") -> None:
        since, pause = time.monotonic(), 0.0
        while not ready():
            moved = self.run.wire.progress()
            if self.transfers.progress() or moved:
                since, pause = time.monotonic(), 0.0
                continue
            waits = next((work for work in works if not work.ready), None)
            if isinstance(waits, Work) and any(map(self.run.wire.is_in_vain, _sides(waits))):
                raise StalledError(self._told(waits, site))
            if isinstance(waits, Work) and time.monotonic() - since > self.timeout:
                raise StalledError(self._told(waits, site), self.timeout)
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, pause + 1e-5)

    def gather(self, result: object) -> list[Any]:
        """Return all ranks' results, by rank, on each."""
        self.timeout = math.inf  # the others may take longer
        return self.swap("return", "the end of its program", result)

    def swap(self, word: str, site: str, thing: object) -> list[Any]:
        """Return what each rank has given, by rank: pickled, and gathered by all."""
        data = np.frombuffer(packed(thing), np.uint8)
        sizes = [np.zeros(1, np.int64) for _ in range(self.run.ranks)]
        self._gather(word, site, sizes, np.array([data.size], np.int64))
        room = [np.zeros(int(size[0]), np.uint8) for size in sizes]
        self._gather(word, site, room, data)
        return [pickle.loads(one.tobytes()) for one in room]

    def _gather(self, word: str, site: str, room: list[np.ndarray], mine: np.ndarray) -> None:
        number, world = self.transport.rank, tuple(range(self.run.ranks))

        def rounds(me: Place, taken: list[np.ndarray]) -> Rounds:
            return collectives.all_gather(me, [*room[:number], *taken, *room[number + 1 :]])

        nbytes = sum(one.nbytes for one in room)
        work = self.transfers.collect(word, site, world, {}, rounds, ([mine], room), nbytes)
        self.until([work], site)
        work.finish(site)

    def _told(self, work: Work, site: str) -> str:
        """Return in words that this rank waits, where and for whom."""
        side = next(one for one in _sides(work) if not one.done)
        rank, peer = self.transport.rank, side.peer
        ended = f", and rank {peer} has ended" if self.run.wire.has_ended(peer) else ""
        if isinstance(work.of, Collective):
            return f"rank {rank} waits in {work.of.word} at {site} for rank {peer}{ended}"
        return waits_for_side(rank, side, site).open() + ended


def _sides(work: Work) -> Sequence[Side]:
    return work.of.sides if isinstance(work.of, Collective) else (work.of,)
