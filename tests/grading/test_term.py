"""A term, played: three labs by a class of 60 on Canvas, with what happens in a term.

The labs are handed out week by week. A run is stopped and goes on; a student hands in late, one has
an extension, one a PDF, one a hostile notebook, one the wrong lab's, and then the right one; one
works in an older version, one is right but over budget; a hidden test is mended after the first
grading; one joins and one leaves; points are set by hand; a lab is dropped. At the end everybody
has what the plan says. The other platforms have a class of twelve each."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from support import downloads, term
from support.term import LABS
from typer.testing import CliRunner, Result

from warpwise.cli import app
from warpwise.grading import forget, grade, store
from warpwise.grading.record import OLDER, Record
from warpwise.grading.scoring import folder
from warpwise.grading.scoring.scores import Score, percentages

pytestmark = [pytest.mark.usefixtures("kept_sandboxes", "sandbox"), pytest.mark.slow]
SEED, FEW = 20_27, 12
MANY = int(os.environ.get("WARPWISE_CLASS", "60"))


class PowerCut(Exception):
    """The end of a run before its time."""


def run(*arguments: object, status: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == status, done.output
    return done


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


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
    extensions: str = ""  #: what ``course.toml`` says of them

    @property
    def graded(self) -> Path:
        return self.place / "graded"

    @property
    def records(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in (self.graded / "records").iterdir()}

    @property
    def leaver(self) -> str:
        """What the grader calls the one who leaves."""
        return str(self.people[term.LEAVES].number)

    def class_list(self, *absent: int) -> Path:
        """Write the class list of today, without those at some places."""
        there = [person for at, person in enumerate(self.people) if at not in absent]
        return downloads.canvas_gradebook(there, self.place / "class.csv")

    def hand_in(self, lab: str, *instead: term.Work) -> list[term.Work]:
        """Write a lab's download; these pieces of work are ``instead`` of the planned ones."""
        works = {work.person.id: work for work in term.plan(self.course, self.people, lab)}
        works |= {work.person.id: work for work in instead}
        self.works |= {(id, lab): work for id, work in works.items()}
        downloads.hand_over([*works.values()], self.place / lab, "canvas")
        return [*works.values()]

    def options(self, lab: str) -> tuple[object, ...]:
        """Return the arguments with which ``warpwise grade`` grades a lab's download."""
        known = ("--out", self.graded, "--course", self.course, "--lab", lab)
        return (self.place / f"{lab}.zip", *known, "--roster", self.place / "class.csv")

    def grade(self, lab: str, most: int = 10_000) -> list[tuple[str, str]]:
        """Grade a lab's download; return the students and labs that were really graded.

        After so many as ``most`` the power is cut."""
        done: list[tuple[str, str]] = []

        def note(_: int, __: int, record: Record) -> None:
            done.append((record.student, record.lab))
            if len(done) == most:
                raise PowerCut

        settings = {"roster": str(self.place / "class.csv")}
        place = self.place / f"{lab}.zip"
        options = {"seed": SEED, "course": self.course, "settings": settings, "progress": note}
        try:
            grade(place, self.graded, lab, **options)
        except PowerCut:
            assert len(done) == most
        return done

    def gradebook(self, *options: object, status: int = 0) -> list[dict[str, str]]:
        return rows(run("gradebook", self.graded, *options, status=status).stdout)

    def scores(self) -> dict[tuple[str, str], Score]:
        made = folder.gradebook(self.graded)
        return {(s.student.sis_id or s.student.id, s.lab): s for s in made.scores}

    def percents(self) -> dict[str, float]:
        made = folder.gradebook(self.graded)
        found = percentages(made.scores, made.course)
        return {student.sis_id or student.id: percent for student, percent in found.items()}

    def page(self, at: int, status: int = 0) -> str:
        """Return a student's page, as words with one space between them."""
        number = self.people[at].number
        done = run("feedback", self.graded, number, "--text", status=status)
        return " ".join(done.stdout.split())


