"""Still pictures of a trace, drawn by the views, for a page that runs no script.

``picture`` chooses by the reason of the verdict: sectors of a request, banks of shared memory, or
lanes over time. The launch may be a hidden one, so the picture has no address of global memory and
no total: all gaps between the sectors that a warp touches look alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwise.errors import WarpwiseError
from warpwise.labs.exercise import Reason
from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.model.arguments import quantity
from warpwise.traces import Records, Trace

if TYPE_CHECKING:  # imported only where a picture is drawn
    from warpwise.views.request import Request

WIDTH = 620  #: pixels; in a narrow page the picture scrolls
MOST_BYTES = 40_000  #: of a figure; a kernel of hundreds of lines gets none
STEPS_BEFORE, STEPS_AFTER = 8, 30  #: of a warp, around its first divergent one
MOST_CODE = 160  #: characters of a source line
MOST_ROWS = 600  #: records from which the steps are made
MOST_REQUESTS = 256  #: among which the worst is looked for
#: sectors between any two that are not neighbours: so far that the picture leaves the gap out
FAR = 1_000_000
NOTHING_WASTED = "Fewer would not do."
SLOTS = re.compile(r"Issue slots [\d,]+ to [\d,]+ of [\d,]+")
STEP = re.compile(r"^.*?, step \d+\. ")
LANES = ("warp_efficiency", "divergent_branches", "branches", "warp_instructions", "barriers")


def picture(trace: Trace, reason: str = "") -> str:
    """Draw a figure with its caption, as HTML; "" if there is nothing to draw.

    ``reason`` is that of a verdict; it decides what is drawn."""
    try:
        drawn = next((figure for draw in _in_turn(reason) if (figure := draw(trace, reason))), "")
    except (ImportError, WarpwiseError):
        return ""
    return drawn if len(drawn.encode()) <= MOST_BYTES else ""


def warm() -> None:
    """Load what pictures need, so that a process forked from this one draws at once."""
    from warpwise.views import banks, burst, divergence  # noqa: F401
    from warpwise.views.request import strided

    try:
        _drawn("requests", _request(strided(), 1, ""), {"row": "1", "step": 1, "lane": -1})
        _style("banks"), _style("divergence")
    except ImportError:
        pass


def _in_turn(reason: str) -> tuple[Callable[[Trace, str], str], ...]:
    over = reason.startswith(Reason.OVER_BUDGET)
    counter = reason.removeprefix(Reason.OVER_BUDGET) if over else ""
    if counter.startswith("shared_") and counter != "shared_bytes_per_block":
        return (_banks, _sectors)
    return (_lanes, _sectors) if counter in LANES else (_sectors, _lanes)


def _sectors(trace: Trace, reason: str) -> str:
    """Draw the request to global memory that wastes most, of full warps if there are any."""
    from warpwise.views.request import requests_of
    from warpwise.views.sourcetable import heading

    kinds = ("load", "store")
    kind = next((k for k in kinds if reason.endswith(f"_{k}") or f"_{k}_" in reason), "")
    by_line = requests_of(_few(trace, "global"))
    requests = [(line, request) for line, listed in by_line.items() for request in listed]
    requests = [one for one in requests if one[1].kind == kind] or requests
    if not requests:
        return ""
    line, request = max(requests, key=lambda one: (one[1].wasted, one[1].sectors, one[1].lanes))
    lead = f"{heading(trace.place(line))}: a warp {request.verb} {request.array}"
    data = _request(_closed_up(request), line, lead)
    svg = _drawn("requests", data, {"row": str(line), "step": 1, "lane": -1})["picture"]
    fewer = f"{quantity(request.ideal, 'sector')} could hold what it uses."
    touches = f"{quantity(request.sectors, 'sector')} of {SECTOR_BYTES} bytes"
    said = f"{lead}. The request touches {touches} and uses {request.efficiency:.0%} of them."
    ideal = fewer if request.wasted else NOTHING_WASTED
    return _figure("requests", svg, f"{said} {ideal}", trace, line)


def _banks(trace: Trace, _: str) -> str:
    """Draw the request to shared memory with most bank conflicts."""
    from warpwise.views import banks

    view = banks.of_trace(_few(trace, "shared"))
    if "nothing" in view.data:
        return ""
    shown = _drawn("banks", view.data, view.values)
    text = shown["text"].partition(" Wavefront ")[0]
    return _figure("banks", shown["picture"], text, trace, None)


def _lanes(trace: Trace, _: str) -> str:
    """Draw a warp's steps, from a little before the first divergent one."""
    from warpwise.views import divergence

    view = divergence.of_trace(_first_warp(trace))
    data, values = view.data, view.values
    (warp, *_), *_ = data["kernels"][0]["blocks"]
    opens = values["step"] - 1
    first = max(0, opens - STEPS_BEFORE)
    warp["steps"] = warp["steps"][first : opens + STEPS_AFTER]
    warp["all"] = sum(slots for _, slots, *_ in warp["steps"])
    shown = _drawn("divergence", data, values | {"step": opens - first + 1})
    line, _, rest = STEP.sub("", shown["text"]).partition(" takes ")
    part = "runs with a part of the lanes; the others are masked."
    runs = "runs with all 32 lanes." if "all 32 lanes active" in rest else part
    svg = SLOTS.sub("Part of a warp's issue slots", shown["picture"])
    return _figure("divergence", svg, f"{line} {runs}", trace, None)


