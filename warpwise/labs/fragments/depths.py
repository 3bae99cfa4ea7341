"""Which depths of K the products of a launch multiply: columns of A, and rows of B.

In a sum of products a column of A meets the row of B of the same number, and each of them once for
each element of C. Told of a wrong result alone, and where every product is of elements that are
known. Left out: arrays of more than two axes, and those whose rows a kernel mixes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warpwise.labs.fragments.naming import whole
from warpwise.labs.fragments.provenance import MOST_PRODUCTS, Multiplied, Origin
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes

OTHER_STEP = (
    "a column of A goes with the row of B of the same number: does one of the two lack the step "
    "along K, or is it read from another stage?"
)
NOT_ONCE = (
    "each product takes the next part of K, once: look at the step in the index that loads, at the "
    "stage and the place that are read, and at how far each loop goes"
)
MOST_RUNS = 2  #: of neighbours that are named


@dataclass(frozen=True)
class Seen:
    """What is wrong with the depths of products, why that may be, and the line of one of them."""

    told: str
    cause: str
    site: Site


@dataclass(frozen=True, eq=False)
class _Along:
    """The depths that a matrix has, of ``count`` in its array, and its first row or column there.

    ``start``: its first element; ``pitch``: of the array's rows."""

    array: str
    start: int
    line: int
    depths: Lanes
    count: int
    pitch: int


def seen_of(products: Sequence[Multiplied]) -> Seen | None:
    """Return what is wrong with the depths that products have; None if nothing is, or is known."""
    met: dict[tuple[str, int, str, int], list[tuple[_Along, Site]]] = defaultdict(list)
    for one in products:
        for a, b in zip(*one.slots, strict=True):
            of_a, of_b = _along(a, one.origin), _along(b.T, one.origin)
            if of_a is None or of_b is None or of_a.count != of_b.count:
                return None
            if (of_a.depths != of_b.depths).any():
                return _unlike(one, of_a, of_b)
            met[of_a.array, of_a.line, of_b.array, of_b.line].append((of_a, one.site))
    if sum(len(one.a) for one in products) > MOST_PRODUCTS:
        return None  # there may be more of them, which were not looked at
    return next((found for every in met.values() if (found := _not_once(every))), None)


def _along(cells: Lanes, origin: Origin) -> _Along | None:
    """Return where the depths of a matrix lie, ``(lines, depths)``, if it is known in full."""
    start = int(cells[0, 0])
    if (cells < 0).any() or (cells != cells[:, :1] + cells[:1] - start).any():
        return None
    first, name, shape, parts = origin.array_of(start)
    size = parts * int(np.prod(shape))
    if len(shape) > 2 or int(cells.max()) >= first + size:
        return None
    across, within = int(cells[1, 0]) - start, int(cells[0, 1]) - start
    pitch = parts * shape[1] if len(shape) == 2 else max(abs(across), abs(within))
    if not pitch:  # one element everywhere
        return None
    offsets = cells[0] - first
    if across % pitch == 0 and abs(within) < pitch:
        return _Along(name, start, int(offsets[0]) // pitch, offsets % pitch, pitch, pitch)
    if within % pitch == 0 and abs(across) < pitch:
        count = size // pitch
        return _Along(name, start, int(offsets[0]) % pitch, offsets // pitch, count, pitch)
    return None


def _unlike(one: Multiplied, of_a: _Along, of_b: _Along) -> Seen:
    columns, rows = (_runs(sorted(set(part.depths.tolist()))) for part in (of_a, of_b))
    elements = " and ".join(whole(one.origin, part.start, part.pitch) for part in (of_a, of_b))
    told = (
        f"the product on {one.site.there} multiplies columns {columns} of A by rows {rows} of B: "
        f"it begins with {elements}"
    )
    return Seen(told, OTHER_STEP, one.site)


def _not_once(products: list[tuple[_Along, Site]]) -> Seen | None:
    """Return which depths of a part of C are multiplied more often than others, or never."""
    times = np.zeros(products[0][0].count, np.int64)
    for along, _ in products:
        np.add.at(times, along.depths, 1)
    if times.min() == times.max():
        return None
    often, never = np.flatnonzero(times > 1).tolist(), np.flatnonzero(times == 0).tolist()
    parts = [f"{_runs(often)} more than once"] if often else []
    parts += [f"{_runs(never)} never"] if never else []
    told = f"of the {times.size} columns of A and rows of B are multiplied: {', '.join(parts)}"
    again = (site for along, site in products if (times[along.depths] != 1).any())
    return Seen(told, NOT_ONCE, next(again, products[0][1]))


def _runs(numbers: list[int]) -> str:
    """Name whole numbers in their order: "0 to 15, 32 and so on"."""
    runs = [f"{a} to {b}" if a < b else str(a) for a, b in _ends(numbers)]
    return ", ".join(runs[:MOST_RUNS]) + (" and so on" if len(runs) > MOST_RUNS else "")


def _ends(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of neighbours."""
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    for run in np.split(np.asarray(numbers, np.int64), cuts):
        yield int(run[0]), int(run[-1])
