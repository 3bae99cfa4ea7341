"""Every view of the gallery without a browser, and the marks of its picture: which there are, and
the words that each has."""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

import numpy as np
import quickjs

from support.cells import CELL
from support.gallery import TEXTS
from warpwise.cells.run import evaluated, remembered
from warpwise.views import html
from warpwise.views.controls import Choice, Hidden, Slider
from warpwise.views.view import Json, View

#: Looks of what is no mark: frames, axes, curves, and lines that lead from one mark to another.
SCENERY = {"rule", "grid", "edge", "hatch", "line", "press", "roof", "stretch", "ring"}
SCENERY |= {"dots", "stroke-one", "stroke-two"}
_CALL = """
globalThis.shown = (data, values, width) => {
  const made = show(JSON.parse(data), JSON.parse(values), width);
  return JSON.stringify({ ...made, marks: made.marks?.() ?? [] });
};"""


@cache
def views_of(stem: str) -> tuple[View, ...]:
    """Return the views that the cells of one of the gallery's pages make, in their order."""
    return tuple(_made(stem))


def _made(stem: str) -> Iterator[View]:
    space: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(CELL.findall(TEXTS[stem])):
        lines = [line for line in cell.splitlines()[1:-1] if not line.startswith(":")]
        name = f"<{stem} {number}>"
        tree = ast.parse(remembered("\n".join(lines), name), name)
        one = evaluated(tree, name, space)
        if isinstance(one, View):
            yield one


def states(view: View, count: int) -> Iterator[Json]:
    """Yield a view's first values, and others that are drawn from its name."""
    draw = random.Random(view.name)
    yield view.values
    for _ in range(count):
        yield {control.name: _place(control, draw) for control in view.controls}


def _place(control, draw: random.Random):
    if isinstance(control, Slider):
        return draw.randint(control.least, control.most)
    if isinstance(control, Choice):
        return draw.choice(list(control.options))
    return control.value if isinstance(control, Hidden) else draw.random() < 0.5


class Script:
    """A widget's script, as a page runs it."""

    def __init__(self, name: str):
        self.context = quickjs.Context()
        pageless = "const customElements = { get: () => true };\n"
        self.context.module(pageless + html.script(name) + _CALL)

    def shown(self, data: Json, values: Json, width: int) -> Json:
        """Draw, once more where one control keeps another in its limits."""
        for _ in range(2):
            text = self.context.get("shown")(json.dumps(data), json.dumps(values), width)
            made = json.loads(text)
            for name, (least, most) in made.get("limits", {}).items():
                values = values | {name: max(least, min(most, values[name]))}
        return made


@dataclass(frozen=True)
class Mark:
    """A place in the picture that is drawn, and its words, if there are any."""

    look: str
    x: float
    y: float
    words: str


def marks(made: Json) -> list[Mark]:
    """Return the marks of a picture: its shapes, and each piece of what is drawn as one shape."""
    inside = made["picture"].split("</svg>")[0].split(">", 1)[1]
    shapes = list(_shapes(ElementTree.fromstring(f"<svg>{inside}</svg>")))
    over = [_box(one) for one in shapes if one.tag == "rect" and one.get("data-is")]
    cells = [*made["marks"], *over]
    boxes = np.array([cell[:4] for cell in cells] or [[0] * 4], float)
    return [
        Mark(shape.get("class"), x, y, shape.get("data-is") or _of_cell(cells, boxes, x, y))
        for shape in shapes
        for x, y in _places(shape)
    ]


def _box(shape: ElementTree.Element) -> list:
    sides = [float(shape.get(side)) for side in ("x", "y", "width", "height")]
    return [*sides, shape.get("data-is")]


def _shapes(part: ElementTree.Element) -> Iterator[ElementTree.Element]:
    for shape in part:
        look = (shape.get("class") or "").split()
        if shape.tag == "g" and "key" not in look:
            yield from _shapes(shape)
        elif shape.tag in ("rect", "circle", "path") and look[0] not in SCENERY:
            yield shape


def _places(shape: ElementTree.Element) -> list[tuple[float, float]]:
    """A place inside a shape, or inside each piece of a path."""

    def of(*names: str) -> list[float]:
        return [float(shape.get(name)) for name in names]

    if shape.tag == "circle":
        return [(*of("cx", "cy"),)]
    if shape.tag == "rect":
        x, y, wide, high = of("x", "y", "width", "height")
        return [(x + wide / 2, y + high / 2)] if wide > 0 and high > 0 else []
    found = re.findall(r"M(-?[\d.]+) (-?[\d.]+)", shape.get("d"))
    return [(float(x) + 0.7, float(y) + 0.7) for x, y in found]


def _of_cell(cells: list, boxes: np.ndarray, x: float, y: float) -> str:
    """The words of the first cell, or of a shape with words, that a place lies in."""
    left, top, wide, high = boxes.T
    across = (left - 1 <= x) & (x <= left + wide + 1)
    held = np.flatnonzero(across & (top - 1 <= y) & (y <= top + high + 1))
    return next((cells[k][4] for k in held if k < len(cells) and cells[k][4]), "")
