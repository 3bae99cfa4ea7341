"""Barriers: the threads that have to reach one.

The rule is CUDA's, from compute capability 7.0 on: a barrier of a block waits for all its threads
that have not ended (CUDA C++ Programming Guide, "Independent Thread Scheduling"), and the threads
of a warp that have not ended come to it together (PTX ISA, ``bar``: aligned). So it is an error if
one of them is elsewhere. A whole warp that is elsewhere may still end without another barrier; then
the launch works on a GPU, and gets a note. Until that shows, its threads owe the barrier: if they
come to another one, that is the error. A sync of the grid is a barrier of each block, and then the
first threads of all blocks meet: those must not have returned."""

from __future__ import annotations

import numpy as np

from warpwise.errors import BarrierError
from warpwise.messages import Block, Chosen, Size, Thread, message
from warpwise.simt.lanes.counting import by_warp
from warpwise.simt.lanes.masks import Mask, masked
from warpwise.simt.machine.observer import Hooks
from warpwise.simt.machine.returned import Returned
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes, Value


class Barriers:
    """The barriers of a batch."""

    def __init__(
        self,
        hooks: Hooks,
        returned: Returned,
        missed: dict[Site, BarrierError],
        left: dict[Site, BarrierError],
    ):
        """``missed``: by barrier, what is wrong with it if a thread that it lacks does not end.

        ``left``: the same of syncs of the grid whose missing threads have returned."""
        self.hooks, self.returned, self.missed, self.left = hooks, returned, missed, left
        self.owing: dict[Site, Returned] = {}  #: the threads that were missing

    def block(self, mask: Mask, site: Site) -> None:
        """Pass ``syncthreads``.

        Raises BarrierError if threads of a warp that is here are elsewhere and have not returned,
        or if one is here that another barrier waited for."""
        if self.owing:
            self._need_no_debts(mask)
        if mask.lanes is not None:
            self._note_missing(mask, site)
        for observe in self.hooks.barrier:
            observe("block", mask, site)

    def vote(self, kind: str, agrees: Value, mask: Mask, site: Site) -> Value:
        """Pass a barrier at which the threads of each block vote: count, and, or.

        ``agrees``: booleans. Returns int32, by block."""
        self.block(mask, site)
        return votes(kind, agrees, mask)

    def grid(self, mask: Mask, site: Site) -> Value:
        """Pass ``cg.this_grid().sync()``.

        Raises BarrierError unless every thread of the launch is here or has returned, and the first
        of each block is here."""
        if self.owing:
            self._need_no_debts(mask)
        if mask.lanes is not None:
            error, here = self._not_the_whole_grid(mask, site), mask.grid()
            if not (here[:, 0].all() and (here | self.returned.lanes(mask.group)).all()):
                raise error
            self.left.setdefault(site, error)
        for observe in self.hooks.barrier:
            observe("grid", mask, site)
        return np.int32(0)

    def _need_no_debts(self, mask: Mask) -> None:
        for site, owing in self.owing.items():
            if (owing.lanes(mask.group) & mask.grid()).any():
                raise self.missed[site]

    def _note_missing(self, mask: Mask, site: Site) -> None:
        """Note the warps of incomplete blocks that are elsewhere: they owe this barrier.

        Loops with a barrier are never compacted by warp, so a row is a block here."""
        here = mask.grid()
        missing = ~(here | self.returned.lanes(mask.group)) & here.any(axis=1, keepdims=True)
        if not missing.any():
            return
        divided = _has_any(here) & _has_any(missing)
        if divided.any():
            blocks = divided.reshape(len(here), -1).any(axis=1, keepdims=True)
            raise self._incomplete(here, missing & blocks, mask, site)
        lanes = masked(mask.group, missing)
        assert lanes is not None  # some are missing
        self.owing.setdefault(site, Returned(self.returned.group)).add(lanes)
        for observe in self.hooks.missed:
            observe(lanes, site)
        if site not in self.missed:
            self.missed[site] = self._incomplete(here, missing, mask, site)

    def _incomplete(self, here: Lanes, missing: Lanes, mask: Mask, site: Site) -> BarrierError:
        row = int(np.argmax(missing.any(axis=1)))
        arrived, threads = int(here[row].sum()), mask.group.threads
        missing[:row] = False
        who = mask.group.first_of(missing)
        return BarrierError(
            message(
                "only [[{arrived} of {threads} threads of {block}|some threads of a block]] "
                "reach this barrier[[; {thread} does not]]",
                arrived=Size(arrived),
                threads=Size(threads),
                block=Block(who["block"]),
                thread=Thread(who["thread"]),
            ),
            site.where(**who),
            "move the barrier out of the branch or loop, "
            "so that all threads of the block pass it equally often",
        )

    def _not_the_whole_grid(self, mask: Mask, site: Site) -> BarrierError:
        """Return the error of a sync that some threads of the grid do not reach."""
        missing = ~mask.grid()
        who, total = mask.group.first_of(missing), mask.group.rows * mask.group.threads
        returned = (missing & self.returned.lanes(mask.group)).any()
        why = "has returned from the kernel" if returned else "does not"
        return BarrierError(
            message(
                "only [[{arrived:,} of the grid's {threads:,} threads|some threads of the grid]] "
                "reach this sync[[; {thread} of {block} {why}]]",
                arrived=Size(mask.threads),
                threads=Size(total),
                thread=Thread(who["thread"]),
                block=Block(who["block"]),
                why=Chosen(why),
            ),
            site.where(**who),
            "move the sync out of the branch or loop, and guard the work instead of returning "
            "early: all threads of the grid must pass it",
        )


def _has_any(lanes: Lanes) -> Lanes:
    """Return for each warp if one of its lanes is among these."""
    return np.asarray(by_warp(lanes, None, False).any(axis=1))


def votes(kind: str, agrees: Value, mask: Mask) -> Value:
    """Return the result of the votes of the active threads, by block."""
    here = np.ones((1, mask.group.threads), bool) if mask.lanes is None else mask.lanes
    shape = np.broadcast_shapes(here.shape, np.shape(agrees), (1, mask.group.threads))
    ayes = np.broadcast_to(here & agrees, shape)
    count = np.count_nonzero(ayes, axis=1, keepdims=True)
    if kind == "and":
        count = count == np.count_nonzero(np.broadcast_to(here, ayes.shape), axis=1, keepdims=True)
    result = (count > 0 if kind == "or" else count).astype(np.int32)
    return result if len(result) > 1 else result[0, 0]
