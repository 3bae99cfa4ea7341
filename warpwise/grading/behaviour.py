"""What sets the hidden cases that fail apart from those that are right, without their numbers.

Cases have ``features``, such as "the number of columns is not a multiple of 32". An explanation is
one feature, or one of two, that every failed case has and no right one. Some fit by chance, so it
is claimed only if probes confirm it: new cases of the same generator, some with the feature and
some without. Left out: why a kernel fails, which only the kernel could tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from warpwise.grading.features import FORMS, details, features
from warpwise.labs.exercise import Call, Case, Launch, Program, Reason

EVERY = "fails in every case"
FIRST = "fails already in the first case"
EVERY_TRIED = "fails in every case that was tried"
UNCLEAR = "fails in some cases, and what sets them apart is not clear"
MOST_PROBES = 4
LEAST_FOR_DETAILS = 2
BOTH_AXES = {
    "the number of columns is ": "the number of columns or of rows is ",
    "there is more than one column": "there is more than one column or more than one row",
    "there is only one column": "there is only one column or only one row",
}


@dataclass(frozen=True)
class Explanation:
    """One or two features, of which every case that fails has one."""

    features: tuple[str, ...]

    def covers(self, seen: Collection[str]) -> bool:
        """True if a case with these features is expected to fail."""
        return any(feature in seen for feature in self.features)

    @property
    def of_both_axes(self) -> bool:
        """True if the two are one feature, of the rows and of the columns."""
        return len({feature.replace("column", "row") for feature in self.features}) == 1

    @property
    def words(self) -> str:
        """The end of "The kernel ..."."""
        if len(self.features) == 2 and self.of_both_axes:
            first = min(self.features)  # of the columns
            for one, both in BOTH_AXES.items():
                if first.startswith(one):
                    return f"fails where {both}{first.removeprefix(one)}"
        return "fails where " + " or ".join(self.features)


@dataclass(frozen=True)
class Probe:
    """A way to try an answer on more cases: ``draw`` makes them.

    ``judge`` says of each whether the answer passes, when asked, and of fewer if time runs out."""

    draw: Callable[[], Sequence[Case]]
    judge: Callable[[Sequence[Case]], Iterable[bool]]


def behaviour(
    cases: Sequence[Case], passed: Sequence[bool], reason: str = "", probe: Probe | None = None
) -> str:
    """Say when an answer fails, as the end of "The kernel ...".

    ``passed`` is the outcome of the first so many cases, at least one of which failed, and
    ``reason`` that of the failure that the student is told. Of cases within budget, only those
    that have one count as right."""
    tried = list(zip(cases, passed, strict=False))
    failed = [case for case, ok in tried if not ok]
    right = [case for case, ok in tried if ok and _has_budget(case, reason)]
    if not right:
        if len(tried) < len(cases):
            return FIRST if len(tried) == 1 else EVERY_TRIED
        budget = reason.removeprefix(Reason.OVER_BUDGET).replace("_", " ")
        return EVERY if len(failed) == len(cases) else f"{EVERY} with a budget on {budget}"
    if probe is None or len(tried) < len(cases) or reason == Reason.TOO_MUCH_MEMORY:
        return UNCLEAR
    live = list(explanations(failed, right))
    if not live:
        return UNCLEAR
    known = {frozenset(_all(case)) for case in (*failed, *right)}
    chosen = _telling(live, [case for case in probe.draw() if _has_budget(case, reason)], known)
    met = set[bool]()
    for case, ok in zip(chosen, probe.judge(chosen), strict=False):
        met.add(ok)
        live = [one for one in live if one.covers(_all(case)) != ok]
        if not live:
            break
    return live[0].words if live and len(met) == 2 else UNCLEAR


def explanations(failed: Sequence[Case], right: Sequence[Case]) -> Iterator[Explanation]:
    """Yield what fits all outcomes, the most telling first.

    Of pairs that is one feature of both axes; how rows and columns compare is in none. Details,
    which fit by chance more often, count by themselves alone, and not against a single case."""
    elsewhere = set[str]().union(*map(_all, right))
    seen = [_all(case) for case in failed]
    for feature in dict.fromkeys(features(failed[0])):
        if feature not in elsewhere and all(feature in one for one in seen):
            yield Explanation((feature,))
    alone = dict.fromkeys(f for case in failed for f in features(case) if f not in elsewhere)
    some = [f for f in alone if f not in FORMS and not all(f in one for one in seen)]
    pairs = sorted(map(Explanation, combinations(some, 2)), key=lambda pair: not pair.of_both_axes)
    yield from (pair for pair in pairs if all(pair.covers(one) for one in seen))
    if min(len(failed), len(right)) < LEAST_FOR_DETAILS:
        return
    for detail in dict.fromkeys(details(failed[0])):
        if detail not in elsewhere and all(detail in one for one in seen):
            yield Explanation((detail,))


def _telling(
    live: Sequence[Explanation], fresh: Sequence[Case], known: Collection[frozenset[str]]
) -> list[Case]:
    """Choose cases by which the first explanation can be told from the others.

    It covers half of them. New combinations of features are preferred."""
    first, *others = live
    seen = [_all(case) for case in fresh]

    def order(at: int) -> tuple[int, bool]:
        same = first.covers(seen[at])
        return -sum(one.covers(seen[at]) != same for one in others), seen[at] in known

    places = sorted(range(len(fresh)), key=order)
    sides = ([at for at in places if first.covers(seen[at]) is side] for side in (True, False))
    return [fresh[at] for side in sides for at in side[: MOST_PROBES // 2]]


def _all(case: Case) -> frozenset[str]:
    return frozenset((*features(case), *details(case)))


def _has_budget(case: Case, reason: str) -> bool:
    """True if a case could fail for this reason."""
    if reason == Reason.TOO_MUCH_MEMORY:
        return isinstance(case, Call) and case.most_bytes is not None
    if not reason.startswith(Reason.OVER_BUDGET):
        return True
    return (
        isinstance(case, Launch | Program)
        and reason.removeprefix(Reason.OVER_BUDGET) in case.budget
    )
