"""The burst widget's picture as an SVG: 32 lanes, the strip of sectors, and a line from each lane to what it names.

``burst.js`` draws the same picture, shape for shape, when a page runs scripts; a browser test holds the two together. This one is what
a page shows before any script runs, on paper, and in a file. Lengths are CSS pixels.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise
from math import floor

from warpwise.views.request import TOY_BURST, Request

LANE_TOP, LANE_HEIGHT = 36, 12
STRIP_TOP, STRIP_HEIGHT = 142, 40
BOTTOM = STRIP_TOP + STRIP_HEIGHT
HEIGHT = 222
LEGEND_HEIGHT = 28
UNITS_PER_LINE = 4  # a cache line is 128 bytes; address labels stand at its start
FEWEST_SHOWN = 16
MARGIN = 4  # room for a number that is wider than the last box
THINNEST = 2.5  # what is used stays visible beside the outline
NARROWEST = 8  # a narrower sector cannot be read: untouched ones are left out instead
LETTER = 7.2  # width of a digit or a wide letter at 12 px

HATCH = (
    '<pattern id="ww-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path class="hatch" d="M0 0V5"/></pattern>'
)


def picture(request: Request, width: float, lane: int, caption: str, below: str = "", extra: float = 0) -> str:
    """The SVG element. ``lane`` is followed by a heavier line (-1: none). ``below`` is drawn under it, ``extra`` pixels high."""
    inner = width - 2 * MARGIN
    shown, x, cell = layout(request.touched, inner)
    shapes = [
        HATCH,
        _text("", 0, 12, escape(caption)),
        *_memory(request, shown, x, cell),
        *_lanes(request, inner, lane),
        *_fan(request, inner, x, cell, lane),
        *_labels(request, shown, x, cell, inner),
        below,
    ]
    size = f'viewBox="-{MARGIN} 0 {number(width)} {number(HEIGHT + extra)}" width="{number(width)}" height="{number(HEIGHT + extra)}"'
    return f'<svg class="ww-burst" {size} role="img" aria-label="{escape(caption)}">{"".join(shapes)}</svg>'


def layout(touched: tuple[int, ...], width: float) -> tuple[list[int], dict[int, float], float]:
    """Which sectors are drawn, where each starts, and how wide one is. Untouched ones are left out when all would be too narrow."""
    origin = touched[0] // UNITS_PER_LINE * UNITS_PER_LINE
    most = max(FEWEST_SHOWN, -(-(touched[-1] + 1 - origin) // 8) * 8)
    shown = list(range(origin, origin + most)) if width / most >= NARROWEST else list(touched)
    steps = [0.0] + [1.0 if after == before + 1 else 1.5 for before, after in pairwise(shown)]
    cell = width / max(FEWEST_SHOWN, sum(steps) + 1)
    place, x = 0.0, {}
    for unit, step in zip(shown, steps, strict=True):
        place += step
        x[unit] = place * cell
    return shown, x, cell


def legend(request: Request, left_out: bool, y: float = HEIGHT) -> str:
    """What the ways to draw memory mean, in one row of at most 600 pixels."""
    unit, part = request.words
    x, drawn = 0.0, []
    for name, words in (("used", f"{part}s used"), ("moved", "moved, not used"), ("empty", f"{unit} not touched")):
        outline = _rect("touched", x, y + 6, 22, 14) if name == "moved" else ""
        drawn.append(_rect(name, x, y + 6, 22, 14) + outline + _text("", x + 28, y + 17, words))
        x += 48 + LETTER * len(words)
    if left_out:
        drawn.append(_path("gap", f"M{number(x)} {number(y + 13)}h22") + _text("", x + 28, y + 17, "left out"))
    return "".join(drawn)


def leaves_out(request: Request, width: float) -> bool:
    """Whether the picture skips untouched sectors between touched ones."""
    shown, _, _ = layout(request.touched, width - 2 * MARGIN)
    return any(after > before + 1 for before, after in pairwise(shown))


def sheet(requests: tuple[Request, ...], captions: tuple[str, ...], width: float, style: str) -> str:
    """A file's worth of SVG: pictures with their counts in words, one below the other, on white, and one legend."""
    panels, y, margin = [], 16, 20
    for request, caption in zip(requests, captions, strict=True):
        counts = _text("", 0, HEIGHT + 14, escape(request.share))
        inside = picture(request, width, -1, caption, counts).partition(">")[2].removesuffix("</svg>").removeprefix(HATCH)
        panels.append(f'<g transform="translate({margin} {y})">{inside}</g>')
        y += HEIGHT + 34
    key = legend(requests[0], any(leaves_out(request, width) for request in requests), 0)
    box = f'viewBox="0 0 {width + 2 * margin} {y + 40}" width="{width + 2 * margin}" height="{y + 40}"'
    colours = 'style="color:#1f2328;--used:#0b69ad;--waste:#b4560a"'
    label = escape(" ".join(request.share for request in requests))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ww-burst" {box} role="img" aria-label="{label}" {colours}><style>{style}</style>'
        f'{HATCH}<rect width="100%" height="100%" fill="#fff"/>{"".join(panels)}<g transform="translate({margin} {y})">{key}</g></svg>\n'
    )


