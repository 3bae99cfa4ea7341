"""Works: what a program has started and waits for, as ``torch.distributed``'s ``Work``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from warpwise.cluster.buffers import InUse
from warpwise.cluster.fabric import Side
from warpwise.cluster.log import Awaited, Joined, Step
from warpwise.cluster.sites import call_site
from warpwise.cluster.state import Collective


class Owner(Protocol):
    """The rank that has started a work."""

    def wait(self, work: Work, site: str) -> Any: ...

    def finished(self, work: Work, site: str) -> None: ...


class Work:
    """A transfer or a collective that goes on beside the program, until ``wait``."""

    def __init__(self, owner: Owner, of: Side | Collective, in_use: InUse, end: Step):
        self.owner, self.of, self.in_use, self.end = owner, of, in_use, end
        self.waited = False

    @property
    def ready(self) -> bool:
        """True once the transfer or the collective is done."""
        return self.of.done

    def is_completed(self) -> bool:
        """Return True once it was waited for; before that, a time would decide."""
        return self.waited

    def wait(self) -> Any:
        """Wait until it is done; its arrays belong to the program again.

        In a program that is a generator: ``yield work.wait()``, or ``yield work``."""
        if self.waited:
            return ()
        return self.owner.wait(self, call_site())

    def finish(self, site: str) -> None:
        """Deliver what was received. Raises BufferInUseError if an array was changed."""
        if self.waited:
            return
        self.owner.finished(self, site)
        self.waited = True
        self.in_use.deliver(self.come())

    def come(self) -> Sequence[np.ndarray]:
        """Return what will be put into the arrays. Only of one that is ready."""
        if isinstance(self.of, Collective):
            return self.of.results[: len(self.in_use.outputs)]
        return () if self.of.sends else (self.of.got,)


def of_side(owner: Owner, side: Side, in_use: InUse) -> Work:
    """Return the work of one side of a message."""
    return Work(owner, side, in_use, Awaited((side.number,)))


def of_collective(owner: Owner, one: Collective, in_use: InUse, track: int) -> Work:
    """Return the work of a collective, whose track has this number."""
    return Work(owner, one, in_use, Joined(track))
