"""What Canvas and Moodle import: their own files, filled.

The files here were written by hand in the shape of the platforms' exporters; ``canvas_reads`` and
``moodle_reads`` do with a table what the platforms' importers do."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from support.graded_records import record

from warpwise.errors import GradingError
from warpwise.grading.record import Record
from warpwise.grading.scoring import canvas, roster, scores
from warpwise.grading.scoring import course as courses
from warpwise.grading.scoring.course import Course, LabSettings
from warpwise.grading.scoring.export import table as export
from warpwise.grading.scoring.filled import Filled
from warpwise.grading.scoring.folder import save_left_out
from warpwise.grading.scoring.overrides import Override
from warpwise.labs.source import load_lab

COALESCING, FUSION = "08_coalescing", "06_fusion"
LABS = {stem: load_lab(stem) for stem in (FUSION, COALESCING)}
HEADING = "Lab 8: Coalescing (4711)"

# lib/gradebook_exporter.rb (csv_data): students with ID, SIS User ID, SIS Login ID, Integration ID,
# Root Account, Section, custom columns, assignments with their number, totals that are read only.
EXPORT = f"""\
Student,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section,Notes,Essay (4700),\
{HEADING},Current Score,Final Score,Final Grade
,,,,,,,,,Manual Posting,,,
    Points Possible,,,,,,,,100.00,16.00,(read only),(read only),(read only)
"Lovelace, Ada",101,S1,ada,,uni.edu,A and B,she/her,91.00,,91.00,45.50,F
"Bitdiddle, Ben",102,-S2,ben@uni.edu,,uni.edu,B,,80.00,12.00,80.00,80.00,B
"=HYPERLINK(""x"")",103,S3,eve,,uni.edu,B,,,,,,
"Doe, Fay",104,S4,fay,,uni.edu,B,,,EX,,,
"Hopper, Grace",105,S5,grace,,uni.edu,A,,,N/A,,,
"Zuse, Kay",106,S6,kay,,uni.edu,A,,,3.00,,,
"Student, Test",107,,7f4a,,uni.edu,A,,,1.00,,,
"""

# The columns of mod/assign/gradingtable.php, downloaded.
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 501,Ada Lovelace,ada@uni.edu,Submitted for grading,,16.00,Yes,\
"Tuesday, 1 December 2026, 9:10 PM",-,
Participant 502,Ben Bitdiddle,ben@uni.edu,Submitted for grading,4.00,16.00,Yes,\
"Tuesday, 1 December 2026, 9:12 PM","Tuesday, 1 December 2026, 9:30 PM",see me
Participant 503,Cyd Doe,cyd@uni.edu,No submission,,16.00,Yes,-,-,
Participant 504,Dee Doe,dee@uni.edu,Submitted for grading,,16.00,No,-,-,
"""
PARTICIPANTS = """\
id,First name,Last name,ID number,Email address,Groups
ada,Ada,Lovelace,S1,ada@uni.edu,A
ben,Ben,Bitdiddle,,Ben@uni.edu,
cyd,Cyd,Doe,,,
dee,Dee,Doe,,=1+1@uni.edu,
eve,Eve,Doe,,twin@uni.edu,
fay,Fay,Doe,,twin@uni.edu,
"""


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def written(folder: Path, text: str, name: str = "roster.csv") -> Path:
    (folder / name).write_text(text, "utf-8", newline="")
    return folder / name


def filled(folder: Path, form: str, listed: str, records: list[Record], **more) -> Filled:
    course = more.pop("course", Course())
    known = roster.load(written(folder, listed))
    found = scores.scores(records, LABS, course, known, **more)
    return export(found, form, LABS, course, known)


def canvas_reads(text: str) -> dict[str, dict[str, str]]:
    """Return scores by assignment and user, by number, as lib/gradebook_importer.rb reads them."""
    rows = [
        row for row in csv.reader(io.StringIO(text)) if not re.fullmatch("[;, ]*", ",".join(row))
    ]
    head = rows[0]
    assert "Student" in head[0] and "ID" in head[1], "InvalidHeaderRow"
    columns = 3
    if re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3]):
        columns = 5 + (head[4] == "Integration ID")
        columns += head[columns - 1] == "Root Account"
    elif re.search(r"SIS\s+Login\s+ID", head[2]):
        columns = 4
    assert "Section" in head[columns - 1], "InvalidHeaderRow"
    totals = "(Current|Final|Override) (Score|Points|Grade|Status)"
    found: dict[str, dict[str, str]] = {}
    for at, heading in enumerate(head):
        if at >= columns and not re.search(totals, heading):
            numbered = re.fullmatch(r"(.*)\s\((\d+)\)", heading, re.S)
            assert numbered, f"a new assignment {heading!r}"
            found[numbered[2]] = {}
            for row in rows[1:]:
                no_student = "Points Possible" in row[0] or all(
                    re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.I) for cell in row
                )
                if not no_student:
                    found[numbered[2]][row[1]] = row[at].strip()
    return found


