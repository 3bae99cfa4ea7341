"""The traversal widget: a matrix in memory, and the requests of a warp that walks it, one after another.

``explorer`` is a walk by hand: lanes along a row or down a column. ``of_trace`` shows the requests that a traced kernel made on one of its
two-dimensional arrays. Left out is every cache: a sector counts each time that a request asks for it, as in ``Metrics``, and the count of
different sectors says how many would move if none moved twice.
"""

from __future__ import annotations

from warpwise.errors import TraceError
from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.model.arguments import counted, one_of, whole
from warpwise.trace import ArrayInfo, Event, Trace
from warpwise.views.controls import Check, Choice, Player, Slider
from warpwise.views.request import ITEMSIZES, VERBS, base, deltas, from_base
from warpwise.views.view import View

FEWEST = 4  #: rows and columns of the explorer; the most are a warp's lanes
MOST_SHOWN = 128  #: rows and columns of a traced array that are drawn
MOST_REQUESTS = 256  #: that a view carries, all arrays together: keeps its data small
LANES = {"row": "along a row", "column": "down a column"}


def explorer(rows: int = 32, columns: int = 32, lanes: str = "column", dtype: str = "float32", padded: bool = False) -> View:
    """A warp that reads a matrix of ``rows`` by ``columns``, 4 to 32 each: a row in each request, or a column.

    The arguments say where it starts. ``lanes`` is "row", lane ``i`` in column ``i``, or "column", lane ``i`` in row ``i``; ``padded``
    makes the rows in memory one element longer than the matrix. Raises LaunchError for other words, for an element type that
    is none of float16, float32 and float64, and for another size.
    """
    lanes, dtype = one_of("lanes", lanes, LANES), one_of("dtype", dtype, ITEMSIZES)
    rows, columns = whole("rows", rows, FEWEST, WARP_SIZE), whole("columns", columns, FEWEST, WARP_SIZE)
    controls = (
        Choice("lanes", "lanes stand", LANES, lanes),
        Choice("dtype", "element type", {name: name for name in ITEMSIZES}, dtype),
        Slider("rows", "rows", FEWEST, WARP_SIZE, rows),
        Slider("columns", "columns", FEWEST, WARP_SIZE, columns),
        Check("padded", "rows padded by one element", padded),
        Player("step", "request", 1, rows if lanes == "row" else columns, 1),
    )
    return View("traversal", {"itemsizes": ITEMSIZES}, controls)


def of_trace(trace: Trace, array: str | None = None) -> View:
    """The requests of the recorded blocks on the two-dimensional arrays of global memory, in the order they happened.

    ``array`` is the name of the one shown first. Raises TraceError if there is none of that name, or none at all, with requests on it.
    """
    events = trace.accesses()
    able = {info.name: info for info in trace.arrays if _has_rows(info) and any(e.array == info.name for e in events)}
    if not able or array not in (None, *able):
        wanted = "two-dimensional array" if array is None else f"two-dimensional array {array!r}"
        raise TraceError(f"{trace.kernel} made no request on a {wanted} of global memory; arrays to show: {', '.join(able) or 'none'}")
    first, most = array or next(iter(able)), MOST_REQUESTS // len(able)
    arrays = {name: _array(info, [e for e in events if e.array == name], most) for name, info in able.items()}
    controls = (
        Choice("array", "array", {name: name for name in able}, first),
        Player("step", "request", 1, len(arrays[first]["requests"]), 1),
    )
    return View("traversal", {"arrays": arrays}, controls)


def _has_rows(info: ArrayInfo) -> bool:
    """Whether it is a matrix in global memory with the elements of a row side by side."""
    if info.space != "global" or len(info.shape) != 2:
        return False
    return info.strides[1] == info.itemsize and info.strides[0] >= info.itemsize * info.shape[1]


def _array(info: ArrayInfo, events: list[Event], most: int) -> dict:
    """An array for the script: what part of it is drawn, and as many requests as lie in that part and may be carried."""
    (rows, columns), start = info.shape, base(info)
    down, right = _part(info, events[0])
    inside = [e for e in events if all(row in down and column in right for row, column in _places(info, e))][:most]
    part = f" Shown are rows {down[0]} to {down[-1]} and columns {right[0]} to {right[-1]}." * (len(down) * len(right) < rows * columns)
    left_out = f" Of its {counted(len(events), 'request')}, {len(inside):,} are shown." * (len(inside) < len(events))
    return {
        "what": f"{info.name} has {rows} by {columns} {info.dtype}.{part}{left_out}",
        "rows": len(down), "columns": len(right), "top": down[0], "left": right[0],
        "pitch": info.strides[0] // info.itemsize, "itemsize": info.itemsize, "shift": info.address - start + right[0] * info.itemsize,
        "requests": [_packed(event, start) for event in inside],
    }  # fmt: skip


def _part(info: ArrayInfo, event: Event) -> tuple[range, range]:
    """The rows and columns that are drawn: all, or those from where the first request lies; columns from a whole number of sectors."""
    firsts = [min(axis) for axis in zip(*_places(info, event), strict=True)]
    rows, columns = (min(first, max(0, size - MOST_SHOWN)) for first, size in zip(firsts, info.shape, strict=True))
    columns -= columns % max(1, SECTOR_BYTES // info.itemsize)
    return range(rows, min(info.shape[0], rows + MOST_SHOWN)), range(columns, min(info.shape[1], columns + MOST_SHOWN))


def _places(info: ArrayInfo, event: Event) -> set[tuple[int, int]]:
    """The rows and columns that the lanes name."""
    apart = (divmod(event.addresses[lane] - info.address, info.strides[0]) for lane in event.lanes)
    return {(row, rest // info.itemsize) for row, rest in apart}


def _packed(event: Event, start: int) -> dict:
    """Who does what, and the addresses from ``start``."""
    who = f"on line {event.line} warp {event.warp} of block {event.block} {VERBS[event.kind]} it with {counted(len(event.lanes), 'lane')}"
    return {"lead": who, "deltas": deltas(from_base(event, start))}
