"""The burst widget: which sectors of memory a warp's request touches, and how many of the bytes that move are used.

``explorer`` is for pages: stride, offset and element type by hand. ``of_trace`` (pages) and ``widget`` (labs) show a traced kernel
by source line, loads and stores apart, and step through its requests, from the one that wastes most. ``svg`` draws requests for a file.
Caches are left out: a sector counts once for each request, as in ``Metrics``.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from warpwise.metrics import SECTOR_BYTES
from warpwise.trace import Trace
from warpwise.views import html, strip
from warpwise.views.controls import Choice, Slider
from warpwise.views.listing import Listing, listing, who
from warpwise.views.request import ITEMSIZES, TOY_BURST, Request, plural, strided

MOST = 32  #: largest stride and offset of the explorer, in elements
WIDTH = 720  #: pixels; of a picture in a file
STILL_WIDTH = 620  #: before a script knows the room: a column of text on a screen
FOLLOWED = 0  #: the lane that is followed at first

LANE = Slider("lane", "follow lane", 0, 31, FOLLOWED).html
# Where the script puts picture, numbers and sentences; it also fills in what a unit and a part are called.
STAGE = (
    '<div class="picture"></div><div class="key"><span><i class="used"></i><b class="part"></b>s used</span>'
    '<span><i class="moved"></i>moved, not used</span><span><i></i><b class="word"></b>&nbsp;not touched</span>'
    '<span hidden><i class="out"></i>left out</span></div>'
    '<dl></dl><div aria-live="polite"><p class="share"></p><p class="lane"></p></div>'
)


@dataclass(frozen=True)
class View:
    """A widget for a page: what Jupyter shows is complete in itself. Its text is the sentence under the picture."""

    sentence: str
    data: dict
    fallback: str

    def _repr_html_(self) -> str:
        return html.element("burst", self.data, self.fallback)

    def __repr__(self) -> str:
        return self.sentence


def explorer(stride: int = 1, offset: int = 0, dtype: str = "float32", toy: bool = False) -> View:
    """A full warp in which lane ``i`` reads element ``offset + stride * i``, to be moved by hand. The arguments say where it starts.

    ``stride`` and ``offset`` are in elements, 0 to 32; ``dtype`` is float16, float32 or float64; ``toy`` starts in the lecture's
    memory, whose bursts hold four values of any type. Raises ValueError for anything else.
    """
    _check(stride, offset, dtype)
    request = strided(stride, offset, dtype, toy)
    sentence = f"Stride {stride}, offset {offset}, {'toy memory' if toy else dtype}. {request.sentence}"
    memories = {"real": f"{SECTOR_BYTES}-byte sectors", "toy": f"toy: bursts of {TOY_BURST}"}
    choices = Choice("memory", "memory", memories, "toy" if toy else "real").html
    choices += Choice("dtype", "element type", {name: name for name in ITEMSIZES}, dtype).html
    sliders = Slider("stride", "stride", 0, MOST, stride).html + Slider("offset", "offset", 0, MOST, offset).html + LANE
    body = f"<form>{choices}{sliders}</form>{STAGE}"
    data = {"style": html.style("burst"), "body": body, "itemsizes": ITEMSIZES, "sector": SECTOR_BYTES}
    return View(sentence, data, _still(request, f"Lane i reads x[{offset} + {stride} * i]", sentence))


def of_trace(trace: Trace, line: int | None = None, kind: str | None = None) -> View:
    """A traced kernel by source line, for a page: sectors per request, bank conflicts, and the recorded blocks' requests one by one.

    The request that wastes most sectors is shown first: the one of ``line``, and of its ``kind`` ("load", "store" or "atomic"), if these
    are given. Raises TraceError if that line has no request, and ValueError for another kind; a kind that is not there is passed over.
    """
    listed = listing(trace, line, kind)
    above = f"{listed.table(radios=False)}<div>{escape(listed.note)}</div>"
    if listed.chosen is None:
        return View(listed.note, _data(listed), above)
    request = listed.chosen.requests[listed.chosen.worst]
    lead = f"Line {listed.chosen.line}: {who(request)}"
    sentence = f"{lead} with {plural(request.lanes, 'lane')}. {request.sentence}"
    return View(sentence, _data(listed), above + _still(request, lead, sentence))


def widget(trace: Trace, line: int | None = None, kind: str | None = None):
    """The same for a lab, as an anywidget: its ``line`` is the selected source line, and setting it selects what wastes most there."""
    from warpwise.views.lab import BurstWidget  # here, for a page of the book needs no anywidget

    data = _data(listing(trace, line, kind))
    return BurstWidget(data=data, line=data["line"])


def svg(*requests: Request, captions: tuple[str, ...] = ()) -> str:
    """The text of an SVG file: each request's picture with its caption and counts, one below the other, on white."""
    return strip.sheet(requests, captions or ("",) * len(requests), WIDTH, html.picture_style("burst"))


def _check(stride: int, offset: int, dtype: str) -> None:
    for name, value in (("stride", stride), ("offset", offset)):
        if not 0 <= value <= MOST:
            raise ValueError(f"{name} is {value}; the explorer shows 0 to {MOST} elements")
    if dtype not in ITEMSIZES:
        raise ValueError(f"element type is {dtype!r}; the explorer shows {', '.join(ITEMSIZES)}")


def _still(request: Request, caption: str, sentence: str) -> str:
    """Picture and sentence for a page that runs no script. It scrolls in a narrow one, for its letters must not shrink."""
    legend = strip.legend(request, strip.leaves_out(request, STILL_WIDTH))
    picture = strip.picture(request, STILL_WIDTH, FOLLOWED, caption, legend, strip.LEGEND_HEIGHT)
    scrolls = '<div style="overflow-x:auto;margin-top:.6em" tabindex="0" role="group" aria-label="Picture">'
    return f"{scrolls}<style>{html.picture_style('burst')}</style>{picture}</div><p>{escape(sentence)}</p>"


def _data(listed: Listing) -> dict:
    """What the script needs of a trace, JSON-ready."""
    source = f'<form class="source">{listed.table(radios=True)}</form><p class="note">{escape(listed.note)}</p>'
    step = f'<button type="button">Previous</button>{Slider("step", "request", 1, 1, 1).html}<button type="button">Next</button>'
    steps = f'<form class="steps"><div>{step}</div>{LANE}</form>{STAGE}' if listed.chosen else ""
    line, kind = (listed.chosen.line, listed.chosen.kind) if listed.chosen else (0, "")
    selected = {"lines": listed.lines, "line": line, "kind": kind}
    return {"style": html.style("burst"), "body": source + steps, **selected, "sector": SECTOR_BYTES}