BATCH = [
    record("101", file="lovelaceada_101_1_lab.ipynb"),
    record("102", right=("transpose",)),
    record("eve"),
    record("104"),
    record("105"),
    record("zoe"),
    Record("yan", "yan/notes.ipynb", problem="which lab this is cannot be told"),
]


def test_canvas_gets_its_own_rows_back_with_the_scores(tmp_path: Path):
    made = filled(tmp_path, "canvas", EXPORT, BATCH)
    rows, came = table(made.text), table(EXPORT)
    assert rows[0] == [*came[0][:7], HEADING]
    assert [row[:7] for row in rows[1:]] == [
        [cell.replace("=H", "'=H").replace("-S2", "'-S2") for cell in row[:7]] for row in came[1:]
    ]
    assert [row[7] for row in rows[1:3]] == ["Manual Posting", "16.00"]
    read = canvas_reads(made.text)["4711"]
    assert read == {"101": "5", "102": "3", "103": "5", "104": "EX"} | {
        "105": "N/A",
        "106": "0",
        "107": "1.00",
    }
    assert list(canvas_reads(made.text)) == ["4711"] and not made.remarks


def test_who_canvas_has_no_place_for_is_in_a_table_of_its_own(tmp_path: Path):
    made = filled(tmp_path, "canvas", EXPORT, BATCH)
    left = list(csv.DictReader(io.StringIO(made.left_out_text)))
    assert [(row["student"], row["score"], row["reason"]) for row in left] == [
        ("yan", "", "not on the roster"),
        ("zoe", "5", "not on the roster"),
        ("fay", "5", "excused in Canvas, and left so"),
        ("grace", "5", "not assigned to this student in Canvas"),
    ]
    assert "not on the roster" not in made.text and "zoe" not in made.text


def test_two_who_fit_are_a_reason(tmp_path: Path):
    listed = EXPORT.replace('"Zuse, Kay"', '"Lovelace, Ada"')
    made = filled(tmp_path, "canvas", listed, [record("Ada Lovelace")])
    reasons = [left.reason for left in made.left_out]
    assert reasons == ["matches 2 students on the roster: ada, kay"]


def test_the_second_file_lies_beside_the_first_and_goes_when_it_is_empty(tmp_path: Path):
    out, beside = tmp_path / "grades.csv", tmp_path / "grades-unknown.csv"
    made = filled(tmp_path, "canvas", EXPORT, BATCH)
    (said,) = save_left_out(out, made)
    assert said == f"4 scores have no place in this table: see {beside}"
    assert beside.read_text("utf-8") == made.left_out_text
    whole = filled(tmp_path, "canvas", EXPORT, BATCH[:3])
    assert not list(save_left_out(out, whole)) and not beside.exists()
    beside.write_text("somebody's own")
    assert not list(save_left_out(out, whole)) and beside.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SIS User ID,SIS Login ID,Integration ID,Root Account,", "SIS User ID,SIS Login ID,"),
        ("SIS User ID,SIS Login ID,Integration ID,Root Account,", "SIS Login ID,"),
        ("SIS User ID,SIS Login ID,Integration ID,Root Account,", ""),
    ],
)
def test_canvas_leaves_columns_out_by_its_settings(tmp_path: Path, old: str, new: str):
    gone = [name for name in old.split(",") if name and name not in new.split(",")]
    reader = csv.DictReader(io.StringIO(EXPORT))
    kept = [name for name in reader.fieldnames or () if name not in gone]
    text = io.StringIO()
    csv.DictWriter(text, kept, extrasaction="ignore").writeheader()
    csv.DictWriter(text, kept, extrasaction="ignore").writerows(reader)
    made = filled(tmp_path, "canvas", text.getvalue(), [record("101")])
    assert canvas_reads(made.text)["4711"]["101"] == "5"


def test_a_student_of_two_sections_with_a_row_in_each_is_one(tmp_path: Path):
    row = '"Lovelace, Ada",101,S1,ada,,uni.edu,A and B'
    listed = EXPORT + '"Lovelace, Ada",101,S1,ada,,uni.edu,C,,,,,,\n'
    assert row in EXPORT
    made = filled(tmp_path, "canvas", listed, [record("ada")])
    both = [row for row in table(made.text) if row[1] == "101"]
    assert [(row[6], row[7]) for row in both] == [("A and B", "5"), ("C", "5")]


