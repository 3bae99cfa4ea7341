"""Chapter quizzes in Chromium: mouse, keyboard, spoken results, storage, and no scripts."""

from __future__ import annotations

import re

import pytest
from support.pages import Watch
from support.paths import ROOT

PAGE = "chapters/08_coalescing.html"
HOME = "chapters/index.html"
QUIZZES = re.findall(
    r"^:+\{quiz\} (\S+)$", (ROOT / "chapters/08_coalescing.md").read_text("utf-8"), re.MULTILINE
)
ALL = len(QUIZZES)
LISTED = "[data-quizzes*=coalescing]"  # the chapter's line in the list of chapters

# A browser that stores nothing of ours. The theme may store, since it cannot cope otherwise.
NOTHING_KEPT = """for (const name of ['getItem', 'setItem', 'removeItem']) {
    const plain = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...more) {
        if (key.startsWith('warpwise')) throw new DOMException('forbidden', 'SecurityError');
        return plain.call(this, key, ...more);
    };
}"""


@pytest.fixture
def reader(site, browser):
    """A reader's browser.

    ``reader()`` opens it; ``reader(page, address)`` goes to another page of the site."""
    contexts, watches = [], []

    def go(page=None, address: str = PAGE, script: str = "", **settings):
        if page is None:
            contexts.append(browser.new_context(**settings))
            contexts[-1].add_init_script(script)
            page = contexts[-1].new_page()
            watches.append(Watch().over(page))
        page.goto(f"{site.url}/{address}", wait_until="load")
        return page

    yield go
    for context in contexts:
        context.close()
    for watch in watches:
        watch.check(site.url)


def part(page, nth: int = 0):
    return page.locator(".ww-quiz").nth(nth)


def choose(page, nth: int, right: bool) -> None:
    """Choose by mouse the right option of a quiz, or the first wrong one."""
    answers = part(page, nth).evaluate(
        "quiz => [...quiz.querySelectorAll('.ww-why')].map(why => why.textContent.trim())"
    )
    part(page, nth).locator("label").nth(
        [answer.startswith("Right.") for answer in answers].index(right)
    ).click()


def result(page, nth: int = 0) -> str:
    return part(page, nth).get_by_role("status").inner_text().strip()


def progress(page) -> str:
    """Return the reader's progress, as shown above and below the questions."""
    above, below = (
        page.locator(".ww-quiz-how span").inner_text(),
        page.locator(".ww-quiz-progress span").inner_text(),
    )
    assert above == below
    return below


def test_each_question_is_a_group_of_radio_buttons_named_by_what_is_asked(reader):
    page = reader()
    assert page.locator(".ww-quiz").count() == len(QUIZZES) == len(set(QUIZZES))
    group = page.get_by_role("group", name=re.compile("How many sectors, from an aligned address"))
    assert group.count() == 1
    assert [radio.is_checked() for radio in group.get_by_role("radio").all()] == [False] * 3
    assert group.get_by_role("radio", name="16").count() == 1
    assert not page.locator(".ww-quiz details").count()


def test_an_answer_is_told_in_words_in_a_live_region(reader):
    page = reader()
    assert result(page) == ""
    choose(page, 0, right=False)
    assert re.match(r"No\. \S", result(page))
    choose(page, 0, right=True)
    assert re.match(r"Right\. 32 values of 8 bytes", result(page))
    assert part(page).locator(".ww-why:visible").count() == 1
    assert [mark for mark in part(page).locator(".ww-mark").all_inner_texts() if mark] == [
        "\N{CHECK MARK}"
    ]


def test_only_the_first_try_counts(reader):
    page = reader()
    assert progress(page) == f"0 of {ALL} answered, 0 right at the first try."
    choose(page, 0, right=False)
    choose(page, 0, right=True)
    choose(page, 1, right=True)
    choose(page, 1, right=False)
    choose(page, 2, right=True)
    assert progress(page) == f"3 of {ALL} answered, 2 right at the first try."


def test_by_keyboard_arrows_move_and_space_or_enter_answers(reader):
    page = reader()
    radios = part(page).get_by_role("radio")
    radios.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert radios.last.evaluate("radio => radio === document.activeElement")
    # Moving past options does not use up the first try.
    assert progress(page).startswith(f"0 of {ALL}")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    assert result(page).startswith("Right.") and radios.nth(1).is_checked()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert result(page).startswith("No.") and radios.first.is_checked()
    assert progress(page) == f"1 of {ALL} answered, 1 right at the first try."


def test_every_question_can_be_reached_and_answered_with_tab_and_space(reader):
    page = reader()
    part(page).get_by_role("radio").first.focus()
    for nth in range(len(QUIZZES)):
        assert part(page, nth).locator(":focus").count() == 1
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
    assert progress(page).startswith(f"{ALL} of {ALL} answered")
    assert page.get_by_role("button", name="Begin again").evaluate(
        "button => button === document.activeElement"
    )


