"""A guess in Chromium: by keyboard alone, a number is compared with the true one, then shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.books import build_book

from warpwise.book import STATIC

pytestmark = pytest.mark.system
PAGE = """# Page

:::{guess}
How many sectors does one load touch?

2,048: each lane has its own.
:::

<div class="cell"><div class="cell_output"><p>It is 2048.</p></div></div>
"""
EDITABLE = PAGE.replace('<div class="cell">', '<div class="ww-editable"><div class="cell">')
SETTINGS = {
    "extensions": ["myst_parser", "sphinx.ext.mathjax", "warpwise.book.guess"],
    "html_static_path": [str(STATIC)],
}


def words(place) -> str:
    return " ".join(place.inner_text().split())


def said_in_place_of(page) -> str:
    """Return what stands where an output is covered, or "none"."""
    cell = page.locator(".cell_output")
    return cell.evaluate("cell => getComputedStyle(cell, '::before').content").strip('"')


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    folder: Path = tmp_path_factory.mktemp("guess")
    return (build_book(folder, {"index": PAGE}, **SETTINGS).folder / "index.html").as_uri()


@pytest.fixture
def page(browser, address):
    opened = browser.new_page()
    opened.goto(address)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ("2048", "Exactly."),
        ("2,000", "Close."),
        ("1500", "A little too low."),
        ("32", "64 times too low."),
        ("5120", "2.5 times too high."),
        ("-1", "Too low."),
    ],
)
def test_a_number_is_compared_and_what_was_covered_is_shown(page, guess, said):
    output = page.locator(".cell_output p")
    assert not output.is_visible() and said_in_place_of(page).startswith("Shown after")
    page.keyboard.press("Tab")
    while not page.locator(".ww-guess input").evaluate("e => e === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.type(guess)
    page.keyboard.press("Enter")
    answer = page.locator(".ww-answer")
    assert words(answer) == f"You said {guess}. {said} 2,048: each lane has its own."
    assert output.is_visible() and page.locator(".ww-commit").count() == 0
    assert said_in_place_of(page) == "none"
    assert answer.evaluate("e => e === document.activeElement")


def test_a_field_has_the_question_as_its_name(page):
    assert page.get_by_role("textbox", name="How many sectors does one load touch?").count() == 1


def test_words_are_no_guess_and_nobody_has_to_guess(page):
    page.locator(".ww-guess input").fill("many")
    page.keyboard.press("Enter")
    assert not page.locator(".cell_output p").is_visible()
    page.get_by_role("button", name="just show it").click()
    assert words(page.locator(".ww-answer")) == "2,048: each lane has its own."
    assert page.locator(".cell_output p").is_visible()


def test_what_an_editable_cell_shows_is_covered_too(browser, tmp_path):
    book = build_book(tmp_path, {"index": f"{EDITABLE.rstrip()}</div>\n"}, **SETTINGS)
    page = browser.new_page()
    page.goto((book.folder / "index.html").as_uri())
    assert not page.locator(".ww-editable .cell_output p").is_visible()
    page.get_by_role("button", name="just show it").click()
    assert page.locator(".ww-editable .cell_output p").is_visible()
    page.close()


def test_without_scripts_the_answer_is_folded_and_nothing_is_covered(browser, address):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(address)
    assert opened.locator(".cell_output p").is_visible()
    assert not opened.locator(".ww-told p").is_visible()
    opened.locator(".ww-told > summary").click()
    assert opened.locator(".ww-told p").is_visible()
    context.close()


def test_on_paper_the_answer_and_the_output_are_there(page):
    page.add_style_tag(content="[hidden] { display: none !important; }")  # as the theme has it
    page.emulate_media(media="print")
    assert page.get_by_text("2,048: each lane has its own.").is_visible()
    assert page.locator(".cell_output p").is_visible()
    assert page.locator(".ww-guess :is(input, button, summary):visible").count() == 0
    page.emulate_media(media="screen")
    assert not page.get_by_text("2,048: each lane has its own.").is_visible()


def test_on_paper_the_answer_is_there_once_when_it_was_shown_already(page):
    page.get_by_role("button", name="just show it").click()
    page.emulate_media(media="print")
    assert page.get_by_text("2,048: each lane has its own.").count() == 1
    assert page.get_by_text("2,048: each lane has its own.").is_visible()
