"""A rank's transfers on their way: from the call, through the rounds, to the wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from warpwise.cluster.buffers import InUse, as_received
from warpwise.cluster.calls import Key, Part
from warpwise.cluster.collectives import Rounds
from warpwise.cluster.launches import arrays_of, launched
from warpwise.cluster.log import Spent, Started
from warpwise.cluster.owners import Use
from warpwise.cluster.sites import call_site
from warpwise.cluster.state import Collective, Place, Run
from warpwise.cluster.tasks import Task
from warpwise.cluster.work import Work, of_collective, of_side
from warpwise.cuda.redirected import Asked
from warpwise.errors import ClusterError
from warpwise.messages import Rank, Words, message

Arrays = Sequence[np.ndarray]


class Transfers:
    """What a rank has started and not waited for, and the arrays that it works on."""

    task: Task  #: the rank's program, set when the run begins

    def __init__(self, run: Run, rank: int):
        self.run, self.rank = run, rank
        self.track = run.tracks[rank]
        self.works: list[Work] = []
        self.queues: dict[tuple[int, ...], deque[Collective]] = {}
        self.last: dict[tuple[int, ...], int] = {}  #: by group, the last collective's track
        self.calls: dict[tuple[int, ...], int] = {}

    def begin(self) -> str:
        """Return the call site, and check what transfers work on."""
        site = call_site()
        self._look(site)
        return site

    def post(self, word: str, site: str, values: np.ndarray, peer: int, tag: int) -> Work:
        """Start one side of a message to or from a rank."""
        sends = word.endswith("send")
        side = self.run.post(self.track, peer, values, sends, (word, site), tag=tag)
        arrays = ([values], []) if sends else ([], [as_received(values, word, site)])
        return self._added(of_side(self, side, self._used(word, site, *arrays)))

    def collect(
        self,
        word: str,
        site: str,
        ranks: tuple[int, ...],
        details: Mapping[str, object],
        rounds: Callable[[Place, list[np.ndarray]], Rounds],
        arrays: tuple[Arrays, Arrays],
        nbytes: int,
    ) -> Work:
        """Start a collective behind the group's last one of this rank, on a track of its own."""
        key: Key = ranks, self.calls.get(ranks, 0)
        self.calls[ranks] = key[1] + 1
        self.run.register.add(key, Part(self.rank, word, site, details))
        number, track = self.run.begin_track(self.rank, site, self.last.get(ranks))
        self.last[ranks] = number
        self.track.steps.append(Started(number))
        taken = [one.copy() for one in arrays[0]]
        place = Place(self.run, track, key, word)
        one = Collective(key, word, track, rounds(place, taken), nbytes)
        self.queues.setdefault(ranks, deque()).append(one)
        return self._added(of_collective(self, one, self._used(word, site, *arrays), number))

    def progress(self) -> bool:
        """Let collectives go on, the first of each group; return whether any did."""
        moved = False
        for queue in self.queues.values():
            while queue:
                for _ in queue[0].advance():
                    moved = True
                if not queue[0].done:
                    break
                self.run.register.through(queue.popleft().key)
        return moved

    def wait(self, work: Work, site: str = "") -> Any:
        """Wait within the program, at the line of the call unless another is given."""
        return self.task.wait(work, site or work.in_use.site)

    def finished(self, work: Work, site: str) -> None:
        """Note that the program has waited for a work, before that delivers."""
        self._look(site)
        self.works.remove(work)
        self.track.steps.append(work.end)

    def need_waited(self) -> None:
        """Raise ClusterError if the program ended without a wait."""
        for work in self.works:
            what = message(
                "{rank} ends and has not waited for its {word} at {site}: {advice}",
                rank=Rank(self.rank),
                word=Words(work.in_use.word),
                site=Words(work.in_use.site),
                advice=Words(self.task.advice),
            )
            raise ClusterError(what)

    def spend(self, seconds: float, what: str, site: str) -> None:
        """Note work of the rank itself."""
        self.track.steps.append(Spent(seconds, what, site))

    def launch(self, asked: Asked) -> None:
        """Take a launch of this rank."""
        site, arrays = self.begin(), arrays_of(asked)
        for work in self.works:
            work.in_use.check_read(arrays, asked.kernel.name, site)
        self.track.steps.append(launched(asked, self.run.device, site))
        self._look(site)

    def _look(self, site: str) -> None:
        for work in self.works:
            work.in_use.check(site)

    def _used(self, word: str, site: str, inputs: Arrays, outputs: Arrays) -> InUse:
        """Give arrays to a transfer, until it is waited for."""
        for work in self.works:
            work.in_use.check_passed(inputs, outputs, word, site)
        for writes, arrays in ((False, inputs), (True, outputs)):
            for array in arrays:
                self.run.owners.claim(array, Use(self.rank, writes, word, site))
        return InUse(self.rank, word, site, inputs, outputs)

    def _added(self, work: Work) -> Work:
        self.works.append(work)
        return work
