"""The shadow of asynchronous copies: the words of shared memory that they have yet to write.

Whoever reads or writes such a word before the wait of the thread that copies it gets what happens
to be there, so that is an error. Beyond the wait, the copy is a write of that thread like any
other."""

from __future__ import annotations

import numpy as np

from warpwise.errors import AsyncCopyError, Location
from warpwise.messages import Chosen, Element, Message, Name, Thread, Words, message
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.memory import Memory, element_index
from warpwise.simt.machine.observer import AsyncCopy, Request
from warpwise.simt.machine.wide import ITEM_BYTES, ITEMS
from warpwise.simt.types import Lanes, as_array

VERBS = {"load": "is read", "store": "is written", "atomic": "is updated", "copy": "is copied to"}
BEFORE_WAIT = (
    "call cp_async_wait(0) before this line, and after it cuda.syncthreads(), if the copies of "
    "other threads are used as well"
)
BEFORE_COMMIT = (
    "call cp_async_commit() between the last copy and the wait: a wait is for committed groups only"
)
COMMIT_FIRST = (
    "commit the copy's group before that wait, or wait once more after the commit: a wait is for "
    "the groups that were committed before it"
)


class CopyShadow:
    """The copies on their way to one shared array, of all blocks of a batch.

    ``words``: by word of each block, the number of its copy in ``copies``, from 1; 0 for none."""

    def __init__(self, root: Memory, group: LaneGroup):
        self.root, self.size = root, -(-root.memory_bytes // ITEM_BYTES)
        self.words = np.zeros(group.rows * self.size, np.int32)
        self.copies: list[AsyncCopy] = []

    def starts(self, copy: AsyncCopy) -> None:
        """Note a copy. Raises AsyncCopyError where another one is on its way already."""
        self.check(copy.request, "copy")
        if not self.words.any():
            self.copies.clear()
        self.copies.append(copy)
        self.words[self._places(copy.request)] = len(self.copies)

    def arrives(self, request: Request) -> None:
        self.words[self._places(request)] = 0

    def check(self, request: Request, kind: str) -> None:
        """Raise AsyncCopyError if an access uses what a copy on its way will write."""
        if not self.copies:
            return
        places = self._places(request)
        found = self.words[places]
        if not found.any():
            return
        lane, part = (int(n[0]) for n in np.nonzero(found))
        word = int(places[lane, part])
        copy = self.copies[int(found[lane, part]) - 1]
        mask = request.mask
        row, column = (int(n[lane]) for n in np.nonzero(mask.grid()))
        block, thread = mask.group.block_of(row), mask.group.thread_of(row, column)
        index = element_index(self.root, word % self.size * ITEM_BYTES)
        element = Element(Name(self.root.name), index)
        raise self._error(copy, element, kind, word, request.site.where(block, thread))

    def _places(self, request: Request) -> Lanes:
        """Return the words that each active lane names, ``(lanes, words of one)``."""
        mask, width = request.mask, request.array.dtype.itemsize
        group, active = mask.group, mask.grid()
        first = (as_array(request.addresses) - self.root.address) // ITEM_BYTES
        at = np.broadcast_to(first + group.block_rows * self.size, group.shape)[active]
        return at[:, None] + np.arange(max(1, width // ITEM_BYTES), dtype=np.int64)

    def _error(
        self, copy: AsyncCopy, element: Element, kind: str, word: int, where: Location
    ) -> AsyncCopyError:
        row, column = self._copier(copy, word)
        committed, group = copy.committed(row, column), int(copy.groups[row, column])
        before_wait = copy.committed_before_wait(row, column)
        why, try_this = _reason(copy, committed, before_wait, group)
        what = message(
            "{element} {does} while a copy to it, started by [[{thread}|a thread]] on {line}, may "
            "still be on its way: {why}",
            element=element,
            does=Words(VERBS[kind]),
            thread=Thread(copy.request.mask.group.thread_of(row, column)),
            line=Words(copy.request.site.there),
            why=why,
        )
        return AsyncCopyError(what, where, try_this)

    def _copier(self, copy: AsyncCopy, word: int) -> tuple[int, int]:
        """Return the row and column of the lane that copies a word."""
        firsts = self._places(copy.request)[:, 0]
        lanes = np.flatnonzero((firsts <= word) & (word < firsts + ITEMS))
        rows, columns = np.nonzero(copy.request.mask.grid())
        return int(rows[lanes[-1]]), int(columns[lanes[-1]])


def _reason(
    copy: AsyncCopy, committed: int, before_wait: int, group: int
) -> tuple[Message, Message | str]:
    """Return why a copy may be on its way, and what to try.

    ``committed``: groups by now; ``before_wait``: by the last wait; ``group``: the copy's, from
    0."""
    if group >= committed:
        return message("no cp_async_commit() has made it part of a group"), BEFORE_COMMIT
    which = message(
        "it is in [[group {group} of {committed} that the thread has committed"
        "|a group that the thread has committed]]",
        group=Chosen(str(group + 1)),
        committed=Chosen(str(committed)),
    )
    if copy.waited is None:
        return message("{which}, and no wait came after", which=which), BEFORE_WAIT
    newest, site, _ = copy.waited
    if group >= before_wait:
        why = message(
            "{which}, but only after the wait on {line}", which=which, line=Words(site.there)
        )
        return why, COMMIT_FIRST
    groups = "group" if newest == 1 else f"{newest} groups"
    why = message(
        "{which}, and the wait on {line} lets the newest {groups} go on",
        which=which,
        line=Words(site.there),
        groups=Words(groups),
    )
    try_this = message(
        "wait for this group too: [[cp_async_wait({fewer}) does here|a smaller number does]]; or "
        "commit a group in every trip of a loop, an empty one too, so that as many are newer",
        fewer=Chosen(str(before_wait - group - 1)),
    )
    return why, try_this
