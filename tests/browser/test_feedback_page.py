"""A student's feedback page in Chromium: accessibility, phone, paper and keyboard."""

from __future__ import annotations

import pytest
from support.feedback_pages import of_every_kind
from support.pages import ADDRESS, Watch, violations

from warpwise.grading import feedback

NOTES = {"08_coalescing": ["Handed in 2 days late: 20 % of the points are taken off."]}


@pytest.fixture
def shown(browser):
    """Open a page with findings of every kind; check that it fetches nothing and logs no error."""
    contexts = []

    def show(**settings):
        contexts.append(
            browser.new_context(**{"viewport": {"width": 800, "height": 900}} | settings)
        )
        page = contexts[-1].new_page()
        watch = Watch().over(page)
        text = feedback.page("Ada Lovelace", *of_every_kind(), NOTES)
        page.route("**/*", lambda route: route.fulfill(body=text, content_type="text/html"))
        page.goto(f"{ADDRESS}/ada.html")
        return page, watch

    yield show
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(shown, scheme: str):
    # The page lets no script in, and axe is one.
    page, watch = shown(color_scheme=scheme, bypass_csp=True)
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert violations(page) == []
    watch.check(ADDRESS)


def test_a_phone_scrolls_pictures_and_nothing_else_sideways(shown):
    page, watch = shown(viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    wide = page.locator(".scrolls")
    assert wide.count() >= 5 and all(
        box["width"] < 360 for box in (wide.nth(i).bounding_box() for i in range(wide.count()))
    )
    assert wide.first.evaluate("box => box.scrollWidth > box.clientWidth")
    watch.check(ADDRESS)


def test_keyboard_leads_from_the_summary_to_an_exercise_and_opens_its_hint(shown):
    page, _ = shown()
    page.get_by_role("link", name="1. Copy a matrix").press("Enter")
    section = page.get_by_role("region", name="1. Copy a matrix")
    assert abs(section.get_by_role("heading").bounding_box()["y"]) < 100
    hint = section.get_by_text("Neighbouring lanes should access")
    assert not hint.is_visible()
    section.locator("summary").press("Enter")
    assert hint.is_visible()
    assert section.get_by_role("img").count() == 1


def test_paper_is_white_and_has_the_hints(shown):
    page, _ = shown(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    heights = page.locator("details").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert heights and min(heights) > 50
