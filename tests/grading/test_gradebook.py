"""From records to a gradebook: rosters, overrides, lateness, and files for other programs."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.graded_records import record
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.record import NOT_GRADED, Finding, Record, Result
from warpwise.grading.scoring import overrides, roster, scores, sheet
from warpwise.grading.scoring.canvas import CANVAS, NO_EXPORT
from warpwise.grading.scoring.course import Course, LabSettings, LatePolicy
from warpwise.grading.scoring.export import FORMS
from warpwise.grading.scoring.export import table as export
from warpwise.grading.scoring.overrides import Override
from warpwise.grading.scoring.roster import NOT_LISTED, Roster, Student
from warpwise.grading.scoring.scores import Score
from warpwise.grading.store import file_name
from warpwise.labs.source import load_lab

LABS = {stem: load_lab(stem) for stem in ("06_fusion", "08_coalescing", "19_capstone")}
COALESCING, FUSION, CAPSTONE = "08_coalescing", "06_fusion", "19_capstone"
POSSIBLE = {stem: sum(e.points for e in lab.exercises) for stem, lab in LABS.items()} | {
    CAPSTONE: 10
}
DUE = datetime(2026, 12, 1, 22, 59, tzinfo=UTC)
POLICY = LatePolicy(percent_per_day=10, days=3, grace_minutes=15)
ADA = Student("ada", "Ada Lovelace", "Ada", "Lovelace", "ada@example.edu", "101", "S1", "ada", "A")
BEN = Student(
    "ben", "Ben Bitdiddle", "Ben", "Bitdiddle", "b.bitdiddle@example.edu", "102", "S2", "ben", "B"
)
CLASS = Roster((ADA, BEN))


def ungraded(student: str, problem: str, lab: str = COALESCING, **more) -> Record:
    results = tuple(Result(e.id, e.points, Finding(False, NOT_GRADED)) for e in LABS[lab].exercises)
    return Record(
        **{
            "student": student,
            "file": f"{student}/other.ipynb",
            "lab": lab,
            "results": results,
            "problem": problem,
        }
        | more
    )


def only(found: tuple[Score, ...]) -> Score:
    assert len(found) == 1, found
    return found[0]


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def written(folder: Path, text: str, name: str = "roster.csv") -> Path:
    (folder / name).write_bytes(text.encode("utf-8"))
    return folder / name


# Rosters.

ROSTERS = {
    "canvas": (
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab 8: Coalescing (4711),Final Score\r\n"
        ",,,,,Manual Posting,\r\n"
        "    Points Possible,,,,,16,(read only)\r\n"
        '"Lovelace, Ada",101,S1,ada,"A, B",,\r\n'
        '"Bitdiddle, Ben",102,S2,ben,B,3,\r\n'
        '"Student, Test",103,,,A,,\r\n',
        "ada S1 101 'Ada Lovelace' 'Lovelace, Ada'",
    ),
    "moodle participants": (
        '"First name","Last name","ID number","Email address",Groups\n'
        'Ada,Lovelace,S1,ada@example.edu,"A, B"\n'
        "Ben,Bitdiddle,,b.bitdiddle@example.edu,\n",
        "S1 ada@example.edu ADA@example.EDU ada 'Ada Lovelace' 'lovelace ada'",
    ),
    "moodle grades, older": (
        "First name;Surname;ID number;Email address;Assignment: Lab 8 (Real)\n"
        "Ada;Lovelace;S1;ada@example.edu;3,5\nBen;Bitdiddle;S2;b@example.edu;-\n",
        "S1 ada 'Ada Lovelace'",
    ),
    "moodle grading worksheet": (
        'Identifier,"Full name","Email address",Status,Grade\n'
        "Participant 101,Ada Lovelace,ada@example.edu,Submitted,\n"
        "Participant 102,Ben Bitdiddle,b@example.edu,,\n",
        "101 ada 'Ada Lovelace'",
    ),
    "nbgrader": (
        "id,last_name,first_name,email,lms_user_id\nada,Lovelace,Ada,,101\nben,Bitdiddle,Ben,,\n",
        "ada 101 'Ada Lovelace'",
    ),
    "gradescope": (
        "First Name,Last Name,SID,Email,Role,Sections,section_name\n"
        "Ada,Lovelace,S1,ada@example.edu,Student,A,\nBen,Bitdiddle,,b@example.edu,Student,,\nGrace,Hopper,,grace@example.edu,Instructor,,\n",
        "S1 ada ada@example.edu 'Ada Lovelace'",
    ),
    "plain, with a byte order mark": (
        "\ufeffID\tName\n ada \tAda  Lovelace\n\nben\tBen\n",
        "ada ADA 'ada lovelace'",
    ),
    "plain, e-mail only": ("email\nada@example.edu\nben@example.edu\n", "ada ada@example.edu"),
}


@pytest.mark.parametrize("kind", ROSTERS)
def test_rosters_of_the_platforms_are_read(tmp_path: Path, kind: str):
    text, names = ROSTERS[kind]
    found = roster.load(written(tmp_path, text))
    assert len(found.students) == 2, found.students
    for quoted, plain in re.findall(r"'([^']+)'|(\S+)", names):
        assert found.find(quoted or plain) == found.students[0], quoted or plain
    assert found.find("Grace Hopper") is None and found.find("") is None


def test_what_canvas_says_of_a_student_is_kept(tmp_path: Path):
    found = roster.load(written(tmp_path, ROSTERS["canvas"][0]))
    assert found.students[0] == Student(
        "ada", "Lovelace, Ada", "Ada", "Lovelace", "", "101", "S1", "ada", "A, B"
    )
    assert found.columns == ("Lab 8: Coalescing (4711)", "Final Score")


def test_only_the_test_student_of_canvas_is_left_out(tmp_path: Path):
    more = '"Student, Tessa",104,S4,tes,A,,\r\n"Zuse, Konrad",105,S5,konrad,A,,\r\n'
    found = roster.load(written(tmp_path, ROSTERS["canvas"][0] + more))
    assert [student.login for student in found.students] == ["ada", "ben", "tes", "konrad"]


def test_the_id_is_the_first_that_everybody_has(tmp_path: Path):
    found = roster.load(written(tmp_path, ROSTERS["gradescope"][0]))
    assert [student.id for student in found.students] == ["ada@example.edu", "b@example.edu"]


def test_a_name_that_fits_two_students_is_nobody():
    found = Roster(
        (
            Student("1", "Kim Lee", email="kim@example.edu"),
            Student("2", "Kim  LEE", email="kim@example.com"),
            Student("kim"),
        )
    )
    assert found.find("kim lee") is None and found.find("kim") is None
    assert found.why("kim") == "matches 3 students on the roster: 1, 2, kim"
    assert found.why("kin") == "not on the roster"
    assert (
        found.find("kim@example.edu") == found.students[0] and found.find("2") == found.students[1]
    )


def test_one_name_in_two_spellings_of_unicode_is_one_name():
    found = Roster((Student("1", "Jos\u00e9"),))
    assert found.find("JOSE\u0301") == found.students[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "roster.csv is empty"),
        ("\n\n", "roster.csv is empty"),
        ("id,name\n", "roster.csv has no students"),
        (
            "name,section\nAda,A\n",
            (
                "roster.csv:1: no column identifies students: id, SID, Username or Email; "
                "there are name, section"
            ),
        ),
        ("id,name\nada,Ada\nben,Ben\nADA,Ada B\n", "roster.csv:4: 'ADA' is already on line 2"),
        ("id,name\nada,Ada\n,Ben\n", "roster.csv:3: Ben has no id"),
        (
            "id,name\nada,Lovelace, Ada\n",
            "roster.csv:2: 3 cells for 2 columns; a cell with a comma in it needs quotes",
        ),
        (
            'id,name\nada,"Ada\nLovelace"\nben,x,y\n',
            "roster.csv:4: 3 cells for 2 columns; a cell with a comma in it needs quotes",
        ),
        ('id,name\nada,"Ada\n', "roster.csv:2: not CSV (unexpected end of data)"),
        ("id,name,email\nada,Ada,a@b\n,Ben,b@b\n", "roster.csv:3: Ben has no id"),
        (
            "Username,Login ID\n1,2\n",
            "roster.csv:1: the columns 'Username' and 'Login ID' mean the same; keep one of them",
        ),
    ],
)
def test_a_bad_roster_is_one_line(tmp_path: Path, text: str, said: str):
    with pytest.raises(GradingError, match=f"^{re.escape(said)}$"):
        roster.load(written(tmp_path, text))


def test_a_roster_that_is_no_text_is_one_line(tmp_path: Path):
    (tmp_path / "roster.csv").write_bytes("id,name\n1,Jos\u00e9\n".encode("latin-1"))
    with pytest.raises(GradingError, match=r"^roster.csv is not UTF-8; save it as CSV UTF-8$"):
        roster.load(tmp_path / "roster.csv")
    with pytest.raises(GradingError, match="cannot be read: Is a directory"):
        roster.load(tmp_path)


# Overrides.


HEAD = "student,lab,exercise,points\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "student,lab,points\n",
            ":1: needs one column exercise; the columns are student, lab, exercise, points, reason",
        ),
        (
            "student,lab,excercise,points\n",  # codespell:ignore
            ":1: 'excercise' is not a column; did you mean exercise?",  # codespell:ignore
        ),
        (
            f"{HEAD}\nada,08_coalesing,,1\n",
            ":3: '08_coalesing' is not a lab; did you mean 08_coalescing?",
        ),
        (
            f"{HEAD}ada,08_coalescing,transposed,1\n",
            ":2: 'transposed' is not an exercise of 08_coalescing; did you mean transpose?",
        ),
        (f"{HEAD}ada,08_coalescing,,-1\n", ":2: '-1' is not a number of points"),
        (f"{HEAD}ada,08_coalescing,,nan\n", ":2: 'nan' is not a number of points"),
        (f"{HEAD}ada,08_coalescing,,three\n", ":2: 'three' is not a number of points"),
        (f"{HEAD}ada,08_coalescing,,1e300\n", ":2: '1e300' is not a number of points"),
        (f"{HEAD},08_coalescing,,1\n", ":2: the student is missing"),
        (f"{HEAD}aad,08_coalescing,,1\n", ":2: 'aad' is not a student; did you mean ada?"),
        (
            f"{HEAD}ada,08_coalescing,,1\nAda,08_coalescing,,2\n",
            ":3: line 2 already sets the same points",
        ),
    ],
)
def test_a_wrong_override_is_one_line(tmp_path: Path, text: str, said: str):
    path = written(tmp_path, text, "overrides.csv")
    with pytest.raises(GradingError, match=f"^{re.escape('overrides.csv' + said)}$"):
        scores.scores([record("ada")], LABS, overrides=overrides.load(path, LABS))


def test_overrides_are_read_with_their_lines(tmp_path: Path):
    text = (
        "reason;points;student;lab;exercise\n"
        "asked, and told;2.5;ada;08_coalescing;transpose\n"
        ";4;ben;08_coalescing;\n"
    )
    assert overrides.load(written(tmp_path, text, "overrides.csv"), LABS) == (
        Override("ada", COALESCING, "transpose", 2.5, "asked, and told", 2),
        Override("ben", COALESCING, "", 4, "", 3),
    )


def test_an_override_of_a_lab_wins_over_everything():
    late = [record("ada", submitted=(DUE + timedelta(days=2)).isoformat())]
    course = Course(due=DUE, late=POLICY)
    found = only(
        scores.scores(
            late, LABS, course, overrides=[Override("ada", COALESCING, "", 15, "spoke to her")]
        )
    )
    assert (found.raw, found.penalty, found.score, found.overridden) == (5, 0, 15, True)
    assert found.note == "2 days late; score set by hand: spoke to her"


def test_an_override_of_an_exercise_changes_its_points_before_the_penalty():
    late = [record("ada", submitted=(DUE + timedelta(days=1)).isoformat())]
    course = Course(due=DUE, late=POLICY)
    found = only(
        scores.scores(late, LABS, course, overrides=[Override("ada", COALESCING, "planes", 2)])
    )
    assert (found.raw, found.penalty, found.score, found.note) == (
        7,
        0.7,
        6.3,
        "1 day late; planes set by hand",
    )


def test_an_override_makes_up_for_a_submission_that_is_missing():
    found = scores.scores(
        [record("ada")], LABS, roster=CLASS, overrides=[Override("BEN", COALESCING, "transpose", 3)]
    )
    assert (found[1].student, found[1].score, found[1].note) == (
        BEN,
        3,
        "no submission; transpose set by hand",
    )


def test_an_override_of_a_choice_still_counts_one_of_them():
    done = record("ada", CAPSTONE, ("alibi",))
    found = only(scores.scores([done], LABS, overrides=[Override("ada", CAPSTONE, "soft_cap", 4)]))
    assert (found.raw, found.possible) == (10, 10)
    found = only(
        scores.scores(
            [record("ada", CAPSTONE, ())],
            LABS,
            overrides=[Override("ada", CAPSTONE, "soft_cap", 4)],
        )
    )
    assert (found.raw, found.possible) == (4, 10)


def test_an_override_of_a_lab_that_nobody_handed_in_puts_it_into_the_gradebook():
    found = scores.scores([record("ada")], LABS, overrides=[Override("ada", FUSION, "", 7)])
    assert [(s.lab, s.score) for s in found] == [(FUSION, 7), (COALESCING, 5)]


def test_an_override_counts_for_an_exercise_that_an_older_version_of_the_lab_does_not_have():
    done = record("ada", right=("copy_matrix",))
    older = replace(done, results=tuple(r for r in done.results if r.exercise != "transpose"))
    assert only(scores.scores([older], LABS)).possible == 16
    assert only(scores.scores([older], LABS)).raw == scores.rounded(2 * 16 / 13)
    found = only(
        scores.scores([older], LABS, overrides=[Override("ada", COALESCING, "transpose", 3)])
    )
    assert (found.raw, found.possible) == (5, 16)


# Scores.


def test_points_are_scaled_and_rounded():
    course = Course(labs={COALESCING: LabSettings(COALESCING, points=100)})
    found = only(scores.scores([record("ada")], LABS, course))
    assert (found.raw, found.possible, found.score) == (31.25, 100, 31.25)
    assert POSSIBLE[COALESCING] == 16


@pytest.mark.parametrize(
    ("number", "result"),
    [(1.005, 1.01), (0.125, 0.13), (2.675, 2.68), (1 / 3, 0.33), (2 / 3, 0.67), (0, 0)],
)
def test_halves_are_rounded_up(number: float, result: float):
    assert scores.rounded(number) == result


def score_at(
    moment: datetime, policy: LatePolicy = POLICY, extensions: dict | None = None
) -> Score:
    handed_in = record(
        "ada", right=tuple(e.id for e in LABS[COALESCING].exercises), submitted=moment.isoformat()
    )
    return only(
        scores.scores([handed_in], LABS, Course(due=DUE, late=policy, extensions=extensions or {}))
    )


@pytest.mark.parametrize(
    ("after", "days", "penalty", "note"),
    [
        (timedelta(0), 0, 0, ""),
        (timedelta(minutes=15), 0, 0, ""),
        (timedelta(minutes=15, microseconds=1), 1, 1.6, "1 day late"),
        (timedelta(days=1, minutes=15), 1, 1.6, "1 day late"),
        (timedelta(days=1, minutes=15, seconds=1), 2, 3.2, "2 days late"),
        (timedelta(days=3, minutes=15), 3, 4.8, "3 days late"),
        (timedelta(days=3, minutes=16), 4, 16, "4 days late; nothing counts after 3 days"),
    ],
)
def test_a_late_submission_loses_a_part_for_each_day_begun(
    after: timedelta, days: int, penalty: float, note: str
):
    found = score_at(DUE + after)
    assert (found.raw, found.late_days, found.penalty, found.score, found.note) == (
        16,
        days,
        penalty,
        scores.rounded(16 - penalty),
        note,
    )


@settings(deadline=None)
@given(
    seconds=st.integers(-(10**6), 10**6),
    percent=st.floats(0, 100),
    days=st.none() | st.integers(0, 20),
    grace=st.floats(0, 3000),
    hours=st.integers(-12, 14),
)
@example(seconds=86400, percent=100.0, days=0, grace=0.0, hours=0)
def test_days_late_are_those_begun_in_any_time_zone(
    seconds: int, percent: float, days: int | None, grace: float, hours: int
):
    submitted = (DUE + timedelta(seconds=seconds)).astimezone(timezone(timedelta(hours=hours)))
    found = score_at(submitted, LatePolicy(percent, days, grace))
    begun = sum(
        timedelta(seconds=seconds) > timedelta(minutes=grace) + timedelta(days=day)
        for day in range(30)
    )
    assert found.late_days == begun
    lost = 100 if days is not None and begun > days else min(100, percent * begun)
    assert found.penalty == pytest.approx(16 * lost / 100, abs=0.00501)
    assert found.score == scores.rounded(found.raw - found.penalty) >= 0


def test_an_extension_replaces_the_due_time_whatever_name_it_uses():
    two_days = DUE + timedelta(days=2)
    course = Course(
        due=DUE,
        late=POLICY,
        extensions={("ADA@example.edu", COALESCING): two_days, ("b.bitdiddle", FUSION): two_days},
    )
    handed_in = [record(s, submitted=two_days.isoformat()) for s in ("ada", "ben")]
    ada, ben = scores.scores(handed_in, LABS, course, CLASS)
    assert (ada.due, ada.late_days, ada.penalty, ada.note) == (two_days, 0, 0, "extension")
    assert (ben.due, ben.late_days, ben.penalty, ben.note) == (DUE, 2, 1, "2 days late")


@pytest.mark.parametrize(
    ("fields", "due", "note"),
    [
        (
            {"late": True},
            None,
            "late according to the platform, but no due time is set: no penalty",
        ),
        (
            {"late": True, "submitted": DUE.isoformat()},
            None,
            "late according to the platform, but no due time is set: no penalty",
        ),
        (
            {"late": True},
            DUE,
            "late according to the platform, but the time is not known: no penalty",
        ),
        ({}, DUE, "time of submission not known: taken as on time"),
        (
            {"submitted": "yesterday"},
            DUE,
            "the time 'yesterday' cannot be read; time of submission not known: taken as on time",
        ),
        (
            {"submitted": "2030-01-01T00:00:00"},
            None,
            "the time '2030-01-01T00:00:00' cannot be read",
        ),
        (
            {"submitted": "9999-12-31T23:59:59-12:00"},
            None,
            "the time '9999-12-31T23:59:59-12:00' cannot be read",
        ),
        ({"isolated": False}, None, "graded without a sandbox"),
        ({}, None, ""),
    ],
)
def test_what_is_not_told_costs_nothing_and_is_noted(fields: dict, due: datetime | None, note: str):
    found = only(scores.scores([record("ada", **fields)], LABS, Course(due=due, late=POLICY)))
    assert (found.score, found.penalty, found.note) == (5, 0, note)


def test_of_several_records_the_graded_one_counts():
    second = ungraded(
        "ada",
        "a second notebook for this lab; ada/08_coalescing.ipynb was graded",
        file="ada/a.ipynb",
    )
    found = only(scores.scores([second, record("ada")], LABS))
    assert (found.score, found.file, found.note) == (5, "ada/08_coalescing.ipynb", "")


def test_a_submission_with_a_problem_has_no_points_and_says_why():
    found = only(scores.scores([ungraded("ada", "not a notebook")], LABS))
    assert (found.score, found.possible, found.note) == (0, 16, "not a notebook")


def test_two_graded_notebooks_under_one_student_are_told():
    early, late = (DUE + timedelta(hours=h) for h in (-2, -1))
    records = [
        record("ada", right=(), submitted=early.isoformat()),
        record("ADA@example.edu", submitted=late.isoformat(), file="b.ipynb"),
    ]
    found = scores.scores(records, LABS, roster=CLASS)
    assert (found[0].score, found[0].file, found[0].note) == (
        5,
        "b.ipynb",
        "2 graded notebooks under one student",
    )
    assert scores.warnings(found, Course()) == (
        "more than one graded notebook (1): 'ada' for 08_coalescing ('b.ipynb' counts)",
    )


def test_a_name_like_hers_takes_nobodys_place():
    """Where no time decides, the notebook under the very id counts; a name that two go by finds
    neither of them."""
    records = [record("ADA", right=()), record("ada")]
    assert scores.scores(records, LABS, roster=CLASS)[0].file == "ada/08_coalescing.ipynb"
    records = [
        record(f"Ada Lovelace {n}", right=(), name=name)
        for n, name in ((7, "Ada Lovelace"), (8, "ADA  LOVELACE"))
    ]
    found = scores.scores(records, LABS, roster=CLASS)
    assert [(s.student.id, s.student.unlisted, s.file != "") for s in found] == [
        ("ada", "", False),
        ("ben", "", False),
        ("Ada Lovelace 7", NOT_LISTED, True),
        ("Ada Lovelace 8", NOT_LISTED, True),
    ]


def test_a_time_that_is_not_known_is_told_where_one_is_due():
    records = [record("ada"), record("ben", submitted="yesterday")]
    found = scores.scores(records, LABS, Course(due=DUE))
    assert scores.warnings(found, Course(due=DUE)) == (
        "handed in at a time that is not known (see --times), and taken as on time (2): "
        "'ada' for 08_coalescing, 'ben' for 08_coalescing",
    )
    assert scores.warnings(scores.scores(records, LABS), Course()) == ()


def test_who_hands_nothing_in_has_0_and_who_is_not_on_the_roster_stays():
    found = scores.scores([record("ada"), record("zoe"), record("Yan", FUSION)], LABS, roster=CLASS)
    assert [(s.student.id, s.lab, s.score, s.note) for s in found] == [
        ("ada", FUSION, 0, "no submission"),
        ("ada", COALESCING, 5, ""),
        ("ben", FUSION, 0, "no submission"),
        ("ben", COALESCING, 0, "no submission"),
        ("Yan", FUSION, 0, NOT_LISTED),
        ("Yan", COALESCING, 0, f"{NOT_LISTED}; no submission"),
        ("zoe", FUSION, 0, f"{NOT_LISTED}; no submission"),
        ("zoe", COALESCING, 5, NOT_LISTED),
    ]
    assert scores.warnings(found, Course(), CLASS) == (
        "handed something in, but not on the roster (2): 'Yan', 'zoe'",
    )


def test_what_is_missing_costs_nothing_before_it_is_due():
    extended = Course(labs={COALESCING: LabSettings(COALESCING, due=DUE)})
    extended = replace(extended, extensions={("ben", COALESCING): DUE + timedelta(days=3)})
    given = ([record("ada")], LABS, extended, CLASS, (), None)
    before, after = (scores.scores(*given, now=DUE + timedelta(days=days))[1] for days in (1, 4))
    assert (before.student, before.counts, before.note) == (BEN, False, scores.NOT_DUE)
    assert (after.counts, after.note) == (True, "no submission; extension")
    rows = {
        row["student"]: row
        for row in csv.DictReader(io.StringIO(export([before], "csv", LABS, extended).text))
    }
    assert (rows["ben"]["score"], rows["ben"]["course_percent"]) == ("", "")
    assert ADA not in scores.percentages([before], extended) and not scores.percentages(
        [before], extended
    )


def test_a_warning_names_five_and_counts_the_rest():
    found = scores.scores(
        [record(f"zoe{i}") for i in range(7)],
        LABS,
        Course(extensions={("adda", COALESCING): DUE}),
        CLASS,
    )
    said = scores.warnings(found, Course(extensions={("adda", COALESCING): DUE}), CLASS)
    assert said == (
        (
            "handed something in, but not on the roster (7): 'zoe0', 'zoe1', 'zoe2', 'zoe3', "
            "'zoe4' and 2 more"
        ),
        "extensions of unknown students (1): 'adda'",
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Lovelace", "; did you mean ada (Ada Lovelace)?"),
        ("ada l", "; did you mean ada (Ada Lovelace)?"),
        ("BIT, ben", "; did you mean ben (Ben Bitdiddle)?"),
        ("Grace", "; did you mean gh (Grace Hopper) or gm (Grace Murray)?"),
        ("aad", "; did you mean ada?"),
        ("Ada Lovelance", "; did you mean Ada Lovelace?"),
        ("example", ""),  # a word of everybody's address
        ("zoe", ""),
        (" ", ""),
    ],
)
def test_part_of_a_name_is_told_whose_it_may_be(name: str, said: str):
    graces = (Student("gh", "Grace Hopper"), Student("gm", "Grace Murray"))
    others = tuple(Student(f"s{n}", email=f"s{n}@example.edu") for n in range(4))
    assert Roster((ADA, BEN, *graces, *others)).meant(name) == said


def test_an_override_of_a_first_name_says_whose_it_may_be():
    by_hand = [Override("Lovelace", COALESCING, "", 1, line=2)]
    with pytest.raises(GradingError) as refused:
        scores.scores([record("ada")], LABS, Course(), CLASS, by_hand)
    assert str(refused.value) == (
        "overrides.csv:2: 'Lovelace' is not a student; did you mean ada (Ada Lovelace)?"
    )


def test_the_platforms_name_finds_a_student_whose_id_does_not():
    found = scores.scores([record("4711", name="lovelace, ADA")], LABS, roster=CLASS)
    assert [(s.student, s.score) for s in found] == [(ADA, 5), (BEN, 0)]


def test_a_file_whose_lab_is_not_known_is_in_the_gradebook():
    lost = Record("ada", "ada/notes.ipynb", problem="which lab this is cannot be told")
    found = scores.scores([record("ada"), lost], LABS)
    assert [(s.lab, s.file, s.note) for s in found] == [
        (COALESCING, "ada/08_coalescing.ipynb", ""),
        ("", "ada/notes.ipynb", "which lab this is cannot be told"),
    ]
    assert scores.warnings(found, Course()) == ("files of no known lab (1): 'ada/notes.ipynb'",)
    assert "ada/notes.ipynb" in export(found, "csv", LABS, Course()).text


def test_a_record_of_a_lab_that_is_none_is_one_line():
    with pytest.raises(
        GradingError,
        match=(
            r"^there are records of 99_x, which is not a lab of this course; "
            r"name its course with --course$"
        ),
    ):
        scores.scores([replace(record("ada"), lab="99_x")], LABS)


def test_the_total_is_the_weighted_mean_of_the_labs():
    course = Course(
        labs={
            FUSION: LabSettings(FUSION, weight=3),
            COALESCING: LabSettings(COALESCING, points=200),
        }
    )
    found = scores.scores([record("ada"), record("ada", FUSION, ("fused_trig",))], LABS, course)
    expected = 100 * (3 * 2 / POSSIBLE[FUSION] + 1 * 5 / 16) / 4
    assert scores.percentages(found, course) == {Student("ada"): pytest.approx(expected, abs=0.02)}
    nothing = Course(labs={stem: LabSettings(stem, weight=0) for stem in LABS})
    assert scores.percentages(found, nothing) == {}


# Files.

AWKWARD = [
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "a,b",
    'a"b',
    "a\nb",
    "a\r\nb",
    "a\rb",
    "'=1",
    "'",
    "\ud800",
    "\x00",
    ";",
]
FULL_WIDTH = "\uff1d\uff0b\uff0d\uff20"
PIECES = [*"=+-@", *FULL_WIDTH, *";,:|\t\n\r\v\u2028 \u00a0\u200b\ufeff\u00ad\u2060\u3164\"'a1"]
HOSTILE = (
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
    | st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
    | st.sampled_from(AWKWARD)
)
SEPARATORS = ",;\t|:"


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet might take a cell for a formula, by what is seen first in it."""
    unseen = ("Cc", "Cf", "Zs", "Zl", "Zp")
    seen = (c for c in cell if unicodedata.category(c) not in unseen and c not in '\u3164"')
    return unicodedata.normalize("NFKC", next(seen, "x"))[0] in "=+-@\u2212"


