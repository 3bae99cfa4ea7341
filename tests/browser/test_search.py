"""The search dialog, in Chromium: results while one types, by keyboard, from the site alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.pages import read, violations

pytestmark = pytest.mark.slow
HOME = "chapters/index.html"


@pytest.fixture
def dialog(base, browser, watch):
    asked = len(watch.requests)
    with read(browser, base, HOME, watch, {"width": 390, "height": 800}) as page:
        before = watch.requests[asked:]
        assert before and not [url for url in before if "pagefind" in url]
        page.wait_for_load_state("load")
        page.keyboard.press("Control+k")
        field = page.locator("#pst-search-dialog input")
        field.wait_for()
        yield field


def test_results_come_while_one_types_and_keys_lead_to_them(dialog):
    page = dialog.page
    dialog.press_sequentially("how do I count bank conflicts")
    first = page.locator(".ww-found a").first
    expect(first).to_be_visible()
    marked = page.locator(".ww-found mark").all_inner_texts()
    assert marked and all(re.search("count|bank|conflict", word, re.I) for word in marked), marked
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    address = first.get_attribute("href")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{address}")


def test_axe_finds_nothing_in_the_dialog(dialog, watch):
    dialog.press_sequentially("roofline")
    expect(dialog.page.locator(".ww-found a").first).to_be_visible()
    said = len(watch.complaints)
    assert violations(dialog.page, "#pst-search-dialog") == []
    del watch.complaints[said:]


def test_results_lead_to_the_section_that_fits_best_and_to_others(dialog):
    page = dialog.page
    dialog.press_sequentially("padding")
    first = page.locator(".ww-found > li > a").first
    expect(first).to_be_visible()
    links = page.locator(".ww-found a").evaluate_all("all => all.map(one => one.hash)")
    assert len(links) > page.locator(".ww-found > li").count()  # some pages have more sections
    assert len([anchor for anchor in links if anchor]) > len(links) / 2
    named = page.locator(".ww-found > li > a", has_text=": ").first
    anchor = named.evaluate("link => link.hash")
    named.click()
    page.wait_for_url(f"**{anchor}")
    start = f"[id='{anchor[1:]}'] > :is(h1, h2, h3, h4), dt[id='{anchor[1:]}']"
    expect(page.locator(start).first).to_be_in_viewport()


def test_a_term_is_found_in_the_glossary(dialog):
    dialog.press_sequentially("bank conflict")
    term = dialog.page.locator(".ww-found a[href$='glossary.html#term-bank-conflict']")
    expect(term.first).to_be_visible()
