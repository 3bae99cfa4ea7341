"""What a launch did, at the level of warps: the value that pictures, checks and grades are drawn from.

Counters cover the whole launch. Events are kept for the recorded blocks only, and only up to a cap: an event says which
line a warp was at, which lanes were active and, for memory, which addresses they named. A trace can be saved and loaded;
it needs nothing of the simulator.
"""

from __future__ import annotations

import ast
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from warpwise.errors import TraceError
from warpwise.metrics import WARP_SIZE, Metrics

FORMAT = 2
KINDS = ("issue", "load", "store", "atomic", "branch", "barrier")
SPACES = ("", "global", "shared", "local")


@dataclass(frozen=True)
class ArrayInfo:
    """An array that the kernel used: where it lies, what it holds. ``address`` is in bytes, modelled, 256-aligned for global arrays."""

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

    ``active`` is a 32-bit mask, lane 0 in the lowest bit. ``addresses`` (memory only) has one byte address per lane, -1 for
    lanes that are not active. For ``branch``, ``active`` are the lanes that met it and ``taken`` those that took the first way.
    ``slots`` is how many instructions an ``issue`` stands for.
    """

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
class Access:
    """One side of a race: who, where, and whether it reads, writes or, ``atomic``, does both at once."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    line: int
    writes: bool
    atomic: bool = False
    place: str = ""  #: file and line, as errors name them
    text: str = ""  #: of the line

    @property
    def verb(self) -> str:
        return "updates it atomically" if self.atomic else "writes it" if self.writes else "reads it"


@dataclass(frozen=True)
class Race:
    """Two accesses to one element by two threads, at least one of them a write, that nothing orders: a GPU may do either first.

    ``scope`` says where the two threads are: in one "warp", in one "block", or in two blocks of the "grid".
    """

    array: str
    space: str
    index: tuple[int, ...]
    first: Access
    second: Access
    scope: str

    @property
    def block(self) -> tuple[int, int, int]:
        """The block of the second access."""
        return self.second.block

    @property
    def what(self) -> str:
        """What happened, on one line."""
        a, b = self.first, self.second
        index = ", ".join(map(str, self.index))
        other = {"warp": "of the same warp", "block": "of the same block"}.get(self.scope, f"of block {b.block}")
        return (
            f"race on {self.array}[{index}] in {self.space} memory: thread {a.thread} of block {a.block} {a.verb} on line {a.line}, "
            f"thread {b.thread} {other} {b.verb} on line {b.line}, and nothing orders the two"
        )

    @property
    def places(self) -> str:
        """The lines of both accesses, with their places; one that does both is named once."""
        sides = dict.fromkeys((side.place, side.text) for side in (self.first, self.second) if side.place)
        return "\n".join(f"  at {place}\n    {text}" for place, text in sides)

    @property
    def try_this(self) -> str:
        a, b = self.first, self.second
        order = _ORDER[self.scope]
        if a.line == b.line and _reads_beside(a.text):
            return f"{order}; in a loop, that means in every trip"
        if a.line == b.line and a.text == b.text and (atomic := _as_atomic(a.text)):
            return f"{atomic}: several threads update one element here, and each must see what the others wrote"
        if a.line == b.line and a.writes and b.writes and not (a.atomic or b.atomic):
            if self.scope == "grid" and a.thread == b.thread:
                return "thread numbers repeat from block to block: does the index count the blocks before, as cuda.grid(1) does?"
            return f"let one thread alone write an element of {self.array}; to combine what several bring, there is cuda.atomic.add"
        if a.line > b.line and self.scope != "grid":
            order += f"; if line {b.line} is in the next trip of a loop, at the end of that loop"
            if self.space == "shared" and b.writes and not a.writes:
                order += f", or write to a second array while {self.array} is read"
        if a.line == b.line:
            apart = "if they read what others write, write to another array" if self.scope == "grid" else f"otherwise {order}"
            return f"cuda.atomic.add({self.array}, index, value) if several threads add to one element; {apart}"
        return f"{order}; or let both be atomic" if a.atomic or b.atomic else order

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.places, f"  Try: {self.try_this}") if part)


_ATOMIC = {ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}


def _statement(text: str) -> ast.stmt | None:
    """The one statement of a source line, where it can be read alone."""
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node


