"""Grades of submissions that were graded before, and who has to agree to them.

Where the student handed in something else, the new grade takes the old one's place at once. Where
something else changed, such as a hidden test, it waits in ``pending/`` until somebody has seen the
difference; so a "no", or a run that is stopped, leaves every grade as it was, and what was worked
out is not lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import decisions, history, store
from warpwise.grading.history import Step
from warpwise.grading.store import PENDING, Kept


@dataclass(frozen=True)
class Change:
    """A submission graded again. ``asked`` is True where somebody has to agree."""

    step: Step
    asked: bool

    @property
    def differs(self) -> bool:
        return history.differs(self.step)


Confirm = Callable[[Sequence[Change]], bool]


def reason(old: Kept, key: str, parts: decisions.Parts) -> str:
    """Say why a kept record is graded again."""
    again = decisions.changed(old.parts, parts) if old.key != key else ()
    return decisions.reason(again, old.record.lab)


def replaced(out: Path, new: Kept, said: str) -> Kept:
    """Return a new grade with those that the kept record of the submission had, if there is one."""
    place = store.path(out, new.record.file, new.record.lab)
    if not place.exists():
        return new
    old = store.read(place)
    return history.followed(old, new, reason(old, new.key, new.parts), said)


def waits(out: Path, file: str, lab: str, key: str) -> Kept | None:
    """Return the grade under this key that waits for somebody to agree."""
    place = store.path(out, file, lab, PENDING)
    found = store.read(place) if place.exists() else None
    return found if found and found.key == key else None


def drop(out: Path, file: str, lab: str) -> None:
    """Remove a grade that waits, if there is one, and the folder if it was the last."""
    store.path(out, file, lab, PENDING).unlink(missing_ok=True)
    with suppress(OSError):
        (out / PENDING).rmdir()


def waiting(out: Path, places: Iterable[tuple[str, str]]) -> Iterator[Kept]:
    """Yield the grades that wait for these files and labs."""
    return (store.read(store.path(out, file, lab, PENDING)) for file, lab in places)


def last(kept: Kept, asked: bool) -> Change:
    """Return the last change of a record that has been graded before."""
    *_, step = history.steps(kept)
    return Change(step, asked)


def take(out: Path, places: Iterable[tuple[str, str]], said: str) -> None:
    """Put the grades that wait for these files and labs in the place of the old ones.

    Each record is the old one or the new one at any moment. Raises OSError."""
    for new in waiting(out, places):
        store.keep(out, replaced(out, new, said))
        drop(out, new.record.file, new.record.lab)


def refused(out: Path, count: int) -> GradingError:
    """Return the error that says where the new grades are."""
    grades = "1 new grade waits" if count == 1 else f"{count} new grades wait"
    then = "the same command with --yes takes them, without grading again"
    return GradingError(f"no kept grade was replaced; {grades} in {out / PENDING}: {then}")
