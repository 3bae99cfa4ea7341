"""The report on a class in Chromium: accessible, on a phone, in the dark and on paper."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest
from support.pages import ADDRESS, Watch, violations
from support.small_class import LAB, report_on, small_class

from warpwise.grading.class_report.page import page as class_page
from warpwise.labs.source import load_lab

LONG = "a" * 120


@contextmanager
def opened(browser, **settings):
    """Open the page of a small class; check that it fetches nothing and logs no error.

    One student has a long name, and one a problem."""
    records = [
        *small_class(),
        replace(small_class()[-1], student=LONG, file=f"{LONG}.ipynb", isolated=False),
    ]
    found = report_on(records, {LAB: load_lab(LAB)})
    context = browser.new_context(**{"viewport": {"width": 1000, "height": 900}, **settings})
    opened = context.new_page()
    watch = Watch().over(opened)
    html = class_page(found.labs, found.pairs, ("99_unknown",))
    context.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
    opened.goto(f"{ADDRESS}/report.html")
    try:
        yield opened
        watch.check(f"{ADDRESS}/report.html")
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, scheme):
    with opened(browser, color_scheme=scheme) as page:
        for summary in page.locator("summary").all():
            summary.click()
        assert violations(page) == []


def test_phone_is_not_pushed_sideways_and_tables_scroll_by_keyboard(browser):
    with opened(browser, viewport={"width": 360, "height": 740}) as page:
        page.locator("summary").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert page.locator("svg[role=img]").first.bounding_box()["width"] <= 320
        box = page.get_by_role("region", name="Exercises: how many pass, fail and did not try")
        assert box.evaluate("e => e.scrollWidth > e.clientWidth")
        box.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("e => e.scrollLeft > 0", arg=box.element_handle())


def test_paper_has_both_texts_and_no_dark_ground(browser):
    with opened(browser, color_scheme="dark") as page:
        texts = page.locator("table.texts").first
        assert not texts.is_visible()
        page.emulate_media(media="print", color_scheme="dark")
        assert texts.bounding_box()["height"] > 100
        ground, ink = page.evaluate(
            "(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))"
        )
        assert (ground, ink) == ("rgb(255, 255, 255)", "rgb(27, 31, 36)")


def test_what_is_similar_is_said_and_shown_without_colour(browser):
    with opened(browser) as page:
        pair = page.locator("details").first
        pair.locator("summary").click()
        assert pair.get_by_role("columnheader", name="Ada Lovelace (ada)").count() == 2
        different = pair.locator("tr.different").first
        assert (
            different.is_visible()
            and "≠" in different.inner_text()
            and "differs" in different.inner_text()
        )
