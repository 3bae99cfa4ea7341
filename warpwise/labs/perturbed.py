"""Change some inputs of a case, and leave the others as they are.

Every number gets two other values: one that is larger by more than the spread of its array, so that
it becomes the maximum, and one that is a little smaller. Positive arrays stay positive. A truth
value is flipped, and a whole number becomes another one of its array's range, which is valid where
the array's own are. Left alone are numbers that count or name something: whole numbers that are no
array, and arrays that look like offsets or indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

UP, DOWN = 0, 1  #: the two tries
FAR, NEAR = (1.0, 2.0), (0.1, 0.3)  # spreads of an array, at least and at most
MORE, LESS = (2.0, 3.0), (0.7, 0.9)  # factors, for an array of positive numbers


@dataclass(frozen=True)
class Inputs:
    """The inputs of a case, and the other values of those that can be changed.

    ``tries`` holds for each input its values after both tries, or None if it is left alone. A
    *cell* is one number that can be changed: they are counted through all inputs, in order."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    tries: tuple[tuple[np.ndarray, np.ndarray] | None, ...]

    @cached_property
    def sizes(self) -> list[int]:
        """The number of cells of each input."""
        return [0 if one is None else one[UP].size for one in self.tries]

    @cached_property
    def starts(self) -> np.ndarray:
        """The first cell of each input."""
        return np.cumsum([0, *self.sizes[:-1]])

    @cached_property
    def changeable(self) -> tuple[int, ...]:
        """The numbers of the inputs that have cells."""
        return tuple(i for i, size in enumerate(self.sizes) if size)

    @cached_property
    def places(self) -> np.ndarray:
        """Input, row and column of each cell, by cell; all axes but the last count as rows."""
        parts = [np.empty((0, 3), int)]
        for i in self.changeable:
            flat, width = np.arange(self.sizes[i]), (np.shape(self.values[i]) or (1,))[-1]
            parts.append(np.stack([np.full_like(flat, i), flat // width, flat % width], axis=1))
        return np.concatenate(parts)

    @cached_property
    def whole(self) -> np.ndarray:
        """Which cells are whole numbers or truth values: changes of several may cancel out."""
        kinds = [np.asarray(value).dtype.kind for value in self.values]
        return np.repeat([kind in "biu" for kind in kinds], self.sizes)

    @cached_property
    def calm(self) -> Inputs:
        """These inputs with arrays of at most 1, so that no exponential of them is lost."""
        return inputs_of(self.names, [_calmed(value) for value in self.values])

    def of(self, number: int) -> np.ndarray:
        """Return the cells of an input."""
        first = int(self.starts[number])
        return np.arange(first, first + self.sizes[number])

    def changed(self, cells: np.ndarray, way: int) -> list[Any]:
        """Return all inputs, copied, with these cells changed in one of the two ways."""
        made = []
        for value, tries, start, size in zip(
            self.values, self.tries, self.starts, self.sizes, strict=True
        ):
            mine = cells[(cells >= start) & (cells < start + size)] - start
            if isinstance(value, np.ndarray):
                value = value.copy(order="K")
                if mine.size and tries is not None:
                    value.flat[mine] = tries[way].flat[mine]
            elif mine.size and tries is not None:
                value = type(value)(tries[way].item())
            made.append(value)
        return made


def inputs_of(names: Iterable[str], values: Sequence[Any]) -> Inputs:
    """Return inputs with other values for those that can be changed, the same at every call."""
    rng = np.random.default_rng(0)
    longest = max((max(np.shape(value), default=0) for value in values), default=0)
    return Inputs(tuple(names), tuple(values), tuple(_tries(rng, v, longest) for v in values))


def _calmed(value: Any) -> Any:
    """Return an array divided by its largest finite number, if that is above 1."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    largest = float(np.abs(value[np.isfinite(value)]).max(initial=0))
    return value / value.dtype.type(largest) if largest > 1 else value


def _tries(rng: np.random.Generator, value: Any, longest: int) -> Any:
    """Return an input's values after both tries, or None if it is to be left alone."""
    if isinstance(value, float | np.floating) and value:  # a number: its own factors
        return tuple(np.float64(value) * rng.uniform(*by) for by in (MORE, LESS))
    if not isinstance(value, np.ndarray) or not value.size:
        return None
    if value.dtype.kind == "b":
        return ~value, ~value
    if value.dtype.kind in "iu":
        return None if _looks_like_indices(value, longest) else _others(rng, value)
    return _larger_and_smaller(rng, value) if value.dtype.kind == "f" else None


def _looks_like_indices(value: np.ndarray, longest: int) -> bool:
    """True for offsets, which rise, and for indices, all different, of an axis that is there."""
    flat = value.ravel()
    inside = flat.min() >= 0 and flat.max() <= longest
    rises = bool((np.diff(flat.astype(np.int64)) >= 0).all())
    return bool(inside) and (rises or np.unique(flat).size == flat.size)


def _others(rng: np.random.Generator, value: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return other whole numbers of the array's range, twice; None if there is only one."""
    least, most = int(value.min()), int(value.max())
    if least == most:
        return None
    from_least = value.astype(object) - least  # Python's integers: no range is too long
    steps = [rng.integers(1, most - least, value.shape, endpoint=True) for _ in range(2)]
    up, down = ((from_least + step) % (most - least + 1) + least for step in steps)
    return up.astype(value.dtype), down.astype(value.dtype)


def _larger_and_smaller(
    rng: np.random.Generator, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return larger and smaller numbers; numbers take the place of infinities and nan."""
    finite = np.isfinite(value)
    known = value[finite].astype(np.float64)
    start = np.where(finite, value, 0).astype(np.float64)
    if known.size and (known > 0).all() and finite.all():
        up, down = (start * rng.uniform(*by, value.shape) for by in (MORE, LESS))
        up = np.maximum(up, known.max() * rng.uniform(*MORE, value.shape))
    else:
        spread = float(np.ptp(known)) if known.size else 0.0
        spread = spread or float(np.abs(known).max(initial=0)) or 1.0
        up = start + spread * rng.uniform(*FAR, value.shape)
        down = start - spread * rng.uniform(*NEAR, value.shape)
    return up.astype(value.dtype), down.astype(value.dtype)
