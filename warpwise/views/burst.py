"""The burst widget: the sectors that a request of a warp touches, and how much of them is used.

``explorer``: stride, offset and element type by hand. ``of_trace``, and ``widget`` for a lab, show
a traced kernel by source line, loads and stores apart, and step through its requests, from the one
that wastes most. Caches are left out: a sector counts once for each request, as in ``Metrics``."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, cast

from warpwise.metrics import SECTOR_BYTES
from warpwise.model.arguments import one_of, whole
from warpwise.traces import Trace
from warpwise.views.controls import Choice, Control, Hidden, Slider, Stepper
from warpwise.views.frame import Frame
from warpwise.views.listing import Listing, listing
from warpwise.views.request import ITEMSIZES, TOY_BURST
from warpwise.views.view import View

if TYPE_CHECKING:
    from warpwise.views.lab import BurstWidget

MOST = 32  #: largest stride and offset of the explorer, in elements

LANE = Slider("lane", "follow lane", 0, 31, 0)
ASKS = Frame(
    "One load of a warp.", "From which stride on is most of what moves not used?", ("stride",)
)


def explorer(stride: int = 1, offset: int = 0, dtype: str = "float32", toy: bool = False) -> View:
    """Show a full warp in which lane ``i`` reads element ``offset + stride * i``, moved by hand.

    The arguments say where it starts. ``stride`` and ``offset`` are in elements, 0 to 32; ``dtype``
    is float16, float32 or float64; ``toy`` starts in the lecture's memory, whose bursts hold four
    values of any type. Raises LaunchError for anything else."""
    stride, offset = whole("stride", stride, 0, MOST), whole("offset", offset, 0, MOST)
    dtype = one_of("dtype", dtype, ITEMSIZES)
    memories = {"real": f"{SECTOR_BYTES}-byte sectors", "toy": f"toy: bursts of {TOY_BURST}"}
    controls = (
        Choice("memory", "memory", memories, "toy" if toy else "real"),
        Choice("dtype", "element type", {name: name for name in ITEMSIZES}, dtype),
        Slider("stride", "stride", 0, MOST, stride),
        Slider("offset", "offset", 0, MOST, offset),
        LANE,
    )
    return View("burst", {"itemsizes": ITEMSIZES, "sector": SECTOR_BYTES}, controls, frame=ASKS)


def of_trace(
    trace: Trace, line: int | None = None, kind: str | None = None, warp: int | None = None
) -> View:
    """Show a traced kernel by source line: its counters, and the recorded requests one by one.

    The counters are sectors per request and bank conflicts. The request that wastes most sectors is
    shown first: the one of ``line``, and of its ``kind`` ("load", "store" or "atomic"), if these
    are given; with ``warp``, the first of that warp among these. Raises TraceError if that line has
    no request, and LaunchError for another kind; a kind or a warp that is not there is passed over.
    """
    listed = listing(trace, line, kind, warp)
    data = {"lines": listed.lines, "note": listed.note, "sector": SECTOR_BYTES}
    note = f'<p class="note">{escape(listed.note)}</p>' if listed.chosen else ""
    above = f'<form class="source">{listed.table(radios=True)}</form>{note}'
    return View("requests", data, _controls(listed), above, f"{listed.table(radios=False)}{note}")


def widget(trace: Trace, line: int | None = None, kind: str | None = None) -> BurstWidget:
    """Return the same for a lab, as an anywidget.

    Its ``line`` is the selected source line, and setting it selects what wastes most there."""
    made = of_trace(trace, line, kind).widget()
    return cast("BurstWidget", made)  # by the script's name, "requests"


def _controls(listed: Listing) -> tuple[Control, ...]:
    """Make the picture's controls: the row of the table and its request, if there are any."""
    if listed.chosen is None:
        return ()
    chosen = next(line for line in listed.lines if line["row"] == listed.chosen.row)
    last = chosen["first"] + len(chosen["requests"]) - 1
    opens = min(max(listed.request + 1, chosen["first"]), last)
    return (
        Hidden("row", chosen["row"]),
        Stepper("step", "request", chosen["first"], last, opens),
        LANE,
    )
