"""What the warps of a block have waited for and arrived at, from which a mistake gets its cause.

That a tile is read before its copy has come, or overwritten while it is read, follows from what is
known of its chunks (``shadow``). Why it is so is looked for here: a wait that was for another
phase or another stage, a group that still goes on, an arrival that came too early."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from warpwise.messages import Element
from warpwise.simt.hopper.groups import Groups
from warpwise.simt.machine.site import Site

OTHER_PARITY = (
    "the other parity: phase p of an mbarrier has parity p % 2, so its first use waits with 0, its "
    "second with 1; only a producer's first wait, for a stage that is empty anyway, has parity 1; "
    "and a reader waits for the mbarrier that counts the copy"
)
OTHER_STAGE = (
    "read the stage whose mbarrier was waited for: look at the stage of the tile, and at how far a "
    "descriptor is moved, by 2 for 16 numbers of K; or wait for that other mbarrier as well"
)
TOO_FAR = (
    "move the descriptor less: it counts units of 16 bytes, so that 16 float16 further along K it "
    "is larger by 2"
)
COMMIT = "hopper.{kind}_commit_group() behind what reads it, and before the wait for that group"
WAIT_FOR_IT = "hopper.{kind}_wait_group(0) before the arrival that gives the stage back"
TOO_EARLY = (
    "read a stage before the arrival that gives it back: does it read the stage that it waited "
    "for, and arrive at the mbarrier of that stage?"
)
EACH_ONCE = (
    "let each thread that reads a stage arrive once for it, at the mbarrier of that stage, whose "
    "count is the number of these threads: one that arrives twice in a phase stands in for another"
)


@dataclass(frozen=True)
class Cause:
    """Why something went wrong, as the end of a sentence, and what to try."""

    why: str
    remedy: str


@dataclass(frozen=True)
class Waited:
    """A wait for a phase, -1 for that before the first, which came through at once."""

    address: int
    phase: int
    barrier: Element
    site: Site


class History:
    """The waits, arrivals and groups of a block's warps."""

    def __init__(self) -> None:
        self.last: dict[int, Waited] = {}  #: by warp
        self.waiters: defaultdict[int, set[int]] = defaultdict(set)  #: warps, by mbarrier
        #: by phase of an mbarrier and by warp, when it arrived there, and where
        self.arrivals: defaultdict[tuple[int, int], dict[int, tuple[int, Site]]] = defaultdict(dict)
        self.groups: dict[str, list[Groups]] = {}  #: by kind, "wgmma" or "tma_store", and by warp

    def waited(self, warp: int, wait: Waited) -> None:
        """Note a warp's wait for a phase."""
        self.last[warp] = wait
        self.waiters[wait.address].add(warp)

    def arrived(self, warp: int, phase: tuple[int, int], time: int, site: Site) -> None:
        """Note that a warp arrived for a phase of an mbarrier, by its address and number."""
        self.arrivals[phase][warp] = time, site

    def arrivers(self, address: int) -> set[int]:
        """Return the warps that have arrived at an mbarrier, in any phase."""
        return {w for (at, _), warps in self.arrivals.items() if at == address for w in warps}

    # --- causes ---

    def of_unwritten(self, warp: int) -> Cause | None:
        """Say why a warp reads what nobody has filled: its last wait let it through at once."""
        wait = self.last.get(warp)
        if wait is None or wait.phase >= 0:
            return None
        why = (
            f"the wait on {wait.site.there} for {wait.barrier.open()} came through at once, since "
            "its parity is that of the phase before the first"
        )
        return Cause(why, OTHER_PARITY)

    def of_early_read(self, warp: int, address: int, phase: int, barrier: Element) -> Cause | None:
        """Say why a warp reads what a copy of a phase brings, which it has not waited for."""
        wait = self.last.get(warp)
        if wait is None:
            return None
        line, named = wait.site.there, barrier.open()
        if wait.address != address:
            other = wait.barrier.open()
            why = f"the wait on {line} is for {other}, and this is filled for {named}"
            return Cause(why, OTHER_STAGE)
        which = f"phase {wait.phase}" if wait.phase >= 0 else "the phase before the first"
        return Cause(f"the wait on {line} is for {which} of {named}, not {phase}", OTHER_PARITY)

    def of_going_on(self, warp: int, chunk: int) -> Cause | None:
        """Say why what a warp has issued still reads a chunk."""
        for kind, groups in self._groups_of(warp):
            for one in groups.under_way:
                if chunk not in one.chunks:
                    continue
                if any(one is other for other in groups.open):
                    why = "no commit has put it into a group, so no wait is for it"
                    return Cause(why, COMMIT.format(kind=kind))
                why = _too_weak(groups) or "no wait has come for its group"
                return Cause(why, WAIT_FOR_IT.format(kind=kind))
        return None

    def of_late_read(self, filler: int, reader: int, began: int, ended: int) -> Cause | None:
        """Say why a warp that fills a stage does not know another's read of it to be over.

        ``began``, ``ended``: times of the reader."""
        wait = self.last.get(filler)
        if wait is None or wait.phase < 0:
            return None
        phase = f"phase {wait.phase} of {wait.barrier.open()}"
        when, site = self.arrivals[wait.address, wait.phase].get(reader, (-1, None))
        if site is None:
            return Cause(
                f"warp {reader} did not arrive in {phase}, which was waited for", EACH_ONCE
            )
        arrived = f"warp {reader} arrived in {phase}, on {site.there}"
        if when < began:
            return Cause(f"{arrived}, before it read that", TOO_EARLY)
        if when < ended:
            kind, lets = self._late_wait(reader)
            why = f"{arrived}, before that had ended; {lets}"
            return Cause(why, WAIT_FOR_IT.format(kind=kind))
        return None

    def _late_wait(self, warp: int) -> tuple[str, str]:
        """Return the kind of groups that a warp has not waited for early enough, and why."""
        waited = [(kind, _too_weak(g)) for kind, g in self._groups_of(warp) if g.waited]
        kind, lets = next((one for one in waited if one[1]), waited[0])
        return kind, lets or "its wait comes later"

    def _groups_of(self, warp: int) -> Iterator[tuple[str, Groups]]:
        return ((kind, groups[warp]) for kind, groups in self.groups.items())


def _too_weak(groups: Groups) -> str:
    """Say which groups the last wait lets go on; "" if none."""
    newest, site = groups.waited or (0, None)
    if site is None or not newest:
        return ""
    lets = f"the newest {newest} groups" if newest > 1 else "the newest group"
    return f"the wait on {site.there} lets {lets} go on"