def opened(text: str, separator: str) -> list[str]:
    """The cells of a file in a program that cuts at this separator, and takes quotes for quotes
    only where a cell begins."""
    return list(chain.from_iterable(csv.reader(io.StringIO(text, None), delimiter=separator)))


BATCH = [
    record("ada", submitted="2026-12-01T23:10:00+01:00"),
    record("b.bitdiddle", submitted=(DUE + timedelta(days=1, hours=1)).isoformat()),
    record("ben", FUSION, ("bias_gelu",), submitted=DUE.isoformat()),
    ungraded(
        "ada",
        "a second notebook for this lab; ada/08_coalescing.ipynb was graded",
        file="ada/z.ipynb",
    ),
    record("zoe", FUSION, ()),
    Record("zoe", "zoe/notes.ipynb", problem="which lab this is cannot be told"),
]
SETTINGS = (
    Course(labs={FUSION: LabSettings(FUSION, points=20, weight=2)}).with_due(DUE).with_late(POLICY)
)
BY_HAND = [Override("zoe", FUSION, "", 1.5, "spoke; she knew it")]


def files(records: list[Record], listed: Roster | None = CLASS) -> dict[str, str]:
    found = scores.scores(records, LABS, SETTINGS, listed, BY_HAND)
    forms = [form for form in FORMS if listed or form != "moodle"]  # which needs a roster
    return {form: export(found, form, LABS, SETTINGS, listed).text for form in forms}


