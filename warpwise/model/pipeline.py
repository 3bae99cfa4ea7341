"""A loop over tiles in which copies run ahead of products: when each begins, in units of time.

A ring of stages holds the tiles that are on their way or in use. A copy begins when its stage is
free, for the product that used it last has ended, and when the path from memory has taken in the
copy before. A product begins when its tile has come and the product before has ended. Modelled:
all copies take equally long, and so do all products; units stand for no clock, and barriers, issue
slots and the time that it takes to start are left out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from warpwise.model.arguments import whole


@dataclass(frozen=True)
class Trip:
    """One trip of the loop: the stage of its tile, and when its copy and its product run."""

    stage: int
    copy_begins: int
    copy_ends: int
    product_begins: int
    product_ends: int


@dataclass(frozen=True)
class Pipeline:
    """All trips of a loop, with ``copy`` and ``product`` units each, and what bounds them."""

    trips: tuple[Trip, ...]
    stages: int
    copy: int
    product: int
    path: int

    @property
    def total(self) -> int:
        """Units from the first copy's begin to the last product's end."""
        return self.trips[-1].product_ends

    @property
    def busy(self) -> Fraction:
        """The share of the total in which a product runs, 0 to 1."""
        return Fraction(len(self.trips) * self.product, self.total)

    @property
    def bounds(self) -> dict[str, Fraction]:
        """Units for a tile in the long run, if each of the three alone set the pace.

        A stage carries one tile after another, each for a copy and a product."""
        ring = Fraction(self.copy + self.product, self.stages)
        return {"products": Fraction(self.product), "path": Fraction(self.path), "stages": ring}


def pipeline(tiles: int, stages: int, copy: int, product: int, path: int = 1) -> Pipeline:
    """Return the trips of a loop over ``tiles`` tiles with a ring of ``stages``.

    ``copy``: units from a copy's begin until its tile is there; ``path``: units of it in which no
    other copy begins. Raises LaunchError for numbers below 1, and a path longer than a copy."""
    for name, value in (("tiles", tiles), ("stages", stages), ("copy", copy), ("product", product)):
        whole(name, value, 1)
    whole("path", path, 1, copy)
    trips: list[Trip] = []
    for k in range(tiles):
        free = trips[k - stages].product_ends if k >= stages else 0
        begins = max(free, trips[-1].copy_begins + path if trips else 0)
        starts = max(begins + copy, trips[-1].product_ends if trips else 0)
        trips.append(Trip(k % stages, begins, begins + copy, starts, starts + product))
    return Pipeline(tuple(trips), stages, copy, product, path)