def test_names_in_two_columns_are_read_and_come_back(tmp_path: Path):
    listed = (
        f"LastName,FirstName,ID,SIS Login ID,Section,{HEADING}\n"
        "    Points Possible,,,,,16.00\nLovelace,Ada,101,ada,A,\nStudent,Test,107,x,A,\n"
    )
    made = filled(tmp_path, "canvas", listed, [record("Ada Lovelace")])
    assert table(made.text)[2] == ["Lovelace", "Ada", "101", "ada", "A", "5"]
    assert len(roster.load(written(tmp_path, listed)).students) == 1


def test_points_that_differ_are_said(tmp_path: Path):
    listed = EXPORT.replace("16.00", '"20,00"')  # as some settings of Canvas write it
    (said,) = filled(tmp_path, "canvas", listed, [record("101")]).remarks
    assert said.startswith(f"{HEADING!r} has 20 points in Canvas and 16 here")
    course = Course(labs={COALESCING: LabSettings(COALESCING, points=20)})
    made = filled(tmp_path, "canvas", listed, [record("101")], course=course)
    assert not made.remarks and canvas_reads(made.text)["4711"]["101"] == "6.25"


@pytest.mark.parametrize(
    ("columns", "wanted", "found"),
    [
        (["Lab 8: Coalescing (1)", "Lab 8 (2)"], "", "Lab 8: Coalescing (1)"),
        (["08_Coalescing (1)", "Lab 8 (2)"], "", "08_Coalescing (1)"),
        (["Lab 80 (1)", "Week 3 - lab 08, memory (2)"], "", "Week 3 - lab 08, memory (2)"),
        (["Lab 18 (1)", "Lab #8 (resubmission) (2)"], "", "Lab #8 (resubmission) (2)"),
        (["Essay (1)", "Week 9 (2)"], "Week 9 (2)", "Week 9 (2)"),
        (["Essay (1)", "Week 9 (2)"], "week 9", "Week 9 (2)"),
        (["Essay (1)", "Week 9 (2)"], "2", "Week 9 (2)"),
    ],
)
def test_a_labs_assignment_is_found(columns: list[str], wanted: str, found: str):
    assert canvas.column_of(LABS[COALESCING], wanted, [*canvas.CANVAS, *columns]) == found


@pytest.mark.parametrize(
    ("columns", "wanted", "said"),
    [
        (["Essay (1)"], "", "fits no assignment of the roster; its assignments are 'Essay (1)'"),
        ([], "", "08_coalescing fits no assignment of the roster, and no assignments"),
        (["Lab 8 (1)", "Lab 8 b (2)"], "", "fits 2 assignments of the roster: 'Lab 8 (1)', 'La"),
        (["Lab 8 (1)"], "9", "canvas = '9' for 08_coalescing fits no assignment"),
        (["Lab 8", "Final Score"], "", "fits no assignment"),
    ],
)
def test_an_assignment_that_is_not_there_or_twice_is_one_line(
    columns: list[str], wanted: str, said: str
):
    with pytest.raises(GradingError) as raised:
        canvas.column_of(LABS[COALESCING], wanted, [*canvas.CANVAS, *columns])
    message = str(raised.value)
    assert said in message and "[labs.08_coalescing] canvas = " in message and "\n" not in message


def test_two_labs_cannot_have_one_assignment(tmp_path: Path):
    course = Course(labs={FUSION: LabSettings(FUSION, canvas="4711")})
    with pytest.raises(GradingError, match="06_fusion and 08_coalescing fit the same assignment"):
        filled(tmp_path, "canvas", EXPORT, [record("101"), record("102", FUSION)], course=course)


@pytest.mark.parametrize(("said", "kept"), [('"Week 9 (2)"', "Week 9 (2)"), ("4711", "4711")])
def test_course_toml_names_the_assignment(tmp_path: Path, said: str, kept: str):
    path = written(tmp_path, f"[labs.08_coalescing]\ncanvas = {said}\n", "course.toml")
    assert courses.load(path, LABS).lab(COALESCING).canvas == kept
    wrong = written(tmp_path, "[labs.08_coalescing]\n\ncanvas = true\n", "course.toml")
    with pytest.raises(GradingError, match=r"course.toml:3: canvas must be text in quotes"):
        courses.load(wrong, LABS)


# Moodle.


def moodle_reads(text: str) -> dict[str, tuple[str, str]]:
    """Return grades and comments by participant, as importgradeslib.php reads a worksheet."""
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(rows[0])
    return {
        row["Identifier"][len("Participant ") :]: (row["Grade"], row["Feedback comments"])
        for row in rows
    }


