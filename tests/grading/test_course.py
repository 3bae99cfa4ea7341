"""The course's settings: the meaning of a course.toml, and mistakes reported with their line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.paths import ROOT

from warpwise.errors import GradingError
from warpwise.grading.scoring import course
from warpwise.grading.scoring.course import (
    Course,
    LabSettings,
    LatePolicy,
    late_policy,
    load,
)
from warpwise.grading.scoring.toml_values import line_of

STEMS = ("01_why_gpus", "08_coalescing", "19_capstone")
BERLIN = ZoneInfo("Europe/Berlin")
POLICY = LatePolicy(percent_per_day=10, days=3, grace_minutes=15)
WHOLE = """\
title = "Warps"
term = "Autumn"
timezone = "Europe/Berlin"

[late]
percent_per_day = 10
days = 3
grace_minutes = 15

[labs.08_coalescing]
points = 20
weight = 2.5
due = 2026-12-01T23:59:00

[labs.19_capstone]
due = 2027-02-12T12:00:00-08:00
late = { percent_per_day = 20 }

[extensions."ada@example.edu"]
08_coalescing = 2026-12-04T23:59:00
"""


def read(folder: Path, text: str, stems=STEMS) -> Course:
    (folder / "course.toml").write_text(text, "utf-8")
    return load(folder / "course.toml", stems)


def message(folder: Path, text: str) -> str:
    """Return the one line that reports a wrong file."""
    with pytest.raises(GradingError) as caught:
        read(folder, text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_setting_is_read(tmp_path: Path):
    found = read(tmp_path, WHOLE)
    assert (found.title, found.term, found.late) == ("Warps", "Autumn", POLICY)
    assert found.lab("08_coalescing") == LabSettings(
        "08_coalescing", 20, 2.5, datetime(2026, 12, 1, 23, 59, tzinfo=BERLIN), POLICY
    )
    due = datetime(2027, 2, 12, 20, tzinfo=UTC)
    assert found.lab("19_capstone") == LabSettings(
        "19_capstone", None, 1, due, LatePolicy(20, 3, 15)
    )
    assert found.lab("01_why_gpus") == LabSettings("01_why_gpus", None, 1, None, POLICY)
    assert found.extensions == {
        ("ada@example.edu", "08_coalescing"): datetime(2026, 12, 4, 22, 59, tzinfo=UTC)
    }


def test_no_file_and_an_empty_one_are_the_defaults(tmp_path: Path):
    assert course.find(tmp_path) == Course() == read(tmp_path, "")
    assert course.find(tmp_path) == Course()
    assert Course().lab("08_coalescing") == LabSettings(
        "08_coalescing", None, 1, None, LatePolicy(0, None, 0)
    )


def test_the_labs_are_those_beside_the_file(tmp_path: Path):
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "02_simt.md").write_text("")
    (tmp_path / "course.toml").write_text(
        "[labs.02_simt]\npoints = 3\n\n[labs.2_simt]\npoints = 3\n"
    )
    with pytest.raises(
        GradingError, match=re.escape("course.toml:4: '2_simt' is not a lab; did you mean 02_simt?")
    ):
        load(tmp_path / "course.toml")


def test_the_example_in_the_module_is_one(tmp_path: Path):
    lines = [
        line.removeprefix("    ") for line in course.__doc__.splitlines() if line.startswith("    ")
    ]
    found = read(tmp_path, "\n".join(lines))
    assert found.lab("08_coalescing").points == 20 and len(found.extensions) == 1


def test_the_repository_has_an_example_that_works_switched_off_and_on(tmp_path: Path):
    text = (ROOT / "course.toml").read_text("utf-8")
    assert not load(ROOT / "course.toml").labs
    on = re.sub(r"^#(?=\S)", "", text, flags=re.M)
    (tmp_path / "course.toml").write_text(on, "utf-8")
    stems = [path.stem for path in (ROOT / "solutions").glob("*.md")]
    found = load(tmp_path / "course.toml", stems)
    assert (
        found.late == POLICY
        and found.lab("19_capstone").late.percent_per_day == 20
        and found.extensions
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('titel = "Warps"', 1, "did you mean title?"),
        (
            "[labs.08_coalescing]\npoints = 20\n\n[labs.08_colaescing]\npoints = 1",
            4,
            "did you mean 08_coalescing?",
        ),
        (
            "[labs.99_nothing_like_it_at_all]",
            1,
            "there are 01_why_gpus, 08_coalescing, 19_capstone",
        ),
        ("[labs.08_coalescing]\npoints = 20\nwieght = 2", 3, "did you mean weight?"),
        (
            "[labs]\n08_coalescing.points = 1\n08_coalescing.weigth = 2",  # codespell:ignore
            3,
            "did you mean weight?",
        ),
        ('[labs]\n\n"08_coalescing" = { points = 1, late = { dys = 2 } }', 3, "did you mean days?"),
        ("[late]\npercent_per_day = 10\npercent_a_day = 10", 3, "did you mean percent_per_day?"),
        (
            '[extensions."a"]\n\n08_coalesce = 2026-12-01T10:00:00Z',
            3,
            "did you mean 08_coalescing?",
        ),
        ("[labs.08_coalescing]\n# points\npoints = -1", 3, "points is -1; it cannot be negative"),
        ("[labs.08_coalescing]\npoints = 0", 2, "points is 0; it must be positive"),
        ("[labs.08_coalescing]\nweight = -0.5", 2, "weight is -0.5; it cannot be negative"),
        ("[labs.08_coalescing]\nweight = nan", 2, "weight must be a number, not nan"),
        ("[labs.08_coalescing]\nweight = true", 2, "weight must be a number, not true"),
        ('[labs.08_coalescing]\npoints = "20"', 2, "points must be a number, not '20'"),
        ("[late]\ndays = 1.5", 2, "days must be a whole number, not 1.5"),
        ("[late]\npercent_per_day = 101", 2, "the maximum is 100"),
        ("[late]\ngrace_minutes = 1e300", 2, "the maximum is 1000000"),
        ("[labs.08_coalescing]\ndue = 0001-01-01T00:00:00+01:00", 2, "the year 1 is out of range"),
        ("[late]\ngrace_minutes = -1", 2, "grace_minutes is -1; it cannot be negative"),
        ("late = 10", 1, "late must be a table, as in [late], not 10"),
        (
            "[labs]\n08_coalescing = 20",
            2,
            "08_coalescing must be a table, as in [labs.08_coalescing], not 20",
        ),
        ('[extensions]\n"a b" = 1', 2, 'a b must be a table, as in [extensions."a b"], not 1'),
        ("title = 7", 1, 'title must be text in quotes, as in title = "...", not 7'),
        ("term = [1]", 1, "not a list"),
        (
            "[labs.08_coalescing]\ndue = 2026-12-01T23:59:00",
            2,
            "due needs an offset from UTC, as in 2026-12-01T23:59:00+01:00, or set timezone",
        ),
        ("[labs.08_coalescing]\ndue = 2026-12-01", 2, "due must be a time without quotes"),
        (
            '[labs.08_coalescing]\ndue = "2026-12-01T23:59:00Z"',
            2,
            "due must be a time without quotes",
        ),
        ('[extensions."a"]\n08_coalescing = 5', 2, "08_coalescing must be a time without quotes"),
        ('title = "x"\ntimezone = "Europe/Berlim"', 2, "did you mean Europe/Berlin?"),
        (
            'timezone = "../../etc/passwd"',
            1,
            "is not a time zone known to this machine; names look like Europe/Berlin",
        ),
        ("timezone = 1", 1, "timezone must be text in quotes"),
        (
            'title = "a"\n[labs.08_coalescing\npoints = 1',
            2,
            "the closing ] is missing: [labs.08_coalescing]",
        ),
        ("title =", 1, "title has no value"),
        ('title = "a"\ntitle = "b"\n\n\n', 2, "title stands here twice, first in line 1"),
        ("[late]\ndays = 3\n[late]\n", 3, "[late] stands here twice, first in line 1"),
    ],
)
def test_a_mistake_is_one_line_that_names_its_own(tmp_path: Path, text: str, line: int, said: str):
    found = message(tmp_path, text)
    assert found.startswith(f"course.toml:{line}: ") and said in found, found


def test_a_file_that_is_none_is_one_line(tmp_path: Path):
    (tmp_path / "course.toml").write_bytes(b'title = "\xe4"')
    with pytest.raises(GradingError, match=r"^course.toml is not UTF-8; save it as UTF-8$"):
        load(tmp_path / "course.toml")
    with pytest.raises(GradingError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_lines_ended_as_on_windows_are_lines(tmp_path: Path):
    (tmp_path / "course.toml").write_bytes(b'title = "a"\r\n\r\n[late]\r\ndyas = 3\r\n')
    with pytest.raises(
        GradingError,
        match=r"^course.toml:4: 'dyas' is not a setting of a late policy; did you mean days\?$",
    ):
        load(tmp_path / "course.toml", STEMS)


KEYS = st.text(st.sampled_from("ab1_- .\"'é"), min_size=1, max_size=4)
VALUES = st.sampled_from(
    [
        "1",
        '"a = 1"',
        "'''\nx = 1\n'''",
        '"""\n[t]\n"""',
        "[\n  1, # one\n  2,\n]",
        "{ q = 1 }",
        "2026-12-01T23:59:00Z",
        "true",
        '"#"',
    ]
)


def quoted(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


BEFORE = st.sampled_from(["", "\n", "# k = 1\n", "\n  \n"])


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(KEYS, VALUES, BEFORE), unique_by=lambda entry: entry[0], max_size=6),
    st.booleans(),
)
def test_the_line_of_a_key_is_found_whatever_stands_around_it(
    entries: list[tuple[str, str, str]], in_a_table: bool
):
    text, lines = "[t]\n" if in_a_table else "", {}
    for key, value, before in entries:
        text += before
        lines[key] = text.count("\n") + 1
        text += f"{quoted(key)} = {value}\n"
    for key, line in lines.items():
        assert line_of(text, ("t", key) if in_a_table else (key,)) == line, text


@pytest.mark.parametrize(
    ("text", "keys", "line"),
    [
        ("a.b.c = 1\na.b.d = 2", ("a", "b", "d"), 2),
        ('[x]\n[a."b c"]\nd = 1', ("a", "b c"), 2),
        ('[x]\n[a."b c"]\nd = 1', ("a", "b c", "d"), 3),
        ("\na = { b = { c = 1 } }", ("a", "b", "c"), 2),
        ("'a' . b = 1\n\"a\" . c = 2", ("a", "c"), 2),
        ("a = 1", ("b",), 1),
        ("a = 1", ("a", "b"), 1),
    ],
)
def test_the_line_of_a_key_in_each_way_of_writing(text: str, keys: tuple[str, ...], line: int):
    assert line_of(text, keys) == line


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("percent_per_day=10,days=3,grace_minutes=15", POLICY),
        (" percent_per_day = 12.5 , ", LatePolicy(12.5, None, 0)),
        ("days=0", LatePolicy(0, 0, 0)),
        ("", LatePolicy()),
    ],
)
def test_a_late_policy_on_the_command_line(text: str, policy: LatePolicy):
    assert late_policy(text) == policy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10", "'10' is not name=number, as in percent_per_day=10,days=3,grace_minutes=15"),
        ("percent=10", "'percent' is not a setting of a late policy"),
        ("day=3", "did you mean days?"),
        ("days=x", "days must be a number, not 'x'"),
        ("days=1e3", "days must be a whole number, not 1000"),
        ("percent_per_day=200", "the maximum is 100"),
        ("grace_minutes=inf", "grace_minutes must be a number, not inf"),
        ("days=1,days=2", "days is given twice"),
    ],
)
def test_a_wrong_late_policy_is_one_line(text: str, said: str):
    with pytest.raises(GradingError, match=r"^--late-policy: .*" + re.escape(said)):
        late_policy(text)


def test_a_due_time_on_the_command_line():
    assert course.due("2026-12-01T23:59+01:00") == datetime(2026, 12, 1, 22, 59, tzinfo=UTC)
    assert course.due("2026-12-01T23:59:30Z").utcoffset() == timedelta(0)
    with pytest.raises(
        GradingError,
        match=(
            r"^--due: '2026-12-01T23:59' needs its offset from UTC, "
            r"as in 2026-12-01T23:59:00\+01:00$"
        ),
    ):
        course.due("2026-12-01T23:59")
    with pytest.raises(GradingError, match=r"^--due: 'Tuesday' is not a time; write it as in"):
        course.due("Tuesday")
    with pytest.raises(GradingError, match=r"^--due: the year 9999 is out of range$"):
        course.due("9999-12-31T23:59:59-12:00")


def test_the_command_line_goes_before_the_file(tmp_path: Path):
    found, due = read(tmp_path, WHOLE), datetime(2026, 1, 1, tzinfo=UTC)
    changed = found.with_due(due).with_late(LatePolicy(1))
    for stem in STEMS:
        assert (changed.lab(stem).due, changed.lab(stem).late) == (due, LatePolicy(1))
    assert changed.lab("08_coalescing").points == 20
    assert changed.extensions == found.extensions