def test_answers_are_kept_and_shown_in_the_list_of_chapters(reader):
    page = reader()
    choose(page, 0, right=True)
    choose(page, 3, right=False)
    told = result(page, 3)
    reader(page)
    assert progress(page) == f"2 of {ALL} answered, 1 right at the first try."
    assert result(page, 3) == told
    reader(page, HOME)
    assert (
        page.locator(LISTED).inner_text() == f"Quiz: 2 of {ALL} answered, 1 right at the first try"
    )


def test_list_of_chapters_is_up_to_date_when_the_reader_comes_back(reader):
    page = reader(address=HOME)
    assert page.locator(LISTED).inner_text() == f"Quiz: {ALL} questions"
    reader(page)
    choose(page, 0, right=True)
    page.go_back()
    page.wait_for_function(
        f"document.querySelector('{LISTED}').textContent.startsWith('Quiz: 1 of {ALL} answered')"
    )


def test_another_window_follows(reader):
    page = reader()
    other = page.context.new_page()
    reader(other)
    choose(page, 0, right=True)
    other.wait_for_function(
        f"document.querySelector('.ww-quiz-progress').textContent.includes('1 of {ALL}')"
    )


def test_begin_again_forgets_this_chapter_only(reader):
    page = reader()
    again = page.get_by_role("button", name="Begin again")
    assert again.is_disabled()
    page.evaluate(
        "localStorage.setItem('warpwise.quiz.elsewhere', "
        "JSON.stringify({option: 'x', first: true}))"
    )
    choose(page, 0, right=True)
    again.click()
    assert progress(page).startswith(f"0 of {ALL}") and result(page) == ""
    assert not page.locator(".ww-quiz input:checked").count()
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('warpwise'))") == [
        "warpwise.quiz.elsewhere"
    ]
    assert (
        part(page).get_by_role("radio").first.evaluate("radio => radio === document.activeElement")
    )
    choose(page, 0, right=False)
    assert progress(page) == f"1 of {ALL} answered, 0 right at the first try."


def test_nothing_but_the_answers_is_kept_under_the_names_of_the_quizzes(reader):
    page = reader()
    choose(page, 0, right=True)
    kept = page.evaluate(
        "localStorage.getItem(Object.keys(localStorage).find(key => key.startsWith('warpwise')))"
    )
    assert re.fullmatch(r'\{"option":"[0-9a-f]{8}","first":true\}', kept)
    assert page.evaluate(f"localStorage.getItem('warpwise.quiz.{QUIZZES[0]}')") == kept


@pytest.mark.parametrize(
    "kept", ["not JSON", "null", "7", '{"first": true}', '{"option": "00000000", "first": true}']
)
def test_an_answer_that_makes_no_sense_is_asked_again(reader, kept: str):
    """A broken answer, and one to an option whose words have changed."""
    page = reader()
    page.evaluate(
        "([name, kept]) => localStorage.setItem(`warpwise.quiz.${name}`, kept)", [QUIZZES[0], kept]
    )
    reader(page)
    assert progress(page).startswith(f"0 of {ALL}")
    choose(page, 0, right=True)
    assert progress(page) == f"1 of {ALL} answered, 1 right at the first try."


def test_quiz_works_where_the_browser_keeps_nothing(reader):
    page = reader(script=NOTHING_KEPT)
    choose(page, 0, right=False)
    choose(page, 0, right=True)
    assert result(page).startswith("Right.")
    assert progress(page) == f"1 of {ALL} answered, 0 right at the first try."
    page.get_by_role("button", name="Begin again").click()
    assert progress(page).startswith(f"0 of {ALL}")


def test_without_scripts_each_option_opens_its_explanation(reader):
    page = reader(java_script_enabled=False)
    assert page.get_by_text("Open an answer to see whether it is right.").is_visible()
    for nth in range(len(QUIZZES)):
        options = part(page, nth).locator("details")
        assert options.count() >= 2
        for option in options.all():
            assert not option.locator(".ww-why").is_visible()
            option.locator("summary").click()
            assert re.match(r"(Right|No)\. \S", option.locator(".ww-why").inner_text())
    assert not page.locator(".ww-quiz-progress").is_visible()


def test_verdicts_are_legible_and_options_large_enough_to_touch(reader):
    page = reader(viewport={"width": 320, "height": 700})
    choose(page, 0, right=True)
    choose(page, 1, right=False)
    # WCAG 2.2, 2.5.8
    assert min(label.bounding_box()["height"] for label in page.locator(".ww-choice").all()) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_answered_quiz_has_no_violation_that_axe_finds(site, browser, scheme: str):
    """The window is not watched, since axe itself fetches style sheets that do not exist."""
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme)
    page.goto(f"{site.url}/{PAGE}", wait_until="load")
    choose(page, 0, right=True)
    choose(page, 1, right=False)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
    found = Axe().run(page, context=".ww-quiz")
    page.close()
    assert found.response["passes"]
    assert [
        (rule["id"], [node["html"] for node in rule["nodes"]])
        for rule in found.response["violations"]
    ] == []