def the_labs_are_handed_out(t: Term) -> None:
    """A lab each week, into one folder; those of other weeks are not in it."""
    term.publish(t.course)
    for lab, there in (("1", LABS[:1]), ("2", LABS[:2]), ("fourfold", LABS)):
        run("release", "--student", t.place / "handout", "--course", t.course, "--lab", lab)
        handed = sorted(path.stem for path in (t.place / "handout/labs").iterdir())
        assert handed == list(there)
    assert "10 " in run("course", "check", t.course).stdout


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

    Without --lab that is a question. The hidden test of the host function is wrong, so that nobody
    gets its points. The power is cut, and until the run goes on no grade looks final."""
    t.class_list()
    extended = t.people[term.EXTENDED]
    until = (term.DUE[LABS[1]] + timedelta(days=2)).isoformat()
    t.extensions = f'\n[extensions."{extended.email}"]\n{LABS[1]} = {until}\n'
    term.settings(t.course, t.extensions)
    t.hand_in(LABS[1])
    before = t.records
    zipped, *others = t.options(LABS[1])
    unnamed = [option for option in others if option not in ("--lab", LABS[1])]
    asked = run("grade", zipped, *unnamed, status=2).stderr
    assert asked.count("\n") == 1 and "1 notebook is of another lab than 02_thrice" in asked
    assert t.records == before
    first = t.grade(LABS[1], most=MANY // 2)
    the_run_looks_unfinished(t, {student for student, _ in first})
    then = t.grade(LABS[1])
    assert len(first) + len(then) == MANY and not set(first) & set(then)
    assert "UNFINISHED" not in (t.graded / "grades.csv").read_text("utf-8")
    scores = t.scores()
    assert {score.raw for (_, lab), score in scores.items() if lab == LABS[1]} == {0, 6}
    assert "not known" in scores[t.people[term.LATE].id, LABS[1]].note  # Canvas gives no times
    wrong = scores[t.people[term.WRONG_LAB].id, LABS[1]]
    assert (wrong.score, wrong.note[:29]) == (0, "this is the notebook of 01_tw")
    assert scores[t.people[term.WRONG_LAB].id, LABS[0]].note == scores[extended.id, LABS[0]].note
    assert {row["lab"] for row in t.gradebook("--lab", LABS[1])} == {LABS[1]}
    assert "answers.pdf, no notebook" in t.page(term.PDF)


def the_run_looks_unfinished(t: Term, graded: set[str]) -> None:
    mark, *listed = t.gradebook(status=1)
    assert mark["student"] == "UNFINISHED"
    of_lab = {row["student"]: row for row in listed if row["lab"] == LABS[1]}
    assert len(of_lab) == MANY
    for at, person in enumerate(t.people):
        row = of_lab[person.email]
        known = str(person.number) in graded
        assert (row["score"] != "", row["course_percent"] != "") == (known, known), row
        assert known or "Not graded yet" in t.page(at, status=1)
    made = t.place / "canvas.csv"
    run("gradebook", t.graded, "--format", "canvas", "--out", made, status=2)
    assert not made.exists()


def the_test_is_mended(t: Term) -> None:
    """The second lab is graded again, nothing is replaced before somebody agrees."""
    before = t.records
    term.mend(t.course)
    asked = run("grade", *t.options(LABS[1]), "--why", "the test was wrong", status=2)
    assert t.records == before and "with --yes" in asked.stderr
    waiting = {path.name for path in (t.graded / "pending").iterdir()}
    assert waiting == {
        name.name for name, text in before.items() if json.loads(text)["record"]["lab"] == LABS[1]
    }
    assert any("pending" in path.parts for path in forget.find(t.graded, t.leaver).files)
    assert {score.raw for (_, lab), score in t.scores().items() if lab == LABS[1]} == {0, 6}
    done = run("grade", *t.options(LABS[1]), "--yes", "--why", "the test was wrong")
    assert " points  (" not in done.stderr  # none is worked out twice
    assert not (t.graded / "pending").exists()
    old = {path for path, text in before.items() if json.loads(text)["record"]["lab"] == LABS[0]}
    assert len(old) == MANY - 1 and all(path.read_bytes() == before[path] for path in old)
    for (id, lab), score in t.scores().items():
        if lab == LABS[1] and score.file:
            assert score.raw == term.earned(t.works[id, lab]), (id, score)
    told = rows((t.graded / "history.csv").read_text("utf-8"))
    changed = [row for row in told if not row["exercise"] and row["before"] != row["after"]]
    assert {row["said"] for row in changed} == {"the test was wrong"}
    assert len(changed) == MANY - 2  # of a PDF and of a wrong lab there is nothing to grade
    assert "3 of 5 points before, 5 of 5 points now" in t.page(term.LATE)
    assert f"{MANY - 2} changes; " in run("history", t.graded).stdout


def times_and_points_by_hand(t: Term) -> None:
    """Canvas's list of submissions brings the times; the wrong file is replaced by the right one.

    The instructor sets one student's points, and grades two again who asked for it."""
    late, extended, set_by_hand, stray = (
        t.people[at] for at in (term.LATE, term.EXTENDED, term.OVERRIDDEN, term.WRONG_LAB)
    )
    works = t.hand_in(LABS[1], term.work(t.course, stray, LABS[1], "solved"))
    times = downloads.canvas_submissions(works, t.place / "submissions.json")
    done = run("grade", *t.options(LABS[1]), "--times", times)  # and no question
    assert "no times of submission" not in done.stderr
    row = f"{set_by_hand.id},{LABS[1]},,7.5,oral\n"
    (t.graded / "overrides.csv").write_text(f"student,lab,exercise,points,reason\n{row}")
    run("course", "check", t.course, "--graded", t.graded)
    before, scores = t.records, t.scores()
    those = [word for person in (late, stray) for word in ("--student", person.email)]
    run("regrade", t.graded, *those, "--lab", LABS[1], "--why", "you asked")
    changed = [text for path, text in t.records.items() if text != before[path]]
    names = {json.loads(text)["record"]["student"] for text in changed}
    assert names == {str(late.number), str(stray.number)}
    assert t.scores() == scores
    assert scores[late.id, LABS[1]].score == 9  # a day has begun
    assert scores[extended.id, LABS[1]].score == 10
    assert scores[set_by_hand.id, LABS[1]].score == 7.5
    assert scores[stray.id, LABS[1]].score == 10
    assert "1 point off (10% of 10)" in t.page(term.LATE)
    assert "2026-03-18 19:59 (UTC+0100), 1 day late" in t.page(term.LATE)
    assert "could not be graded" not in t.page(term.WRONG_LAB)
    assert "score set by hand: oral" in t.page(term.OVERRIDDEN)


