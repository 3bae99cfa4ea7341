"""The guides for instructors, one a chapter: their form, and what they point at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cells import CELL
from support.chapter_form import QUESTION, SEVERAL_SENTENCES, plain, prose_lines
from support.paths import ROOT

from warpwise.labs.source import load_lab

STEMS = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9]*.md"))
SECTIONS = ["Minutes", "What students think", "At the board", "Questions to ask"]
MINUTES = 50


def guide(stem: str) -> str:
    return (ROOT / f"chapters/teaching/{stem}.md").read_text("utf-8")


def section(text: str, title: str) -> str:
    return re.search(rf"^## {title}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1]


def test_every_chapter_has_a_guide_and_no_guide_is_without_one():
    assert [path.stem for path in sorted((ROOT / "chapters/teaching").glob("[0-9]*.md"))] == STEMS


@pytest.mark.parametrize("stem", STEMS)
def test_guide_is_one_page_in_the_order_of_the_house(stem):
    text = guide(stem)
    assert re.search(rf"^# Teaching chapter {int(stem[:2])}: \w", text, re.MULTILINE)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert 300 <= sum(len(line.split()) for line in prose_lines(text)) <= 750
    assert [
        line
        for line in prose_lines(text)
        if line[0] not in "|-" and SEVERAL_SENTENCES.search(plain(line))
    ] == []


@pytest.mark.parametrize("stem", STEMS)
def test_minutes_add_up(stem):
    rows = re.findall(r"^\| *(\d+) *\|", section(guide(stem), "Minutes"), re.MULTILINE)
    assert sum(map(int, rows)) == MINUTES
    assert "25" in section(guide(stem), "Minutes")


@pytest.mark.parametrize("stem", STEMS)
def test_each_misconception_names_what_exposes_it(stem):
    chapter = Path(ROOT / f"chapters/{stem}.md").read_text("utf-8")
    known = {name for name, _ in QUESTION.findall(chapter)} | {
        exercise.id for exercise in load_lab(stem).exercises
    }
    known |= set(re.findall(r"^:label: ([\w-]+)$", chapter, re.MULTILINE))
    items = re.findall(
        r"^- (.*(?:\n  .*)*)", section(guide(stem), "What students think"), re.MULTILINE
    )
    assert 3 <= len(items) <= 7
    assert [item for item in items if not known & set(re.findall(r"[\w-]+", item))] == []


@pytest.mark.parametrize("stem", STEMS)
def test_there_is_a_picture_for_the_board(stem):
    drawn = CELL.findall(section(guide(stem), "At the board"))
    assert 1 <= sum("chart(" in cell for cell in drawn) <= 3
    assert all("hide-input" in cell for cell in drawn if "plt.subplots" in cell)
