"""What is known of a block's shared memory: who wrote and who reads each chunk of 16 bytes.

A copy writes from its issue until the phase of its mbarrier is over, and whoever uses what it
writes must know of that. A product, or a copy to global memory, reads from its issue until a wait
of the warp that issued it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.errors import AsyncCopyError, Location, UnwrittenReadError
from warpwise.messages import Chosen, Element, Message, Name, Part, Size, Words, message
from warpwise.model.swizzle import CHUNK
from warpwise.simt.hopper.groups import Groups
from warpwise.simt.hopper.history import TOO_FAR, Cause, History
from warpwise.simt.hopper.order import Clocks
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes

PRODUCT, COPY = "read by this product", "read by this copy"  #: uses in words
UNDER_WAY = int(np.iinfo(np.int64).max)  #: the time of a read that has not ended

_WAIT = (
    "wait for the copy where it is used: while not hopper.mbarrier_try_wait(bars, index, parity), "
    "in every warp, or in one with a barrier of the block behind it; and let expect_tx, before "
    "the copies, expect the bytes of all copies of the phase"
)
_RELEASE = (
    "let those who read it arrive at an mbarrier when they are done, behind wgmma_wait_group where "
    "a product reads, and wait for that phase before the stage is filled again"
)
_GROUP = "wait for the group first: hopper.wgmma_wait_group(0), or hopper.tma_store_wait_group(0)"
_BARRIER = (
    "cuda.syncthreads() between the two: behind hopper.tma_store_wait_group(0), or "
    "hopper.wgmma_wait_group(0), of that warp, and before the stores of the others; or a part of "
    "the array for each of them"
)
_CP_ASYNC = "cp_async_commit(), cp_async_wait(0), hopper.fence_proxy_async(), and then a barrier"
_SWIZZLE = "the same swizzle in hopper.tensor_map and hopper.wgmma_descriptor"
_FENCE = (
    "hopper.fence_proxy_async() in the threads that write, behind their stores; then a barrier, if "
    "other warps read what they stored; then the copy or the product"
)


@dataclass(frozen=True)
class Use:
    """A use of shared memory that is being checked: by whom, where, and in words."""

    warp: int
    mask: Mask
    site: Site
    array: str
    words: str = "read"

    def unwritten(self, cause: Cause | None) -> UnwrittenReadError:
        what = message(
            "{array} is {used}, and nothing has been written or copied there[[{why}]]",
            array=Name(self.array),
            used=Words(self.words),
            why=_why(cause),
        )
        usual = _WAIT if self.words == PRODUCT else _FENCE
        return UnwrittenReadError(what, self.where, _remedy(cause, usual))

    @property
    def where(self) -> Location:
        return self.site.where_first(self.mask)

    def error(self, what: Message, try_this: str | Message) -> AsyncCopyError:
        return AsyncCopyError(what, self.where, try_this)

    def parts(self, earlier: Site) -> dict[str, Part]:
        """Return the values of a message: the array, what is done to it, and an earlier line."""
        used = Words(self.words)
        return {"array": Name(self.array), "used": used, "line": Words(earlier.there)}


def _why(cause: Cause | None) -> Chosen:
    """Return the end of a sentence."""
    return Chosen(f"; {cause.why}" if cause else "")


def _remedy(cause: Cause | None, usual: str) -> Message:
    found = cause.remedy if cause else usual
    return message("[[{found}|{usual}]]", found=Chosen(found), usual=Words(usual))


@dataclass(frozen=True)
class Arriving:
    """A copy to shared memory: the mbarrier and the phase that count it, and its swizzle."""

    address: int
    phase: int
    barrier: Element
    swizzle: int


@dataclass(frozen=True)
class Write:
    """The last write to a chunk: of a copy, which has a phase, or of threads at a time.

    ``under_way``: a ``cp_async16`` that its threads have not waited for."""

    site: Site
    warp: int
    time: int
    fences: int  #: of that warp, before it
    copy: Arriving | None = None
    under_way: bool = False


class Shadow:
    """The chunks of one block's shared memory."""

    def __init__(self, clocks: Clocks, history: History, warps: int, size: int):
        chunks = size // CHUNK + 1
        self.history = history
        self.clocks, self.fences = clocks, [0] * warps
        self.writes: list[Write] = []
        self.writer = np.full(chunks, -1, np.int64)
        self.reads = np.zeros((chunks, warps), np.int64)  #: times of the last ones, 0 for none
        self.ended = np.zeros((chunks, warps), np.int64)  #: times at which copies and products did
        self.began = np.zeros((chunks, warps), np.int64)  #: times at which the last reads did
        self.reader = np.zeros((chunks, warps), np.int64)
        self.sites: list[Site] = []

    # --- what threads do ---

    def loaded(self, use: Use, chunks: Lanes) -> None:
        self._need_arrived(use, chunks)
        self._note_read(use, chunks, int(self.clocks.now[use.warp]))

    def stored(self, use: Use, chunks: Lanes, under_way: bool = False) -> None:
        self._need_arrived(use, chunks)
        still_read = np.argwhere(self.reads[chunks] == UNDER_WAY)
        if len(still_read):
            what = message(
                "{array} is {used} while {line} may still read it",
                **use.parts(self._site_of_read(chunks, still_read[0])),
            )
            raise use.error(what, _GROUP)
        self._need_known_to_have_ended(use, chunks)
        time, fences = int(self.clocks.now[use.warp]), self.fences[use.warp]
        write = Write(use.site, use.warp, time, fences, under_way=under_way)
        self._note_write(write, chunks)

    # --- what copies and products do ---

    def filled(self, use: Use, chunks: Lanes, copy: Arriving) -> None:
        """A copy writes these chunks until its phase is over."""
        for write in self._writes(chunks):
            if write.under_way or not self._has_come(write, use.warp):
                what = message(
                    "this copy writes to {array} while that on {line} may still be on its way",
                    **use.parts(write.site),
                )
                raise use.error(what, _RELEASE)
        self._need_released(use, chunks)
        self._note_write(Write(use.site, use.warp, 0, 0, copy), chunks)
        self.reads[chunks] = self.ended[chunks] = 0

    def read_until_waited(self, use: Use, chunks: Lanes) -> None:
        """A product, or a copy to global memory, reads these chunks until ``wait``."""
        self._need_arrived(use, chunks)
        if (self.writer[chunks] < 0).any():
            raise use.unwritten(self.history.of_unwritten(use.warp))
        for write in self._writes(chunks):
            if write.copy is None:
                self._need_visible(use, write)
        self._note_read(use, chunks, UNDER_WAY)

    def wait(self, warp: int, groups: Groups, newest: int, site: Site) -> int:
        """End the reads of all but the newest groups; return the tick of their end."""
        ended = groups.wait(newest, site)
        for one in ended:
            self.reads[one.chunks, warp] = self.ended[one.chunks, warp] = self.clocks.now[warp]
        for one in groups.under_way:  # of the same chunks, perhaps
            self.reads[one.chunks, warp], self.ended[one.chunks, warp] = UNDER_WAY, 0
        return max((one.end for one in ended), default=0)

    def need_swizzle(self, use: Use, chunks: Lanes, swizzle: int) -> None:
        """Raise AsyncCopyError for a tile that was filled with another swizzle than it is read."""
        for write in self._writes(chunks):
            if write.copy is not None and write.copy.swizzle != swizzle:
                what = message(
                    "{array} is {used} with another swizzle than {line} has filled it with",
                    **use.parts(write.site),
                )
                raise use.error(what, _SWIZZLE)

    # --- checks ---

    def _need_arrived(self, use: Use, chunks: Lanes) -> None:
        writes = self._writes(chunks)
        for write in writes:
            if not self._has_come(write, use.warp):
                assert write.copy is not None
                cause = self._of_early_read(use, writes, write.copy)
                what = message(
                    "{array} is {used} before the copy of {line} has come: no wait for "
                    "[[phase {phase} of {barrier}|its mbarrier]] lies between[[{why}]]",
                    **use.parts(write.site),
                    phase=Size(write.copy.phase),
                    barrier=write.copy.barrier,
                    why=_why(cause),
                )
                raise use.error(what, _remedy(cause, _WAIT))

    def _of_early_read(self, use: Use, writes: list[Write], copy: Arriving) -> Cause | None:
        """Say why a tile is read whose copy has not come, of several ``writes`` that are read."""
        come = [one for one in writes if one.copy and self._has_come(one, use.warp)]
        if use.words == PRODUCT and come:
            return Cause(
                "the product begins in a tile that has come, and reaches into another", TOO_FAR
            )
        return self.history.of_early_read(use.warp, copy.address, copy.phase, copy.barrier)

    def _has_come(self, write: Write, warp: int) -> bool:
        copy = write.copy
        return copy is None or self.clocks.has_seen(warp, copy.address, copy.phase)

    def _need_known_to_have_ended(self, use: Use, chunks: Lanes) -> None:
        unordered = self._unordered(use, self.ended[chunks])
        if len(unordered):
            what = message(
                "{array} is {used} while {line} may still read it: another warp has waited for "
                "that, and nothing orders this behind its wait",
                **use.parts(self._site_of_read(chunks, unordered[0])),
            )
            raise use.error(what, _BARRIER)

    def _unordered(self, use: Use, reads: Lanes) -> Lanes:
        """Return those reads, as chunk and warp, that a warp does not know to be over."""
        known = self.clocks.known[use.warp].seen.copy()
        known[use.warp] = UNDER_WAY - 1
        return np.argwhere(reads > known)

    def _need_released(self, use: Use, chunks: Lanes) -> None:
        unordered = self._unordered(use, self.reads[chunks])
        if len(unordered):
            what = message(
                "this copy overwrites {array} while {line} may still read it: nothing orders "
                "that read before the copy[[{why}]]",
                **use.parts(self._site_of_read(chunks, unordered[0])),
                why=_why(cause := self._of_late_read(use, chunks, unordered[0])),
            )
            raise use.error(what, _remedy(cause, _RELEASE))

    def _of_late_read(self, use: Use, chunks: Lanes, at: Lanes) -> Cause | None:
        chunk, reader = int(chunks[at[0]]), int(at[1])
        time = int(self.reads[chunk, reader])
        if time == UNDER_WAY:
            return self.history.of_going_on(reader, chunk)
        return self.history.of_late_read(use.warp, reader, int(self.began[chunk, reader]), time)

    def _need_visible(self, use: Use, write: Write) -> None:
        if write.under_way:
            what = message(
                "{array} is {used} before the copy of {line} has come: its threads have not waited "
                "for it",
                **use.parts(write.site),
            )
            raise use.error(what, _CP_ASYNC)
        if self.fences[write.warp] <= write.fences:
            what = message(
                "{array} is {used}, which may miss what {line} stores there: copies and products "
                "reach shared memory by a way of their own, the async proxy, and no fence lies "
                "between",
                **use.parts(write.site),
            )
            raise use.error(what, _FENCE)
        if not self.clocks.knows(use.warp, write.warp, write.time):
            what = message(
                "{array} is {used}, and nothing orders what {line} stores there before it",
                **use.parts(write.site),
            )
            raise use.error(what, _FENCE)

    # --- what is noted ---

    def _writes(self, chunks: Lanes) -> list[Write]:
        return [self.writes[i] for i in np.unique(self.writer[chunks]).tolist() if i >= 0]

    def _note_write(self, write: Write, chunks: Lanes) -> None:
        if not self.writes or self.writes[-1] != write:
            self.writes.append(write)
        self.writer[chunks] = len(self.writes) - 1

    def _note_read(self, use: Use, chunks: Lanes, time: int) -> None:
        if not self.sites or self.sites[-1] is not use.site:
            self.sites.append(use.site)
        self.reads[chunks, use.warp] = time
        self.began[chunks, use.warp] = self.clocks.now[use.warp]
        self.reader[chunks, use.warp] = len(self.sites) - 1

    def _site_of_read(self, chunks: Lanes, at: Lanes) -> Site:
        return self.sites[int(self.reader[chunks[at[0]], at[1]])]
