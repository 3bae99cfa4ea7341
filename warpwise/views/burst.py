"""The burst widget: which sectors of memory a warp's request touches, and how many of the bytes that move are used.

``explorer``: stride, offset and element type by hand. ``of_trace``, and ``widget`` for a lab, show a traced kernel by source line,
loads and stores apart, and step through its requests, from the one that wastes most. ``svg`` draws requests for a file.
Caches are left out: a sector counts once for each request, as in ``Metrics``.
"""

from __future__ import annotations

from dataclasses import asdict
from html import escape

from warpwise.metrics import SECTOR_BYTES
from warpwise.model.arguments import one_of, whole
from warpwise.trace import Trace
from warpwise.views import html
from warpwise.views.controls import Choice, Hidden, Slider, Stepper
from warpwise.views.listing import Listing, listing
from warpwise.views.request import ITEMSIZES, TOY_BURST, Request
from warpwise.views.view import View, shown

MOST = 32  #: largest stride and offset of the explorer, in elements
WIDTH = 720  #: pixels; of a picture in a file
FILE_COLOURS = 'xmlns="http://www.w3.org/2000/svg" style="color:#1f2328;--one:#0b69ad;--two:#b4560a"'  # a file has no page around it

LANE = Slider("lane", "follow lane", 0, 31, 0)


def explorer(stride: int = 1, offset: int = 0, dtype: str = "float32", toy: bool = False) -> View:
    """A full warp in which lane ``i`` reads element ``offset + stride * i``, to be moved by hand. The arguments say where it starts.

    ``stride`` and ``offset`` are in elements, 0 to 32; ``dtype`` is float16, float32 or float64; ``toy`` starts in the lecture's
    memory, whose bursts hold four values of any type. Raises LaunchError for anything else.
    """
    stride, offset, dtype = whole("stride", stride, 0, MOST), whole("offset", offset, 0, MOST), one_of("dtype", dtype, ITEMSIZES)
    memories = {"real": f"{SECTOR_BYTES}-byte sectors", "toy": f"toy: bursts of {TOY_BURST}"}
    controls = (
        Choice("memory", "memory", memories, "toy" if toy else "real"),
        Choice("dtype", "element type", {name: name for name in ITEMSIZES}, dtype),
        Slider("stride", "stride", 0, MOST, stride),
        Slider("offset", "offset", 0, MOST, offset),
        LANE,
    )
    return View("burst", {"itemsizes": ITEMSIZES, "sector": SECTOR_BYTES}, controls)


def of_trace(trace: Trace, line: int | None = None, kind: str | None = None) -> View:
    """A traced kernel by source line, for a page: sectors per request, bank conflicts, and the recorded blocks' requests one by one.

    The request that wastes most sectors is shown first: the one of ``line``, and of its ``kind`` ("load", "store" or "atomic"), if these
    are given. Raises TraceError if that line has no request, and LaunchError for another kind; a kind that is not there is passed over.
    """
    listed = listing(trace, line, kind)
    data = {"lines": listed.lines, "note": listed.note, "sector": SECTOR_BYTES}
    note = f'<p class="note">{escape(listed.note)}</p>' if listed.chosen else ""
    above = f'<form class="source">{listed.table(radios=True)}</form>{note}'
    return View("requests", data, _controls(listed), above, f"{listed.table(radios=False)}{note}")


def widget(trace: Trace, line: int | None = None, kind: str | None = None):
    """The same for a lab, as an anywidget: its ``line`` is the selected source line, and setting it selects what wastes most there."""
    return of_trace(trace, line, kind).widget()


def svg(*requests: Request, captions: tuple[str, ...] = ()) -> str:
    """The text of an SVG file: each request's picture with its caption and counts, one below the other, on white.

    Raises ImportError without QuickJS.
    """
    data = {"requests": [asdict(request) for request in requests], "captions": captions or ("",) * len(requests)}
    head, shapes = shown("sheet", data, {}, WIDTH)["picture"].split(">", 1)
    return f"{head} {FILE_COLOURS}><style>{html.picture_style('sheet')}</style>{shapes}\n"


def _controls(listed: Listing) -> tuple:
    """Those of the picture: which row of the table, and which of its requests. A kernel without requests has none."""
    if listed.chosen is None:
        return ()
    chosen = next(line for line in listed.lines if line["row"] == listed.chosen.row)
    last = chosen["first"] + len(chosen["requests"]) - 1
    return Hidden("row", chosen["row"]), Stepper("step", "request", chosen["first"], last, chosen["worst"]), LANE
