"""Compare arrays with expected ones: the elements that differ, and those never written.

NaN and infinity are never wildcards: a NaN equals nothing, an infinity only itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpwise.labs.digits import digits
from warpwise.messages import NOTHING, Datum, Element, Lengths, Message, Part, Size, Words, message

#: quiet NaNs that arithmetic does not produce by itself
NAN_BITS = {2: 0x7E57, 4: 0x7FC57A1E, 8: 0x7FF857A1E57A1E57}
INTEGER_BYTE = 0xA5  #: every byte of a poisoned integer


@dataclass(frozen=True)
class Mismatch:
    """Two arrays of one shape that differ. ``where`` marks the wrong elements."""

    got: np.ndarray
    want: np.ndarray
    where: np.ndarray

    def say(self, name: Part, was: bool = False) -> Message:
        """Describe the first wrong element, and how many there are; ``was`` for a changed input."""
        if self.got.shape != self.want.shape:
            return self._of_shapes(name)
        state = "changed" if was else "wrong"
        first = tuple(np.argwhere(self.where)[0].tolist())
        want, got = (Datum(digits(side[first])) for side in (self.want, self.got))
        told = message("should be {want} and is {got}", want=want, got=got)
        if was:
            told = message("was {want} and is now {got}", want=want, got=got)
        return message(
            "[[{element} {told}{of_all}|{array} is {state}]]",
            element=Element(name, first),
            told=told,
            of_all=self._of_all(state),
            state=Words(state),
            array=name,
        )

    def _of_all(self, state: str) -> Message:
        """Say how many elements are wrong, unless there is one alone."""
        if self.where.size == 1:
            return NOTHING
        return message(
            "; {wrong} of {size} elements {are} {state}",
            wrong=Size(int(self.where.sum())),
            size=Size(self.where.size),
            are=Words("is" if self.where.sum() == 1 else "are"),
            state=Words(state),
        )

    def _of_shapes(self, name: Part) -> Message:
        return message(
            "{array} has [[shape {got}, expected {want}|another shape than was asked for]]",
            array=name,
            got=Lengths(self.got.shape),
            want=Lengths(self.want.shape),
        )


def compare(
    got: np.ndarray, want: np.ndarray, rtol: float = 0.0, atol: float = 0.0
) -> Mismatch | None:
    """Return None if every element of ``got`` is within ``atol + rtol * |want|`` of ``want``.

    If both are 0, elements must be equal."""
    if got.shape != want.shape:
        return Mismatch(got, want, np.ones(want.shape, bool))
    right = np.asarray(got == want)
    if rtol or atol:
        with np.errstate(invalid="ignore", over="ignore"):
            a, b = got.astype(np.float64), want.astype(np.float64)
            near = np.abs(a - b) <= atol + rtol * np.abs(b)
        right = right | (near & np.isfinite(got) & np.isfinite(want))
    return None if right.all() else Mismatch(got, want, ~right)


def makes_nan(wrong: Mismatch) -> bool:
    """True if a wrong element is nan and should be a number or an infinity."""
    if wrong.got.shape != wrong.want.shape:
        return False
    floats = wrong.got.dtype.kind == wrong.want.dtype.kind == "f"
    return floats and bool((np.isnan(wrong.got) & ~np.isnan(wrong.want)).any())


def poison(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return an array to be written: NaN of a known pattern, bytes 0xA5 (integers), or True."""
    array = np.empty(shape, dtype)
    if array.dtype.kind == "f":
        _bits(array)[...] = NAN_BITS[array.itemsize]
    elif array.dtype.kind == "b":
        array[...] = True
    else:
        array.view(np.uint8)[...] = INTEGER_BYTE
    return array


def is_poison(array: np.ndarray) -> np.ndarray:
    """Mark where an array still holds its poison. Booleans cannot tell: nowhere."""
    if array.dtype.kind == "b":
        return np.zeros(array.shape, bool)
    fresh = poison((1,), array.dtype.name)
    return np.asarray(_bits(array) == _bits(fresh)[0])


def _bits(array: np.ndarray) -> np.ndarray:
    bits: np.ndarray = array.view(f"u{array.itemsize}")
    return bits
