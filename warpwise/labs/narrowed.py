"""Advice on a wrong result, less the causes that running it again has ruled out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from warpwise.labs.advice import EQUALS, INDICES
from warpwise.labs.causes import THREAD
from warpwise.labs.patterns.failure import MASKED, RESCALED, TERMS

FORMULA = (
    "it depends on the {tried} that it should and on no others: is each counted once? If so, "
    f"{TERMS}"
)
LANES = "do the lanes of a warp exchange their parts, at every distance 16, 8, 4, 2 and 1?"
INDEX = (
    "look at the index with which {name} is read: elements of it that should count do not, or "
    "others do"
)
FORGOTTEN = "{number} should count there, and does not: which step of the formula needs it?"


@dataclass(frozen=True)
class Ruled:
    """What running it again has shown of a wrong result.

    ``exact``: it depends on the right inputs, so no mask is wrong and no index. ``of_one_maximum``:
    it is wrong also where no maximum grows, so it is not for want of rescaling alone. ``others``:
    the inputs of which it uses too few elements, or too many, so more than a formula is wrong.
    ``other_lanes``: what is missing belongs to other lanes of the warp. ``tried``: what ``exact``
    is said of. ``numbers``: those on which it should depend, and does not. ``equals``: it is right
    once no two numbers are equal. ``moved``: it uses too few elements and too many at once, so that
    indices are wrong and not a mask alone."""

    exact: bool = False
    of_one_maximum: bool = False
    others: Collection[str] = ()
    other_lanes: bool = False
    tried: str = "inputs"
    numbers: Collection[str] = ()
    equals: bool = False
    moved: bool = False


def narrowed(advice: str, by: Ruled) -> str:
    """Leave out of advice on a wrong result what is ruled out, and put first what was found.

    Equal numbers come first unless they are asked about already, lanes unless a small change
    helps."""
    said, _, places = advice.partition("\n")
    numbers = () if by.others or places else by.numbers
    if by.equals and "equal" not in said:
        first = f"{said.split(' Or: ')[0]} Or: " if places else ""
        return "\n".join(filter(None, (f"{first}{EQUALS}", places)))
    if numbers and not any(number in said for number in numbers):
        needed = FORGOTTEN.format(number=next(iter(numbers)))
        return f"{needed} Or: {said.partition('; or ')[0].partition(' Or: ')[0]}"
    if by.other_lanes and not places:
        return LANES
    if by.others and not places and THREAD in said:
        said = _of_inputs(by)
    elif by.others and TERMS in said and not places:
        told = _of_inputs(by)
        said = f"{told}; or {_without(TERMS, said)}" if said != TERMS else told
    for cause, out in ((MASKED, by.exact), (RESCALED, by.of_one_maximum)):
        if out:
            said = _without(cause, said)
    if said == MASKED != advice and not by.others:
        said = f"{MASKED}; or {TERMS}"
    if by.exact and (not said or THREAD in said):
        said = FORMULA.format(tried=by.tried)
    return "\n".join(filter(None, (said, places))) if said else advice


def _of_inputs(by: Ruled) -> str:
    """Advise on inputs of which too few elements are used, or too many."""
    if len(by.others) == 1:
        return INDEX.format(name=next(iter(by.others)))
    return INDICES.format(names=" and ".join(by.others)) if by.moved else MASKED


def _without(cause: str, said: str) -> str:
    """Take one of two causes out of advice."""
    for joined in (f"; or {cause}", f" Or: {cause}", f"{cause}; or ", f"{cause} Or: ", cause):
        said = said.replace(joined, "")
    return said