def test_canvas_reads_its_file():
    """Canvas's importer (lib/gradebook_importer.rb) wants these columns first.

    Then come assignments, and a row with the points."""
    rows = table(files(BATCH)["canvas"])
    assert rows == [
        [*CANVAS, "Lab 6: Fusion", "Lab 8: Coalescing"],
        ["    Points Possible", "", "", "", "", "20", "16"],
        ["Lovelace, Ada", "101", "S1", "ada", "A", "0", "5"],
        ["Bitdiddle, Ben", "102", "S2", "ben", "B", "3.08", "4"],
    ]


def test_an_assignment_of_the_rosters_file_keeps_the_name_it_has_there():
    listed = replace(CLASS, columns=("Homework", "08_coalescing (4711)", "lab 6: fusion (12)"))
    assert table(files(BATCH, listed)["gradescope"])[0][5::4][:2] == [
        "lab 6: fusion (12)",
        "08_coalescing (4711)",
    ]


def test_a_student_cannot_pass_for_canvass_row_of_points(tmp_path: Path):
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab 8: Coalescing (4711)\n"
        "Points Possible,,,,,16\n"
        "Points Possible,7,S7,eve,A,\n"
    )
    listed = roster.load(written(tmp_path, text))
    assert [student.id for student in listed.students] == ["eve"]
    found = scores.scores([record("eve")], LABS, roster=listed)
    rows = table(export(found, "canvas", LABS, Course(), listed).text)
    assert [row[0] for row in rows] == ["Student", "    Points Possible", "Points-Possible"]


