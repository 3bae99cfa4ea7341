"""The card of a verdict: what it says, in words and signs, and how far its gauges are filled."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from support.cards import CARDS, KEPT, OVER

from warpwise.labs.card import LIMIT_AT, Card, Gauge
from warpwise.labs.fold import headed, units_in
from warpwise.labs.progress import Session, sentence

NASTY = "<script>alert('&')</script>"


def text_of(card: Card) -> str:
    """What a reader without styles sees."""
    shown = re.sub(r"<style>.*?</style>", "", card.html(), flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", " ", shown))


@pytest.mark.parametrize(
    ("kind", "word", "sign"),
    [
        ("right", "Passed", "✓"),
        ("over", "Right, but over budget", "!"),
        ("wrong", "Race", "✗"),
        ("open", "Not done yet", "○"),
    ],
)
def test_the_head_has_a_word_and_a_sign_beside_its_colour(kind, word, sign):
    head = re.search(r'<div class="ww-head".*?</div>', CARDS[kind].html())[0]
    assert word in head and sign in head and 'role="heading"' in head
    assert f'ww-{kind}" role="group" aria-label="Check of {CARDS[kind].name}: {word}"' in (
        CARDS[kind].html()
    )


def test_a_card_says_all_that_the_verdict_has():
    said = text_of(CARDS["over"])
    for part in (
        "shared_bank_conflicts is 16; the budget is at most 0",
        "line 9: dst[col, row] = tile[threadIdx.x, threadIdx.y]",
        "Try:  pad the tile by one column",
        "right, within budget",
        "33 x 50",
        "not tried",
        "70 x 203, 31 x 30",
        "16 of at most 0",
        "4 of at most 4.1",
        "3 of 6 exercises done",
    ):
        assert part in said, part


def test_without_its_style_a_gauge_still_has_words_apart():
    bare = re.sub(r"<style>.*?</style>|<[^>]+>", "", CARDS["over"].html(), flags=re.S)
    assert "shared_bank_conflicts  ! 16 of at most 0" in bare


def test_of_many_cases_that_passed_the_rows_are_folded_and_of_many_left_there_is_a_number():
    assert "<summary>11 cases</summary>" in CARDS["many"].html()
    assert "<details>" not in CARDS["right"].html()
    assert "9 more" in text_of(CARDS["wrong"])


def test_a_question_stands_in_the_card_and_its_place_is_folded():
    asked = CARDS["asked"].html()
    before, _, folded = asked.partition("<details><summary>Where?</summary>")
    assert "is + the right operator?" in before and "line 5" not in before
    assert "That change is on line 5: x[i] + x[i]" in folded.partition("</details>")[0]


def test_whatever_a_student_wrote_is_escaped():
    card = Card(NASTY, NASTY, ((NASTY, NASTY),), (NASTY,), f"{NASTY}\n{NASTY}", NASTY)
    card = replace(card, gauges=(Gauge(NASTY, 1, None),), launch=NASTY, progress=NASTY)
    shown = card.html()
    assert "<script" not in shown and text_of(card).count(NASTY) >= 10
    over = replace(card, name='" onclick="x', gauges=(Gauge('" onclick="x', 1, 2),))
    assert 'onclick="' not in over.html()


@pytest.mark.parametrize(
    ("gauge", "percent", "kept", "told"),
    [
        (KEPT, 58.5, True, "4 of at most 4.1"),
        (OVER, 100, False, "16 of at most 0"),
        (Gauge("shared_bank_conflicts", 0, 0), 0, True, "0 of at most 0"),
        (Gauge("warp_efficiency", 0.45, 0.9), LIMIT_AT / 2, False, "0.45 of at least 0.9"),
        (
            Gauge("atomics", 7, 8, ", atomics included"),
            52.5,
            True,
            "7 of at most 8, atomics included",
        ),
        (Gauge("global_load_bytes", 4096), 0, True, "4,096"),
    ],
)
def test_a_gauge_is_filled_up_to_its_limit_and_says_its_numbers(gauge, percent, kept, told):
    assert gauge.percent == pytest.approx(percent, abs=0.1)
    assert (gauge.kept, gauge.told) == (kept, told)


UNITS = (("a",), ("b", "c"), ("d",))


def test_a_check_cell_lists_the_exercises_and_its_own_first():
    source = headed("check('b', [])", "b", UNITS)
    assert source.split("\n")[0] == "# @title Check b: run this cell"
    assert units_in(source) == UNITS and source.endswith("\ncheck('b', [])")
    assert units_in("check('b', [])") == ()


@pytest.mark.parametrize(
    ("passed", "name", "said"),
    [
        ("a", "a", "1 of 3 exercises done in this session. Next: b or c"),
        ("ac", "a", "2 of 3 exercises done in this session. Next: d"),
        ("cd", "d", "2 of 3 exercises done in this session. Next: a"),
        ("a", "d", "1 of 3 exercises done in this session."),
        ("adb", "d", "All 3 exercises done in this session."),
        ("a", "stranger", ""),
    ],
)
def test_progress_counts_a_choice_once_and_names_what_is_next(passed, name, said):
    assert sentence(UNITS, set(passed), name) == said


def test_an_exercise_that_passes_no_more_is_not_done():
    session = Session()
    session.told("a", True)
    session.told("a", False)
    assert session.passed == set()
    assert sentence((("a",),), {"a"}, "a") == ""  # of a lab with one exercise nothing is counted
