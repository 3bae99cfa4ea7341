"""Names of elements that a product gets, and of places in its matrices, as messages have them.

An element of a flat array gets its row and its place there too, where the length of a row is known.
"""

from __future__ import annotations

from warpwise.labs.fragments.provenance import Origin
from warpwise.messages import Element, Name
from warpwise.simt.types import Lanes

HALVES = ("", "the lower half of ", "the upper half of ")


def held(origin: Origin, cells: Lanes, pitch: int = 0) -> str:
    """Name the elements that a register holds; a word of two numbers is named whole.

    ``pitch``: numbers in a row of a flat array, 0 if that is not known."""
    places = [origin.of(cell) if cell >= 0 else None for cell in cells.tolist()]
    first = places[0]
    if len(places) == 2 and first and first[2] == 1 and places[1] == (*first[:2], 2):
        return whole(origin, int(cells[0]), pitch)
    return " and ".join(
        HALVES[place[2]] + whole(origin, cell, pitch) if place else "something else"
        for place, cell in zip(places, cells.tolist(), strict=True)
    )


def whole(origin: Origin, cell: int, pitch: int = 0) -> str:
    """Name the element of an array that a number is, or a part of."""
    name, index, half = origin.of(cell)
    element = Element(Name(name), index).open()
    parts = 2 if half else 1
    if len(index) > 1 or pitch < parts:
        return element
    row, place = divmod(index[0], pitch // parts)
    return f"{element} (row {row}, {'word' if half else 'column'} {place})"


def place(slots: Lanes) -> str:
    """Name the places of a matrix that a register stands for."""
    first, last = slots[0].tolist(), slots[-1].tolist()
    if first == last:
        return f"row {first[0]}, column {first[1]}"
    if first[0] == last[0]:
        return f"row {first[0]}, columns {first[1]} and {last[1]}"
    return f"rows {first[0]} and {last[0]} of column {first[1]}"