def _reads_beside(text: str) -> bool:
    """Whether a line such as ``part[t] += part[t + half]`` reads the array that it writes, at another place."""
    match _statement(text):
        case ast.AugAssign(target=ast.Subscript() as target, value=value) | ast.Assign(targets=[ast.Subscript() as target], value=value):
            array = ast.unparse(target.value)
            read = {ast.unparse(n) for n in ast.walk(value) if isinstance(n, ast.Subscript) and ast.unparse(n.value) == array}
            return bool(read - {ast.unparse(target)})
    return False


def _as_atomic(text: str) -> str:
    """``cuda.atomic.add(hist, i, 1)`` for ``hist[i] += 1``, and the same for ``hist[i] = hist[i] + 1`` and max and min; "" for others."""
    match _statement(text):
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value) if type(op) in _ATOMIC:
            name = _ATOMIC[type(op)]
        case ast.Assign(targets=[ast.Subscript() as target], value=ast.BinOp(left=left, op=op, right=value)) if type(op) in _ATOMIC:
            name = _ATOMIC[type(op)] if ast.unparse(left) == ast.unparse(target) else ""
        case ast.Assign(targets=[ast.Subscript() as target], value=ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, value])):
            name = name if ast.unparse(left) == ast.unparse(target) else ""
        case _:
            return ""
    index = ast.unparse(target.slice)
    index = f"({index})" if isinstance(target.slice, ast.Tuple) and not index.startswith("(") else index
    return name and f"cuda.atomic.{name}({ast.unparse(target.value)}, {index}, {ast.unparse(value)})"


_ORDER = {
    "warp": "cuda.syncthreads() between the two; cuda.syncwarp() is enough if only lanes of one warp meet here: they need not keep in step",
    "block": "cuda.syncthreads() between the two, where all threads of the block pass",
    "grid": "blocks run in any order, and syncthreads does not reach across them: do the later part in a second launch, or after "
    "cuda.cg.this_grid().sync(); where an atomic counter finds the last block, cuda.threadfence() before that atomic",
}


@dataclass(frozen=True)
class Note:
    """Something about a kernel that is no mistake but worth a word, such as float64 arithmetic among float32 numbers."""

    line: int
    text: str
    what: str
    try_this: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}\n    {self.text}\n  Try: {self.try_this}"


