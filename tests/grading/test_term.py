"""A term, played: three labs by a class of 60 from Canvas, with what happens in a term.

A student hands in late, one has an extension, one a PDF, one a hostile notebook, one the wrong
lab's; a hidden test is mended after the first grading; one joins and one leaves; points are set by
hand; a lab is dropped. At the end everybody has what the plan says. The other platforms have a
class of twelve each."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from support import term
from support.term import LABS
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.grading import forget, grade, store
from warpwise.grading.scoring import folder
from warpwise.grading.scoring.scores import Score, percentages

pytestmark = [pytest.mark.usefixtures("kept_sandboxes", "sandbox"), pytest.mark.slow]
SEED, FEW = 20_27, 12
MANY = int(os.environ.get("WARPWISE_CLASS", "60"))


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return term.course(tmp_path_factory.mktemp("course"))


@dataclass
class Term:
    """A term as far as it has come: the folders, the class list, and what was handed in."""

    course: Path
    place: Path
    people: tuple[term.Person, ...]
    works: dict[tuple[str, str], term.Work] = field(default_factory=dict)  #: by id and lab

    @property
    def graded(self) -> Path:
        return self.place / "graded"

    def class_list(self, *absent: int) -> Path:
        """Write the class list of today, without those at some places."""
        there = [person for at, person in enumerate(self.people) if at not in absent]
        return term.roster(there, self.place / "class.csv")

    def hand_in(self, lab: str) -> Path:
        works = term.plan(self.course, self.people, lab)
        self.works |= {(work.person.id, lab): work for work in works}
        return term.hand_over(works, self.place / lab, "canvas")

    def grade(self, lab: str) -> list[tuple[str, str]]:
        """Grade a lab's download; return the students and labs that were really graded."""
        done: list[tuple[str, str]] = []
        note = lambda _, __, record: done.append((record.student, record.lab))  # noqa: E731
        settings = {"roster": str(self.place / "class.csv")}
        place = self.place / f"{lab}.zip"
        options = {"seed": SEED, "course": self.course, "settings": settings, "progress": note}
        grade(place, self.graded, lab, **options)
        return done

    def scores(self) -> dict[tuple[str, str], Score]:
        made = folder.gradebook(self.graded)
        return {(s.student.sis_id or s.student.id, s.lab): s for s in made.scores}

    def percents(self) -> dict[str, float]:
        made = folder.gradebook(self.graded)
        found = percentages(made.scores, made.course)
        return {student.sis_id or student.id: percent for student, percent in found.items()}


def the_first_lab(t: Term) -> None:
    """All hand in but the one who has not joined yet; a notebook is hostile."""
    t.class_list(term.JOINS)
    t.hand_in(LABS[0])
    assert len(t.grade(LABS[0])) == MANY - 1
    scores = t.scores()
    for at, person in enumerate(t.people):
        if at != term.JOINS:
            assert scores[person.id, LABS[0]].score == term.earned(t.works[person.id, LABS[0]])
    assert scores[t.people[term.HOSTILE].id, LABS[0]].score == 6  # its kernel is right
    assert t.people[term.JOINS].id not in {id for id, _ in scores}


def the_second_lab(t: Term) -> None:
    """One is late, one has an extension, one has sent a PDF and one the first lab.

    The hidden test of the host function is wrong, so that nobody gets its points."""
    t.class_list()
    extended = t.people[term.EXTENDED]
    until = (term.DUE[LABS[1]] + timedelta(days=2)).isoformat()
    term.settings(t.course, f'\n[extensions."{extended.email}"]\n{LABS[1]} = {until}\n')
    t.hand_in(LABS[1])
    t.grade(LABS[1])
    scores = t.scores()
    assert {score.raw for (_, lab), score in scores.items() if lab == LABS[1]} == {0, 6}
    assert "not known" in scores[t.people[term.LATE].id, LABS[1]].note  # Canvas gives no times


def the_test_is_mended(t: Term) -> None:
    """The second lab is graded again, and the first one is left alone."""
    before = {path: path.read_bytes() for path in (t.graded / "records").iterdir()}
    term.mend(t.course)
    again = t.grade(LABS[1])
    assert {lab for _, lab in again} == {LABS[1]} and len(again) >= MANY - 3
    old = {path for path, text in before.items() if json.loads(text)["record"]["lab"] == LABS[0]}
    assert len(old) == MANY - 1 and all(path.read_bytes() == before[path] for path in old)
    for (id, lab), score in t.scores().items():
        if lab == LABS[1] and score.file:
            assert score.raw == term.earned(t.works[id, lab]), (id, score)


