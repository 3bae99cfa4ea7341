"""The order in which the blocks of a matrix product run, and the panels that a wave loads.

A block at (row, column) of the grid reads one panel of A, that of its row, and one of B, that of
its column. Blocks that run together share panels through L2, so a wave loads as many as it has
rows and columns. Modelled: the blocks of a wave start and end together, in the order of their
numbers."""

from __future__ import annotations

from collections.abc import Iterable

from warpwise.model.arguments import one_of, whole

Place = tuple[int, int]  #: row, column
ORDERS = ("row", "grouped", "hilbert")
POWERS = tuple(2**k for k in range(11))  #: sides of Hilbert's curve


def places(order: str, side: int, group: int = 8) -> tuple[Place, ...]:
    """Return where each block of a ``side`` x ``side`` grid is, in the order of their numbers.

    ``order``: "row", along the rows; "grouped", down the columns of ``group`` rows at a time; or
    "hilbert", along Hilbert's curve, for which ``side`` is a power of two. Raises LaunchError for
    another word or number."""
    one_of("order", order, ORDERS)
    if order == "hilbert":
        side = one_of("side", side, POWERS)
        return tuple(_hilbert(side, number) for number in range(side * side))
    group = whole("group", group, 1, side) if order == "grouped" else 1
    return tuple(_grouped(side, group, number) for number in range(side * side))


def _grouped(side: int, group: int, number: int) -> Place:
    first = number // (group * side) * group
    rows = min(group, side - first)
    within = number - first * side
    return first + within % rows, within // rows


def _hilbert(side: int, number: int) -> Place:
    """Follow the curve's quarters from the smallest to the largest, turning each into its place."""
    row = column = 0
    size = 1
    while size < side:
        right = number // 2 & 1
        down = (number ^ right) & 1
        if not down:
            if right:
                row, column = size - 1 - row, size - 1 - column
            row, column = column, row
        row, column = row + size * down, column + size * right
        number, size = number // 4, 2 * size
    return row, column


def panels(wave: Iterable[Place]) -> int:
    """Return how many panels of A and of B these blocks read, each counted once."""
    rows, columns = zip(*wave, strict=True)
    return len(set(rows)) + len(set(columns))
