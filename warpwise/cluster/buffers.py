"""Arrays that ranks hand to transfers: what they have to be, and whether they are left alone.

From the start of a transfer to the wait for it, an array belongs to the transfer. What will be
received stands in it after the wait alone; before, it has values that show: NaN, the least integer,
or the largest of those without a sign. So a program that looks too early sees it, and one that
writes too early is found. The NaN is a signalling one, of which any arithmetic makes a quiet one
(IEEE 754): ``x += 1`` is found too."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.errors import BufferInUseError, ClusterError
from warpwise.messages import Rank, TypeName, Words, message
from warpwise.simt.machine.device_memory import device_values

MOST_WORK = 10_000  #: of NumPy's search for a common element, in steps


def values_of(array: Any, word: str, site: str) -> np.ndarray:
    """Return the values of NumPy's or a device array, in the same memory.

    Raises ClusterError for anything else."""
    values = device_values(array)
    values = array if values is None else values
    if not isinstance(values, np.ndarray):
        what = message(
            "{word} at {site} takes NumPy or device arrays of numbers, not {kind}",
            word=Words(word),
            site=Words(site),
            kind=Words(type(array).__name__),
        )
        raise ClusterError(what)
    if values.dtype.kind not in "biufc":
        what = message(
            "{word} at {site} takes NumPy or device arrays of numbers, not an array of {dtype}",
            word=Words(word),
            site=Words(site),
            dtype=TypeName(values.dtype),
        )
        raise ClusterError(what)
    return values


def as_received(values: np.ndarray, word: str, site: str) -> np.ndarray:
    """Return an array that something will be received in. Raises ClusterError if none can be."""
    if not values.flags.writeable:
        what = message(
            "{word} at {site} writes into its array, which is read-only",
            word=Words(word),
            site=Words(site),
        )
        raise ClusterError(what)
    return values


@dataclass
class InUse:
    """Arrays of a rank that a transfer works on, as it left them.

    ``outputs``: those that it writes into, when it is waited for."""

    rank: int
    word: str
    site: str
    inputs: Sequence[np.ndarray]
    outputs: Sequence[np.ndarray]

    def __post_init__(self) -> None:
        for array in self.outputs:
            unset(array)
        written = set(map(id, self.outputs))
        self.arrays = [*self.outputs, *(one for one in self.inputs if id(one) not in written)]
        self.left = [array.tobytes() for array in self.arrays]

    def check(self, site: str) -> None:
        """Raise BufferInUseError if the program has changed one of them."""
        for array, left in zip(self.arrays, self.left, strict=True):
            if array.tobytes() != left:
                what = message(
                    "{rank} changes an array, found at {here}, that its {word} at {there} works "
                    "on until the wait for it",
                    rank=Rank(self.rank),
                    here=Words(site),
                    word=Words(self.word),
                    there=Words(self.site),
                )
                raise BufferInUseError(what)

    def check_passed(
        self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], word: str, site: str
    ) -> None:
        """Raise BufferInUseError if another transfer is given the same memory; two may read it."""
        pairs = [(one, two) for one in self.outputs for two in (*inputs, *outputs)]
        pairs += [(one, two) for one in self.inputs for two in outputs]
        if any(overlap(*pair) for pair in pairs):
            what = message(
                "{rank} passes to {word} at {here} an array that its {first} at {there} works on "
                "until the wait for it",
                rank=Rank(self.rank),
                word=Words(word),
                here=Words(site),
                first=Words(self.word),
                there=Words(self.site),
            )
            raise BufferInUseError(what)

    def check_read(self, arrays: Sequence[np.ndarray], reader: str, site: str) -> None:
        """Raise BufferInUseError if what will be received is used by a kernel already."""
        for array in self.outputs:
            if any(overlap(array, other) for other in arrays):
                what = message(
                    "{rank} launches {kernel} at {here} on an array that its {word} at {there} "
                    "fills: wait for it before",
                    rank=Rank(self.rank),
                    kernel=Words(reader),
                    here=Words(site),
                    word=Words(self.word),
                    there=Words(self.site),
                )
                raise BufferInUseError(what)

    def deliver(self, results: Sequence[np.ndarray]) -> None:
        """Put what was received into the arrays."""
        for array, result in zip(self.outputs, results, strict=True):
            array[...] = result


class Lies:
    """Where an array lies, which is known as long as its memory is anybody else's too."""

    def __init__(self, array: np.ndarray):
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self._owner, self._place = weakref.ref(owner), array.__array_interface__

    def array(self) -> np.ndarray | None:
        """Return the array anew; None if its memory was let go."""
        owner = self._owner()
        return None if owner is None else np.asarray(_Lent(owner, self._place))


@dataclass(frozen=True)
class _Lent:
    """A part of an array's memory, as NumPy asks for it; keeps the array."""

    owner: np.ndarray
    __array_interface__: dict[str, Any]


def overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two arrays share an element; False where that takes long to find out."""
    if not np.may_share_memory(one, other):
        return False
    try:
        steps: Any = MOST_WORK  # its stub knows of 0 and -1 alone
        return bool(np.shares_memory(one, other, max_work=steps))
    except np.exceptions.TooHardError:
        return False


def unset(array: np.ndarray) -> None:
    """Fill an array with what stands where nothing was received as yet."""
    dtype = array.dtype
    if dtype.kind in "fc" and array.real.dtype.itemsize <= 8:
        bits = array.real.dtype.itemsize * 8
        for part in (array.real, array.imag) if dtype.kind == "c" else (array,):
            part.view(f"u{bits // 8}")[...] = _SIGNALLING[bits]
    elif dtype.kind in "fc":
        array[...] = np.nan
    elif dtype.kind == "b":
        array[...] = False
    else:
        array[...] = np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max


#: By bits of a float: the exponent's all set, of the fraction's the second alone.
_SIGNALLING = {16: 0x7D00, 32: 0x7FA0_0000, 64: 0x7FF4 << 48}