def the_third_lab(t: Term) -> None:
    """An exercise was renewed after one student had begun; one is right but over budget.

    The older notebook's answers move into the new one, which is then finished and handed in."""
    student = t.people[term.OLDER]
    begun = term.work(t.course, student, LABS[2], "older")
    term.renew(t.course)
    t.hand_in(LABS[2], begun)
    t.grade(LABS[2])
    for id, score in ((id, score) for (id, lab), score in t.scores().items() if lab == LABS[2]):
        assert score.score == term.earned(t.works[id, LABS[2]]), score
    over = t.scores()[t.people[term.OVER].id, LABS[2]]
    assert "fourfold right but over budget: 50 %" in over.note
    page = t.page(term.OLDER)
    assert "your answers to fourfold carry over" in page
    (record,) = (
        r
        for r in store.load(t.graded).records
        if r.student == str(student.number) and r.lab == LABS[2]
    )
    assert [result.finding.reason for result in record.results][1] == OLDER
    old, moved = t.place / f"{LABS[2]}.ipynb", t.place / "moved.ipynb"
    old.write_bytes(begun.files[old.name])
    run("release", "--student", t.place / "handout", "--course", t.course, "--lab", "3")
    done = run("labs", "update", old, "--from", t.place / "handout", "--out", moved)
    assert "moved fourfold" in done.stdout
    finished = moved.read_bytes().replace(b"    ...", b"    return n / 4")
    again = replace(begun, kind="solved", files={old.name: finished}, attempt=1)
    t.hand_in(LABS[2], again)
    assert t.grade(LABS[2]) == [(str(student.number), LABS[2])]
    score = t.scores()[student.id, LABS[2]]
    assert score.score == 10 and "_71" in score.file and "graded notebooks" not in score.note
    assert "carry over" not in t.page(term.OLDER)


def the_third_lab_is_dropped(t: Term) -> None:
    """It counts nothing."""
    before = t.percents()
    term.settings(t.course, t.extensions, {LABS[2]: 0})
    after = t.percents()
    half = next(w for w in t.works.values() if w.lab == LABS[2] and w.kind == "half")
    assert before[half.person.id] < after[half.person.id] == 100


def final_grades(t: Term) -> None:
    """Everybody on the last list has what the plan says, and Canvas's own rows, and feedback."""
    t.class_list(term.LEAVES)
    by_hand = {(term.LATE, LABS[1]): 9.0, (term.OVERRIDDEN, LABS[1]): 7.5}
    found, points = t.percents(), dict[str, list[float]]()
    for at, person in enumerate(t.people):
        if at != term.LEAVES:
            theirs = [by_hand.get((at, lab), term.earned(t.works[person.id, lab])) for lab in LABS]
            points[str(person.number)] = theirs
            assert found[person.id] == pytest.approx(5 * sum(theirs[:2])), person
    made = t.place / "canvas.csv"
    run("gradebook", t.graded, "--format", "canvas", "--out", made)
    assigned = [f"{lab} (90{k})" for k, lab in enumerate(LABS)]
    _, *students = rows(made.read_text("utf-8"))
    scored = {row["ID"]: [float(row[column]) for column in assigned] for row in students}
    assert scored == points
    left = rows((t.place / "canvas-unknown.csv").read_text("utf-8"))
    assert [row["student"] for row in left] == [t.leaver] * 2
    assert {row["reason"] for row in left} == {"not on the roster"}
    packed = t.place / "feedback.zip"
    run("feedback", t.graded, "--zip", "canvas", "--lab", LABS[1], "--out", packed)
    names = zipfile.ZipFile(packed).namelist()
    assert {name.replace("LATE_", "").split("_")[1] for name in names} == {*points, t.leaver}


