"""mbarriers: arrivals and bytes that a phase waits for (PTX ISA, "mbarrier").

A phase is over when as many threads have arrived as ``mbarrier_init`` says, and all bytes have come
that ``expect_tx`` announced; then the next begins. A wait names a phase by its parity: it passes if
the phase of the other parity is under way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from warpwise.errors import BarrierError, EndlessError
from warpwise.messages import Chosen, Element, Joined, Message, Size, Words, message
from warpwise.simt.hopper.order import Known
from warpwise.simt.lanes.lane_group import Who
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes

_MORE_ARRIVALS = (
    "count the threads that arrive in a phase: each active thread that gets here is one, and "
    "mbarrier_init says how many there are"
)
_FLIP = (
    "flip the parity each time the ring of stages begins anew: parity ^= 1, or k // STAGES % 2 in "
    "trip k; a producer's first wait for an empty stage has parity 1. Where the next stage is "
    "meant, its index goes on: k % STAGES"
)
_BYTES = (
    "expect as many bytes as the copies of the phase bring: for each box the product of its "
    "lengths and the bytes of an element, where it leaves the array too"
)
_ITSELF = (
    "keep the warp that copies out of this wait, with all its 32 threads: behind an if for the "
    "thread that copies, an else lets in the others of its warp"
)
_ARRIVE = (
    "find the threads that should arrive, and what keeps them from it: a wait for the other "
    "parity, a branch, or a count in mbarrier_init that is too large"
)


@dataclass(eq=False)
class Mbarrier:
    """One mbarrier of a block: the phase under way, and what those that are over have told."""

    address: int
    element: Element  #: its name in messages
    count: int
    maker: tuple[int, int]  #: the warp that made it, and its time
    site: Site
    threads: int
    phase: int = 0
    arrived: int = 0
    expected: int = 0
    come: int = 0
    known: Known | None = None
    latest: int = 0  #: tick of the last arrival
    done: list[tuple[Known | None, int]] = field(default_factory=list)
    waited: Lanes = field(init=False)  #: by thread, the last phase that it waited for

    def __post_init__(self) -> None:
        self.waited = np.full(self.threads, -2, np.int64)

    def arrive(self, threads: int, known: Known, tick: int, where: Who, site: Site) -> None:
        """Let threads arrive. Raises BarrierError if the phase waits for fewer."""
        self.arrived += threads
        if self.arrived > self.count:
            what = message(
                "[[{arrived} threads arrive|too many threads arrive]] at {barrier} in one phase"
                "[[, and mbarrier_init says {count}]]",
                arrived=Size(self.arrived),
                barrier=self.element,
                count=Size(self.count),
            )
            raise BarrierError(what, site.where(**where), _MORE_ARRIVALS)
        self.known = known if self.known is None else self.known.joined(known)
        self.changed(tick)

    def changed(self, tick: int) -> None:
        """End the phase if nothing is missing."""
        self.latest = max(self.latest, tick)
        if self.arrived == self.count and self.come == self.expected:
            self.done.append((self.known, self.latest))
            self.phase, self.known = self.phase + 1, None
            self.arrived = self.expected = self.come = 0

    def wanted(self, parity: int, mask: Mask, site: Site) -> int:
        """Return the number of the phase that a wait for a parity means, or raise BarrierError."""
        if parity not in (0, 1):  # PTX ISA, "mbarrier.test_wait, mbarrier.try_wait"
            what = message(
                "this waits for [[parity {parity}|a parity that is neither 0 nor 1]] of {barrier}"
                "[[, and a parity is 0 or 1]]",
                parity=Size(parity),
                barrier=self.element,
            )
            raise BarrierError(what, site.where_first(mask), _FLIP)
        return self.phase if self.phase % 2 == parity else self.phase - 1

    def need_another(self, phase: int, mask: Mask, site: Site) -> None:
        """Raise BarrierError for threads that have waited for this phase before."""
        threads = np.broadcast_to(mask.group.thread_numbers, mask.group.shape)[mask.grid()]
        again = self.waited[threads] == phase
        self.waited[threads] = phase
        if not again.any():
            return
        what = message(
            "this waits for [[{phase}|a phase]] of {barrier} again: the next use of "
            "an mbarrier waits for the next phase, of the other parity",
            phase=Chosen(f"phase {phase}" if phase >= 0 else "the phase before the first"),
            barrier=self.element,
        )
        raise BarrierError(what, site.where_first(mask), _FLIP)

    # --- a phase that never ends ---

    @property
    def begun(self) -> bool:
        """True if something of the phase has come, and something is missing."""
        return bool(self.arrived or self.expected or self.come)

    def stuck(
        self, mask: Mask, site: Site, others: list[Message], itself: bool = False
    ) -> EndlessError:
        """Return the error of a wait that nobody will end; ``others``: where other warps wait.

        ``itself``: it is a part of the warp from which all arrivals have come."""
        what = message(
            "nobody will complete [[phase {phase}|a phase]] of {barrier}, for which this waits"
            "[[: {missing}{itself}{others}]]",
            phase=Size(self.phase),
            barrier=self.element,
            missing=self.missing(),
            itself=Chosen(
                ", and those of earlier phases were threads of this same warp" if itself else ""
            ),
            others=Joined(tuple(others)),
        )
        lacks_bytes = self.come != self.expected
        any_of = f"{_ARRIVE}. Of copies: {_BYTES}"
        remedy = message(
            "[[{cause}|{any}]]",
            cause=Chosen(_ITSELF if itself else _BYTES if lacks_bytes else _ARRIVE),
            any=Words(any_of),
        )
        return EndlessError(what, site.where_first(mask), remedy)

    def missing(self) -> Message:
        parts = []
        if self.come != self.expected:
            parts.append(
                message(
                    "{come} of {expected} bytes have come",
                    come=Size(self.come),
                    expected=Size(self.expected),
                )
            )
        if self.arrived != self.count:
            parts.append(
                message(
                    "{arrived} of {count} threads have arrived",
                    arrived=Size(self.arrived),
                    count=Size(self.count),
                )
            )
        return message("{parts}", parts=Joined(tuple(parts), ", and "))
