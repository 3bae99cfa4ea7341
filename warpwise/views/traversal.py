"""The traversal widget: a matrix in memory, and the requests of a warp that walks over it.

``explorer`` is a walk by hand: lanes along a row or down a column. ``of_trace`` shows the requests
that a traced kernel made on one of its two-dimensional arrays. Left out is every cache: a sector
counts each time that a request asks for it, as in ``Metrics``, and the count of different sectors
is what would move if none moved twice."""

from __future__ import annotations

from warpwise.errors import TraceError
from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.model.arguments import one_of, quantity, whole
from warpwise.traces import ArrayInfo, Event, Trace
from warpwise.views.controls import Check, Choice, Player, Slider
from warpwise.views.frame import Frame
from warpwise.views.request import ITEMSIZES, VERBS, base, deltas, from_base
from warpwise.views.view import Json, View

FEWEST = 4  #: rows and columns of the explorer; the most are a warp's lanes
MOST_SHOWN = 128  #: rows and columns of a traced array that are drawn
MOST_REQUESTS = 256  #: that a view carries, all arrays together: keeps its data small
LANES = {"row": "along a row", "column": "down a column"}
ASKS = Frame(
    "A warp over a matrix.",
    "Along rows or down columns: which way are sectors used whole?",
    ("lanes",),
)


def explorer(
    rows: int = 32,
    columns: int = 32,
    lanes: str = "column",
    dtype: str = "float32",
    padded: bool = False,
) -> View:
    """Show a warp that reads a row, or a column, of a matrix in each request.

    The matrix has ``rows`` by ``columns``, 4 to 32 each. The arguments say where it starts.
    ``lanes`` is "row", lane ``i`` in column ``i``, or "column", lane ``i`` in row ``i``; ``padded``
    makes the rows in memory one element longer than the matrix. Raises LaunchError for other words,
    for an element type other than float16, float32 and float64, and for another size."""
    lanes, dtype = one_of("lanes", lanes, LANES), one_of("dtype", dtype, ITEMSIZES)
    rows = whole("rows", rows, FEWEST, WARP_SIZE)
    columns = whole("columns", columns, FEWEST, WARP_SIZE)
    controls = (
        Choice("lanes", "lanes stand", LANES, lanes),
        Choice("dtype", "element type", {name: name for name in ITEMSIZES}, dtype),
        Slider("rows", "rows", FEWEST, WARP_SIZE, rows),
        Slider("columns", "columns", FEWEST, WARP_SIZE, columns),
        Check("padded", "rows padded by one element", padded),
        Player("step", "request", 1, rows if lanes == "row" else columns, 1),
    )
    return View("traversal", {"itemsizes": ITEMSIZES}, controls, frame=ASKS)


def of_trace(trace: Trace, array: str | None = None) -> View:
    """Show the recorded requests on the two-dimensional arrays of global memory, in their order.

    ``array`` is the name of the one shown first. Raises TraceError if there is none of that name,
    or none at all, with requests on it."""
    on_array: dict[str, list[Event]] = {}
    for event in trace.accesses():
        on_array.setdefault(event.array, []).append(event)
    able = {info.name: info for info in trace.arrays if _has_rows(info) and info.name in on_array}
    if not able or array not in (None, *able):
        wanted = "two-dimensional array" if array is None else f"two-dimensional array {array!r}"
        raise TraceError(
            f"{trace.kernel} made no request on a {wanted} of global memory; "
            f"arrays to show: {', '.join(able) or 'none'}"
        )
    first, most = array or next(iter(able)), MOST_REQUESTS // len(able)
    arrays = {name: _array(trace, info, on_array[name], most) for name, info in able.items()}
    controls = (
        Choice("array", "array", {name: name for name in able}, first),
        Player("step", "request", 1, len(arrays[first]["requests"]), 1),
    )
    return View("traversal", {"arrays": arrays}, controls)


def _has_rows(info: ArrayInfo) -> bool:
    """True for a matrix in global memory with the elements of a row side by side."""
    if info.space != "global" or len(info.shape) != 2:
        return False
    return info.strides[1] == info.itemsize and info.strides[0] >= info.itemsize * info.shape[1]


def _array(trace: Trace, info: ArrayInfo, events: list[Event], most: int) -> Json:
    """Pack an array for the script: the part that is drawn, and at most so many requests in it."""
    (rows, columns), start = info.shape, base(info)
    down, right = _part(info, events[0])

    def lies_inside(event: Event) -> bool:
        return all(row in down and column in right for row, column in _places(info, event))

    inside = [event for event in events if lies_inside(event)][:most]
    what = f"{info.name} has {rows} by {columns} {info.dtype}."
    if len(down) * len(right) < rows * columns:
        what += f" Shown are rows {down[0]} to {down[-1]} and columns {right[0]} to {right[-1]}."
    if len(inside) < len(events):
        what += f" Of its {quantity(len(events), 'request')}, {len(inside):,} are shown."
    return {
        "what": what,
        "rows": len(down),
        "columns": len(right),
        "top": down[0],
        "left": right[0],
        "pitch": info.strides[0] // info.itemsize,
        "itemsize": info.itemsize,
        "shift": info.address - start + right[0] * info.itemsize,
        "requests": [_packed(event, start, trace.place(event.line)) for event in inside],
    }


def _part(info: ArrayInfo, event: Event) -> tuple[range, range]:
    """Return the rows and columns that are drawn: all, or those from where the first request lies.

    Columns begin at a whole number of sectors."""
    (rows, columns), firsts = info.shape, zip(*_places(info, event), strict=True)
    row, column = map(min, firsts)
    row, column = min(row, max(0, rows - MOST_SHOWN)), min(column, max(0, columns - MOST_SHOWN))
    column -= column % max(1, SECTOR_BYTES // info.itemsize)
    down = range(row, min(rows, row + MOST_SHOWN))
    return down, range(column, min(columns, column + MOST_SHOWN))


def _places(info: ArrayInfo, event: Event) -> set[tuple[int, int]]:
    """Return the rows and columns that the lanes name."""
    apart = (divmod(event.addresses[lane] - info.address, info.strides[0]) for lane in event.lanes)
    return {(row, rest // info.itemsize) for row, rest in apart}


def _packed(event: Event, start: int, place: str) -> Json:
    """Pack a request: who does what and where, and the addresses from ``start``."""
    warp = f"on {place} warp {event.warp} of block {event.block}"
    lead = f"{warp} {VERBS[event.kind]} it with {quantity(len(event.lanes), 'lane')}"
    return {"lead": lead, "deltas": deltas(from_base(event, start))}