def test_gradescopes_file_is_as_gradescope_writes_it():
    rows = table(files(BATCH)["gradescope"])
    assert rows[0] == (
        "First Name,Last Name,SID,Email,Sections,"
        "Lab 6: Fusion,Lab 6: Fusion - Max Points,"
        "Lab 6: Fusion - Submission Time,Lab 6: Fusion - Lateness (H:M:S),"
        "Lab 8: Coalescing,Lab 8: Coalescing - Max Points,"
        "Lab 8: Coalescing - Submission Time,Lab 8: Coalescing - Lateness (H:M:S),"
        "Total Lateness (H:M:S)"
    ).split(",")
    assert rows[1][:9] == ["Ada", "Lovelace", "S1", "ada@example.edu", "A", "0", "20", "", ""]
    assert rows[1][9:] == ["5", "16", "2026-12-01 23:10:00 +0100", "00:00:00", "00:00:00"]
    assert rows[2][9:] == ["4", "16", "2026-12-02 23:59:00 +0000", "25:00:00", "25:00:00"]


def test_nbgraders_file_is_as_nbgrader_writes_it():
    rows = table(files(BATCH)["nbgrader"])
    assert ",".join(rows[0]) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,score,max_score"
    )
    due = "2026-12-01 22:59:00"
    assert rows[1] == [
        FUSION,
        due,
        "",
        "ada",
        "Lovelace",
        "Ada",
        "ada@example.edu",
        "0.0",
        "0.0",
        "0.0",
        "20.0",
    ]
    ben = [
        COALESCING,
        due,
        "2026-12-02 23:59:00",
        "ben",
        "Bitdiddle",
        "Ben",
        "b.bitdiddle@example.edu",
        "5.0",
        "1.0",
        "4.0",
        "16.0",
    ]
    assert rows[5] == ben and len(rows) == 7
    assert rows[4][:4] == [COALESCING, due, "2026-12-01 22:10:00", "ada"]


