"""What a page says of one student: name, score, lateness, overrides, and the student's own code."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

import pytest
from support.feedback_pages import graded
from support.wrong_answers import wrong_answer

from warpwise.grading import feedback
from warpwise.grading.feedback.code import MOST_COLUMNS, MOST_LINES, listing
from warpwise.grading.feedback.explained import fitting
from warpwise.grading.record import Finding, Record, Result
from warpwise.grading.scoring.course import Course, LabSettings, LatePolicy
from warpwise.grading.scoring.overrides import Override
from warpwise.grading.scoring.roster import Roster, Student
from warpwise.grading.scoring.scores import scores
from warpwise.grading.scoring.standing import standings
from warpwise.labs.source import load_lab

LAB = "08_coalescing"
LABS = {LAB: load_lab(LAB)}
DUE, EXTENDED = datetime(2027, 3, 12, 23, 59, tzinfo=UTC), datetime(2027, 3, 13, 12, tzinfo=UTC)
PASSED = Finding(True, "passed", tried=9, cases=9)


def said(text: str) -> str:
    """Return the words of a page, or of a text, in one line."""
    if text.startswith("<!doctype"):
        text = unescape(re.sub(r"<[^>]*>", " ", text))
    return " ".join(text.split())


def told(**more) -> list[str]:
    """Return the page and the text of a student with all points, a day late of an extension."""
    exercises = LABS[LAB].exercises
    results = tuple(Result(e.id, e.points, PASSED) for e in exercises)
    records = [
        Record("ada", "ada.ipynb", LAB, results, submitted="2027-03-14T10:00:00+00:00", **more)
    ]
    settings = LabSettings(LAB, 20, 2.5, DUE, LatePolicy(10))
    course = Course(labs={LAB: settings}, extensions={("ada", LAB): EXTENDED})
    fixed = [Override("ada", LAB, "planes", 1, "<b>asked</b> for help")]
    roster = Roster((Student("ada", "Ada Lovelace"),))
    made = scores(records, LABS, course, roster, fixed)
    own = standings(made, course)
    return [say("ada", records, LABS, standings=own) for say in (feedback.page, feedback.text)]


def test_a_page_names_the_student_and_says_how_the_score_came_about():
    for text in map(said, told()):
        for wanted in (
            "Feedback for Ada Lovelace (ada)",
            "15.75 of 20 points",
            "2.5 (a lab has 1 unless the course says so)",
            "2027-03-13 12:00 (UTC+0000), by an extension of yours",
            "2027-03-14 10:00 (UTC+0000), 1 day late",
            "1.75 points off (10% of 17.5)",
            "planes set by hand: <b>asked</b> for help",
        ):
            assert wanted in text, (wanted, text)
    assert "<b>asked" not in told()[0]


def test_without_a_roster_the_platforms_name_is_taken():
    records = [Record("7", "f", LAB, (), "the file is empty", name="Ada <Lovelace>")]
    assert "Feedback for Ada &lt;Lovelace&gt; (7)" in feedback.page("7", records, LABS)
    assert feedback.text("7", records, LABS).startswith("Feedback for Ada <Lovelace> (7)\n")


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("rows_for_columns", ["dst[row, col] = src[row, col]"]),
        ("missing_barrier_in_the_sum", ["partial[y, x] = total", "total += partial[k, x]"]),
        ("uncoalesced_copy", ["dst[k % rows, k // rows] = src[k % rows, k // rows]"]),
        ("last_row_forgotten", []),  # a wrong result, of no line in particular
    ],
)
def test_the_whole_kernel_is_shown_and_the_lines_that_are_named_are_marked(name, marked):
    answer = wrong_answer(LAB, name)
    finding = graded(LAB, answer.exercise, answer.text)
    result = Result(answer.exercise, 2, finding, text=answer.text)
    lines = listing(result).lines
    assert [line.text for line in lines] == result.text.rstrip().splitlines()
    assert [line.text.strip() for line in lines if line.marked] == marked
    records = [Record("s", "f", LAB, (result,))]
    page, text = feedback.page("s", records, LABS), feedback.text("s", records, LABS)
    assert page.count("<mark>") == len(marked) == len(re.findall(r"^  > +\d", text, re.M))
    for line in result.text.split():
        assert line in said(page) and line in text


def test_a_right_answer_is_shown_too():
    result = Result("copy_matrix", 2, PASSED, text="def copy_matrix(): ...")
    for say in (feedback.page, feedback.text):
        assert "def copy_matrix(): ..." in say("s", [Record("s", "f", LAB, (result,))], LABS)


@pytest.mark.parametrize(
    ("reason", "said", "marked"),
    [
        ("over budget: global_bytes_moved", "3 sectors could hold what it uses.", True),
        ("over budget: global_bytes_moved", "Fewer would not do.", False),
        ("wrong result", "3 sectors could hold what it uses.", False),
    ],
)
def test_the_line_of_a_picture_is_marked_if_it_wastes_what_the_budget_is_on(reason, said, marked):
    picture = f"<figcaption>Line 2: a warp reads x. {said}</figcaption>"
    finding = Finding(False, reason, picture=picture)
    assert listing(Result("e", 1, finding, text="def k(x):\n    y = x[0]")).marked is marked


def test_a_line_that_is_not_python_is_marked():
    finding = Finding(False, "not Python", "line 2 is not Python: invalid syntax")
    lines = listing(Result("e", 1, finding, text="def f():\n    x = = 1\n")).lines
    assert [line.marked for line in lines] == [False, True]


def test_hostile_text_is_escaped_cut_and_cannot_mark_or_turn_lines():
    finding = Finding(
        False, "race", "race\n    line 900: x  # line 3\n  at line -4 of the cell that defines g"
    )
    lines = [f"x = '</pre><script>{i}'" for i in range(1000)]
    lines[898] = "\u202e\x1b[2J" + 4000 * "y"
    found = listing(Result("e", 1, finding, text="\n".join(lines)))
    assert [line.number for line in found.lines if line.marked] == [900]
    assert len(found.lines) == MOST_LINES and found.before + MOST_LINES + found.after == 1000
    assert max(len(line.text) for line in found.lines) == MOST_COLUMNS
    assert all(line.text.isprintable() for line in found.lines)
    records = [Record("s", "f", "", (Result("e", 1, finding, text="\n".join(lines)),))]
    page = feedback.page("s", records, {})
    assert "<script>" not in page and page.count("</pre>") == page.count("<pre")
    assert f"{found.before} lines before" in page and f"{found.after} more lines" in page
    text = feedback.text("s", records, {})
    assert max(map(len, text.splitlines())) <= 80 and "\x1b" not in text


HINTS = ("Hint 1: which threads are neighbours", "Hint 2: the stores", "Hint 3: the edge")


@pytest.mark.parametrize(
    ("finding", "hint"),
    [
        (Finding(False, "over budget: sectors_per_request_store", "", "neighbouring lanes"), 0),
        (Finding(False, "over budget: global_store_bytes", "", "write each result once"), 1),
        (Finding(False, "out of bounds", "an index is outside x", "guard the access"), 2),
        (Finding(False, "race", "race on s", "cuda.syncthreads()"), None),
        (Finding(False, "name not defined", "x is not defined"), None),
        (Finding(True, "passed"), None),
    ],
)
def test_a_hint_is_named_only_if_it_is_about_the_mistake(finding: Finding, hint: int | None):
    assert fitting(finding, HINTS) == ("" if hint is None else HINTS[hint])
