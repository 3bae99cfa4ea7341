"""Patterns of sums: the terms of a wrong element's sum that are missing, counted twice or alone.

Where what is wanted is a product of two matrices, or the sum of a row, a column, a group or a
vector of the inputs, the terms of an element are known. Which of them the wrong sum holds is then
found by trying: all up to some place, all from one on, all but some, each n-th."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

MOST_TERMS = 600
LEFT_OUT = (
    "a loop ends too soon or begins too late: the last step, or the partial tile at the end, is "
    "left out"
)
REPLACED = (
    "= stands where += should, or the sum begins anew in each step, so only the last step of a "
    "loop remains"
)
STRIDE = "the step of a loop is too long, or the parts of several threads are not added up"


@dataclass(frozen=True)
class Terms:
    """What is summed for one element: "a[0, :] * b[:, 0]", and its values in order."""

    told: str
    noun: str
    values: np.ndarray


@dataclass(frozen=True)
class Held:
    """Which of ``count`` terms a sum holds: those of ``mask``."""

    mask: np.ndarray


def part_of_a_sum(f: Failure) -> Pattern | None:
    """The wrong elements are sums that hold some of their terms only."""
    if not (np.isfinite(f.got).all() and np.isfinite(f.want).all()) or f.got.size < 1:
        return None
    places = [tuple(index.tolist()) for index in np.argwhere(f.wrong)]
    chosen = [places[i] for i in sorted({0, len(places) // 2, len(places) - 1})]
    for kind in range(len(_KINDS)):
        told = [_terms(f, kind, index) for index in chosen]
        if not told or any(one is None for one in told):
            continue
        found = [_held(f, one, index) for one, index in zip(told, chosen, strict=True) if one]
        held = [one for one in found if one is not None]
        if len(held) == len(chosen) and _agree(held):
            assert told[0] is not None
            return _pattern(f, chosen[0], told[0], held[0])
    return None


def _agree(found: list[Held]) -> bool:
    """True if sums of equally many terms hold the same ones."""
    by_count: dict[int, bytes] = {}
    return all(
        by_count.setdefault(one.mask.size, one.mask.tobytes()) == one.mask.tobytes()
        for one in found
    )


def _terms(f: Failure, kind: int, index: tuple[int, ...]) -> Terms | None:
    """Return the terms of an element, if their sum is what is wanted there."""
    for terms in _KINDS[kind](f, index):
        if 2 <= terms.values.size <= MOST_TERMS:
            total = terms.values.sum()
            scale = np.abs(terms.values).sum()
            if abs(total - f.numbers[1][index]) <= 1e-5 * scale + f.atol:
                return terms
    return None


def _products(f: Failure, index: tuple[int, ...]) -> Iterator[Terms]:
    """The products of a row of one matrix and a column of another."""
    if f.got.ndim != 2:
        return
    i, j = index
    for name, a in f.arrays.items():
        for other, b in f.arrays.items():
            if a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and i < len(a) and j < b.shape[1]:
                yield Terms(f"{name}[{i}, k] * {other}[k, {j}]", "product", a[i] * b[:, j])


def _dots(f: Failure, index: tuple[int, ...]) -> Iterator[Terms]:
    """The products of a vector and a column or a row, or of two rows."""
    if f.got.ndim != 1:
        return
    (i,) = index
    for name, a in f.arrays.items():
        for other, b in f.arrays.items():
            if a.ndim == 1 and b.ndim == 2 and a.size == len(b) and i < b.shape[1]:
                yield Terms(f"{name}[k] * {other}[k, {i}]", "product", a * b[:, i])
            if a.ndim == b.ndim == 2 and a.shape == b.shape and name < other and i < len(a):
                yield Terms(f"{name}[{i}, k] * {other}[{i}, k]", "product", a[i] * b[i])


def _lines(f: Failure, index: tuple[int, ...]) -> Iterator[Terms]:
    """The elements of a row, a column or a group of neighbours."""
    if f.got.ndim != 1:
        return
    (i,) = index
    for name, a in f.arrays.items():
        if a.ndim == 2 and i < len(a):
            yield Terms(f"{name}[{i}, k]", "element", a[i])
        if a.ndim == 2 and i < a.shape[1]:
            yield Terms(f"{name}[k, {i}]", "element", a[:, i])
        if a.ndim == 1:
            for size in (32, 64, 128, 256, -(-a.size // f.got.size)):
                part = a[i * size : (i + 1) * size]
                yield Terms(f"{name}[{i * size} + k]", "element", part)
    yield from _ragged(f, i)


def _ragged(f: Failure, i: int) -> Iterator[Terms]:
    """The elements between two offsets, which are whole numbers in an input."""
    for name, a in f.arrays.items():
        for other, offsets in f.arrays.items():
            if a.ndim == offsets.ndim == 1 and offsets.size == f.got.size + 1 and name != other:
                first, last = int(offsets[i]), int(offsets[i + 1])
                yield Terms(f"{name}[{other}[{i}] + k]", "element", a[first:last])


_KINDS = (_products, _dots, _lines)


def _held(f: Failure, terms: Terms, index: tuple[int, ...]) -> Held | None:
    """Return which terms the sum that was got holds; None if no simple choice gives it."""
    got, values = f.numbers[0][index], terms.values
    near = 3e-6 * np.abs(values).sum() + 1e-12
    for mask in _choices(values.size):
        if not mask.all() and abs(values[mask].sum() - got) <= near:
            return Held(mask)
    ends = np.concatenate([[0.0], np.cumsum(values)])
    gaps = np.abs(ends[None, :] - ends[:, None] - got)
    first, last = (int(n) for n in np.unravel_index(np.argmin(gaps), gaps.shape))
    if gaps[first, last] <= near and 0 < last - first < values.size:
        return Held(_mask(values.size, slice(first, last)))
    return None


def _choices(count: int) -> Iterator[np.ndarray]:
    """Yield choices of terms, likely ones first."""
    for last in range(count - 1, 0, -1):
        yield _mask(count, slice(0, last))
    for first in range(1, count):
        yield _mask(count, slice(first, None))
    for out in range(count):
        mask = np.ones(count, bool)
        mask[out] = False
        yield mask
    for step in (2, 4, 8, 16, 32, 64, 128):
        for first in range(min(step, count)):
            yield _mask(count, slice(first, None, step))
    for block in (2, 4, 8, 16, 32, 64):
        for step in (2, 4, 8):
            yield np.arange(count) // block % step == 0


def _mask(count: int, part: slice) -> np.ndarray:
    mask = np.zeros(count, bool)
    mask[part] = True
    return mask


def _pattern(f: Failure, index: tuple[int, ...], terms: Terms, held: Held) -> Pattern:
    count, kept = terms.values.size, int(held.mask.sum())
    places = np.flatnonzero(held.mask)
    first, last = int(places[0]), int(places[-1])
    element, noun = f.element(index), terms.noun
    whole = f"the {count} {noun}s {terms.told}"
    if last - first + 1 == kept and first == 0:
        seen = f"{element} is {_first_of(kept, whole)}: {_missing(count - kept)}"
        return Pattern(seen, (LEFT_OUT, STRIDE))
    if last - first + 1 == kept and last == count - 1:
        seen = f"{element} is {_last_of(kept, whole)}"
        causes = (LEFT_OUT, REPLACED) if first < kept else (REPLACED, LEFT_OUT)
        return Pattern(seen, causes)
    if count - kept == 1:
        out = int(np.flatnonzero(~held.mask)[0])
        return Pattern(f"{element} is the sum of all but {noun} {out} of {whole}", (LEFT_OUT,))
    seen = f"{element} is the sum of {kept} of {whole}, from {noun} {first} to {last}"
    if last - first + 1 == kept:
        return Pattern(seen, (REPLACED, LEFT_OUT))
    return Pattern(f"{element} is the sum of {kept} of {whole}, not of all", (STRIDE, LEFT_OUT))


def _first_of(kept: int, whole: str) -> str:
    return f"only the first of {whole}" if kept == 1 else f"the sum of the first {kept} of {whole}"


def _missing(count: int) -> str:
    return "the last one is missing" if count == 1 else f"the last {count} are missing"


def _last_of(kept: int, whole: str) -> str:
    several = f"the sum of only the last {kept} of {whole}"
    return f"only the last of {whole}" if kept == 1 else several