def times_and_points_by_hand(t: Term) -> None:
    """The instructor adds the times that are known, and sets one student's points."""
    late, extended, set_by_hand = (
        t.people[at] for at in (term.LATE, term.EXTENDED, term.OVERRIDDEN)
    )
    rows = "student,lab,submitted\n"
    for person in (late, extended):
        rows += f"{person.email},{LABS[1]},{t.works[person.id, LABS[1]].submitted.isoformat()}\n"
    (t.graded / "times.csv").write_text(rows)
    row = f"{set_by_hand.id},{LABS[1]},,7.5,oral\n"
    (t.graded / "overrides.csv").write_text(f"student,lab,exercise,points,reason\n{row}")
    scores = t.scores()
    assert scores[late.id, LABS[1]].score == 9  # a day has begun
    assert scores[extended.id, LABS[1]].score == 10
    assert scores[set_by_hand.id, LABS[1]].score == 7.5


def the_third_lab_is_dropped(t: Term) -> None:
    """It is graded, and then counts nothing."""
    t.hand_in(LABS[2])
    t.grade(LABS[2])
    before = t.percents()
    extension = t.course / "course.toml"
    more = extension.read_text("utf-8").partition("\n[extensions")
    term.settings(t.course, "".join(more[1:]), {LABS[2]: 0})
    after = t.percents()
    half = next(w for w in t.works.values() if w.lab == LABS[2] and w.kind == "half")
    assert before[half.person.id] < after[half.person.id] == 100


def final_grades(t: Term) -> None:
    """Everybody on the last list has what the plan says, and the one who left has a note."""
    t.class_list(term.LEAVES)
    by_hand = {(term.LATE, LABS[1]): 9.0, (term.OVERRIDDEN, LABS[1]): 7.5}
    found = t.percents()
    for at, person in enumerate(t.people):
        if at != term.LEAVES:
            points = [
                by_hand.get((at, lab), term.earned(t.works[person.id, lab])) for lab in LABS[:2]
            ]
            assert found[person.id] == pytest.approx(5 * sum(points)), person
    done = CliRunner().invoke(app, ["gradebook", str(t.graded), "--format", "canvas"])
    assert done.exit_code == 0
    rows = list(csv.reader(io.StringIO(done.stdout)))
    ids = [row[1] for row in rows if len(row) > 1]
    listed = [str(p.number) for at, p in enumerate(t.people) if at != term.LEAVES]
    assert [id for id in ids if id in listed] == listed


def the_one_who_left_is_deleted(t: Term) -> None:
    gone = t.people[term.LEAVES]
    kept = len(store.load(t.graded).records)
    done = CliRunner().invoke(app, ["forget", str(t.graded), str(gone.number), "--yes"])
    assert done.exit_code == 0, done.output
    assert len(store.load(t.graded).records) == kept - 1
    assert not forget.still_named(forget.find(t.graded, str(t.people[0].number)))[1]
    named = f"_{gone.number}_"  # in the names of Canvas's files
    files = [path for path in t.graded.rglob("*") if path.is_file()]
    assert [path for path in files if named in path.read_text("utf-8", "replace")] == []
    assert not list((t.graded / "feedback").glob(f"{gone.number}.*"))


def test_a_term(tmp_path_factory):
    place = tmp_path_factory.mktemp("term")
    t = Term(term.course(place / "course"), place, term.class_of(MANY))
    the_first_lab(t)
    the_second_lab(t)
    the_test_is_mended(t)
    times_and_points_by_hand(t)
    the_third_lab_is_dropped(t)
    final_grades(t)
    the_one_who_left_is_deleted(t)


# The other platforms.


def of_the_plan(works: list[term.Work]) -> dict[str, float]:
    """Return the raw points of those whose notebook can be graded, by the student's id."""
    return {w.person.id: term.earned(w) for w in works if w.kind in term.EARNS}


@pytest.mark.parametrize("platform", [name for name in term.SHAPES if name != "canvas"])
def test_a_class_in_each_platforms_shape(course: Path, tmp_path: Path, platform: str):
    lab = LABS[0]
    people = [p for p in term.class_of(FEW) if (p.first, p.last) != term.NAMESAKES]
    works = list(term.plan(course, people, lab))
    place = term.hand_over(works, tmp_path / "handed_in", platform)
    records = grade(place, tmp_path / "graded", lab, seed=SEED, course=course)
    roster = term.roster(people, tmp_path / "class.csv")
    made = folder.gradebook(tmp_path / "graded", course, roster)
    assert {s.student.sis_id: s.raw for s in made.scores if s.file} == of_the_plan(works)
    known = {record.submitted != "" for record in records}
    assert known == {platform in ("gradescope", "nbgrader")}
    hostile = next(w for w in works if w.kind == "hostile")
    reasons = [r.finding.reason for one in records for r in one.results if not r.finding.passed]
    assert of_the_plan(works)[hostile.person.id] == 6 and "passed" not in reasons
