"""A static picture of a trace, for a page that runs no script: what the student's kernel did, drawn by the views.

``picture`` chooses by the reason of the verdict: sectors of a request, banks of shared memory, or lanes over time. The launch may be a
hidden one, so the picture has no address of global memory and no total: between the sectors that a warp touches, all gaps look alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html import escape
from itertools import pairwise

import numpy as np

from warpwise.errors import WarpwiseError
from warpwise.labs.exercise import Reason
from warpwise.metrics import SECTOR_BYTES, WARP_SIZE
from warpwise.trace import Records, Trace

WIDTH = 620  #: pixels; in a narrow page the picture scrolls
MOST_BYTES = 40_000  #: of a figure; a kernel of hundreds of lines has none
STEPS_BEFORE, STEPS_AFTER = 8, 30  #: of a warp, around the first that leaves threads of it out
MOST_CODE = 160  #: characters of a source line
MOST_ROWS = 600  #: records of which the steps are made
MOST_REQUESTS = 256  #: of which the worst is looked for
FAR = 1_000_000  #: bytes between sectors that are not neighbours: so far apart that the picture leaves the gap out
SLOTS = re.compile(r"Issue slots [\d,]+ to [\d,]+ of [\d,]+")
STEP = re.compile(r"^.*?, step \d+\. Line")
LANES = ("warp_efficiency", "divergent_branches", "branches", "warp_instructions", "barriers")


def picture(trace: Trace, reason: str = "") -> str:
    """A figure as HTML, with its caption: complete in itself but for the colours, which ``STYLE`` sets. "" if there is nothing to draw.

    ``reason`` is that of a verdict; it decides what is drawn.
    """
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
    counter = reason.removeprefix(Reason.OVER_BUDGET) if reason.startswith(Reason.OVER_BUDGET) else ""
    if counter.startswith("shared_") and counter != "shared_bytes_per_block":
        return (_banks, _sectors)
    return (_lanes, _sectors) if counter in LANES else (_sectors, _lanes)


def _sectors(trace: Trace, reason: str) -> str:
    """The request to global memory that wastes most, of full warps if there are any."""
    from warpwise.views.request import requests_of

    kind = "load" if reason.endswith("_load") or "_load_" in reason else "store" if reason.endswith("_store") or "_store_" in reason else ""
    requests = [(line, request) for line, listed in requests_of(_few(trace, "global")).items() for request in listed]
    requests = [one for one in requests if one[1].kind == kind] or requests
    if not requests:
        return ""
    line, request = max(requests, key=lambda one: (one[1].wasted, one[1].sectors, one[1].lanes))
    lead = f"{f'Line {line}' if line > 0 else 'A given function'}: a warp {request.verb} {request.array}"
    svg = _drawn("requests", _request(_closed_up(request), line, lead), {"row": str(line), "step": 1, "lane": -1})["picture"]
    ideal = f" {_counted(request.ideal, 'sector')} could hold what it uses." if request.wasted else " Fewer would not do."
    touches = f"touches {_counted(request.sectors, 'sector')} of {SECTOR_BYTES} bytes and uses {request.efficiency:.0%} of them"
    return _figure("requests", svg, f"{lead}. The request {touches}.{ideal}", trace, line)


def _banks(trace: Trace, _: str) -> str:
    """The request to shared memory with most bank conflicts."""
    from warpwise.views import banks

    view = banks.of_trace(_few(trace, "shared"))
    if "nothing" in view.data:
        return ""
    shown = _drawn("banks", view.data, view.values)
    said = re.sub(r"^Line (-\d+|0)\b", "A given function", shown["text"].partition(" Wavefront ")[0])
    return _figure("banks", shown["picture"], said, trace, None)


def _lanes(trace: Trace, _: str) -> str:
    """A warp's steps, from a little before the first that leaves threads of it out."""
    from warpwise.views import divergence

    view = divergence.of_trace(_first_warp(trace))
    data, values = view.data, view.values
    (warp, *_), *_ = data["kernels"][0]["blocks"]
    opens = values["step"] - 1
    first = max(0, opens - STEPS_BEFORE)
    warp["steps"] = warp["steps"][first : opens + STEPS_AFTER]
    warp["all"] = sum(slots for _, slots, *_ in warp["steps"])
    data["kernels"][0]["lines"] = [(number if number > 0 else "", *code) for number, *code in data["kernels"][0]["lines"]]
    shown = _drawn("divergence", data, values | {"step": opens - first + 1})
    line, _, rest = STEP.sub("Line", shown["text"]).partition(" takes ")
    said = (
        f"{line} runs with all 32 lanes."
        if "all 32 lanes active" in rest
        else f"{line} runs with a part of the lanes; the others are masked."
    )
    return _figure("divergence", SLOTS.sub("Part of a warp's issue slots", shown["picture"]), said, trace, None)


