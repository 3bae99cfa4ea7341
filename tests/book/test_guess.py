"""The guess directive: its HTML without scripts, and a warning where it is faulty."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.books import build_book
from support.chapter_form import read, stretches

SETTINGS = {"extensions": ["myst_parser", "sphinx.ext.mathjax", "warpwise.book.guess"]}
WHOLE = """# Page

:::{guess}
Some **text** before.

How many sectors?

32: each lane has one.
:::
"""


def test_the_answer_is_folded_and_the_question_in_sight(tmp_path: Path):
    book = build_book(tmp_path, {"index": WHOLE}, **SETTINGS)
    assert book.warnings == ""
    page = book.html("index")
    box = page[page.index('<div class="ww-guess') :]
    asked, told = box.split("<details", 1)
    assert "<strong>text</strong>" in asked and "How many sectors?" in asked and "32" not in asked
    assert re.match(r' class="ww-told">\s*<summary>Guess a number, then look</summary>', told)
    assert "32: each lane has one." in told
    assert 'src="_static/guess.js' in page and 'href="_static/guess.css' in page


@pytest.mark.parametrize("body", ["", "Only one paragraph.", "One.\n\n- a list\n\nTwo."])
def test_a_guess_without_question_or_answer_is_named_by_line(tmp_path: Path, body: str):
    book = build_book(tmp_path, {"index": f"# Page\n\n:::{{guess}}\n{body}\n:::\n"}, **SETTINGS)
    assert "index.md:3" in book.warnings.replace("\\", "/")
    assert "a guess has a paragraph that asks and one that answers" in book.warnings


def test_a_guess_interrupts_reading_as_a_cell_does_whose_output_is_seen():
    """The chapters' form asks for a pause every 150 words."""
    words = "word " * 100 + "\n\n"
    cell = "```{code-cell} ipython3\nprint(1)\n```\n\n"
    unseen = "```{code-cell} ipython3\n:tags: [remove-cell]\n\nkeep(a=1)\n```\n\n"
    guess = WHOLE.removeprefix("# Page\n\n") + "\n"

    def lengths(*between: str) -> list[int]:
        return [read(piece) for piece in stretches(words + words.join(between) + words)]

    assert lengths(guess) == lengths(cell) == [100, 100]
    assert lengths(unseen) == [200]
    assert lengths(guess, cell) == [100, 100, 100]