@dataclass(frozen=True)
class Records:
    """The raw events of the recorded blocks, as columns; one record is one block at one line. ``Trace.events`` unfolds them into warps."""

    kind: np.ndarray  #: uint8, index into KINDS
    line: np.ndarray  #: int32
    block: np.ndarray  #: int64, linear block number
    array: np.ndarray  #: int16, index into Trace.arrays, -1 without one
    slots: np.ndarray  #: int32
    active: np.ndarray  #: bool, (records, threads per block)
    taken: np.ndarray  #: bool, same shape
    addresses: np.ndarray  #: int64, same shape, -1 where there is none

    @staticmethod
    def empty(threads: int) -> Records:
        lanes = (0, threads)
        return Records(
            np.zeros(0, np.uint8), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int16), np.zeros(0, np.int32),
            np.zeros(lanes, bool), np.zeros(lanes, bool), np.zeros(lanes, np.int64),
        )  # fmt: skip


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
    shared_bytes_per_block: int = 0  #: static and dynamic
    local_bytes_per_thread: int = 0  #: of the arrays that ``cuda.local.array`` made; a compiler may keep small ones in registers
    truncated: bool = False
    records: Records = field(repr=False, compare=False, default_factory=lambda: Records.empty(1))

    def __repr__(self) -> str:
        """One line: a notebook shows it for a trace that stands alone."""
        return f"<trace of {self.kernel}, grid {self.grid}, block {self.block}: .metrics has its counters, .show() draws it>"

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Warp-level events of the recorded blocks, in the order they happened.

        Raises TraceError when the launch made more events than were kept.
        """
        if self.truncated:
            raise TraceError(
                f"{self.kernel} made more events than the trace keeps ({len(self.records.kind)} records): "
                "trace a smaller launch, or pass trace(..., max_records=N) or record=(block,) with fewer blocks"
            )
        return tuple(event for i in range(len(self.records.kind)) for event in self._warps_of(i))

    def accesses(self, line: int | None = None, space: str = "global") -> tuple[Event, ...]:
        """The loads, stores and atomics among ``events``, of one line or of all, in one memory space."""
        return tuple(e for e in self.events if e.space == space and (line is None or e.line == line))

    def _warps_of(self, i: int):
        r = self.records
        info = self.arrays[r.array[i]] if r.array[i] >= 0 else None
        block = unlinear(int(r.block[i]), self.grid)
        for warp, start in enumerate(range(0, r.active.shape[1], WARP_SIZE)):
            lanes = slice(start, start + WARP_SIZE)
            active = _bits(r.active[i, lanes])
            if not active:
                continue
            yield Event(
                kind=KINDS[r.kind[i]], line=int(r.line[i]), block=block, warp=warp, active=active,
                space=info.space if info else "", array=info.name if info else "", itemsize=info.itemsize if info else 0,
                addresses=_padded(r.addresses[i, lanes]) if info else (),
                taken=_bits(r.taken[i, lanes]), slots=int(r.slots[i]),
            )  # fmt: skip

    def show(self):
        """The kernel in tabs, for a notebook: by line, one warp over time, shared memory over time, the report. In a terminal, as text."""
        from warpwise.show import show  # here, for a trace needs nothing of what draws it

        return show(self)

    def save(self, path: str | Path) -> None:
        """Write the trace to a file that ``Trace.load`` reads: NumPy's npz, without pickle."""
        header = {
            "format": FORMAT, "kernel": self.kernel, "file": self.file, "source": self.source, "grid": self.grid,
            "block": self.block, "arrays": [asdict(a) for a in self.arrays], "metrics": asdict(self.metrics),
            "by_line": {line: asdict(m) for line, m in self.by_line.items()},
            "races": [asdict(r) for r in self.races], "notes": [asdict(n) for n in self.notes],
            "shared_bytes_per_block": self.shared_bytes_per_block, "local_bytes_per_thread": self.local_bytes_per_thread,
            "truncated": self.truncated,
        }  # fmt: skip
        columns = {name: getattr(self.records, name) for name in Records.__dataclass_fields__}
        with open(path, "wb") as out:
            np.savez_compressed(out, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **columns)

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Read a trace written by ``save``. Raises TraceError if the file is no trace, or of another format."""
        try:
            with np.load(path, allow_pickle=False) as data:
                header = _tupled(json.loads(data["header"].tobytes()))
                if header["format"] != FORMAT:
                    raise TraceError(_on_format(path, header["format"]))
                columns = {name: data[name] for name in Records.__dataclass_fields__}
            return _from_header(header, Records(**columns))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile) as error:
            raise TraceError(f"{path} is not a trace: {error}") from error


def _from_header(header: dict, records: Records) -> Trace:
    plain = {name: header[name] for name in ("kernel", "file", "grid", "block", "shared_bytes_per_block", "truncated")}
    plain["local_bytes_per_thread"] = header.get("local_bytes_per_thread", 0)  # which files had not at first
    return Trace(
        **plain, source={int(k): v for k, v in header["source"].items()}, arrays=tuple(ArrayInfo(**a) for a in header["arrays"]),
        metrics=Metrics(**header["metrics"]), by_line={int(k): Metrics(**m) for k, m in header["by_line"].items()},
        races=tuple(_race(r) for r in header["races"]), notes=tuple(Note(**n) for n in header["notes"]), records=records,
    )  # fmt: skip


def _on_format(path: str | Path, version: object) -> str:
    older = isinstance(version, int) and version < FORMAT
    do = "trace the kernel again and save it" if older else "update Warpwise, or save the trace with this version"
    return f"{path} has trace format {version}, and this version of Warpwise reads format {FORMAT}: {do}"


def unlinear(number: int, shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """The (x, y, z) of a linear block or thread number; x runs fastest."""
    return number % shape[0], number // shape[0] % shape[1], number // (shape[0] * shape[1])


def _bits(lanes: np.ndarray) -> int:
    return int(sum(1 << i for i, on in enumerate(lanes.tolist()) if on))


def _padded(addresses: np.ndarray) -> tuple[int, ...]:
    found = addresses.tolist()
    return tuple(found + [-1] * (WARP_SIZE - len(found)))


def _race(data: dict) -> Race:
    return Race(**data | {side: Access(**data[side]) for side in ("first", "second")})


def _tupled(value):
    """What was JSON, with tuples for its lists."""
    if isinstance(value, list):
        return tuple(_tupled(item) for item in value)
    return {key: _tupled(item) for key, item in value.items()} if isinstance(value, dict) else value
