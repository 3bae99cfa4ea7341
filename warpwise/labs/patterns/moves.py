"""Patterns of right values in wrong places: transposed, reversed, shifted, exchanged in tiles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern
from warpwise.labs.patterns.other_lines import other_lines

FEWEST = 4  # different values below which a permutation tells nothing
REPEATS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
REPEATED = (
    "an index leaves out the number of the block, or of the warp, so that each takes what the "
    "first one does: does it count the blocks before?"
)
GROUPS = (32, 16, 8, 4, 64, 128, 256)


def moved(f: Failure) -> Pattern | None:
    """The values are those that are due, elsewhere."""
    want = f.numbers[1]
    if np.unique(want).size < FEWEST or np.isnan(want).any():
        return None
    found = _planes(f) or _transposed(f) or _repeated(f) or _shifted(f) or other_lines(f)
    if found or not _same_values(f):
        return found
    return _in_groups(f) or Pattern(
        f"{f.name} holds the right values in other places",
        (
            "an index is computed from the wrong numbers: which element does each thread store?",
            "the order of two axes, or of the parts of an index, is exchanged",
        ),
    )


def _same_values(f: Failure) -> bool:
    got, want = f.numbers
    return f.same(np.sort(got, axis=None), np.sort(want, axis=None))


def _transposed(f: Failure) -> Pattern | None:
    got, want = f.numbers
    if got.ndim < 2 or got.shape[-1] < 2 or got.shape[-2] < 2:
        return None
    turned = np.swapaxes(want, -1, -2)
    if got.shape == turned.shape and f.same(got, turned):
        seen = f"{f.name} is transposed: its rows are the columns that are due"
        return Pattern(seen, ("row and column are exchanged in an index, or x and y",))
    if f.same(np.ravel(got), np.ravel(turned)):
        seen = f"{f.name} holds the elements in the order of the transposed matrix"
        return Pattern(seen, ("row and column are exchanged, in an index or by a missing .T",))
    return None


def _planes(f: Failure) -> Pattern | None:
    """The order of the elements is kept where it should change."""
    for name, array in f.arrays.items():
        other_shape = array.size == f.got.size and array.shape != f.got.shape
        if other_shape and f.same(f.numbers[0].ravel(), array.ravel()):
            seen = f"{f.name} holds the elements of {name} in the order that they have there"
            turn = "a reshape keeps that order: exchange row and column of the index instead"
            return Pattern(seen, (turn,))
    return None


def _repeated(f: Failure) -> Pattern | None:
    """A vector repeats what its beginning should be, as where each block takes the first's."""
    got, want = f.numbers
    if got.ndim != 1 or got.shape != want.shape:
        return None
    for count in REPEATS:
        if count <= got.size // 2 and f.same(got, want[np.arange(got.size) % count]):
            which = "the first value" if count == 1 else f"the first {count} values"
            return Pattern(f"{f.name} repeats {which}", (REPEATED, "its index never changes"))
    return None


def _shifted(f: Failure) -> Pattern | None:
    """Along one axis everything is reversed, or some places from where it belongs."""
    got, want = f.numbers
    for axis in range(got.ndim):
        size = got.shape[axis]
        line = _line(f, axis)
        if size > 2 and f.same(got, np.flip(want, axis)):
            seen = f"{f.name} is reversed{line}"
            return Pattern(seen, (f"an index counts from the wrong end{line}",))
        for by in _distances(size):
            if _overlap_is_same(f, got, want, axis, by):
                places = "1 place" if abs(by) == 1 else f"{abs(by)} places"
                way = "after" if by > 0 else "before"
                seen = f"{f.name} holds the right values {places} {way} where they belong{line}"
                return Pattern(seen, (f"an index is {abs(by)} off{line}: where does it begin?",))
    return None


def _line(f: Failure, axis: int) -> str:
    return "" if f.got.ndim == 1 else f" along axis {axis}"


def _distances(size: int) -> Iterator[int]:
    for by in (1, 2, 3, 4, 8, 16, 32, 64):
        if by <= size // 2:
            yield from (by, -by)


def _overlap_is_same(f: Failure, got: np.ndarray, want: np.ndarray, axis: int, by: int) -> bool:
    first = [slice(None)] * got.ndim
    second = [slice(None)] * got.ndim
    first[axis], second[axis] = slice(by, None), slice(None, -by)
    if by < 0:
        first[axis], second[axis] = slice(None, by), slice(-by, None)
    a, b = got[tuple(first)], want[tuple(second)]
    return a.size >= FEWEST and np.ptp(b) > 0 and f.same(a, b)


def _in_groups(f: Failure) -> Pattern | None:
    """Values stay within their block, tile, row or column, in another order there."""
    got, want = f.numbers
    for rows, cols in _tiles(f):
        if f.same(_sorted_in_tiles(got, rows, cols), _sorted_in_tiles(want, rows, cols)):
            seen = f"each tile of {rows} x {cols} holds its own values in another order"
            swap = "the two indices of the tile are exchanged where it is written or read"
            return Pattern(seen, (swap, "x and y are exchanged within the block"))
    for axis, name in ((-1, "row"), (-2, "column")):
        if got.ndim > 1 and f.same(np.sort(got, axis), np.sort(want, axis)):
            seen = f"each {name} of {f.name} holds its own values in another order"
            return Pattern(seen, (f"the index along a {name} is wrong",))
    for size in GROUPS:
        if got.ndim == 1 and got.size > size and _groups_agree(f, size):
            seen = f"each {size} elements of {f.name} hold their own values in another order"
            return Pattern(seen, ("the index within a block or warp is wrong: is it reversed?",))
    return None


def _groups_agree(f: Failure, size: int) -> bool:
    got, want = (side[: side.size // size * size].reshape(-1, size) for side in f.numbers)
    return f.same(np.sort(got, 1), np.sort(want, 1))


def _tiles(f: Failure) -> Iterator[tuple[int, int]]:
    if f.got.ndim != 2:
        return
    sizes = [f.tile] if len(f.tile) == 2 else []
    for rows, cols in dict.fromkeys([*sizes, (32, 32), (16, 16), (8, 32), (32, 8)]):
        if rows <= f.got.shape[0] and cols <= f.got.shape[1]:
            yield rows, cols


def _sorted_in_tiles(array: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Return the whole tiles of a matrix, each as a sorted row."""
    down, right = (n // size for n, size in zip(array.shape, (rows, cols), strict=True))
    whole = array[: down * rows, : right * cols].reshape(down, rows, right, cols)
    return np.sort(whole.transpose(0, 2, 1, 3).reshape(-1, rows * cols), 1)
