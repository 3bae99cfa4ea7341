"""Find out of a wrong product on tensor cores whether a fragment holds its matrix in another order.

The kernel runs twice more on arrays whose elements are labels. Elements that are only moved,
through shared memory, ``ldmatrix`` or packing, arrive in the registers of a product as the labels
that they are, so it is known which element each lane brings (``provenance``). A fragment is in
order if its rows lie one step apart, and its columns (``orders``). Where all are, the products may
still be of other depths of K than they should (``depths``), as may those of a warpgroup.

A kernel may bring rows or depths in another order and be right, so this is told of wrong results
alone, and of no two fragments whose depths are in the same other order. Left out: elements that are
computed before the product, such as the weights of an attention, and C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.labs.fragments import naming
from warpwise.labs.fragments.depths import seen_of
from warpwise.labs.fragments.orders import (
    SWIZZLED,
    explaining,
    in_order,
    matrix,
    one_sided,
    pitch_of,
    same_depths,
    slots_of,
)
from warpwise.labs.fragments.provenance import Brought, products_of
from warpwise.labs.patterns.failure import Pattern
from warpwise.simt import Kernel
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes

ANY = (
    "lane l has g, q = l // 4, l % 4: {layout}",
    "look at the rows and columns that each lane loads, and at those that it gives ldmatrix",
)
LAYOUTS = {
    ("A", 2): "a0 is row g, columns 2q and 2q + 1; a1 eight rows on, a2 eight columns on, a3 both",
    ("A", 1): "a0 is row g, column q; a1 eight rows on, a2 four columns on, a3 both",
    ("B", 2): "b0 is column g, rows 2q and 2q + 1; b1 eight rows on",
    ("B", 1): "b0 is column g, row q; b1 four rows on",
}


@dataclass(frozen=True)
class Misplaced(Pattern):
    """A fragment that is not what it should be, by the line of its product.

    The line is 0 if that is in another file."""

    line: int = 0

    @property
    def told(self) -> str:
        """What there is to say in one text, as an error has it."""
        return f"wrong result: {self.seen}.\nTry: {self.causes[0]}."


def misplaced(
    kernel: Kernel,
    blocks: int | tuple[int, ...],
    threads: int | tuple[int, ...],
    args: list[object],
) -> Misplaced | None:
    """Return the first fragment of a launch that is in another order, or has other depths.

    ``args``: arrays and numbers; arrays of numbers are replaced by labels, and none is changed."""
    products = list(products_of(kernel, blocks, threads, args))
    for brought in products:
        if isinstance(brought, Brought) and (found := _out_of_order(brought)):
            return _told(brought, *found)
    seen = seen_of(products)
    return Misplaced(seen.told, (seen.cause,), True, _line(seen.site)) if seen else None


def _out_of_order(brought: Brought) -> tuple[str, int] | None:
    """Return a matrix, and the warp that brings it in another order; None if there is none.

    An order that both share is no mistake, unless it is that of a swizzle on one side."""
    of_a, of_b = brought.slots
    wrong_a, wrong_b = ~in_order(of_a), ~in_order(of_b)
    shared = same_depths(of_a, of_b)
    for warp in np.flatnonzero(wrong_a | wrong_b).tolist():
        name, held = ("A", brought.a) if wrong_a[warp] else ("B", brought.b)
        if not shared[warp] or one_sided(name, held[warp]):
            return name, warp
    return None


def _told(brought: Brought, name: str, warp: int) -> Misplaced:
    """Say which register of which lane holds what, and in which known order they are."""
    held = (brought.a if name == "A" else brought.b)[warp]
    orders = explaining(name, held)
    due = orders[0].mended(held) if len(orders) == 1 else None
    pitch = 0 if due is None else pitch_of(matrix(name, due)[0])
    lane, register = _first(name, held, due)
    layout = LAYOUTS[name, held.shape[-1]]
    place = slots_of(name, held.shape[-1])[lane, register]
    seen = (
        f"the product on {brought.site.there} has {name} in another order"
        f"{_either([order.told for order in orders])}: lane {lane} brings "
        f"{naming.held(brought.origin, held[lane, register], pitch)} in {name.lower()}{register}, "
        f"where {naming.place(place)} of {name} belong{'s' if len(place) == 1 else ''}"
    )
    if due is not None and (due[lane, register] >= 0).all():
        seen += f": {naming.held(brought.origin, due[lane, register], pitch)}"
    if orders and orders[0] in SWIZZLED:
        return Misplaced(seen, (orders[0].cause,), True, _line(brought.site))
    first = [order.cause for order in orders]
    causes = (*first, *(text.format(layout=layout) for text in ANY))[:2]
    return Misplaced(seen, causes, False, _line(brought.site))


def _line(site: Site) -> int:
    return 0 if site.elsewhere else site.line


def _either(told: list[str]) -> str:
    return f", {' or '.join(told)}" if told else ""


def _first(name: str, held: Lanes, due: Lanes | None) -> tuple[int, int]:
    """Return the first lane and register that hold something else than they should."""
    if due is None:
        due = _expected(name, held)
    wrong = np.argwhere(((held != due) & (held >= 0)).any(axis=-1))
    lane, register = wrong[0] if len(wrong) else (0, 0)
    return int(lane), int(register)


def _expected(name: str, held: Lanes) -> Lanes:
    """Return what registers should hold if the elements that lie first are where they should be."""
    slots = slots_of(name, held.shape[-1])
    at = {tuple(slot): int(cell) for slot, cell in zip(_flat(slots), held.ravel(), strict=True)}
    base, down, right = (at[slot] for slot in ((0, 0), (1, 0), (0, 1)))
    expected: Lanes = base + slots[..., 0] * (down - base) + slots[..., 1] * (right - base)
    return expected


def _flat(slots: Lanes) -> list[list[int]]:
    found: list[list[int]] = slots.reshape(-1, 2).tolist()
    return found