def _few(trace: Trace, space: str) -> Trace:
    """Keep few of a trace's accesses to one memory, of every line some, evenly spread.

    To look at all of them takes long."""
    r, arrays = trace.records, [i for i, array in enumerate(trace.arrays) if array.space == space]
    rows = np.flatnonzero(np.isin(r.array, arrays))
    lines = np.unique(r.line[rows])
    each = max(2, MOST_REQUESTS // max(1, len(lines)) // max(1, r.active.shape[1] // WARP_SIZE))
    kept = []
    for line in lines:
        on = rows[r.line[rows] == line]
        kept.append(on[np.unique(np.linspace(0, len(on) - 1, each).astype(int))])
    return _of_rows(trace, np.sort(np.concatenate(kept)) if kept else rows, r.active.shape[1])


def _first_warp(trace: Trace) -> Trace:
    """Keep only the beginning of a trace's first warp."""
    return _of_rows(trace, np.arange(min(len(trace.records.kind), MOST_ROWS)), WARP_SIZE)


def _of_rows(trace: Trace, rows: np.ndarray, threads: int) -> Trace:
    """Keep some records of a trace, and of these the first threads."""
    columns = {name: getattr(trace.records, name)[rows] for name in Records.__dataclass_fields__}
    kept = {name: c[:, :threads] if c.ndim > 1 else c for name, c in columns.items()}
    return replace(trace, records=Records(**kept))


def _request(request: Request, line: int, lead: str) -> dict[str, Any]:
    """Make the data of the script ``requests.js`` with this one request."""
    from warpwise.views.request import packed

    bare = packed(request, lead) | {"bare": True}
    one = {"row": str(line), "total": 1, "first": 1, "worst": 1, "requests": [bare]}
    return {"lines": [one], "note": "", "sector": SECTOR_BYTES}


def _closed_up(request: Request) -> Request:
    """Keep the order of a request's sectors, and make every gap between them equally wide."""
    moved, at = {}, 0
    for before, sector in pairwise((None, *request.touched)):
        at += 0 if before is None else 1 if sector == before + 1 else FAR
        moved[sector] = at * SECTOR_BYTES
    named = ((a, divmod(a, SECTOR_BYTES)) for a in request.addresses)
    addresses = tuple(a if a < 0 else moved[sector] + rest for a, (sector, rest) in named)
    return replace(request, addresses=addresses)


def _drawn(name: str, data: dict[str, Any], values: dict[str, Any]) -> dict[str, str]:
    from warpwise.views.view import shown

    return shown(name, data, values, WIDTH)


@cache
def _style(name: str) -> str:
    from warpwise.views import html

    return "".join(html.picture_sheets(name))


def _figure(name: str, svg: str, said: str, trace: Trace, line: int | None) -> str:
    code = trace.source.get(line, "").strip()[:MOST_CODE] if line is not None else ""
    source = f" <code>{escape(code)}</code>" if line in trace.source else ""
    label = f'tabindex="0" role="group" aria-label="Picture of {escape(trace.kernel)}"'
    scrolls = f'<div class="scrolls" {label}><style>{_style(name)}</style>{svg}</div>'
    caption = f"<figcaption>{escape(said)}{source}</figcaption>"
    return f'<figure class="still">{scrolls}{caption}</figure>'
