"""Orders of a fragment: the right one, and those that mistakes make.

*Held* is what the lanes of a warp hold of A or B, ``(32, registers, parts)``; a register with a
word of two bfloat16 has two parts. *Slots* is the same as a matrix. Both hold the numbers of
elements, in the order of memory, or -1 for what is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from warpwise.simt.machine.tensor import matrix_of_a, matrix_of_b
from warpwise.simt.types import Lanes

REGISTERS = {"A": 4, "B": 2}
MATRICES = {"A": matrix_of_a, "B": matrix_of_b}


@dataclass(frozen=True)
class Order:
    """A known mistake: ``mended`` puts the registers right. ``of``: "A", "B", or "" for both."""

    of: str
    told: str
    mended: Callable[[Lanes], Lanes]
    cause: str

    def explains(self, name: str, held: Lanes) -> bool:
        """Return True if the fragment is in order once it is mended."""
        mended = self.mended(held)
        return mended.shape == held.shape and bool(in_order(matrix(name, mended))[0])


def explaining(name: str, held: Lanes) -> list[Order]:
    """Return the known orders that a fragment may be in.

    The first is that which has neighbours in memory for depths, if there are several: to exchange
    a1 and a2 is to transpose each part, and then the whole."""
    found = [one for one in ORDERS if one.of in ("", name) and one.explains(name, held)]
    return sorted(found, key=lambda one: _step_of_depths(name, one.mended(held)))


def one_sided(name: str, held: Lanes) -> bool:
    """Return True if one side alone swizzles what the lanes hold, or by another number of rows."""
    return any(one.explains(name, held) for one in SWIZZLED if one.of == name)


def _step_of_depths(name: str, held: Lanes) -> int:
    slots = matrix(name, held)[0]
    along = slots[0] if name == "A" else slots[:, 0]
    return abs(int(along[1] - along[0]))


def matrix(name: str, held: Lanes) -> Lanes:
    """Return slots, ``(1, rows, columns)``."""
    return MATRICES[name](held[None])


def pitch_of(slots: Lanes) -> int:
    """Return how far apart the rows, or the columns, of a matrix in order lie in memory."""
    steps = slots[1, 0] - slots[0, 0], slots[0, 1] - slots[0, 0]
    return max(abs(int(step)) for step in steps)


def slots_of(name: str, parts: int) -> Lanes:
    """Return row and column of what each register holds, ``(32, registers, parts, 2)``."""
    count = 32 * REGISTERS[name] * parts
    order = matrix(name, np.arange(count, dtype=np.int64).reshape(32, -1, parts))[0]
    places = np.empty((count, 2), np.int64)
    places[order.ravel()] = np.argwhere(np.ones_like(order))
    return places.reshape(32, REGISTERS[name], parts, 2)


def in_order(slots: Lanes) -> Lanes:
    """Return for each warp whether its rows lie one step apart, and its columns.

    ``slots``: ``(warps, rows, columns)``. Steps beside what is not known do not count."""
    return _one_step(slots, 1) & _one_step(slots, 2)


def _one_step(slots: Lanes, axis: int) -> Lanes:
    before, after = (
        slots.take(range(slots.shape[axis] - 1), axis),
        slots.take(range(1, slots.shape[axis]), axis),
    )
    known = ((before >= 0) & (after >= 0)).reshape(len(slots), -1)
    steps = (after - before).reshape(len(slots), -1)
    least = np.where(known, steps, np.iinfo(np.int64).max).min(axis=1)
    most = np.where(known, steps, np.iinfo(np.int64).min).max(axis=1)
    found: Lanes = ~known.any(axis=1) | (least == most)
    return found


def same_depths(a: Lanes, b: Lanes) -> Lanes:
    """Return for each warp whether A and B bring their depths in the same order, whichever it is.

    So it is if an element's place is a sum of one for its row and one for its column, and those of
    the depths are proportional. Of what is not known in full, nothing is said."""
    along_a, along_b = a[:, :1] - a[:, :1, :1], (b[:, :, :1] - b[:, :1, :1]).swapaxes(1, 2)
    summed = _is_sum(a) & _is_sum(b)
    straight = (along_a * along_b[..., 1:2] == along_b * along_a[..., 1:2]).all(axis=(1, 2))
    found: Lanes = summed & straight
    return found


def _is_sum(slots: Lanes) -> Lanes:
    first = slots[:, :1, :1]
    sums = slots[:, :1] - first + slots[:, :, :1]
    found: Lanes = (slots >= 0).all(axis=(1, 2)) & (slots == sums).all(axis=(1, 2))
    return found


# --- mistakes ---


def _exchanged(*registers: int) -> Callable[[Lanes], Lanes]:
    def mended(held: Lanes) -> Lanes:
        return held[:, list(registers)]

    return mended


def _each_transposed(held: Lanes) -> Lanes:
    """Turn over each 8 x 8 part, which a register with two numbers in each lane holds."""
    if held.shape[-1] != 2:
        return held
    parts = held.transpose(1, 0, 2).reshape(-1, 8, 8).swapaxes(1, 2)
    return np.ascontiguousarray(parts.reshape(-1, 32, 2).transpose(1, 0, 2))


def _by_columns(held: Lanes) -> Lanes:
    """Give lane ``4 r + c`` what lane ``r + 8 c`` holds."""
    lanes = np.arange(32, dtype=np.int64)
    mended: Lanes = held[lanes // 4 + lanes % 4 * 8]
    return mended


CHUNKS = 8  #: of 16 bytes, which cover the 32 banks


def _swizzled(name: str, rows: int) -> Callable[[Lanes], Lanes]:
    """Move chunk c of row r to ``c ^ (r & rows)``. Rows are those of A, or columns of B."""

    def mended(held: Lanes) -> Lanes:
        parts = held.shape[-1]
        row = slots_of(name, parts)[..., int(name == "B")]
        moved = np.where(held < 0, held, held ^ (row & rows) * (4 * parts))
        slots = matrix(name, moved)[0]
        pitch = slots[1, 0] - slots[0, 0] if name == "A" else slots[0, 1] - slots[0, 0]
        return moved if pitch and pitch % (CHUNKS * 4 * parts) == 0 else held

    return mended


def _of_swizzle(name: str, one: int, other: int) -> Order:
    """The order of a tile that is written by one swizzle, and read by another.

    Rows modulo ``one`` move the chunks on one side, and rows modulo ``other`` on the other."""
    of_one, of_other = f"c ^ r % {one}", "c" if other == 1 else f"c ^ r % {other}"
    told = (
        "as if chunk c of row r were read at its place without the swizzle"
        if other == 1
        else f"as if its chunk c of row r were written to one of {of_one} and {of_other}, and read "
        "at the other"
    )
    cause = (
        f"one side has chunk c of row r at {of_one} of its row, and the other at {of_other}: "
        f"compare the place that the copies write with that which the lanes read"
    )
    return Order(name, told, _swizzled(name, (one - 1) ^ (other - 1)), cause)


SWIZZLED = tuple(
    _of_swizzle(name, *pair) for name in REGISTERS for pair in combinations((8, 4, 2, 1), 2)
)
ORDERS = (
    Order(
        "A",
        "with a1 and a2 exchanged",
        _exchanged(0, 2, 1, 3),
        "a1 is eight rows on, and a2 the columns on: exchange the two; in ldmatrix, lanes 8 to "
        "15 give rows 8 to 15, and lanes 16 to 31 the right half of the rows",
    ),
    Order(
        "B",
        "with b0 and b1 exchanged",
        _exchanged(1, 0),
        "b0 has the first half of the rows of B, and b1 the second: exchange the two",
    ),
    Order(
        "",
        "with each 8 x 8 part of it transposed",
        _each_transposed,
        "ldmatrix gives a lane neighbours of a row of shared memory, and ldmatrix_trans of a "
        "column: is the other one needed here?",
    ),
    Order(
        "",
        "with the two numbers of each word exchanged",
        lambda held: held[..., ::-1],
        "the lower half of a word is the first of two neighbours: exchange what is packed",
    ),
    Order(
        "",
        "with lanes by columns",
        _by_columns,
        "four lanes, one after another, share a row of A or a column of B: g, q = l // 4, l % 4",
    ),
    *SWIZZLED,
)
