"""Patterns of places: which elements are wrong, and which are right.

The same description serves elements that were never written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

MOST_LISTED = 6  # marks without a rule that are worth telling
MOSTLY = 0.9  # share of wrong elements above which a line is wrong: some are right by chance
ONE_LINE = 0.5  # the same, where no other line has any wrong element
PERIODS = (2, 3, 4, 8, 16, 32, 64, 128)
EDGE = (
    "the last, partial tile or block is left out, or treated as if it were whole: look at the "
    "guard, and at where the loop ends"
)
TOO_SOON = "a guard or a loop ends too soon: is its end the number of elements, or the last one?"
BEGINS = "a loop or an index begins in the wrong place: the first ones are a case of their own"
SHARES = (
    "the share of a thread is wrong: an index with // or %, a lane for a thread, one warp or one "
    "thread for all"
)
SEAM = (
    "a loop over tiles begins or ends one element off, so that a tile is left out where only its "
    "first or last element counts: work out the bound for that tile"
)
HALO = (
    "at its ends a block or tile needs elements of its neighbours, the halo: are they loaded, or "
    "taken for 0?"
)
WHOSE = (
    "what is done depends on the number of the element, odd or even, or on that of the thread: "
    "which of the two is asked for?"
)
FEW_THREADS = (
    "there are more elements than threads, so each thread needs a loop with steps of "
    "cuda.gridsize(1)"
)
OWN = (
    "what each {line} has of its own is wrong, such as its sum, maximum or scale: "
    "what sets the wrong ones apart?"
)
OF_PRODUCT = (
    "each {line} of a product is made of one {line} of a factor, tile by tile: which one do the "
    "wrong {line}s take, and with which index is it loaded?"
)
OF_BLOCK = (
    "what is right is as long as a block: does each index count the blocks before, by as many "
    "elements as a block takes?"
)
OF_A_FUNCTION = (
    "they are a case of their own, which takes the wrong branch or has none: what sets their "
    "inputs apart from those of the right ones?",
    "an end is included that should not be, or left out: < or <=, and where a range begins and "
    "ends",
)
CONDITIONS = ("if", "where", "select", "minimum", "maximum", "clip", "min", "max")
OF_A_FORMULA = (
    "what do they take that the right ones do not: a term, a factor or a unit of their own?",
    "an index or an axis is another one there",
)
OUTER = (
    "an outer index, such as the number of a head, is left out or is another array's where "
    "something is read or written"
)


@dataclass(frozen=True)
class Place:
    """Where marked elements stand, in words, and what usually marks those."""

    told: str
    causes: tuple[str, ...]


def some_wrong(f: Failure) -> Pattern | None:
    """Some elements are right: say which are wrong."""
    if f.wrong.all() or f.wrong.size < 2:
        return None
    found = place(f.wrong, f.tile)
    if found is None:
        return None
    of_text = OF_A_FUNCTION if f.uses(*CONDITIONS) or not f.words else OF_A_FORMULA
    causes = found.causes if f.tile else of_text
    causes = (f.over_all, *causes) if f.over_all else causes
    if f.is_product:
        causes = tuple(map(_of_product, causes))
    if found.causes[0] not in (EDGE, OUTER, SEAM):
        causes = f.likely(*causes)
    return Pattern(_wrong(found.told), causes)


def _of_product(cause: str) -> str:
    """Speak of rows and columns of the factors where a cause speaks of sums and scales."""
    lines = {OWN.format(line=line): line for line in ("row", "column")}
    return OF_PRODUCT.format(line=lines[cause]) if cause in lines else cause


def at_the_edge(f: Failure) -> Pattern | None:
    """Whole tiles or blocks are right, and what is left over is wrong."""
    found = place(f.wrong, f.tile)
    if not f.tile or found is None or found.causes[0] not in (EDGE, HALO):
        return None
    return Pattern(_wrong(found.told), found.causes)


def _wrong(told: str) -> str:
    return f"wrong: {told}" + ("" if "are right" in told else "; all others are right")


def place(marked: np.ndarray, tile: tuple[int, ...] = ()) -> Place | None:
    """Describe where the marked elements of an array stand; None if no simple rule says it.

    ``tile``: the threads of a block, rows first. A mask of several axes is described along the one
    that it depends on, or by the corner that it leaves."""
    if marked.all() or not marked.any():
        return None
    for axis in range(marked.ndim):
        others = tuple(other for other in range(marked.ndim) if other != axis)
        share = marked.mean(others)
        mostly = ONE_LINE if np.count_nonzero(share) == 1 else MOSTLY
        if ((share == 0) | (share > mostly)).all() and (share == 0).any():
            line, step = _line(marked.ndim, axis), _step(tile, marked.ndim, axis)
            found = _along(share > 0, line, step)
            if found and axis < marked.ndim - 2:
                told = f"along axis {axis}, {found.told}"
                return Place(told, (OUTER, *found.causes))
            return found
    if marked.ndim >= 2:
        return _corner(marked, tile) or _diagonal(marked) or _in_some(marked, tile)
    return None


def _in_some(marked: np.ndarray, tile: tuple[int, ...]) -> Place | None:
    """Describe marks that are alike wherever there are any along the first of three axes."""
    there = np.flatnonzero(marked.reshape(len(marked), -1).any(1))
    inner = marked[there]
    if marked.ndim < 3 or there.size > MOST_LISTED or not (inner == inner[0]).all():
        return None
    found = place(inner[0], tile)
    which = f"{_listed(there)} of {len(marked)} along axis 0"
    return found and Place(f"{found.told}, at {which}", found.causes)


def _line(ndim: int, axis: int) -> str:
    if ndim == 1:
        return "element"
    names = {ndim - 1: "column", ndim - 2: "row"}
    return names.get(axis, "index")


def _step(tile: tuple[int, ...], ndim: int, axis: int) -> int:
    """Return the threads of a block along an axis; 0 if it does not go that way."""
    from_end = axis - ndim
    return tile[from_end] if len(tile) >= -from_end else 0


def _lines(line: str) -> str:
    return "indices" if line == "index" else f"{line}s"


def _along(marked: np.ndarray, line: str, step: int) -> Place | None:
    """Describe marks along one axis."""
    places, count = np.flatnonzero(marked), marked.size
    first, last = int(places[0]), int(places[-1])
    lines = _lines(line)
    if places.size == 1:
        return _single(first, count, line, step)
    if last - first + 1 == places.size:
        if last == count - 1:
            return _tail(first, count, lines, line, step)
        if first == 0:
            causes = (BEGINS, OWN.format(line=line))
            return Place(f"the first {places.size} {lines}, 0 to {last}", causes)
        return Place(f"{lines} {first} to {last} of {count}", (BEGINS, OWN.format(line=line)))
    for period in PERIODS:
        rest = np.unique(places % period)
        if rest.size < period <= count // 2 and places.size > 2 and _periodic(marked, period):
            each = f"each {_ordinal(period)} of the {lines}, from {int(rest[0])} on"
            if rest.size > 1:
                each = f"the {lines} whose number % {period} is {_runs(rest)}"
            return Place(each, (SHARES, OWN.format(line=line)))
    if places.size > MOST_LISTED:
        return _at_seams(marked, lines, step) or _by_turns(marked, lines)
    told = f"{lines} {_listed(places)}, of {count}"
    return Place(told, (OWN.format(line=line), EDGE))


def _single(index: int, count: int, line: str, step: int) -> Place:
    if step > 1 and 0 < index < count - 1 and index % step in (0, step - 1):
        end = "first" if index % step == 0 else "last"
        told = f"{line} {index} of {count} only, the {end} of a tile of {step}"
        return Place(told, (SEAM, OWN.format(line=line)))
    which = {0: f"the first {line} only", count - 1: f"the last {line} only"}
    told = which.get(index, f"{line} {index} of {count} only")
    causes = (BEGINS, TOO_SOON) if index == 0 else (TOO_SOON, EDGE)
    if 0 < index < count - 1:
        causes = (OWN.format(line=line), EDGE)
    return Place(told, causes)


def _tail(first: int, count: int, lines: str, line: str, step: int) -> Place | None:
    """Describe marks from a place on to the end."""
    if first < 3 and count > MOST_LISTED:
        return None  # what is first is often right by chance
    told = f"the {lines} from {first} on, {count - first} of {count}"
    sizes = [size for size in (step, 32, 16, 64, 8) if size > 1]
    whole = next((size for size in sizes if first == count // size * size), 0)
    if whole:
        return Place(f"{told}: what is right are whole tiles of {whole}", (EDGE, TOO_SOON))
    tiled = next((size for size in sizes if first % size == 0), 0)
    if tiled == first:
        first_tile = (
            f"only the first tile or block of {tiled} is right: what changes in the second, "
            "and what has to be kept, rescaled or begun anew between them?"
        )
        causes = (OF_BLOCK, first_tile) if tiled == step else (first_tile, EDGE)
        return Place(f"{told}: the first {tiled} are right", causes)
    return Place(told, (TOO_SOON, EDGE))


def _periodic(marked: np.ndarray, period: int) -> bool:
    """True if whether an element is marked depends on its number modulo the period."""
    return all(np.unique(marked[rest::period]).size < 2 for rest in range(period))


def _at_seams(marked: np.ndarray, lines: str, step: int) -> Place | None:
    """Describe marks close to where one block or tile ends and the next begins."""
    number = np.flatnonzero(marked)
    for size in dict.fromkeys((step, 32, 64, 128, 256)):
        if size < 8 or size >= marked.size:
            continue
        from_seam = np.minimum(number % size, size - 1 - number % size)
        if from_seam.max() < size // 8:
            told = f"{lines} where one block or tile of {size} ends and the next begins"
            return Place(told, (HALO, EDGE))
    return None


def _by_turns(marked: np.ndarray, lines: str) -> Place | None:
    """Describe marks on the odd places up to some place, and on the even ones from there on."""
    number = np.arange(marked.size)
    other = marked ^ (number % 2 == 1)
    turns = np.flatnonzero(np.diff(other.astype(np.int8)))
    if turns.size != 1:
        return None
    first, second = ("even", "odd") if other[0] else ("odd", "even")
    at = int(turns[0]) + 1
    told = f"each 2nd of the {lines}: the {first} ones before {at}, the {second} ones from there on"
    return Place(told, (WHOSE, SHARES))


def _ordinal(n: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(n, f"{n}th")


def _listed(places: np.ndarray) -> str:
    shown = [str(n) for n in places[:MOST_LISTED].tolist()]
    return ", ".join(shown) + (", ..." if places.size > MOST_LISTED else "")


def _runs(places: np.ndarray) -> str:
    """List numbers, those that follow one another by the first and the last: 0, 2, 8 to 31."""
    parts = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    told = [
        str(part[0]) if part.size == 1 else f"{part[0]} to {part[-1]}"
        for part in parts[:MOST_LISTED]
    ]
    return ", ".join(told) + (", ..." if len(parts) > MOST_LISTED else "")


def _corner(marked: np.ndarray, tile: tuple[int, ...]) -> Place | None:
    """Describe marks that leave, or are, a rectangle at the beginning of the last two axes."""
    flat = marked.reshape(-1, *marked.shape[-2:])
    if not (flat == flat[0]).all():
        return None
    rows, cols = np.flatnonzero(~flat[0].all(1)), np.flatnonzero(~flat[0].all(0))
    if not rows.size or not cols.size:
        return None
    inside = np.zeros(flat[0].shape, bool)
    inside[: rows[-1] + 1, : cols[-1] + 1] = True
    if not np.array_equal(inside, ~flat[0]):
        return None
    told = f"those from row {rows[-1] + 1} on and those from column {cols[-1] + 1} on"
    return Place(told, (EDGE, TOO_SOON))


def _diagonal(marked: np.ndarray) -> Place | None:
    """Describe marks on, above or below the diagonal of the last two axes."""
    flat = marked.any(tuple(range(marked.ndim - 2)))
    row, col = np.indices(flat.shape)
    for told, where in (
        ("on the diagonal", row == col),
        ("above the diagonal", col > row),
        ("below the diagonal", col < row),
    ):
        if np.array_equal(flat, where):
            mask = "row and column are compared the wrong way, as in a mask: < or <=?"
            return Place(f"those {told}", (mask, "row and column are exchanged"))
    return None
