"""What is found out about a wrong result by running it again: on other inputs, and on plain ones.

One budget of time for all: what a result would be right for (``as_if``), how many terms its sums
have (``plain_inputs``) and whether equal numbers make it wrong (``unequal``) take a few runs each,
and the probes of single inputs have the rest.

Students' functions run here, so it is for their own machine and never for the grader."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpwise.labs import as_if, plain_inputs, probes, unequal
from warpwise.labs.differences import EXTRA, MISSING, USED, Difference
from warpwise.labs.exercise import Case, Program
from warpwise.labs.limit import TimeIsUp, at_most
from warpwise.metrics import WARP_SIZE

FOR_RUNS = 0.4  # the part of the time that the few runs may take
FEWEST_LANES = 4  # whose elements are missing, below which that tells nothing of lanes


@dataclass(frozen=True)
class Looked:
    """What was found of a wrong result; ``difference`` is what there is to draw, if anything.

    ``right_on_ones`` says whether the result is right where all inputs are 1, if that is known.
    ``equals`` name the inputs whose equal numbers make it wrong."""

    difference: Difference | None = None
    sentences: tuple[str, ...] = ()
    right_on_ones: bool | None = None
    equals: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """True if the first wrong element depends on the inputs that it should, and no other."""
        return self.difference is not None and self.difference.exact

    @property
    def of_one_maximum(self) -> bool:
        """True if it is wrong also where no maximum can grow, or depends on too many inputs."""
        too_many = self.difference is not None and bool(self.difference.all(EXTRA))
        return self.right_on_ones is False or too_many

    @property
    def others(self) -> tuple[str, ...]:
        """The arrays of which elements are missing in the first wrong element, or too many."""
        cells = self.difference.cells if self.difference else {}
        return tuple(
            n for n, uses in cells.items() if uses.ndim and np.isin(uses, (MISSING, EXTRA)).any()
        )

    @property
    def moved(self) -> bool:
        """True if the first wrong element uses too few elements and too many at once."""
        found = self.difference
        return found is not None and bool(found.all(EXTRA)) and bool(found.all(MISSING))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers on which the first wrong element should depend, and does not."""
        cells = self.difference.cells if self.difference else {}
        return tuple(name for name, use in cells.items() if not use.ndim and use == MISSING)

    @property
    def of_other_lanes(self) -> bool:
        """True if missing elements of a row are those of half of a warp's lanes, or of more."""
        cells = self.difference.cells.values() if self.difference else ()
        return any(_other_lanes(uses) for uses in cells)

    @property
    def told(self) -> str:
        """All of it, as sentences without the last full stop; "" if nothing was found."""
        return ". ".join(text[0].upper() + text[1:] if i else text for i, text in self._numbered)

    @property
    def _numbered(self) -> list[tuple[int, str]]:
        said = self.difference.say() if self.difference else ""
        return list(enumerate(filter(None, (said, *self.sentences))))


def _other_lanes(uses: np.ndarray) -> bool:
    """True if all elements that are missing, and none that is used, belong to some of the lanes.

    A lane has each 32nd element of a row."""
    if not uses.ndim or (uses == EXTRA).any():
        return False
    missing, used = (
        set((np.argwhere(uses == use)[:, -1] % WARP_SIZE).tolist()) for use in (MISSING, USED)
    )
    return bool(used) and missing.isdisjoint(used) and len(missing) >= max(len(used), FEWEST_LANES)


def looked(target: Any, case: Case, seconds: float = probes.SECONDS) -> Looked:
    """Return what is found out about a wrong result in so many seconds of processor time.

    Of a program on ranks that is nothing: each rank has inputs of its own, and no reference."""
    if seconds <= 0 or isinstance(case, Program):
        return Looked()
    begun = time.process_time()
    sentences: list[str] = []
    plain, equals = plain_inputs.Plain(), tuple[str, ...]()
    with probes.silence(), suppress(TimeIsUp), at_most(FOR_RUNS * seconds):
        equals = unequal.named(target, case)
        sentences.append(unequal.told(equals))
        plain = plain_inputs.counted(target, case)
        sentences.append(plain.told)
        sentences.append(as_if.explained(target, case))
    left = max(0.0, seconds - (time.process_time() - begun))
    found = probes.difference(target, case, left)
    return Looked(found, tuple(filter(None, sentences)), plain.right, equals)