def the_one_who_left_is_deleted(t: Term) -> None:
    gone = t.people[term.LEAVES]
    kept = len(store.load(t.graded).records)
    assert t.leaver in (t.graded / "history.csv").read_text("utf-8")
    run("forget", t.graded, gone.number, "--yes")
    assert len(store.load(t.graded).records) == kept - 2
    assert not forget.still_named(forget.find(t.graded, str(t.people[0].number)))[1]
    named = f"_{gone.number}_"  # in the names of Canvas's files
    files = [path for path in t.graded.rglob("*") if path.is_file()]
    assert [path for path in files if named in path.read_text("utf-8", "replace")] == []
    assert not list((t.graded / "feedback").glob(f"{gone.number}.*"))
    listed = t.gradebook()
    assert len(listed) == len(LABS) * (MANY - 1)


def test_a_term(tmp_path_factory):
    place = tmp_path_factory.mktemp("term")
    t = Term(term.course(place / "course"), place, term.class_of(MANY))
    the_labs_are_handed_out(t)
    the_first_lab(t)
    the_second_lab(t)
    the_test_is_mended(t)
    times_and_points_by_hand(t)
    the_third_lab(t)
    the_third_lab_is_dropped(t)
    final_grades(t)
    the_one_who_left_is_deleted(t)


# The other platforms.


def of_the_plan(works: list[term.Work]) -> dict[str, float]:
    """Return the raw points of those whose notebook can be graded, by the student's id."""
    return {w.person.id: term.earned(w) for w in works if w.kind in term.EARNS}


@pytest.mark.parametrize("platform", [name for name in downloads.SHAPES if name != "canvas"])
def test_a_class_in_each_platforms_shape(course: Path, tmp_path: Path, platform: str):
    lab = LABS[0]
    people = [p for p in term.class_of(FEW) if (p.first, p.last) != term.NAMESAKES]
    works = list(term.plan(course, people, lab))
    place = downloads.hand_over(works, tmp_path / "handed_in", platform)
    records = grade(place, tmp_path / "graded", lab, seed=SEED, course=course)
    roster = downloads.canvas_gradebook(people, tmp_path / "class.csv")
    made = folder.gradebook(tmp_path / "graded", course, roster)
    assert {s.student.sis_id: s.raw for s in made.scores if s.file} == of_the_plan(works)
    known = {record.submitted != "" for record in records}
    assert known == {platform in ("gradescope", "nbgrader")}
    hostile = next(w for w in works if w.kind == "hostile")
    reasons = [r.finding.reason for one in records for r in one.results if not r.finding.passed]
    assert of_the_plan(works)[hostile.person.id] == 6 and "passed" not in reasons
    if platform == "moodle":
        the_worksheet_comes_back(works, tmp_path / "graded", roster)


def the_worksheet_comes_back(works: list[term.Work], graded: Path, class_list: Path) -> None:
    """Moodle's worksheet has the times and takes the grades; its gradebook and feedback too."""
    worksheet = downloads.moodle_worksheet(works, graded.with_name("worksheet.csv"))
    told = ("gradebook", graded, "--roster", worksheet, "--times", worksheet)
    times = {row["name"]: row["submitted"] for row in rows(run(*told).stdout) if row["file"]}
    minutes = {w.person.name: w.submitted.replace(second=0).isoformat() for w in works if w.files}
    assert times == minutes
    filled = rows(run(*told, "--format", "moodle").stdout)
    wanted = [term.earned(w) for w in works]
    assert [float(row["Grade"]) for row in filled] == wanted
    assert [row["Identifier"] for row in filled] == [
        row["Identifier"] for row in rows(worksheet.read_text("utf-8"))
    ]
    done = run("gradebook", graded, "--roster", class_list, "--format", "moodle")
    imported = {row["ID number"]: row for row in rows(done.stdout)}
    assert [float([*imported[w.person.id].values()][-1]) for w in works] == wanted
    packed = graded.with_name("feedback.zip")
    run("feedback", graded, "--zip", "moodle", "--out", packed)
    numbers = [name.split("_")[1] for name in zipfile.ZipFile(packed).namelist()]
    assert sorted(numbers) == [str(50_000 + n) for n, w in enumerate(works) if w.files]
