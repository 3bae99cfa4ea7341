"""``warpwise course check``: every mistake at once, with its line, and what is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from warpwise.cli import app
from warpwise.grading import store
from warpwise.grading.record import Finding, Record, Result
from warpwise.labs.exercise import Reason
from warpwise.labs.source import load_lab

RIGHT = """\
title = "GPU programming"
term = "Spring 2027"
timezone = "Europe/Zurich"

[late]
percent_per_day = 10
days = 3
grace_minutes = 15

[labs.08_coalescing]
points = 20
weight = 2
due = 2027-03-12T23:59:00

[labs.09_tiling]
due = 2027-03-19T12:00:00+01:00
late = { percent_per_day = 0, days = 1 }

[extensions."ada@example.edu"]
08_coalescing = 2027-03-19T23:59:00
"""
WRONG = """\
title = GPU programming
timezone = "Europe/Zurick"

[late]
percent_per_day = 10%
dais = 3

[labs.08_coalesing]
points = 20

[labs.09_tiling]
weightt = 2
due = 2027-03-12T23:59
points = -1

[extensions.ada@example.edu]
08_coalescing = 2027-03-19
"""
ROSTER = "id,name,email\nada,Ada Lovelace,ada@example.edu\nben,Ben,ben@example.edu\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def run(*arguments: object) -> tuple[int, list[str]]:
    done = CliRunner().invoke(app, ["course", "check", *map(str, arguments)])
    return done.exit_code, done.output.splitlines()


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A folder as ``grade`` leaves it, with one submission."""
    out = tmp_path / "graded"
    (out / "records").mkdir(parents=True)
    lab = load_lab("08_coalescing")
    (out / "run.json").write_text(json.dumps({"seed": 1, "labs": {lab.stem: lab.version}}))
    results = tuple(Result(e.id, e.points, Finding(True, Reason.PASSED)) for e in lab.exercises)
    store.keep(out, store.Kept("key", 1, Record("ada", "ada.ipynb", lab.stem, results)))
    return out


def test_all_mistakes_are_told_at_once_with_line_key_and_meaning(tmp_path: Path):
    status, lines = run(write(tmp_path / "course.toml", WRONG))
    assert status == 1
    assert lines == [
        'course.toml:1: text needs quotes: title = "GPU programming"',
        "course.toml:2: 'Europe/Zurick' is not a time zone known to this machine; "
        "did you mean Europe/Zurich?",
        "course.toml:5: leave out the % sign: percent_per_day = 10",
        "course.toml:6: [late]: 'dais' is not a setting of a late policy; did you mean days?",
        "course.toml:8: [labs]: '08_coalesing' is not a lab; did you mean 08_coalescing?",
        "course.toml:12: [labs.09_tiling]: 'weightt' is not a setting of a lab; "
        "did you mean weight?",
        "course.toml:13: a time needs its seconds: due = 2027-03-12T23:59:00",
        "course.toml:14: [labs.09_tiling]: points is -1; it cannot be negative",
        'course.toml:16: an e-mail address needs quotes: [extensions."ada@example.edu"]',
        'course.toml:17: [extensions."ada@example.edu"]: 08_coalescing must be a time without '
        "quotes, as in 2026-12-01T23:59:00+01:00, not 2027-03-19",
    ]


MISNAMED = """\
[lat]
percent_per_day = 101

[labs.08_coalesing]
point = 20
[labs.08_coalesing.late]
dais = 3

[labs."09_tilling"]
weight = -1

[extension.ada]
08_coalescing = 2027-03-19
"""


def test_what_stands_under_a_misspelled_name_is_checked_too(tmp_path: Path):
    """As under the one that was meant: each slip once, with its own line."""
    status, lines = run(write(tmp_path / "course.toml", MISNAMED))
    assert status == 1
    assert lines == [
        "course.toml:1: 'lat' is not a setting; did you mean late?",
        "course.toml:2: [late]: percent_per_day is 101; the maximum is 100",
        "course.toml:4: [labs]: '08_coalesing' is not a lab; did you mean 08_coalescing?",
        "course.toml:5: [labs.08_coalescing]: 'point' is not a setting of a lab; did you mean "
        "points?",
        "course.toml:7: [labs.08_coalescing.late]: 'dais' is not a setting of a late policy; "
        "did you mean days?",
        "course.toml:9: [labs]: '09_tilling' is not a lab; did you mean 09_tiling?",
        "course.toml:10: [labs.09_tiling]: weight is -1; it cannot be negative",
        "course.toml:12: 'extension' is not a setting; did you mean extensions?",
        "course.toml:13: [extensions.ada]: 08_coalescing must be a time without quotes, as in "
        "2026-12-01T23:59:00+01:00, not 2027-03-19",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[labs.08_coalescing]\nweight = 1\n[labs.08_coalesing]\npoint = 20\n",  # both are there
        '[labs]\n"08_coales\\u0069ng" = { point = 20 }\n',  # not written as it is called
    ],
)
def test_what_stands_under_a_name_that_cannot_be_mended_is_left_out(tmp_path: Path, text: str):
    status, lines = run(write(tmp_path / "course.toml", text))
    assert status == 1 and len(lines) == 1 and "did you mean 08_coalescing?" in lines[0]