def test_the_plain_table_has_everything():
    rows = list(csv.DictReader(io.StringIO(files(BATCH)["csv"])))
    ben, zoe = rows[3], rows[4]
    assert ben == {
        "student": "ben",
        "name": "Ben Bitdiddle",
        "email": "b.bitdiddle@example.edu",
        "section": "B",
        "lab": COALESCING,
        "raw": "5",
        "possible": "16",
        "penalty": "1",
        "score": "4",
        "submitted": "2026-12-02T23:59:00+00:00",
        "due": "2026-12-01T22:59:00+00:00",
        "late_days": "2",
        "overridden": "",
        "note": "2 days late",
        "file": "b.bitdiddle/08_coalescing.ipynb",
        "course_percent": "18.6",
    }
    assert (zoe["overridden"], zoe["score"], zoe["course_percent"]) == ("yes", "1.5", "5")
    assert zoe["note"] == (
        f"{NOT_LISTED}; time of submission not known: taken as on time; "
        "score set by hand: spoke; she knew it"
    )
    assert (rows[6]["lab"], rows[6]["score"], rows[6]["file"]) == ("", "", "zoe/notes.ipynb")


@pytest.mark.parametrize("listed", [CLASS, None], ids=["roster", "no roster"])
def test_the_order_of_the_records_changes_no_byte(listed: Roster | None):
    lost = [
        Record("zoe", f"zoe/{name}.ipynb", problem="which lab this is cannot be told")
        for name in "ab"
    ]
    twice = [record("yan", right=("transpose",), file=f"{name}.ipynb", name=name) for name in "ab"]
    batch = [*BATCH, *lost, *twice]
    expected = files(batch, listed)
    for seed in range(5):
        shuffled = random.Random(seed).sample(batch, len(batch))
        assert files(shuffled, listed) == expected


