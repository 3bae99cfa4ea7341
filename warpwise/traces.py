"""Traces: what a launch did, by warp, as the value behind pictures, checks and grades.

Counters cover the whole launch. Events are kept for the recorded blocks only, and only up to a cap:
an event has the line a warp was at, its active lanes and, for memory, the addresses they accessed.
A trace can be saved and loaded; it needs nothing of the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from warpwise import trace_file
from warpwise.errors import TraceError
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.races import Access, Race
from warpwise.samples import Sample

KINDS = (
    "issue",
    "load",
    "store",
    "atomic",
    "branch",
    "barrier",
    "copy",
    "arrive",
    "mma",
)
SPACES = ("", "global", "shared", "local")

# what reading a file that is no trace, or a damaged one, can raise
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile)


@dataclass(frozen=True)
class ArrayInfo:
    """An array that the kernel used: its place in memory and the type of its elements.

    ``address`` is in bytes, modelled, 256-aligned for global arrays."""

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    address: int
    strides: tuple[int, ...] = ()  #: bytes from one element to the next, by axis

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Event:
    """One warp doing one thing.

    ``active`` is a 32-bit mask, lane 0 in the lowest bit. ``addresses`` (memory only) has one byte
    address per lane, -1 for inactive lanes, and each lane accesses ``itemsize`` bytes from there
    on. For ``branch``, ``active`` are the lanes that reached it and ``taken`` those that took the
    first way. A ``copy`` is one that lanes start to shared memory, ``arrive`` the wait that ends
    it, and ``mma`` a product on tensor cores. ``slots`` is the number of instructions that an
    ``issue`` stands for."""

    kind: str
    line: int
    block: tuple[int, int, int]
    warp: int
    active: int
    space: str = ""
    array: str = ""
    itemsize: int = 0
    addresses: tuple[int, ...] = ()
    taken: int = 0
    slots: int = 0

    @property
    def lanes(self) -> tuple[int, ...]:
        """The numbers of the active lanes."""
        return tuple(lane for lane in range(WARP_SIZE) if self.active >> lane & 1)


@dataclass(frozen=True)
class Function:
    """A device function that the kernel called, and where its lines are.

    ``first`` and ``last``: its lines as counters and events number them; subtract ``base`` for
    their numbers in its own file or cell. ``called_on``: the lines that call it."""

    name: str
    first: int
    last: int
    base: int
    called_on: tuple[int, ...]

    @property
    def elsewhere(self) -> bool:
        """True if it is not numbered with the kernel: it is of another file, or of a given cell."""
        return self.base > 0 or self.first < 1


def reached_from(line: int, functions: Iterable[Function]) -> tuple[int, ...]:
    """Return the lines outside of some functions from which a line in one of them is reached.

    That is the line itself if it is in none of them."""
    within, outside, seen = tuple(functions), set[int](), set[int]()
    waiting = {line}
    while waiting:
        seen.add(line := waiting.pop())
        found = [f for f in within if f.first <= line <= f.last]
        if not found:
            outside.add(line)
        for function in found:
            waiting.update(set(function.called_on) - seen)
    return tuple(sorted(outside))


def line_in_words(line: int, function: str) -> str:
    """Return ``line 4 of load_tile``; the grader gives lines of given cells no number of theirs."""
    return f"line {line} of {function}" if line > 0 else function


@dataclass(frozen=True)
class Note:
    """A remark on a kernel that is not a mistake, such as float64 arithmetic on float32 data."""

    line: int
    text: str
    what: str
    try_this: str
    function: str = ""  #: the one that the line is in, if that is of another file or cell

    @property
    def place(self) -> str:
        """The line in words."""
        return line_in_words(self.line, self.function) if self.function else f"line {self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.what}\n    {self.text}\n  Try: {self.try_this}"


@dataclass(frozen=True)
class Records:
    """The raw events of the recorded blocks, as columns; one record is one block at one line.

    ``Trace.events`` unfolds them into warps."""

    kind: np.ndarray  #: uint8, index into KINDS
    line: np.ndarray  #: int32
    block: np.ndarray  #: int64, linear block number
    array: np.ndarray  #: int16, index into Trace.arrays, -1 without one
    slots: np.ndarray  #: int32
    active: np.ndarray  #: bool, (records, threads per block)
    taken: np.ndarray  #: bool, same shape
    addresses: np.ndarray  #: int64, same shape, -1 where there is none
    width: np.ndarray  #: int32, bytes that a lane accesses from its address on, 0 without one

    @property
    def of_first_block(self) -> np.ndarray:
        """Which records, as booleans, are those of the block that was recorded first."""
        return np.asarray(self.block == self.block[0]) if len(self.block) else np.zeros(0, bool)

    @staticmethod
    def empty(threads: int) -> Records:
        of_records = (np.uint8, np.int32, np.int64, np.int16, np.int32)
        kind, line, block, array, slots = (np.zeros(0, dtype) for dtype in of_records)
        active, taken, addresses = (
            np.zeros((0, threads), dtype) for dtype in (np.bool_, np.bool_, np.int64)
        )
        width = np.zeros(0, np.int32)
        return Records(kind, line, block, array, slots, active, taken, addresses, width)


@dataclass(frozen=True, repr=False)
class Trace:
    """One launch of one kernel, counted. Made by ``warpwise.trace``."""

    kernel: str
    file: str
    source: dict[int, str]  #: line number -> text, of the kernel and its device functions
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: tuple[ArrayInfo, ...]
    metrics: Metrics
    by_line: dict[int, Metrics]
    races: tuple[Race, ...] = ()
    notes: tuple[Note, ...] = ()
    functions: tuple[Function, ...] = ()  #: device functions that it called
    shared_bytes_per_block: int = 0  #: static and dynamic
    #: of the arrays that ``cuda.local.array`` made; a compiler may keep small ones in registers
    local_bytes_per_thread: int = 0
    #: in global memory, atomics included, of the warp that does most: is the work shared?
    most_bytes_loaded_by_a_warp: int = 0
    most_bytes_stored_by_a_warp: int = 0
    #: warps' loads from global memory after which the warp stored to shared memory, or waited for
    #: its copies there, before any floating-point arithmetic; of the blocks that ran
    loads_stored_at_once: int = 0
    truncated: bool = False
    sample: Sample | None = None  #: the blocks that ran, if not all did: counters are scaled
    #: the kernel and the simulator's types of its arguments, for a compiler; a file has neither
    launched: tuple[Any, tuple[Any, ...]] | None = field(repr=False, compare=False, default=None)
    records: Records = field(repr=False, compare=False, default_factory=lambda: Records.empty(1))

    def __repr__(self) -> str:
        """Return one line, which a notebook shows for a trace that stands alone."""
        some = f" ({len(self.sample.blocks)} blocks traced)" if self.sample else ""
        return (
            f"<trace of {self.kernel}, grid {self.grid}{some}, block {self.block}: "
            ".metrics has its counters, .show() draws it>"
        )

    @property
    def partial(self) -> bool:
        """True if only some blocks ran: results are partial, and races between others unknown."""
        return self.sample is not None

    def elsewhere(self, line: int) -> Function | None:
        """Return the function of another file or cell that a line belongs to, None for any other.

        Such lines have large numbers here, or none above 0."""
        found = (f for f in self.functions if f.elsewhere and f.first <= line <= f.last)
        return next(found, None)

    def place(self, line: int) -> str:
        """Return a line in words: ``line 5``, or ``line 4 of load_tile`` if it is elsewhere."""
        function = self.elsewhere(line)
        if function is None:
            return f"line {line}"
        return line_in_words(line - function.base, function.name)

    def label(self, line: int) -> str:
        """Return a line as tables name it: ``5``, or ``load_tile 4``."""
        function = self.elsewhere(line)
        return f"{function.name if function else ''} {self.own_number(line)}".strip()

    def own_number(self, line: int) -> str:
        """Return the number of a line in its own file or cell; "" where it has none."""
        function = self.elsewhere(line)
        own = line - function.base if function else line
        return str(own) if own > 0 else ""

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Warp-level events of the recorded blocks, in the order they happened.

        Raises TraceError when the launch made more events than were kept.
        """
        if self.truncated:
            raise TraceError(
                f"{self.kernel} made more events than the trace keeps "
                f"({len(self.records.kind)} records): trace a smaller launch, or pass "
                "trace(..., max_records=N) or record=(block,) with fewer blocks"
            )
        return tuple(event for i in range(len(self.records.kind)) for event in self._warps_of(i))

    def accesses(self, line: int | None = None, space: str = "global") -> tuple[Event, ...]:
        """The loads, stores and atomics among ``events``, in a memory space, of one line or all."""
        return tuple(
            e for e in self.events if e.space == space and (line is None or e.line == line)
        )

    def _warps_of(self, i: int) -> Iterator[Event]:
        r = self.records
        info = self.arrays[r.array[i]] if r.array[i] >= 0 else None
        block = unlinear(int(r.block[i]), self.grid)
        for warp, start in enumerate(range(0, r.active.shape[1], WARP_SIZE)):
            lanes = slice(start, start + WARP_SIZE)
            active = _bits(r.active[i, lanes])
            if not active:
                continue
            yield Event(
                kind=KINDS[r.kind[i]],
                line=int(r.line[i]),
                block=block,
                warp=warp,
                active=active,
                space=info.space if info else "",
                array=info.name if info else "",
                itemsize=int(r.width[i]),
                addresses=_padded(r.addresses[i, lanes]) if info else (),
                taken=_bits(r.taken[i, lanes]),
                slots=int(r.slots[i]),
            )

    def show(self) -> Any:  # a trace does not know what draws it
        """Show the kernel in tabs in a notebook: lines, one warp, shared memory, report.

        In a terminal, as text."""
        from warpwise.show import show

        return show(self)

    def time(self, device: object, grid: object = None, longer: float = 1.0) -> Any:
        """Predict the launch's time on a GPU, such as "RTX A6000": modelled, with a range.

        ``grid``: another number of blocks like the recorded ones, as in a launch. ``longer``: trips
        of its longest loop over those of the traced one, as for a deeper product. Needs the
        compiler's wheels (the extra ``toolchain``); without them, a lower bound. Raises LaunchError
        for a device that the stopwatch does not know."""
        try:
            from warpwise.stopwatch import time
        except ModuleNotFoundError as error:
            raise TraceError("the Python of a page has no stopwatch: install warpwise") from error
        return time(self, device, grid, longer)

    def save(self, path: str | Path) -> None:
        """Write the trace to a file that ``Trace.load`` reads: NumPy's npz, without pickle."""
        header = {
            "kernel": self.kernel,
            "file": self.file,
            "source": self.source,
            "grid": self.grid,
            "block": self.block,
            "arrays": [asdict(a) for a in self.arrays],
            "metrics": asdict(self.metrics),
            "by_line": {line: asdict(m) for line, m in self.by_line.items()},
            "races": [asdict(r) for r in self.races],
            "notes": [asdict(n) for n in self.notes],
            "functions": [asdict(f) for f in self.functions],
            "shared_bytes_per_block": self.shared_bytes_per_block,
            "local_bytes_per_thread": self.local_bytes_per_thread,
            "most_bytes_loaded_by_a_warp": self.most_bytes_loaded_by_a_warp,
            "most_bytes_stored_by_a_warp": self.most_bytes_stored_by_a_warp,
            "loads_stored_at_once": self.loads_stored_at_once,
            "truncated": self.truncated,
        }
        if self.sample:
            header["sample"] = asdict(self.sample)
        trace_file.write(path, header, vars(self.records))

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Read a trace that ``save`` wrote. Raises TraceError for another file or format."""
        try:
            header, columns = trace_file.read(path, (f.name for f in fields(Records)))
            return _from_header(header, Records(**columns))
        except _DAMAGED as error:
            raise TraceError(f"{path} is not a trace: {error}") from error


def _from_header(header: dict[str, Any], records: Records) -> Trace:
    as_they_are = "kernel file grid block shared_bytes_per_block truncated".split()
    return Trace(
        **{name: header[name] for name in as_they_are},
        # the first files of this format lack them
        local_bytes_per_thread=header.get("local_bytes_per_thread", 0),
        most_bytes_loaded_by_a_warp=header.get("most_bytes_loaded_by_a_warp", 0),
        most_bytes_stored_by_a_warp=header.get("most_bytes_stored_by_a_warp", 0),
        loads_stored_at_once=header.get("loads_stored_at_once", 0),
        source={int(k): v for k, v in header["source"].items()},
        arrays=tuple(ArrayInfo(**a) for a in header["arrays"]),
        metrics=Metrics(**header["metrics"]),
        by_line={int(k): Metrics(**m) for k, m in header["by_line"].items()},
        races=tuple(
            Race(**r | {side: Access(**r[side]) for side in ("first", "second")})
            for r in header["races"]
        ),
        notes=tuple(Note(**n) for n in header["notes"]),
        functions=tuple(Function(**f) for f in header.get("functions", ())),
        sample=_sample(header.get("sample")),
        records=records,
    )


def _sample(header: dict[str, Any] | None) -> Sample | None:
    return Sample(**header | {"blocks": tuple(header["blocks"])}) if header else None


def linear(index: tuple[int, int, int], shape: tuple[int, int, int]) -> int:
    """The linear number of a block or thread (x, y, z); x runs fastest."""
    x, y, z = index
    return x + shape[0] * (y + shape[1] * z)


def unlinear(number: int, shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """The (x, y, z) of a linear block or thread number; x runs fastest."""
    return number % shape[0], number // shape[0] % shape[1], number // (shape[0] * shape[1])


def _bits(lanes: np.ndarray) -> int:
    return sum(1 << i for i, on in enumerate(lanes.tolist()) if on)


def _padded(addresses: np.ndarray) -> tuple[int, ...]:
    found = addresses.tolist()
    return tuple(found + [-1] * (WARP_SIZE - len(found)))