def test_settings_of_several_lines_under_a_misspelled_name(tmp_path: Path):
    text = "[labs]\n08_coalesing.points = 0\n08_coalesing.wait = 1\n08_coalesing.weight = -2\n"
    _, lines = run(write(tmp_path / "course.toml", text))
    assert [line.split(":")[1] for line in lines] == ["2", "2", "3", "4"]


def test_what_is_understood_is_shown(tmp_path: Path):
    status, lines = run(write(tmp_path / "course.toml", RIGHT))
    assert status == 0 and lines[0].endswith("course.toml is right")
    assert lines[1] == "GPU programming, Spring 2027"
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[2:]}
    assert rows["08_coalescing"] == (
        "20 2 Friday, 12 March 2027, 23:59 (Europe/Zurich) "
        "10 % a day, nothing after 3 days, 15 min grace"
    )
    assert "(UTC+0100) nothing after 1 day, 15 min grace" in rows["09_tiling"]
    assert rows["01_why_gpus"].startswith("10 1 -")
    assert lines[-1] == "extensions: 1, of 1 student"


def test_a_folder_without_the_file_has_the_defaults(tmp_path: Path):
    status, lines = run(tmp_path)
    assert status == 0 and lines[0] == "there is no course.toml: all defaults"


def test_with_a_roster_unknown_students_are_found(tmp_path: Path):
    path = write(tmp_path / "course.toml", RIGHT.replace("ada@", "adaa@"))
    status, lines = run(path, "--roster", write(tmp_path / "class.csv", ROSTER))
    assert status == 1 and lines == [
        'course.toml:19: [extensions."adaa@example.edu"]: not on the roster; '
        "did you mean ada@example.edu?"
    ]


def test_an_extension_that_extends_nothing_is_perhaps_not_meant(tmp_path: Path):
    text = RIGHT.replace("08_coalescing = 2027-03-19", "08_coalescing = 2027-03-09")
    text += "01_why_gpus = 2027-03-09T23:59:00\n"
    status, lines = run(write(tmp_path / "course.toml", text))
    assert status == 0
    assert [line.partition(": [")[0] for line in lines if line.startswith("perhaps")] == [
        "perhaps not meant: course.toml:20",
        "perhaps not meant: course.toml:21",
    ]


def test_overrides_are_checked_row_by_row(tmp_path: Path, graded: Path):
    rows = [
        "student,lab,exercise,points,reason",
        "ada,08_coalescing,transpose,1,",
        "adda,08_coalescing,,5,",
        "ada,08_coalesing,,5,",
        "ada,08_coalescing,transpos,1,",
        "ada@example.edu,08_coalescing,transpose,2,",
        "ben,08_coalescing,copy_matrix,7,",
        "ben,08_coalescing,,21,",
        "ben,08_coalescing,histogram,many,",
    ]
    write(graded / "overrides.csv", "\n".join(rows))
    course = write(tmp_path / "course.toml", RIGHT)
    listed = write(tmp_path / "class.csv", ROSTER)
    status, lines = run(course, "--graded", graded, "--roster", listed)
    assert status == 1
    assert lines == [
        "overrides.csv:3: 'adda' is not a student; did you mean ada?",
        "overrides.csv:4: '08_coalesing' is not a lab; did you mean 08_coalescing?",
        "overrides.csv:5: 'transpos' is not an exercise of 08_coalescing; did you mean transpose?",
        "overrides.csv:6: line 2 already sets the same points",
        "overrides.csv:9: 'many' is not a number of points",
        "perhaps not meant: overrides.csv:7: 7 points are more than the 2 of "
        "08_coalescing/copy_matrix",
        "perhaps not meant: overrides.csv:8: 21 points are more than the 20 of 08_coalescing",
    ]


def test_right_overrides_are_counted(tmp_path: Path, graded: Path):
    write(graded / "overrides.csv", "student,lab,exercise,points\nada,08_coalescing,,5\n")
    status, lines = run(write(tmp_path / "course.toml", RIGHT), "--graded", graded)
    assert status == 0 and lines[-1] == "overrides.csv: 1 row"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("overrides.csv", "student,lab\n", "overrides.csv:1: needs one column exercise"),
        (
            "times.csv",
            "student,lab,submitted\nada,,x\n",
            "times.csv:2: submitted: 'x' is not",
        ),
    ],
)
def test_a_table_that_is_none_is_one_of_the_mistakes(tmp_path, graded, name, text, said):
    write(graded / name, text)
    status, lines = run(write(tmp_path / "course.toml", RIGHT), "--graded", graded)
    assert status == 1 and len(lines) == 1 and lines[0].startswith(said)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path):
    for arguments in ([tmp_path / "none"], ["--graded", tmp_path]):
        status, lines = run(*arguments)
        assert status == 2 and len(lines) == 1 and lines[0].startswith("warpwise: ")


def test_a_roster_that_cannot_be_read_is_one_of_the_mistakes(tmp_path: Path):
    path = write(tmp_path / "course.toml", RIGHT)
    status, lines = run(path, "--roster", write(tmp_path / "class.csv", "x\n1\n"))
    assert status == 1 and lines[0].startswith("class.csv:1: no column identifies students")


def test_nothing_is_written(tmp_path: Path, graded: Path):
    write(tmp_path / "course.toml", WRONG)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run(tmp_path / "course.toml", "--graded", graded)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