@settings(deadline=None, max_examples=60)
@given(
    names=st.lists(HOSTILE, min_size=1, max_size=4, unique=True),
    name=HOSTILE,
    section=HOSTILE,
    file=HOSTILE,
)
def test_whatever_students_are_called_each_file_is_a_table_without_a_formula(
    names: list[str], name: str, section: str, file: str
):
    listed = Roster(
        (Student(names[0], name, email=file, sis_id=name, login=section, section=section),),
        columns=(name,),
    )
    records = [record(student, name=name, file=file) for student in names] + [
        Record(names[0], file, problem=name)
    ]
    found = scores.scores(records, LABS, SETTINGS, listed)
    for form in FORMS:
        text = export(found, form, LABS, SETTINGS, listed).text
        rows = table(text)
        assert {len(row) for row in rows} == {len(rows[0])}, form
        for separator in SEPARATORS:
            assert not any(map(is_formula, opened(text, separator))), (form, separator)
        assert text.encode("utf-8")


@settings(deadline=None)
@given(
    st.lists(
        st.lists(
            HOSTILE.filter(lambda t: t.isprintable() and t == t.strip()),
            min_size=2,
            max_size=2,
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read_back(tmp_path_factory, rows: list[list[str]]):
    path = tmp_path_factory.getbasetemp() / "sheet.csv"
    path.write_text(sheet.written([["first", "second"], *rows]), "utf-8", newline="")
    assert [list(cells.values()) for _, cells in sheet.read(path).rows] == rows


@pytest.mark.parametrize("sign", [*"=+-@", *FULL_WIDTH])
@pytest.mark.parametrize("before", ["", " ", "\u00a0", "\u200b", "\ufeff", "\u00ad", "\t", '"'])
@pytest.mark.parametrize("start", ["", "a;", "a,", "a\t", "a|", "a\n", "a:", ";"])
def test_a_formula_is_defused_behind_whatever_stands_before_it(sign: str, before: str, start: str):
    name = f"{start}{before}{sign}1+1"
    assert any(is_formula(cell) for s in SEPARATORS for cell in opened(f"x,{name}", s))
    for row in ([name, "x"], ["x", name]):
        for separator in SEPARATORS:
            cells = opened(sheet.written([row]), separator)
            assert not any(map(is_formula, cells)), (cells, separator)


def test_names_that_look_like_formulas_are_found_on_the_roster_again(tmp_path: Path):
    names = ["=Ada", "-x; -y", "'=Ben", "''", "O'Neil, +1", "\u200b=Cyd", "plain"]
    rows = [["id", "name"], *([name, f"name {name}"] for name in names)]
    listed = roster.load(written(tmp_path, sheet.written(rows)))
    assert [listed.find(name).id for name in names] == names
    assert [s.name for s in listed.students] == [f"name {name}" for name in names]


# The commands.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as ``grade`` leaves it, graded with a course and a roster."""
    out, course = tmp_path / "out", tmp_path / "course"
    (out / "records").mkdir(parents=True)
    (out / "feedback").mkdir()
    course.mkdir()
    written(
        course,
        f"[labs.06_fusion]\npoints = 20\nweight = 2\ndue = {DUE.isoformat()}\n",
        "course.toml",
    )
    listed = (
        "id,name,email\n"
        "ada,Ada Lovelace,ada@example.edu\n"
        "ben,Ben Bitdiddle,b.bitdiddle@example.edu\n"
        "cyd,Cyd,\n"
    )
    settings = {
        "course": str(course),
        "roster": str(written(tmp_path, listed)),
        "due": None,
        "late_policy": "",
    }
    about = {
        "seed": 1,
        "labs": {stem: lab.version for stem, lab in LABS.items()},
        "settings": settings,
    }
    (out / "run.json").write_text(json.dumps(about))
    for one in BATCH:
        store.keep(out, store.Kept("key", 1, one))
        for suffix in (".html", ".txt"):
            (out / "feedback" / f"{file_name(one.student)}{suffix}").write_text(
                f"{one.student}: \x1b[31m5 points\n"
            )
    return out


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_gradebook_is_printed_and_warnings_go_elsewhere(folder: Path):
    done = run("gradebook", folder, "--format", "canvas")
    assert done.exit_code == 0
    rows = table(done.stdout)
    assert [row[0] for row in rows[2:]] == ["Ada Lovelace", "Ben Bitdiddle", "Cyd"]
    assert rows[1][5:] == ["20", "16"]
    assert done.stderr.splitlines() == [
        "warpwise: handed something in, but not on the roster (1): 'zoe'",
        "warpwise: files of no known lab (1): 'zoe/notes.ipynb'",
        "warpwise: handed in at a time that is not known (see --times), and taken as on time (1): "
        "'zoe' for 06_fusion",
        f"warpwise: {NO_EXPORT}",
        "warpwise: 2 scores have no place in this table: "
        "--out writes them, each with its reason, beside its file",
    ]


def test_the_gradebook_is_written_whole_and_the_same_again(folder: Path, tmp_path: Path):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name in ("one.csv", "two.csv"):
        assert run("gradebook", folder, "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes() != b""
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_the_command_is_given_goes_before_what_grade_was_given(folder: Path, tmp_path: Path):
    other = written(tmp_path, "[labs.06_fusion]\npoints = 40\n", "other.toml")
    listed = written(tmp_path, "id\nada\nzoe\n", "other.csv")
    given = [
        "--course",
        other,
        "--roster",
        listed,
        "--due",
        "2026-12-01T22:59Z",
        "--late-policy",
        "percent_per_day=50",
    ]
    done = run("gradebook", folder, *given)
    assert done.exit_code == 0, done.stderr
    rows = {(row["student"], row["lab"]): row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows["ben", FUSION]["possible"] == "40" and rows["ben", FUSION]["note"] == NOT_LISTED
    assert (
        rows["b.bitdiddle", COALESCING]["score"],
        rows["b.bitdiddle", COALESCING]["late_days"],
    ) == ("0", "2")


def test_what_grade_was_given_goes_before_the_course(folder: Path):
    about = json.loads((folder / "run.json").read_text())
    about["settings"] |= {"due": "2026-12-01T21:59Z", "late_policy": "percent_per_day=10"}
    (folder / "run.json").write_text(json.dumps(about))
    rows = {
        (row["student"], row["lab"]): row
        for row in csv.DictReader(io.StringIO(run("gradebook", folder).stdout))
    }
    found = rows["ben", FUSION]
    assert (found["due"], found["late_days"], found["possible"]) == (
        "2026-12-01T21:59:00+00:00",
        "1",
        "20",
    )
    assert float(found["penalty"]) == pytest.approx(float(found["raw"]) / 10, abs=0.005) != 0


def test_times_in_the_folder_are_applied(folder: Path):
    late = (DUE + timedelta(days=1)).isoformat()
    rows = f"Ben Bitdiddle,,{late}\nben,06_fusion,{DUE.isoformat()}\nzoe,06_fusion,{late}\n"
    written(folder, f"student,lab,submitted\n{rows}", "times.csv")
    done = run("gradebook", folder, "--late-policy", "percent_per_day=10")
    found = {(r["student"], r["lab"]): r for r in csv.DictReader(io.StringIO(done.stdout))}
    assert found["zoe", FUSION]["late_days"] == "1" and "time" not in done.stderr
    assert datetime.fromisoformat(found["ben", COALESCING]["submitted"]) == DUE + timedelta(days=1)
    assert datetime.fromisoformat(found["ben", FUSION]["submitted"]) == DUE
    for rows, said in (
        ("eve,,2026-12-01T22:00Z", "times.csv:2: 'eve' has handed nothing in"),
        ("ada,06,2026-12-01T22:00Z", "times.csv:2: '06' is not a lab"),
        ("ada,,2026-12-01T22:00", "times.csv:2: submitted: '2026-12-01T22:00' is not a time"),
        (f"ada,,{late}\nADA,,{late}", "times.csv:3: an earlier line already sets this time"),
    ):
        written(folder, f"student,lab,submitted\n{rows}\n", "times.csv")
        done = run("gradebook", folder)
        assert done.exit_code == 2 and said in done.stderr
    written(folder, "student,time\n", "times.csv")
    assert "times.csv:1: no column has times of submission" in run("gradebook", folder).stderr


def test_overrides_in_the_folder_are_applied_and_left_alone(folder: Path):
    path = written(
        folder,
        "student,lab,exercise,points,reason\nAda Lovelace,06_fusion,,19.5,oral\n",
        "overrides.csv",
    )
    before = path.read_bytes()
    rows = list(csv.DictReader(io.StringIO(run("gradebook", folder).stdout)))
    assert (rows[0]["lab"], rows[0]["score"], rows[0]["note"]) == (
        FUSION,
        "19.5",
        "no submission; score set by hand: oral",
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gradebook", "nothing"], "holds no run of the grader"),
        (["gradebook", "out", "--course", "nowhere"], "there is no course at nowhere"),
        (["gradebook", "out", "--roster", "nobody.csv"], "nobody.csv cannot be read"),
        (["gradebook", "out", "--due", "tomorrow"], "--due: 'tomorrow' is not a time"),
        (["gradebook", "out", "--late-policy", "10"], "--late-policy: '10' is not name=number"),
        (["gradebook", "out", "--out", "no/such/folder.csv"], "cannot be written"),
        (
            ["gradebook", "out", "--course", "typo.toml"],
            "typo.toml:1: 'titel' is not a setting; did you mean title?",
        ),
        (["feedback", "out", "adaa"], "there is no student 'adaa' in out; did you mean ada?"),
        (
            ["feedback", "out", "bit"],
            "there is no student 'bit' in out; did you mean ben (Ben Bitdiddle)?",
        ),
        (["feedback", "out", "Cyd"], "'Cyd' handed nothing in, so there is no page"),
        (["feedback", "nothing", "ada"], "holds no run of the grader"),
    ],
)
def test_bad_input_costs_one_line(folder: Path, monkeypatch, arguments: list[str], said: str):
    monkeypatch.chdir(folder.parent)
    written(folder.parent, 'titel = "x"\n', "typo.toml")
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr, done.stderr


def test_a_wrong_override_writes_nothing(folder: Path, tmp_path: Path):
    written(folder, "student,lab,exercise,points,reason\nada,06_fusion,,x,\n", "overrides.csv")
    done = run("gradebook", folder, "--out", tmp_path / "grades.csv")
    assert done.exit_code == 2 and "overrides.csv:2: 'x' is not a number of points" in done.stderr
    assert not (tmp_path / "grades.csv").exists()


@pytest.mark.parametrize("name", ["ada", "ADA@example.edu", "ada lovelace"])
def test_a_students_page_is_found_by_any_name(folder: Path, name: str):
    done = run("feedback", folder, name)
    assert done.exit_code == 0 and done.stdout == f"{folder / 'feedback' / 'ada.html'}\n"


def test_a_student_with_two_names_has_both_pages(folder: Path):
    assert run("feedback", folder, "Ben Bitdiddle").stdout.splitlines() == [
        str(folder / "feedback" / f"{name}.html") for name in ("b.bitdiddle", "ben")
    ]
    assert run("feedback", folder, "ben").stdout == f"{folder / 'feedback' / 'ben.html'}\n"


def test_the_text_of_a_page_does_not_steer_the_terminal(folder: Path):
    done = run("feedback", folder, "zoe", "--text")
    assert (done.exit_code, done.stdout) == (0, "zoe: [31m5 points\n")


def test_a_page_that_is_gone_is_said(folder: Path):
    (folder / "feedback" / "zoe.html").unlink()
    done = run("feedback", folder, "zoe")
    assert done.exit_code == 2 and "zoe.html is missing; grade again" in done.stderr