def test_moodles_worksheet_comes_back_with_grades(tmp_path: Path):
    batch = [
        record("Ada Lovelace"),
        record("Ben Bitdiddle", right=()),
        record("Dee Doe"),
        record("Zoe", name="Zoe"),
    ]
    by_hand = [Override("ben@uni.edu", COALESCING, "", 7.5, "spoke")]
    made = filled(tmp_path, "moodle", "\ufeff" + WORKSHEET, batch, overrides=by_hand)
    assert moodle_reads(made.text) == {
        "501": ("5", "5 of 16 points"),
        "502": ("7.5", "see me"),  # a comment that was there
        "503": ("0", "no submission"),
        "504": ("", ""),
    }
    came, rows = table(WORKSHEET), table(made.text)
    assert rows[0] == came[0] and len(rows) == len(came)
    assert [row[:4] + row[5:9] for row in rows] == [row[:4] + row[5:9] for row in came]
    assert [(left.score.student.id, left.reason) for left in made.left_out] == [
        ("Zoe", "not on the roster"),
        ("dee@uni.edu", "the worksheet says that this grade cannot be changed"),
    ]


def test_an_override_is_in_the_comment(tmp_path: Path):
    by_hand = [Override("ada@uni.edu", COALESCING, "", 7.5, "spoke")]
    made = filled(tmp_path, "moodle", WORKSHEET, [record("Ben Bitdiddle")], overrides=by_hand)
    grade, comment = moodle_reads(made.text)["501"]
    assert grade == "7.5" and comment.startswith("7.5 of 16 points (") and "spoke" in comment


def test_namesakes_and_blind_marking_are_told_by_the_participants_number(tmp_path: Path):
    twins = WORKSHEET.replace("Ben Bitdiddle", "Ada Lovelace")
    made = filled(tmp_path, "moodle", twins, [record("Ada Lovelace 502")])
    assert moodle_reads(made.text)["502"][0] == "5" and "Ada" not in made.left_out_text
    rows = [row[:1] + row[3:] for row in table(WORKSHEET)]
    blind = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    made = filled(tmp_path, "moodle", blind, [record("Participant 503", name="Participant")])
    assert moodle_reads(made.text)["503"][0] == "5" and "503" not in made.left_out_text


def test_a_worksheet_is_of_one_lab_and_of_moodles_columns(tmp_path: Path):
    both = [record("Ada Lovelace"), record("Ada Lovelace", FUSION)]
    with pytest.raises(GradingError, match="06_fusion, 08_coalescing: choose one with --lab"):
        filled(tmp_path, "moodle", WORKSHEET, both)
    with pytest.raises(GradingError, match=r"no column 'Last modified \(grade\)'"):
        filled(tmp_path, "moodle", WORKSHEET.replace("(grade)", ""), both[:1])
    made = filled(tmp_path, "moodle", WORKSHEET.replace("16.00", "10.00"), both[:1])
    assert made.remarks[0].startswith("08_coalescing has 10 points in Moodle and 16 here")


def test_moodles_gradebook_gets_only_whom_it_can_tell(tmp_path: Path):
    batch = [record(name) for name in ("S1", "Ben Bitdiddle", "cyd", "dee", "eve", "Zoe")]
    made = filled(tmp_path, "moodle", PARTICIPANTS, batch)
    assert table(made.text) == [
        ["Email address", "First name", "Last name", "Lab 8: Coalescing"],
        ["ada@uni.edu", "Ada", "Lovelace", "5"],
        ["Ben@uni.edu", "Ben", "Bitdiddle", "5"],
    ]
    reasons = {left.score.student.full_name or "Zoe": left.reason for left in made.left_out}
    assert reasons == {
        "Zoe": "not on the roster",
        "Cyd Doe": "has no email address in the roster",
        "Dee Doe": "a spreadsheet could take the email address '=1+1@uni.edu' for a formula: "
        "type this grade in",
        "Eve Doe": "2 students on the roster have the email address 'twin@uni.edu'",
        "Fay Doe": "2 students on the roster have the email address 'twin@uni.edu'",
    }
    assert made.remarks[0].startswith("in Moodle map from 'Email address'")


def test_moodle_needs_a_roster_that_it_knows(tmp_path: Path):
    found = scores.scores([record("ada")], LABS)
    with pytest.raises(GradingError, match="Moodle needs a roster"):
        export(found, "moodle", LABS, Course())
    with pytest.raises(GradingError, match="none of the columns by which Moodle tells students"):
        filled(tmp_path, "moodle", "id,name\nada,Ada\n", [record("ada")])
