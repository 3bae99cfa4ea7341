"""What is looked at to explain a wrong output, and what is found: ``Failure`` and ``Pattern``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

CLOSE = 1e-5  # relative difference below which two floating-point numbers are one here

RESCALED = (
    "the parts of a sum are measured against different maxima: when the maximum grows, the sum and "
    "all that is accumulated with it are multiplied by exp(old - new)"
)
MAXIMA = ("max", "maximum", "fmax")
LOG_SUMS = "L"  #: an input of this name has the log-sum-exp of each row
TERMS = "compare the formula term by term with the exercise's, and the order of its steps"
OF_THIS_ONE = (
    "the weights are right, as {right} shows: compare the formula of {name} alone with the "
    "exercise's, term by term"
)
OF_THE_ACCUMULATED = (
    "is what {name} holds multiplied by exp(old - new) whenever the sum of the weights is, "
    "and divided by that sum at the end?"
)
BESIDE = "{right} is right and {name} is not: what does {name} take beside {right}?"
SUMS_OF_EXP = ("L", "lse")  #: outputs of these names are log-sum-exps
TILE = 8  # the least that a tile is long
MASKED = "elements take part that a mask or the edge leaves out, or some are left out that belong"


@dataclass(frozen=True)
class Pattern:
    """What the wrong elements of an output have in common.

    ``seen`` is a sentence on the numbers, and true. ``causes`` are what usually makes such numbers,
    most likely first: they are where to look, not what is known. If the mistake itself is seen,
    that is ``sure``, and no change of the text is looked for."""

    seen: str
    causes: tuple[str, ...]
    sure: bool = False


@dataclass(frozen=True, eq=False)
class Failure:
    """An output that is wrong: arrays of one shape, and what is known of how they were made.

    ``inputs`` are arrays and numbers by the names of parameters. ``start`` is what an array that is
    changed in place held before. ``tile`` are the threads of a block, rows first. ``words`` are the
    names that the text uses. ``rtol`` and ``atol`` are those by which the answer was judged.
    ``before`` are the inputs of the cases that stand before this one, and are right.
    ``labels`` is True where the numbers name something, or are truth values.
    ``right`` are the other outputs that are right, by name; ``due`` is what all others should be.
    ``elementwise`` is True of a kernel that has one index for all that it reads and writes.
    ``also`` are other outputs that are wrong, got and wanted, of fewer axes than this one.
    ``readings`` map what is misread in the exercise to what then comes out. ``unused`` asks about
    names of the text that nothing is made of, ``over_all`` about a reduction of a whole array.
    ``fragment`` is what is wrong with the order of a fragment of tensor cores, if anything."""

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
    right: Mapping[str, np.ndarray] = field(default_factory=dict)
    over_all: str = ""
    due: Mapping[str, np.ndarray] = field(default_factory=dict)
    elementwise: bool = False
    also: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    fragment: Pattern | None = None

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Got and wanted as float64; an integer of more than 53 bits loses some."""
        with np.errstate(invalid="ignore"):  # some nan of float32 is a signal
            return self.got.astype(np.float64), self.want.astype(np.float64)

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Got and wanted of the wrong elements, as float64 vectors."""
        got, want = self.numbers
        return got[self.wrong], want[self.wrong]

    @cached_property
    def is_close(self) -> bool:
        """True if got and wanted differ by less than what counts as one number here."""
        return self.got.dtype.kind == "f" and self.same(*self.numbers)

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

    @cached_property
    def is_product(self) -> bool:
        """True if what is wanted is the product of two matrices of the inputs."""
        matrices = [array for array in self.arrays.values() if array.ndim == 2]
        return self.want.ndim == 2 and any(
            one.shape[1] == other.shape[0] and self.same(one @ other, self.numbers[1])
            for one, other in permutations(matrices, 2)
        )

    @property
    def is_softmax(self) -> bool:
        """True if the text takes exponentials, and a maximum, or the log-sum-exps of rows."""
        return self.uses("exp") and (self.uses(*MAXIMA, "inf") or self.is_backward)

    @property
    def is_backward(self) -> bool:
        """True if a softmax is made again from its log-sum-exps: no maximum, and no division."""
        return self.uses("exp") and LOG_SUMS in self.inputs and not self.uses(*MAXIMA)

    def likely(self, *causes: str) -> tuple[str, ...]:
        """Return causes of wrong numbers in general, or those that are usual in a softmax.

        Where a backward pass gets the sums of the rows, no maximum can grow. Where what is summed
        with the weights is right, their masks and maxima are, and what is wrong is the one number
        that a row has besides."""
        if not self.is_softmax:
            return causes
        if self.is_backward:
            return (self._of_which, *causes[:1])
        axes = {array.ndim for array in self.right.values()}
        if axes == {self.want.ndim} and (sums := self.right.keys() & {*SUMS_OF_EXP}):
            return (BESIDE.format(name=self.name, right=min(sums)),)
        if axes and min(axes) > self.want.ndim:
            return (OF_THIS_ONE.format(name=self.name, right=next(iter(self.right))),)
        if axes and max(axes) < self.want.ndim:
            return OF_THE_ACCUMULATED.format(name=self.name), self._of_which
        return RESCALED, self._of_which

    @property
    def right_too(self) -> str:
        """Say which other outputs are right, or that none is; "" if the wrong one is a number."""
        if not self.want.ndim:
            return ""
        spoiled = [
            name for name, due in self.due.items() if due.size > 1 and name not in self.right
        ]
        *others, last = self.right or spoiled or ("",)
        joined = f"{', '.join(others)} and {last}" if others else last
        if not self.right and joined:
            what = "all of them are" if others else "both are"
            return (
                f"{joined} {'are' if others else 'is'} wrong too: look first at what {what} made of"
            )
        return joined and (f"{joined} are right" if others else f"all of {joined} is right")

    @property
    def _of_which(self) -> str:
        """Which elements take part, if this case can leave any out, and else the formula."""
        return MASKED if self._leaves_out else TERMS

    @property
    def _leaves_out(self) -> bool:
        """True if an input has masked elements, or lengths, or an axis that ends within a tile."""
        arrays = [value for value in self.inputs.values() if isinstance(value, np.ndarray)]
        sizes = {size for array in arrays for size in array.shape}
        whole = [array for array in arrays if array.dtype.kind in "iu"]
        return (
            any(size > TILE and size % TILE for size in sizes)
            or any(np.isneginf(array).any() for array in arrays if array.dtype.kind == "f")
            or any(_are_lengths(array, sizes) for array in whole)
        )

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


def _are_lengths(array: np.ndarray, sizes: set[int]) -> bool:
    """True for whole numbers that could be lengths within axes of these sizes, and not all full."""
    fits = array.size > 0 and array.min() >= 0 and array.max() <= max(sizes)
    return bool(fits and not np.isin(array, list(sizes)).all())


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