def number(value: float) -> str:
    """One decimal, rounded as JavaScript's ``Math.round`` does."""
    return f"{floor(value * 10 + 0.5) / 10:.10g}"


def _rect(name: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{name}" x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"/>'


def _path(name: str, d: str) -> str:
    return f'<path class="{name}" d="{d}"/>'


def _text(name: str, x: float, y: float, words: str | int) -> str:
    return f'<text class="{name}" x="{number(x)}" y="{number(y)}">{words}</text>'


def _memory(request: Request, shown: list[int], x: dict[int, float], cell: float) -> list[str]:
    def box(name: str, unit: int) -> str:
        return _rect(name, x[unit], STRIP_TOP, cell, STRIP_HEIGHT)

    middle = number(STRIP_TOP + STRIP_HEIGHT / 2)
    return [
        *(box("empty", unit) for unit in shown if unit not in request.touched),
        *(box("moved", unit) for unit in request.touched),
        *(_rect("used", left, STRIP_TOP, max(right - left, THINNEST), STRIP_HEIGHT) for left, right in _runs(request, x, cell)),
        *(box("touched", unit) for unit in request.touched),
        *(_path("gap", f"M{number(x[a] + cell + 1)} {middle}H{number(x[b] - 1)}") for a, b in pairwise(shown) if b > a + 1),
    ]


def _runs(request: Request, x: dict[int, float], cell: float) -> list[list[float]]:
    """Left and right edge of each used stretch: one per element where elements are wide enough to be told apart, else merged."""
    size = request.itemsize * cell / request.unit
    found: list[list[float]] = []
    for address in sorted({a for a in request.addresses if a >= 0}):
        left = _place(address, request.unit, x, cell)
        if size < 4 and found and left - found[-1][1] < 0.01:
            found[-1][1] = left + size
        else:
            found.append([left, left + size])
    return found


def _place(address: int, unit: int, x: dict[int, float], cell: float) -> float:
    return x[address // unit] + address % unit * cell / unit


def _lanes(request: Request, width: float, followed: int) -> list[str]:
    pitch = width / len(request.addresses)
    step, boxes = (8 if pitch < 17 else 1), []
    for lane, address in enumerate(request.addresses):
        name = ("idle" if address < 0 else "lane") + _mark(lane, followed)
        boxes.append(_rect(name, lane * pitch + 1, LANE_TOP, pitch - 2, LANE_HEIGHT))
        if lane % step == 0:
            boxes.append(_text("middle", (lane + 0.5) * pitch, LANE_TOP - 5, lane))
    return boxes


def _fan(request: Request, width: float, x: dict[int, float], cell: float, followed: int) -> list[str]:
    """A curve from each active lane to the middle of its element; the followed lane's comes last, on top."""
    pitch, top = width / len(request.addresses), LANE_TOP + LANE_HEIGHT
    half = request.itemsize * cell / request.unit / 2

    def curve(lane: int) -> str:
        start = number((lane + 0.5) * pitch)
        end = number(_place(request.addresses[lane], request.unit, x, cell) + half)
        return _path("line" + _mark(lane, followed), f"M{start} {top}C{start} {top + 50} {end} {STRIP_TOP - 50} {end} {STRIP_TOP}")

    active = [lane for lane, address in enumerate(request.addresses) if address >= 0]
    return [curve(lane) for lane in sorted(active, key=lambda lane: lane == followed)]


def _mark(lane: int, followed: int) -> str:
    return " followed" if lane == followed else ""


def _labels(request: Request, shown: list[int], x: dict[int, float], cell: float, width: float) -> list[str]:
    """Below the strip: touched sectors counted, then first bytes: of every line, or of every 2nd, 4th, ... if numbers need the room."""
    every, end = (4 if cell < 17 else 1), len(request.touched)
    counted = [(k, unit) for k, unit in enumerate(request.touched, 1) if k % every == 0 or k == end]
    labels = [_text("count", x[unit] + cell / 2, BOTTOM + 15, k) for k, unit in counted]
    whole = shown[-1] - shown[0] == len(shown) - 1
    across = "v4m0 14" if cell < 17 else ""  # counts are wider than narrow cells: there the tick lets them pass
    able = [unit for unit in shown if not whole or request.unit == TOY_BURST or unit % UNITS_PER_LINE == 0]
    names = {unit: f"{'' if i else request.words[1] + ' '}{unit * request.unit}" for i, unit in enumerate(able)}
    ends = {unit: x[unit] + LETTER * len(name) for unit, name in names.items()}
    by = 1
    while any(ends[a] + 12 > x[b] for a, b in pairwise(able[::by])):
        by *= 2
    for unit in able[::by]:
        if ends[unit] <= width:
            labels.append(_path("tick", f"M{number(x[unit])} {BOTTOM}{across}V{BOTTOM + 34}"))
            labels.append(_text("", x[unit] + 3, BOTTOM + 34, names[unit]))
    return labels