def _few(trace: Trace, space: str) -> Trace:
    """The trace with few of its accesses to one memory, of every line some, evenly spread: looking at all takes long."""
    r, arrays = trace.records, [i for i, array in enumerate(trace.arrays) if array.space == space]
    rows = np.flatnonzero(np.isin(r.array, arrays))
    lines = np.unique(r.line[rows])
    each = max(2, MOST_REQUESTS // max(1, len(lines)) // max(1, r.active.shape[1] // WARP_SIZE))
    kept = [on[np.unique(np.linspace(0, len(on) - 1, each).astype(int))] for line in lines if len(on := rows[r.line[rows] == line])]
    return _of_rows(trace, np.sort(np.concatenate(kept)) if kept else rows, r.active.shape[1])


def _first_warp(trace: Trace) -> Trace:
    """The trace with the beginning of its first warp alone."""
    return _of_rows(trace, np.arange(min(len(trace.records.kind), MOST_ROWS)), WARP_SIZE)


def _of_rows(trace: Trace, rows: np.ndarray, threads: int) -> Trace:
    """The trace with some of its records, and of these the first threads."""
    columns = {name: getattr(trace.records, name)[rows] for name in Records.__dataclass_fields__}
    return replace(trace, records=Records(**{name: c[:, :threads] if c.ndim > 1 else c for name, c in columns.items()}))


def _request(request, line: int, lead: str) -> dict:
    """The data of the script ``requests.js`` with this one request."""
    from warpwise.views.request import deltas

    packed = {"lead": lead, "verb": request.verb, "array": request.array, "itemsize": request.itemsize, "deltas": deltas(request.addresses)}
    one = {"row": str(line), "total": 1, "first": 1, "worst": 1, "requests": [packed | {"bare": True}]}
    return {"lines": [one], "note": "", "sector": SECTOR_BYTES}


def _closed_up(request):
    """The request with its sectors in the same order, and every gap between them equally wide."""
    moved, at = {}, 0
    for before, sector in pairwise((None, *request.touched)):
        at += 0 if before is None else SECTOR_BYTES if sector == before + 1 else FAR * SECTOR_BYTES
        moved[sector] = at
    addresses = tuple(a if a < 0 else moved[a // SECTOR_BYTES] + a % SECTOR_BYTES for a in request.addresses)
    return replace(request, addresses=addresses)


def _drawn(name: str, data: dict, values: dict) -> dict:
    from warpwise.views.view import shown

    return shown(name, data, values, WIDTH)


@cache
def _style(name: str) -> str:
    from warpwise.views import html

    return html.picture_style(name)


def _figure(name: str, svg: str, said: str, trace: Trace, line: int | None) -> str:
    source = f" <code>{escape(trace.source[line].strip()[:MOST_CODE])}</code>" if line in trace.source else ""
    scrolls = f'<div class="scrolls" tabindex="0" role="group" aria-label="Picture of {escape(trace.kernel)}"><style>{_style(name)}</style>'
    return f'<figure class="still">{scrolls}{svg}</div><figcaption>{escape(said)}{source}</figcaption></figure>'


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
