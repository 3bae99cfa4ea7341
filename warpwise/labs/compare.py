"""Compare arrays with expected ones: the elements that differ, and those never written.

NaN and infinity are never wildcards: a NaN equals nothing, an infinity only itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: quiet NaNs that arithmetic does not produce by itself
NAN_BITS = {2: 0x7E57, 4: 0x7FC57A1E, 8: 0x7FF857A1E57A1E57}
INTEGER_BYTE = 0xA5  #: every byte of a poisoned integer


@dataclass(frozen=True)
class Mismatch:
    """Two arrays of one shape that differ. ``where`` marks the wrong elements."""

    got: np.ndarray
    want: np.ndarray
    where: np.ndarray

    def say(self, name: str, was: bool = False) -> str:
        """Describe the first wrong element, and how many there are; ``was`` for a changed input."""
        if self.got.shape != self.want.shape:
            return f"{name} has shape {self.got.shape}, expected {self.want.shape}"
        first = tuple(np.argwhere(self.where)[0].tolist())
        index = f"[{', '.join(map(str, first))}]" if first else ""
        sides = (self.want[first].item(), self.got[first].item())
        shown = (f"{side:.9g}" if isinstance(side, float) else side for side in sides)
        told = "was {} and is now {}" if was else "should be {} and is {}"
        count = f"{int(self.where.sum())} of {self.where.size} elements"
        return f"{name}{index} {told.format(*shown)}; {count} are {'changed' if was else 'wrong'}"


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
    unwritten: np.ndarray = _bits(array) == _bits(fresh)[0]
    return unwritten


def _bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.itemsize}")
