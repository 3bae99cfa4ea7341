"""Notebooks of an older version of a lab: which answers carry over, and what the student is told.

An exercise that is the same in both versions is graded as ever. Of the others a right answer counts
too; one that fails gets a reason of its own, since it may well be right for the exercise that the
student was given. Which are the same is said by the digests that a notebook carries
(``labs.versions``): who changes them changes only what the own page says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpwise.grading.notebook import Notebook
from warpwise.grading.record import MISSING, OLDER, UNTOUCHED, Finding, Result
from warpwise.labs.exercise import Reason


@dataclass(frozen=True)
class Today:
    """The lab that a notebook is graded as: ``digests`` are those of its exercises, by id."""

    stem: str
    title: str
    version: str
    digests: Mapping[str, str] = field(default_factory=dict)


def graded(
    results: Sequence[Result], submitted: Notebook, lab: Today
) -> tuple[tuple[Result, ...], str]:
    """Return the results of a notebook of whatever version, and the line for its student's page."""
    differ = differing(submitted, lab)
    found = tuple(
        _marked(result, submitted, lab) if result.exercise in differ else result
        for result in results
    )
    return found, note(submitted, lab, differ, found)


def differing(submitted: Notebook, lab: Today) -> frozenset[str]:
    """Return the exercises of a lab that a notebook of another version has not, or otherwise."""
    if submitted.version == lab.version:
        return frozenset()
    return changed(submitted.digests, lab.digests)


def changed(carried: Mapping[str, str], digests: Mapping[str, str]) -> frozenset[str]:
    """Return the exercises with these digests that a notebook has not, or has with another.

    A notebook that carries none is from before there were digests, and nothing is known of it."""
    if not carried:
        return frozenset()
    return frozenset(id for id, digest in digests.items() if carried.get(id) != digest)


def _marked(result: Result, submitted: Notebook, lab: Today) -> Result:
    """Return the result of an exercise that differs, with its reason."""
    if result.finding.passed or result.finding.reason == Reason.NOT_DONE:
        return result
    there = result.exercise in submitted.digests
    if result.finding.reason == MISSING and there:
        return result
    was = "was another exercise then" if there else "did not exist then"
    detail = f"the notebook is {_of(submitted, lab)}; {result.exercise} {was}"
    advice = f"get the new lab; {_command(lab)} moves the answers that carry over"
    return replace(result, finding=Finding(False, OLDER, detail, advice))


def note(
    submitted: Notebook, lab: Today, differ: Collection[str], results: Sequence[Result]
) -> str:
    """Return the line at the top of the student's page; "" if all exercises are the same."""
    if not differ:
        return ""
    begun = [r.exercise for r in results if r.finding.reason not in UNTOUCHED]
    same = [id for id in begun if id not in differ]
    carry = f"your answers to {listed(same)} carry over" if same else "no answer carries over"
    moves = f"and move them with {_command(lab)}" if same else "and begin anew"
    return f"This is {_of(submitted, lab)}: {carry}. Get the new one, {moves}."


def listed(names: Sequence[str]) -> str:
    """Write names as a person would: "a", "a and b", "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _of(submitted: Notebook, lab: Today) -> str:
    number = lab.title.partition(":")[0]
    return f"{number[:1].lower()}{number[1:]} of {submitted.edition}"


def _command(lab: Today) -> str:
    return f"`warpwise labs update {lab.stem}.ipynb`"
