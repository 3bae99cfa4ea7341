"""Pairs of submissions with more in common than answers written independently have.

Two answers are compared by containment: the share of the smaller one's prints (fingerprint hashes)
that are in the larger one too, so that an answer copied into a longer text still shows. Prints that
say nothing are left out first: those of what the lab hands out, and, in a class of LEAST_CLASS or
more, those that more than a third of the answers have, since a short exercise has few right
answers.

The exercises of a lab in which two answers share LEAST_SIMILARITY count together, and must share
LEAST_SHARED prints. Both thresholds were chosen by measuring on this course's labs, each of which
has three right answers to everything, written differently on purpose. Of these 48 pairs one is
found, in which one line was moved; the others have no exercise of 12 prints or more above 0.51, and
half of them are below 0.07. Copies with all names changed, numbers named, operands swapped, and
independent statements exchanged are found in all 48 cases: nine in ten of their exercises keep 0.6
or more, half keep 0.83. ``tests/grading/test_class_report.py`` measures it again.

Left out, because it cannot be known: who wrote what. A teacher, a book or an assistant has more
than one pupil, and a copy that was written anew shares nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from warpwise.grading import fingerprints
from warpwise.grading.record import Record, Result
from warpwise.labs.source import Lab, role, stub

LEAST_SIMILARITY = 0.6
LEAST_SHARED = 20  # prints: about four lines of code
LEAST_SIZE = 4  # prints of an answer: fewer are alike by chance
LEAST_CLASS = 10


@dataclass(frozen=True)
class Pair:
    """Two submissions to one lab, and the exercises in which they are similar.

    Over these exercises, the smaller answers have ``size`` prints, and the larger ones ``shared``
    of them."""

    lab: str
    exercises: tuple[str, ...]
    a: Record
    b: Record
    shared: int
    size: int

    @property
    def similarity(self) -> float:
        """The containment, from 0 to 1."""
        return self.shared / self.size


def pairs(records: Sequence[Record], labs: Mapping[str, Lab]) -> tuple[Pair, ...]:
    """Return similar submissions of different students, those with most in common first.

    A lab that is not in ``labs`` is taken to hand out nothing."""
    found: list[Pair] = []
    for stem in sorted({record.lab for record in records}):
        given = handed_out(labs[stem]) if stem in labs else frozenset()
        found += _of_lab(stem, [r for r in records if r.lab == stem], given)
    found.sort(key=lambda pair: (-pair.shared, -pair.similarity, pair.a.student, pair.b.student))
    return tuple(found)


def handed_out(lab: Lab) -> frozenset[int]:
    """Return the prints of everything that a student is given to begin with."""
    cells = [
        stub(cell.source) if role(cell) == "exercise" else cell.source
        for cell in lab.cells
        if role(cell)
    ]
    return frozenset[int]().union(*map(fingerprints.grams, cells))


def telling(
    answers: Sequence[Collection[int]], given: Collection[int] = frozenset()
) -> list[frozenset[int]]:
    """Keep of each answer the prints that neither were handed out nor, in a class, are common."""
    left = [frozenset(answer).difference(given) for answer in answers]
    having = sum(map(bool, answers))
    if having < LEAST_CLASS:
        return left
    counts = Counter(chain.from_iterable(left))
    common = {gram for gram, count in counts.items() if count > having / 3}
    return [answer - common for answer in left]


def _of_lab(stem: str, records: Sequence[Record], given: frozenset[int]) -> Iterator[Pair]:
    """Put the similar exercises of each pair together."""
    found: dict[tuple[int, int], list[tuple[str, int, int]]] = defaultdict(list)
    results = [{result.exercise: result for result in record.results} for record in records]
    for exercise in dict.fromkeys(id for by_id in results for id in by_id):
        answers = [_prints(by_id.get(exercise)) for by_id in results]
        for a, b, shared, size in _alike(telling(answers, given)):
            if records[a].student != records[b].student:
                found[a, b].append((exercise, shared, size))
    for (a, b), ways in found.items():
        exercises, counts, sizes = zip(*ways, strict=True)
        if sum(counts) >= LEAST_SHARED:
            yield Pair(stem, exercises, records[a], records[b], sum(counts), sum(sizes))


def _alike(answers: Sequence[Collection[int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield two answers' places, how many prints they share, and how many the smaller one has.

    Only answers with a print in common meet: for each print, those that have it are looked up."""
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
