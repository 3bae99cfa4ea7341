"""Times of submission: as platforms export them, whose they are, and what is said without any."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from warpwise.errors import GradingError
from warpwise.grading.record import Record
from warpwise.grading.scoring import roster as rosters
from warpwise.grading.scoring import time_exports, times
from warpwise.grading.scoring.course import Course, LabSettings
from warpwise.grading.scoring.roster import Roster

LAB, OTHER = "08_coalescing", "01_why_gpus"
LABS = [OTHER, LAB]
ZONE = ZoneInfo("Europe/Zurich")
LATE = datetime(2027, 3, 12, 23, 59, tzinfo=ZONE)


def written(folder: Path, text: str, name: str = "export.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "2027-03-12T23:59+01:00",
        "2027-03-12T22:59:00Z",
        "2027-03-12 22:59:00 UTC",
        "2027-03-12 23:59:00 +0100",
        "2027-03-12 23:59",
        "Friday, 12 March 2027, 11:59 PM",
        "Friday, 12 March 2027, 11:59\u202fPM",
        "Friday, March 12, 2027, 11:59 PM",
        "Freitag, 12. März 2027, 23:59",
        "vendredi 12 mars 2027, 23:59",
        "vendredi 12 mars 2027, 23h59",
        "viernes, 12 de marzo de 2027, 23:59",
        "sexta-feira, 12 de março de 2027 às 23:59",
        "venerdì, 12 marzo 2027, 23:59",
        "vrijdag, 12 maart 2027, 23:59",
    ],
)
def test_a_time_is_read_as_each_platform_writes_it(text: str):
    assert time_exports.moment(text, ZONE) == LATE


@pytest.mark.parametrize(
    ("text", "hour"), [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 p. m.", 13), ("11:05 am", 11)]
)
def test_noon_and_midnight_are_told_apart(text: str, hour: int):
    found = time_exports.moment(f"Friday, 12 March 2027, {text}", UTC)
    assert found == datetime(2027, 3, 12, hour, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "12/03/2027 11:59",
        "2027-03-12",
        "Friday, 32 March 2027, 11:59 PM",
        "Friday, 12 March 2027, 13:59 PM",
        "Friday, 12 March 2027",
        "Friday, 12 March April 2027, 11:59",
        "0001-01-01 00:00Z",
    ],
)
def test_what_may_mean_another_time_is_none(text: str):
    assert time_exports.moment(text, UTC) is None


#: As each platform writes it, and what ada's time in it is.
WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Online text,Last modified (grade),Feedback comments\n"
    "Participant 1234,Ada Lovelace,0042,ada@example.edu,Submitted for grading - ,,16.00,Yes,"
    '"Friday, 12 March 2027, 11:59 PM",,-,\n'
    "Participant 1235,Ben Bitdiddle,0043,ben@example.edu,No submission,,16.00,Yes,-,,-,\n"
)
GERMAN = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Abgabe)\n"
    'Teilnehmer/in1234,Ada Lovelace,ada@example.edu,Abgegeben,,16,"Freitag, 12. März 2027, 23:59"\n'
)
CANVAS = json.dumps(
    [
        {"id": 1, "user_id": 4711, "assignment_id": 9, "submitted_at": "2027-03-12T22:59:00Z"},
        {"id": 2, "user_id": 4712, "assignment_id": 9, "submitted_at": None, "late": False},
    ]
)
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,section_name,Total Score,Max Points,Status,"
    "Submission ID,Submission Time,Lateness (H:M:S),View Count,Submission Count\n"
    "Ada,Lovelace,0042,ada@example.edu,,,12.0,16.0,Graded,77,2027-03-12 23:59:00 +0100,"
    "00:00:00,0,1\nBen,Bitdiddle,0043,ben@example.edu,,,,16.0,Missing,,,,,0\n"
)
NBGRADER = (
    "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,"
    "late_submission_penalty,score,max_score\n"
    f"{OTHER},,2027-01-01 10:00:00,ada,,,,0,0,0,16\n"
    f"{LAB},,2027-03-12 22:59:00,ada,,,,0,0,0,16\n{LAB},,,ben,,,,0,0,0,16\n"
)
EXPORTS = {
    "moodle": (WORKSHEET, Record("Ada Lovelace", "a", LAB, name="Ada Lovelace")),
    "moodle, namesakes": (WORKSHEET, Record("Ada Lovelace 1234", "a", LAB, name="Ada Lovelace")),
    "moodle in german": (GERMAN, Record("Ada Lovelace", "a", LAB)),
    "moodle in german, namesakes": (GERMAN, Record("Ada Lovelace 1234", "a", LAB)),
    "canvas": (CANVAS, Record("4711", "a", LAB, name="lovelaceada")),
    "canvas in a browser": (f"while(1);{CANVAS}", Record("4711", "a", LAB, name="lovelaceada")),
    "canvas as csv": (
        "user_id,submitted_at\n4711,2027-03-12T22:59:00Z\n",
        Record("4711", "a", LAB),
    ),
    "gradescope": (GRADESCOPE, Record("0042", "a", LAB, name="Ada Lovelace")),
    "nbgrader": (NBGRADER, Record("ada", "a", LAB)),
    "a table": ("student,lab,submitted\nada,,2027-03-12 23:59\n", Record("ada", "a", LAB)),
}


def applied(path: Path, records: list[Record], roster: Roster | None = None, lab: str = LAB):
    return times.applied(records, [(lab, path)], LABS, [LAB], roster, ZONE)


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("listed", [False, True])
def test_each_platforms_export_gives_its_students_their_times(
    tmp_path: Path, name: str, listed: bool
):
    text, record = EXPORTS[name]
    path = written(tmp_path, text)
    roster = None
    if listed:
        canvas_id = "1234" if "1234" in record.student else "4711"
        row = f"ada,Ada Lovelace,0042,ada@example.edu,{canvas_id}\nben,Ben Bitdiddle,0043,,4712\n"
        roster = rosters.load(
            written(tmp_path, f"id,name,sis_id,email,canvas user id\n{row}", "class.csv")
        )
    for lab in (LAB, ""):
        ((made,), warned) = applied(path, [record], roster, lab)
        assert datetime.fromisoformat(made.submitted) == LATE and not warned


def test_of_namesakes_each_has_his_own_time(tmp_path: Path):
    rows = WORKSHEET.replace("Ben Bitdiddle", "Ada Lovelace").replace(
        "No submission,,16.00,Yes,-", 'Submitted,,16.00,Yes,"Saturday, 13 March 2027, 1:00 AM"'
    )
    records = [Record(f"Ada Lovelace {n}", str(n), LAB, name="Ada Lovelace") for n in (1234, 1235)]
    made, _ = applied(written(tmp_path, rows), records)
    assert {r.student: datetime.fromisoformat(r.submitted).hour for r in made} == {
        "Ada Lovelace 1234": 23,
        "Ada Lovelace 1235": 1,
    }


def test_times_of_who_is_not_here_are_a_warning(tmp_path: Path):
    made, warned = applied(written(tmp_path, CANVAS), [Record("7", "a", LAB, submitted="x")])
    assert made[0].submitted == "x"
    assert warned == ("times of students whose submission is not here (1): '4711'",)


def test_later_files_win_and_a_table_of_ones_own_above_all(tmp_path: Path):
    one = written(tmp_path, CANVAS, "one.json")
    own = written(tmp_path, "student,lab,submitted\n4711,,2027-03-13T12:00Z\n", "times.csv")
    settings = times.given([f"{LAB}={one}"])
    files = times.files(settings, tmp_path)
    assert files == [(LAB, one), (None, own)]
    (made,), _ = times.applied([Record("4711", "a", LAB)], files, LABS, [LAB], None, None)
    assert datetime.fromisoformat(made.submitted) == datetime(2027, 3, 13, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            WORKSHEET.replace("Friday, 12 March", "Perjantai, 12 maaliskuuta"),
            "export.csv:2: Last modified (submission): 'Perjantai, 12 maaliskuuta 2027, 11:59 PM' "
            "is not a time",
        ),
        (
            WORKSHEET,
            "export.csv:2: Last modified (submission): 'Friday, 12 March 2027, 11:59 PM' "
            "is not a time with its offset from UTC",
        ),
        ("Student,ID,Lab 8 (77)\nAda,1,5\n", "export.csv:1: no column has times of submission"),
        ('{"errors": ["unauthorized"]}', "export.csv is not the list of submissions that Canvas's"),
        ("[1, 2]", "export.csv is not the list of submissions that Canvas's"),
        ("[" * 100_000, "export.csv is not the list of submissions that Canvas's"),
        (
            CANVAS.replace('9, "submitted_at": null', '8, "submitted_at": "2027-03-12T22:59Z"'),
            "export.csv:2: times of several assignments, 8 and 9; give a file for each",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, said: str):
    with pytest.raises(GradingError) as refused:
        time_exports.read(written(tmp_path, text), LABS)
    assert str(refused.value).startswith(said) and "\n" not in str(refused.value)


def test_a_file_of_no_known_lab_needs_its_name(tmp_path: Path):
    path = written(tmp_path, CANVAS)
    settings = times.given([str(path)])
    with pytest.raises(GradingError, match="write --times LAB="):
        times.settled(settings, LABS, LABS, None)
    assert times.settled(settings, LABS, [LAB], None) == times.given([str(path)], LAB)
    with pytest.raises(GradingError, match=r"--times: '08' is not a lab; there are 01_why"):
        times.settled(times.given(["08=export.csv"]), LABS, [LAB], None)


def test_without_times_it_is_said_what_to_give():
    due = Course(labs={LAB: LabSettings(LAB, due=LATE + timedelta(days=1))})
    said = times.untimed("moodle", {}, due, [LAB])
    assert said == (
        "there are no times of submission here, so nobody is late; give --times FILE: Moodle's "
        "grading worksheet, or a table with the columns student,lab,submitted"
    )
    assert "Canvas's list of the assignment's submissions" in times.untimed(
        "canvas", {}, due, [LAB]
    )
    assert times.untimed("plain", {"due": "2027-03-12T23:59Z"}, Course(), [LAB])
    assert not times.untimed("moodle", {}, due, [OTHER])
    assert not times.untimed("moodle", times.given(["x.csv"], LAB), due, [LAB])
