"""A batch of blocks while a kernel runs over it: coordinates, memory, counters, and the checks of every access.

Everything that varies is an array whose shape says with what.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warpwise.errors import BarrierError, LaunchError, OutOfBoundsError, StepLimitError, UnwrittenReadError, Where
from warpwise.metrics import WARP_SIZE
from warpwise.simt.counting import LineCounts, count_sectors, count_wavefronts
from warpwise.simt.masks import Extent, Mask
from warpwise.simt.memory import LocalArray, SharedArray
from warpwise.simt.recorder import Recorder
from warpwise.simt.sanitizer import Clash
from warpwise.trace import Access, Race, unlinear

MAX_RACES = 16
MAX_PLACES = 4096
_SHARED_ALIGNMENT = 16


@dataclass(frozen=True)
class Site:
    """A place in a kernel's text: its line and, for messages, where that is."""

    line: int
    file: str
    text: str
    function: str

    def where(self, block=None, thread=None) -> Where:
        return Where(self.file, self.line, self.text, block, thread, self.function)


@dataclass
class Launch:
    """What all batches of one launch share."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    recorder: Recorder
    max_steps: int
    shared_limit: int
    counts: dict[int, LineCounts] = field(default_factory=lambda: defaultdict(LineCounts))
    races: list[Race] = field(default_factory=list)
    race_sites: set = field(default_factory=set)
    places: dict[tuple, Place] = field(default_factory=dict)  #: requests that are the same in every block
    steps: int = 0

    @cached_property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def thread_index(self) -> tuple:
        """``cuda.threadIdx`` of every thread of a block; the same objects for all batches, so that ``places`` can know them."""
        return _coordinates(np.arange(self.threads)[None, :], self.block)

    @cached_property
    def fixed(self) -> frozenset[int]:
        return frozenset(id(axis) for axis in self.thread_index)

    def place_key(self, array, indices: list, mask: Mask) -> tuple | None:
        """What names a request that no block and no trip changes: indices that are ``threadIdx`` or plain integers, all lanes active."""
        if array.space != "shared" or mask.lanes is not None:
            return None
        for index in indices:
            if type(index) is not int and id(index) not in self.fixed:
                return None
        return array.address, *map(_known, indices)


def _known(index) -> int:
    return index if type(index) is int else -id(index)


@dataclass(frozen=True)
class Place:
    """Where a request goes: elements from the start of its array, and bytes."""

    offset: object
    addresses: object


class Batch:
    """Blocks ``first`` to ``first + count`` of a launch, run together."""

    def __init__(self, launch: Launch, first: int, count: int):
        self.launch, self.first = launch, first
        self.extent = Extent(count, launch.threads)
        self.full = self.extent.full()
        self.counts, self.recorder = launch.counts, launch.recorder
        self.recorder.begin(first, count)
        self.recording = bool(self.recorder.rows)
        self.thread_index = launch.thread_index
        self.lane = np.arange(launch.threads)[None, :] % WARP_SIZE
        self.block_index = _coordinates(np.arange(first, first + count)[:, None], launch.grid)
        self.exited: Mask | None = None
        self.shared: dict[object, SharedArray] = {}
        self.locals: dict[object, LocalArray] = {}
        self.shared_bytes = 0

    # --- coordinates and steps ---

    def grid_index(self, axis: int):
        """``cuda.grid`` along one axis."""
        return self.block_index[axis] * self.launch.block[axis] + self.thread_index[axis]

    def block_of(self, row: int) -> tuple[int, int, int]:
        return unlinear(self.first + row, self.launch.grid)

    def first_thread(self, lanes: np.ndarray) -> dict:
        """Block and thread of the first lane that is set in a ``(blocks, threads)`` array."""
        lanes = np.broadcast_to(lanes, (self.extent.blocks, self.extent.threads))
        row, thread = np.unravel_index(int(np.argmax(lanes)), lanes.shape)
        return {"block": self.block_of(int(row)), "thread": unlinear(int(thread), self.launch.block)}

    def step(self, site: Site, mask: Mask) -> None:
        """One trip of a loop, or one call. Raises StepLimitError when the launch has made more than its budget."""
        self.launch.steps += 1
        if self.launch.steps > self.launch.max_steps:
            raise StepLimitError(
                f"the kernel did not end within {self.launch.max_steps:,} steps; {mask.threads} threads of those that run together "
                "are still here",
                site.where(**self.first_thread(mask.grid())),
                "check that every path through the loop comes closer to its end",
            )

    def issue(self, line: int, slots: int, mask: Mask) -> None:
        """Count ``slots`` instructions of a line for the active lanes."""
        counts = self.counts[line]
        counts.warp_instructions += slots * mask.warps
        counts.thread_instructions += slots * mask.threads
        if self.recording:
            self.recorder.add("issue", line, mask, slots=slots)

    def branch(self, line: int, mask: Mask, yes: Mask | None, no: Mask | None) -> None:
        """Count a branch: every warp meets it, and those with lanes on both sides diverge."""
        counts = self.counts[line]
        counts.branches += mask.warps
        if yes is not None and no is not None:
            counts.divergent_branches += yes.warps + no.warps - mask.warps
        if self.recording:
            self.recorder.add("branch", line, mask, taken=yes)

    # --- arrays ---

    def shared_array(self, key, name: str, dtype: np.dtype, shape: tuple[int, ...], site: Site) -> SharedArray:
        if key not in self.shared:
            address = -(-self.shared_bytes // _SHARED_ALIGNMENT) * _SHARED_ALIGNMENT
            array = SharedArray(name, dtype, shape, address, self.extent)
            self.shared_bytes = address + array.size * dtype.itemsize
            if self.shared_bytes > self.launch.shared_limit:
                raise LaunchError(
                    f"{site.where().place}: {name} brings the block to {self.shared_bytes:,} bytes of shared memory; "
                    f"a block has {self.launch.shared_limit:,}. Use smaller shapes or fewer arrays"
                )
            self.shared[key] = array
        return self.shared[key]

    def local_array(self, key, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> LocalArray:
        if key not in self.locals:
            self.locals[key] = LocalArray(name, dtype, shape, self.extent)
        return self.locals[key]

    # --- accesses ---

    def load(self, array, indices: list, mask: Mask, site: Site):
        offset = self._request(array, indices, mask, site, "load")
        if array.space == "shared":
            missing = array.shadow.unwritten(offset, mask)
            if missing is not None:
                raise self._unwritten_element(array, *missing, site)
            self._note(array, array.shadow.read(offset, mask, site.line))
        elif array.space == "local" and (missing := array.unwritten(offset, mask)) is not None:
            raise _unwritten(array, site.where(**self.first_thread(missing)))
        return array.load(offset, mask)

    def store(self, array, indices: list, value, mask: Mask, site: Site) -> None:
        offset = self._request(array, indices, mask, site, "store")
        if array.space == "shared":
            self._note(array, array.shadow.write(offset, mask, site.line))
        array.store(offset, value, mask)

    def _request(self, array, indices: list, mask: Mask, site: Site, kind: str):
        """Check and count a request; returns its offset."""
        key = self.launch.place_key(array, indices, mask)
        place = self.launch.places.get(key)
        if place is None:
            offset = self._offset(array, indices, mask, site)
            place = Place(offset, array.address + offset * array.dtype.itemsize)
            if key and len(self.launch.places) < MAX_PLACES:
                self.launch.places[key] = place
        self._account(array, place, mask, site, kind)
        return place.offset

    def _offset(self, array, indices: list, mask: Mask, site: Site):
        """Elements from the start of the array, every active lane's index checked and negative ones counted from the end."""
        offset = 0
        for axis, (index, size, stride) in enumerate(zip(indices, array.shape, array.strides, strict=True)):
            place = self._checked(array, index, size, axis, mask, site)
            offset = offset + (place if stride == 1 else place * stride)
        return offset

    def _checked(self, array, index, size: int, axis: int, mask: Mask, site: Site):
        if not isinstance(index, np.ndarray):
            index = int(index)
            if not -size <= index < size:
                raise self._out_of_bounds(array, axis, np.array([[index]]), mask.grid(), site)
            return index if index >= 0 else index + size
        if index.dtype != np.int64:
            index = index.astype(np.int64)
        if index.min() >= 0 and index.max() < size:
            return index
        bad = (index < -size) | (index >= size)
        if mask.lanes is not None:
            bad = bad & mask.lanes
        if bad.any():
            raise self._out_of_bounds(array, axis, index, bad, site)
        return np.clip(np.where(index < 0, index + size, index), 0, max(size - 1, 0))

    def _out_of_bounds(self, array, axis: int, index: np.ndarray, bad: np.ndarray, site: Site) -> OutOfBoundsError:
        shape = (self.extent.blocks, self.extent.threads)
        bad = np.broadcast_to(bad, shape)
        value = int(np.broadcast_to(index, shape)[np.unravel_index(int(np.argmax(bad)), shape)])
        size, place = array.shape[axis], f"index {value} of axis {axis}" if array.ndim > 1 else f"index {value}"
        return OutOfBoundsError(
            f"{place} is outside {array.name}, whose size there is {size}",
            site.where(**self.first_thread(bad)),
            "guard the access, or mend the index: here it must be "
            + (f"below {size} for every thread" if value >= 0 else "0 or more for every thread"),
        )

    def _unwritten_element(self, array, row: int, thread: int, element: int, site: Site) -> UnwrittenReadError:
        where = site.where(self.block_of(row), unlinear(thread, self.launch.block))
        return _unwritten(array, where, f"[{', '.join(map(str, element_index(array, element)))}]")

    def _note(self, array, clash: Clash | None) -> None:
        """Turn what the shadow saw into a Race, once for each pair of lines."""
        if clash is None or len(self.launch.races) >= MAX_RACES:
            return
        key = (array.name, clash.first.line, clash.second.line, clash.first.writes, clash.second.writes)
        if key in self.launch.race_sites:
            return
        self.launch.race_sites.add(key)
        first, second = (Access(unlinear(s.thread, self.launch.block), s.line, s.writes) for s in (clash.first, clash.second))
        index = element_index(array, clash.element)
        self.launch.races.append(Race(array.name, array.space, index, self.block_of(clash.row), first, second))

    # --- counting ---

    def _account(self, array, place: Place, mask: Mask, site: Site, kind: str) -> None:
        if array.space == "local":
            return
        count = self._count_global if array.space == "global" else self._count_shared
        count(array, place, mask, site.line, kind)
        if self.recording:
            self.recorder.add(kind, site.line, mask, array=array, addresses=place.addresses)

    def _count_global(self, array, place: Place, mask: Mask, line: int, kind: str) -> None:
        array.touch(line, place.offset, mask)
        width = array.dtype.itemsize
        rows, factor = self._rows(place.addresses, mask)
        sectors = count_sectors(rows, mask.lanes, width) * factor
        counts, moved = self.counts[line], mask.threads * width
        if kind == "load":
            counts.global_load_requests += mask.warps
            counts.global_load_sectors += sectors
            counts.global_load_bytes += moved
        else:
            counts.global_store_requests += mask.warps
            counts.global_store_sectors += sectors
            counts.global_store_bytes += moved

    def _count_shared(self, array, place: Place, mask: Mask, line: int, kind: str) -> None:
        rows, factor = self._rows(place.addresses, mask)
        wavefronts, fewest = count_wavefronts(rows, mask.lanes, array.dtype.itemsize)
        counts = self.counts[line]
        if kind == "load":
            counts.shared_load_requests += mask.warps
            counts.shared_load_wavefronts += factor * wavefronts
            counts.shared_load_bank_conflicts += factor * (wavefronts - fewest)
        else:
            counts.shared_store_requests += mask.warps
            counts.shared_store_wavefronts += factor * wavefronts
            counts.shared_store_bank_conflicts += factor * (wavefronts - fewest)

    def _rows(self, addresses, mask: Mask) -> tuple[np.ndarray, int]:
        """Addresses as ``(rows, threads)``, and for how many blocks each row stands: one row serves all where they are alike."""
        rows, columns = addresses.shape if isinstance(addresses, np.ndarray) else (1, 0)
        if mask.lanes is not None:
            rows = max(rows, len(mask.lanes))
        if columns != self.extent.threads or len(addresses) != rows:
            addresses = np.broadcast_to(addresses, (rows, self.extent.threads))
        return addresses, self.extent.blocks // rows

    # --- barriers ---

    def barrier(self, mask: Mask, site: Site) -> None:
        """``syncthreads``: every thread of a block that has not returned must be here. Raises BarrierError."""
        self.counts[site.line].barriers += mask.warps
        if self.recording:
            self.recorder.add("barrier", site.line, mask)
        if mask.lanes is not None:
            self._need_whole_blocks(mask, site)
        for array in self.shared.values():
            array.shadow.barrier(mask)

    def _need_whole_blocks(self, mask: Mask, site: Site) -> None:
        here = mask.grid()
        gone = False if self.exited is None else self.exited.grid()
        missing = ~(here | gone) & here.any(axis=1, keepdims=True)
        if not missing.any():
            return
        row = int(np.argmax(missing.any(axis=1)))
        arrived, threads = int(here[row].sum()), self.extent.threads
        missing[:row] = False
        who = self.first_thread(missing)
        raise BarrierError(
            f"only {arrived} of {threads} threads of block {who['block']} reach this barrier; thread {who['thread']} does not",
            site.where(**who),
            "move the barrier out of the branch or loop, so that all threads of the block pass it equally often",
        )


def _unwritten(array, where: Where, element: str = "") -> UnwrittenReadError:
    return UnwrittenReadError(
        f"{array.name}{element} is read, but nothing was written there: {array.space} memory starts with whatever was left in it",
        where,
        f"should this thread read at all? Check its guard and its index. If it should, write {array.name}{element} first",
    )


def element_index(array, element: int) -> tuple[int, ...]:
    """The indices of an element of a C-ordered array."""
    return tuple(int(i) for i in np.unravel_index(element, array.shape))


def _coordinates(numbers: np.ndarray, shape: tuple[int, int, int]) -> tuple:
    """(x, y, z) of linear numbers; an axis that has one value only is a plain int."""
    x, y, z = numbers % shape[0], numbers // shape[0] % shape[1], numbers // (shape[0] * shape[1])
    return tuple(int(c.flat[0]) if n == 1 or c.size == 1 else c for c, n in zip((x, y, z), shape, strict=True))
