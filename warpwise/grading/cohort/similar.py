"""Which students' answers to an exercise have more in common than answers written independently have.

Of two answers the share of the smaller one's prints that are in the larger one too: the containment, so that an answer copied into a
longer text still shows. Prints that say nothing are left out first: those of what the lab hands out, and, in a class of LEAST_CLASS
or more, those that more than a third of the answers have, since a short exercise has few right answers.

The exercises of a lab in which two answers share LEAST_SIMILARITY count together, and have to share LEAST_SHARED prints. Both were
chosen by measuring on this course's labs, of each of which there are three right answers to everything, written differently on purpose.
Of these 42 pairs one is found, in which one line was moved; the others have no exercise of 12 prints or more above 0.52, and half of
them are below 0.06. Copies in which all names are changed, numbers have names, operands are turned round, and all statements exchanged
that do not depend on each other, are found in all 42 cases: nine in ten of their exercises keep 0.6 or more, half keep 0.83.
``tests/test_class_report.py`` measures it again.

What this cannot know is who wrote what: a teacher, a book or an assistant has more pupils than one, and a copy that was written anew
shares nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from warpwise.grading import prints
from warpwise.grading.record import Record, Result
from warpwise.labs.source import Lab, role, stub

LEAST_SIMILARITY = 0.6
LEAST_SHARED = 20  # prints: about four lines of code
LEAST_SIZE = 4  # prints of an answer: fewer are alike by chance
LEAST_CLASS = 10


@dataclass(frozen=True)
class Pair:
    """Two submissions to one lab, and the exercises in which they are similar.

    ``size`` is the number of prints that the smaller answers have, ``shared`` how many of them the others have too, over these exercises.
    """

    lab: str
    exercises: tuple[str, ...]
    a: Record
    b: Record
    shared: int
    size: int

    @property
    def similarity(self) -> float:
        """From 0 to 1."""
        return self.shared / self.size


def pairs(records: Sequence[Record], labs: Mapping[str, Lab]) -> tuple[Pair, ...]:
    """The pairs of different students' submissions that are worth looking at, those with most in common first.

    Of a lab that is not in ``labs`` nothing is known to be handed out.
    """
    found = []
    for stem in sorted({record.lab for record in records}):
        lab = labs.get(stem)
        found += _of_lab(stem, [r for r in records if r.lab == stem], handed_out(lab) if lab else frozenset())
    return tuple(sorted(found, key=lambda pair: (-pair.shared, -pair.similarity, pair.a.student, pair.b.student)))


def handed_out(lab: Lab) -> frozenset[int]:
    """The prints of everything that a student is given to begin with."""
    cells = [stub(cell.source) if role(cell) == "exercise" else cell.source for cell in lab.cells if role(cell)]
    return frozenset().union(*map(prints.grams, cells))


def telling(answers: Sequence[Collection[int]], given: Collection[int] = frozenset()) -> list[frozenset[int]]:
    """Of each answer's prints those that say something: neither handed out nor, in a class, what everybody writes."""
    left = [frozenset(answer).difference(given) for answer in answers]
    having = sum(map(bool, answers))
    if having < LEAST_CLASS:
        return left
    common = {gram for gram, count in Counter(gram for answer in left for gram in answer).items() if count > having / 3}
    return [answer - common for answer in left]


def _of_lab(stem: str, records: Sequence[Record], given: frozenset[int]) -> Iterator[Pair]:
    """The exercises of each pair, put together."""
    found: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)
    results = [{result.exercise: result for result in record.results} for record in records]
    for exercise in dict.fromkeys(id for by_id in results for id in by_id):
        for a, b, shared, size in _alike(telling([_prints(by_id.get(exercise)) for by_id in results], given)):
            if records[a].student != records[b].student:
                found[a, b].append((exercise, shared, size))
    for (a, b), ways in found.items():
        exercises, shared, size = zip(*ways, strict=True)
        if sum(shared) >= LEAST_SHARED:
            yield Pair(stem, exercises, records[a], records[b], sum(shared), sum(size))


def _alike(answers: Sequence[Collection[int]]) -> Iterator[tuple[int, int, int, int]]:
    """Two answers' numbers, how many prints they share, and how many the smaller one has.

    Only answers that have a print in common meet: for each print, those that have it are looked up.
    """
    having: dict[int, list[int]] = defaultdict(list)
    for b, answer in enumerate(answers):
        met = Counter(chain.from_iterable(having[gram] for gram in answer))
        for a, shared in met.items():
            size = min(len(answers[a]), len(answer))
            if size >= LEAST_SIZE and shared >= LEAST_SIMILARITY * size:
                yield a, b, shared, size
        for gram in answer:
            having[gram].append(b)


def _prints(result: Result | None) -> tuple[int, ...]:
    return result.prints if result else ()
