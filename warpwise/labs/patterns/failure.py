"""What is looked at to explain a wrong output, and what is found: ``Failure`` and ``Pattern``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

CLOSE = 1e-5  # relative difference below which two floating-point numbers are one here

RESCALED = (
    "the parts of a sum are measured against different maxima: when the maximum grows, the sum and "
    "all that is accumulated with it are multiplied by exp(old - new)"
)
MAXIMA = ("max", "maximum", "fmax")
LOG_SUMS = "L"  #: an input of this name has the log-sum-exp of each row
MASKED = "elements take part that a mask or the edge leaves out, or some are left out that belong"


@dataclass(frozen=True)
class Pattern:
    """What the wrong elements of an output have in common.

    ``seen`` is a sentence on the numbers, and true. ``causes`` are what usually makes such numbers,
    most likely first: they are where to look, not what is known."""

    seen: str
    causes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Failure:
    """An output that is wrong: arrays of one shape, and what is known of how they were made.

    ``inputs`` are arrays and numbers by the names of parameters. ``start`` is what an array that is
    changed in place held before. ``tile`` are the threads of a block, rows first. ``words`` are the
    names that the text uses. ``rtol`` and ``atol`` are those by which the answer was judged.
    ``before`` are the inputs of the cases that stand before this one, and are right.
    ``labels`` is True where the numbers name something, or are truth values.
    ``readings`` map what is misread in the exercise to what then comes out. ``unused`` asks about
    names of the text that nothing is made of, ``over_all`` about a reduction of a whole array."""

    name: str
    got: np.ndarray
    want: np.ndarray
    wrong: np.ndarray
    inputs: Mapping[str, Any] = field(default_factory=dict)
    start: np.ndarray | None = None
    tile: tuple[int, ...] = ()
    words: frozenset[str] = frozenset()
    rtol: float = 0.0
    atol: float = 0.0
    before: tuple[Mapping[str, Any], ...] = ()
    readings: Mapping[str, np.ndarray] = field(default_factory=dict)
    unused: str = ""
    labels: bool = False
    over_all: str = ""

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Got and wanted as float64; an integer of more than 53 bits loses some."""
        return self.got.astype(np.float64), self.want.astype(np.float64)

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Got and wanted of the wrong elements, as float64 vectors."""
        got, want = self.numbers
        return got[self.wrong], want[self.wrong]

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """The inputs that are arrays of numbers, as float64."""
        return numbers_of(self.inputs)

    @cached_property
    def scalars(self) -> dict[str, float]:
        """The inputs that are numbers."""
        known = (int, float, np.integer, np.floating)
        return {
            name: float(value)
            for name, value in self.inputs.items()
            if isinstance(value, known) and not isinstance(value, bool)
        }

    def uses(self, *words: str) -> bool:
        """Return whether the text names one of these."""
        return not self.words.isdisjoint(words)

    @property
    def is_softmax(self) -> bool:
        """True if the text takes exponentials and a maximum."""
        return self.uses("exp") and self.uses(*MAXIMA, "inf")

    def likely(self, *causes: str) -> tuple[str, ...]:
        """Return causes of wrong numbers in general, or those that are usual in a softmax.

        Where a backward pass gets the sums of the rows, no maximum can grow."""
        if not self.is_softmax:
            return causes
        given = LOG_SUMS in self.inputs and not self.uses(*MAXIMA)
        return (MASKED, *causes[:1]) if given else (RESCALED, MASKED)

    @property
    def has_halves(self) -> bool:
        """True if the text or an input has numbers of 16 bits."""
        inputs = (value.dtype for value in self.inputs.values() if isinstance(value, np.ndarray))
        return self.uses("float16") or np.dtype(np.float16) in inputs

    def same(self, got: np.ndarray, other: np.ndarray) -> bool:
        """Return whether an array is another one, as closely as the answer is judged."""
        if got.shape != other.shape:
            return False
        with np.errstate(all="ignore"):
            rtol, atol = max(self.rtol, CLOSE), self.atol
            if self.got.dtype.kind in "iub" and self.want.dtype.kind in "iub":
                rtol = atol = 0.0
            return bool(np.allclose(got, other, rtol=rtol, atol=atol, equal_nan=True))

    def element(self, index: tuple[int, ...]) -> str:
        """Name an element as the text would."""
        return f"{self.name}[{', '.join(map(str, index))}]" if index else self.name


def numbers_of(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return those of some inputs that are arrays of numbers, as float64."""
    return {
        name: value.astype(np.float64)
        for name, value in inputs.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "iufb" and value.size
    }


def figure(value: float) -> str:
    """Format a number as messages show it."""
    return f"{value:.6g}"
