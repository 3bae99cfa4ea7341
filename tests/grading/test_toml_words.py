"""TOML's errors in words: each usual slip is recognised, and the rest of the file is read."""

from __future__ import annotations

import pytest

from warpwise.grading.scoring.toml_words import parsed


@pytest.mark.parametrize(
    ("line", "said", "meant"),
    [
        ("[a.ada@example.edu]", 'e-mail address needs quotes: [a."ada@example.edu"]', None),
        ("[ada@example.edu]", 'e-mail address needs quotes: ["ada@example.edu"]', None),
        ("[a.Ada Lovelace]", 'needs quotes: [a."Ada Lovelace"]', None),
        ("[a.Zo\u00eb]", 'needs quotes: [a."Zo\u00eb"]', None),
        ("[labs.x", "the closing ] is missing: [labs.x]", None),
        ("ada@example.edu = 1", 'needs quotes: "ada@example.edu" = ...', {"ada@example.edu": 1}),
        ("x = Europe/Berlin", 'text needs quotes: x = "Europe/Berlin"', {"x": "Europe/Berlin"}),
        ("x = two words # and why", 'text needs quotes: x = "two words"', {"x": "two words"}),
        ('x = "two words', 'the closing " is missing: x = "two words"', {"x": "two words"}),
        ("x = 'a", "the closing ' is missing: x = 'a'", {"x": "a"}),
        ("x = \u201ca\u201d", "quotes must be straight", {"x": "a"}),
        ("x = 2,5", "a number has a decimal point, not a comma: x = 2.5", {"x": 2.5}),
        ("x = 10%", "leave out the % sign: x = 10", {"x": 10}),
        ("x = 12,5 %", "leave out the % sign: x = 12.5", {"x": 12.5}),
        ("x = 08", "a number has no zero in front: x = 8", {"x": 8}),
        ("x = 3 days", "write the number alone: x = 3", {"x": 3}),
        ("x 3", "= is missing between the name and its value: x = 3", {"x": 3}),
        ("x: 3", "= is missing between the name and its value: x = 3", {"x": 3}),
        ("x =", "x has no value", {}),
        ("// why", "a comment begins with #", {}),
        ("x\u00a0= 3", "only looks like one", {"x": 3}),
        ("x = 2026-02-30T23:59:00", "there is no such date or time", {}),
        ("x = 1.12.2026", "a time begins with the year: x = 2026-12-01T23:59:00", {}),
        ("x = 12/01/2026 23:59", "a time begins with the year", {}),
        ("x = 1 December 2026", "a time begins with the year", {}),
    ],
)
def test_a_slip_is_told_in_words_and_corrected(line, said, meant):
    found = parsed(f"before = 1\n\n{line}\nafter = 2")
    assert [slip.line for slip in found.slips] == [3] and said in found.slips[0].what
    assert found.found is not None and (
        meant is None or found.found == {"before": 1} | meant | {"after": 2}
    )


@pytest.mark.parametrize(
    ("written", "meant", "said"),
    [
        ("2026-12-01T23:59", "2026-12-01T23:59:00", "a time needs its seconds"),
        ("2026-12-01 23:59", "2026-12-01T23:59:00", "a time needs its seconds"),
        ("2026-12-01T23:59+01:00", "2026-12-01T23:59:00+01:00", "a time needs its seconds"),
        ("2026-12-1T9:05", "2026-12-01T09:05:00", "a time needs its seconds"),
        ("2026-12-01T9:05:00", "2026-12-01T09:05:00", "need two digits each"),
        ("2026-2-1", "2026-02-01", "need two digits each"),
    ],
)
def test_a_time_as_people_write_it(written, meant, said):
    found = parsed(f"due = {written}")
    if found.slips:  # a later version of TOML allows a time without seconds
        assert said in found.slips[0].what and f"due = {meant}" in found.slips[0].what
    assert found.found == parsed(f"due = {meant}").found


def test_a_name_or_a_table_twice_is_told_with_both_lines():
    twice = parsed("[a]\nx = 1\ny = 2\nx = 3\nz = 4")
    assert twice.slips[0].what == "x stands here twice, first in line 2; keep one"
    assert twice.slips[0].line == 4 and twice.found == {"a": {"x": 1, "y": 2, "z": 4}}
    table = parsed("[a]\n\n[b]\n[a]\n")
    assert table.slips[0].what == "[a] stands here twice, first in line 1; put all of it below one"
    assert table.found is None


def test_several_slips_are_all_found():
    found = parsed("x = a b\n[ada@b.c]\ny = 2,5\nz = ]")
    assert [slip.line for slip in found.slips] == [1, 2, 3, 4] and found.found is None


def test_what_is_no_usual_slip_is_told_as_the_parser_does():
    for text in ("x = [1, 2", 'x = """a', "x = {a = 1", "]", "=", "x = 1 = 2", "\x00"):
        found = parsed(text)
        assert found.slips and found.slips[-1].what


def test_a_text_without_slips_is_left_as_it_is():
    text = 'x = "a # b"\r\n\t[t]\t# tabs are blanks\n\ty\t=\t1\n'.replace("\r", "")
    found = parsed(text)
    assert (found.text, found.slips, found.found) == (text, (), {"x": "a # b", "t": {"y": 1}})
