"""The quiz directive: its HTML without scripts, and warnings at the line of a faulty quiz."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.books import Book, build_book

WHOLE = """# Page

A line before.

::::{quiz} first
Some text with `code`.

**How many bytes is $2^{5}$ bits?**

- [ ] `16`

  No byte has two bits.

- [x] $4$

  There are eight bits in a byte:

  ```python
  2**5 // 8
  ```

- [ ] 32

  ```python
  len(bits)
  ```
::::

::::{quiz} second
**And now?**

- [x] one

  Why one.

- [ ] two

  Why two.
::::
"""


def quiz(name: str, *options: str, asked: str = "**What?**") -> str:
    body = "\n\n".join(f"- {option}" for option in options)
    return f"# Page\n\n::::{{quiz}} {name}\n{asked}\n\n{body}\n::::\n"


GOOD = ("[x] yes\n\n  Why.", "[ ] no\n\n  Why not.")
#: Mistake -> page, the line that is named, words of the warning.
FAULTS = {
    "no right answer": (
        quiz("a", "[ ] yes\n\n  Why.", GOOD[1]),
        3,
        "one option has to be marked with [x], and here 0 are",
    ),
    "two right answers": (quiz("a", GOOD[0], "[x] no\n\n  Why not."), 3, "and here 2 are"),
    "an option without explanation": (
        quiz("a", GOOD[0], "[ ] no"),
        10,
        "the option 'no' has no explanation",
    ),
    "an option without a mark": (
        quiz("a", GOOD[0], "no\n\n  Why not."),
        10,
        "an option begins with [ ] or [x]",
    ),
    "one option": (quiz("a", GOOD[0]), 3, "two options or more"),
    "no options": ("# Page\n\n::::{quiz} a\n**What?**\n::::\n", 3, "two options or more"),
    "nothing asked": (quiz("a", *GOOD, asked=""), 3, "has to end in a paragraph that asks"),
    "text after the options": (
        quiz("a", *GOOD, "[ ] third\n\n  Why.\n\nAnd more."),
        18,
        "nothing may follow the options",
    ),
    "a name with capitals": (quiz("A_b", *GOOD), 3, "small letters, digits and single hyphens"),
    "a name used twice": (
        quiz("a", *GOOD) + quiz("a", *GOOD).replace("# Page\n", ""),
        15,
        "the name is taken, by a quiz in page",
    ),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Book:
    return build_book(tmp_path_factory.mktemp("whole"), {"page": WHOLE})


def test_a_whole_quiz_warns_of_nothing(book: Book):
    assert book.warnings == ""


def test_options_are_folded_with_verdict_and_explanation(book: Book):
    options = re.findall(
        r'<details class="ww-option"[^>]*>(.*?)</details>', book.html("page"), re.DOTALL
    )
    assert len(options) == 5
    assert [re.search(r"<strong>(Right|No)\.</strong>", option)[1] for option in options] == [
        "No",
        "Right",
        "No",
        "Right",
        "No",
    ]
    assert all(
        re.search(r'<summary>.+?</summary>\s*<div class="ww-why">', option, re.DOTALL)
        for option in options
    )
    assert "checkbox" not in book.html("page")


def test_only_the_right_option_is_marked(book: Book):
    marked = re.findall(
        r"<details[^>]* data-right[^>]*>\s*<summary>(.*?)</summary>", book.html("page"), re.DOTALL
    )
    assert [re.sub(r"<[^>]*>", "", option).strip() for option in marked] == ["\\(4\\)", "one"]


def test_maths_and_code_are_set_in_questions_and_options(book: Book):
    asked, *_ = re.findall(r'<div class="ww-asked">(.*?)</div>', book.html("page"), re.DOTALL)
    assert "2^{5}" in asked and 'class="math' in asked and "<code" in asked
    summaries = re.findall(r"<summary>(.*?)</summary>", book.html("page"), re.DOTALL)
    assert "<code" in summaries[0] and 'class="math' in summaries[1]
    assert book.html("page").count('<div class="highlight-python') == 2


def test_quizzes_are_numbered_by_page_and_bear_their_names(book: Book):
    assert re.findall(r'<div class="ww-quiz"[^>]* data-quiz="(\w+)"', book.html("page")) == [
        "first",
        "second",
    ]
    assert re.findall(r"<p><strong>(\d)\.</strong>", book.html("page")) == ["1", "2"]


def test_instructions_stand_once_before_the_first(book: Book):
    before, _, after = book.html("page").partition("Open an answer to see whether it is right.")
    assert "ww-quiz-how" in before and "A line before." in before and 'data-quiz="first"' in after
    assert "Open an answer" not in after


def test_an_answer_is_known_by_its_words(book: Book, tmp_path: Path):
    """The same words keep their key, wherever they stand; other words get another."""
    other = build_book(
        tmp_path, {"page": quiz("second", "[ ] two\n\n  Why.", "[x] three\n\n  Why.")}
    )
    keys = re.findall(r'data-option="(\w+)"', book.html("page"))[3:]
    others = re.findall(r'data-option="(\w+)"', other.html("page"))
    assert len(set(keys + others)) == 3 and keys[1] == others[0]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_warning_at_its_line(tmp_path: Path, fault: str):
    text, line, words = FAULTS[fault]
    built = build_book(tmp_path, {"page": text})
    (warning,) = [found for found in built.warnings.splitlines() if words in found] or [
        built.warnings
    ]
    assert f"page.md:{line}: WARNING: quiz " in warning and words in warning


def test_a_name_used_on_two_pages_is_found(tmp_path: Path):
    built = build_book(tmp_path, {"page": quiz("a", *GOOD), "page_2": quiz("a", *GOOD)})
    assert "page_2.md:3: WARNING: quiz a: the name is taken, by a quiz in page" in built.warnings


def test_a_page_that_is_read_again_does_not_collide_with_itself(tmp_path: Path):
    build_book(tmp_path, {"page": quiz("a", *GOOD)})
    assert build_book(tmp_path, {"page": quiz("a", *GOOD) + "\nMore.\n"}).warnings == ""
