"""Which elements of the arguments a product gets: by labels that stand in their place.

A label is the 16 bits of a bfloat16 that is neither zero, infinite, nor NaN. It fills half a word
of integers, a whole float16, and the upper half of a float32, so that packing and TF32 leave it
alone. A run with other labels has to agree, so that a computed number is not taken for a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from warpwise import Observer, errors, trace
from warpwise.hopper import TensorMap
from warpwise.labs.fragments.orders import MATRICES
from warpwise.simt import Kernel
from warpwise.simt.machine.async_events import AsyncEvent
from warpwise.simt.machine.members import arrived
from warpwise.simt.machine.site import Site
from warpwise.simt.machine.tensor import BF16, Product, halves_of
from warpwise.simt.types import Lanes

SEEDS = (1, 2)
MOST_PRODUCTS = 4096  #: of warps, beyond which the rest is not looked at
MAX_STEPS = 100_000
_EXPONENTS = np.arange(1 << 16, dtype=np.int64) >> 7 & 0xFF
LABELS = np.flatnonzero((_EXPONENTS > 0) & (_EXPONENTS < 0xFF)).astype(np.uint16)
#: elements of an array's element: what is labelled, by type
PARTS = {"uint32": 2, "uint16": 1, "float16": 1, "float32": 1}


@dataclass(frozen=True)
class Origin:
    """Where numbers of elements begin: array by array, its name, shape and parts."""

    arrays: tuple[tuple[int, str, tuple[int, ...], int], ...]

    def array_of(self, cell: int) -> tuple[int, str, tuple[int, ...], int]:
        """Return the array that an element is of."""
        return next(a for a in reversed(self.arrays) if a[0] <= cell)

    def of(self, cell: int) -> tuple[str, tuple[int, ...], int]:
        """Return an element's array and index, and the half of a word that it is, or 0."""
        first, name, shape, parts = self.array_of(cell)
        place, part = divmod(cell - first, parts)
        index = tuple(int(i) for i in np.unravel_index(place, shape))
        return name, index, part + 1 if parts > 1 else 0


@dataclass(frozen=True, eq=False)
class Multiplied:
    """A product: the number of the element in each place of A and B, -1 if it is not known.

    ``a``: ``(warps, rows, depth)``, ``b``: ``(warps, depth, columns)``."""

    site: Site
    origin: Origin
    a: Lanes
    b: Lanes

    @property
    def slots(self) -> tuple[Lanes, Lanes]:
        """A and B as matrices."""
        return self.a, self.b

    def agreed(self, other: Self) -> Self:
        """Return what two runs have both found."""
        a, b = (
            np.where(mine == theirs, mine, -1)
            for mine, theirs in ((self.a, other.a), (self.b, other.b))
        )
        return replace(self, a=a, b=b)


class Brought(Multiplied):
    """A product of fragments, by register.

    ``a``: ``(warps, 32, 4, parts)``, ``b``: ``(warps, 32, 2, parts)``."""

    @property
    def slots(self) -> tuple[Lanes, Lanes]:
        """A and B as matrices."""
        return MATRICES["A"](self.a), MATRICES["B"](self.b)


class _Fragments(Observer):
    """Keeps the labels in the fragments of a launch's products."""

    def __init__(self, cells: Lanes, origin: Origin):
        self.cells, self.origin, self.found, self.warps = cells, origin, list[Multiplied](), 0

    def mma(self, product: Product) -> None:
        if self.warps > MOST_PRODUCTS:
            return
        here = np.broadcast_to(
            arrived(product.mask), (product.rows, len(product.a) // product.rows)
        ).ravel()
        a, b = (self._cells(product.kind, part[here != 0]) for part in (product.a, product.b))
        self.warps += len(a)
        self.found.append(Brought(product.site, self.origin, a, b))

    def asynchronous(self, event: AsyncEvent) -> None:
        """Keep a warpgroup's product, of float16 in shared memory."""
        if event.operands is None or self.warps > MOST_PRODUCTS:
            return
        a, b = (self.cells[part.view(np.uint16)] for part in event.operands)
        self.warps += 1
        self.found.append(Multiplied(event.site, self.origin, a[None], b.T[None]))

    def _cells(self, kind: str, registers: Lanes) -> Lanes:
        halves = halves_of(registers)
        if kind == BF16:
            return self.cells[halves]
        found: Lanes = np.where(halves[..., :1] == 0, self.cells[halves[..., 1:]], -1)
        return found


def products_of(
    kernel: Kernel,
    blocks: int | tuple[int, ...],
    threads: int | tuple[int, ...],
    args: Sequence[Any],
) -> Iterator[Multiplied]:
    """Yield the products of a launch in their order; none if they depend on what is labelled."""
    runs = [_run(kernel, blocks, threads, args, seed) for seed in SEEDS]
    if len({tuple((one.site, one.a.shape) for one in run) for run in runs}) == 1:
        yield from (one.agreed(other) for one, other in zip(*runs, strict=True))


def _run(
    kernel: Kernel,
    blocks: int | tuple[int, ...],
    threads: int | tuple[int, ...],
    args: Sequence[Any],
    seed: int,
) -> list[Multiplied]:
    given, seen = _in_place_of(args, kernel.parameters, seed)
    quiet = partial(trace, record=(), sanitize=False, progress=False, max_steps=MAX_STEPS)
    try:
        quiet(kernel, blocks, threads, *given, observers=seen)
    except errors.WarpwiseError:
        return []
    return seen.found


def _in_place_of(
    args: Sequence[Any], names: Sequence[str], seed: int
) -> tuple[list[Any], _Fragments]:
    """Return arguments with labels for elements, as far as labels go, and who knows them."""
    labels = np.random.default_rng(seed).permutation(LABELS)
    given, arrays, first = [], [], 0
    for name, arg in zip(names, args, strict=True):
        array = arg.array if isinstance(arg, TensorMap) else arg
        is_array = isinstance(array, np.ndarray)
        parts = PARTS.get(array.dtype.name, 0) if is_array else 0
        end = first + parts * array.size if parts else first
        if first < end <= len(labels):
            array = _labelled(array, labels[first:end])
            arrays.append((first, name, array.shape, parts))
            first = end
        elif is_array:
            array = array.copy()
        given.append(arg._replace(array=array) if isinstance(arg, TensorMap) else array)
    cells = np.full(1 << 16, -1, np.int64)
    cells[labels[:first]] = np.arange(first, dtype=np.int64)
    return given, _Fragments(cells, Origin(tuple(arrays)))


def _labelled(array: np.ndarray, labels: Lanes) -> np.ndarray:
    """Return an array of the same shape and type whose elements are labels."""
    if array.dtype == np.float32:
        return (labels.astype(np.uint32) << 16).view(np.float32).reshape(array.shape)
    return labels.view(array.dtype).reshape(array.shape)
