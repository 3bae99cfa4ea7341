"""The chapters on a phone and on paper, in Chromium: code wraps, and boxes stay whole."""

from __future__ import annotations

import pytest
from support.pages import read
from support.site_pages import PAGES

pytestmark = pytest.mark.slow
PHONE, PAPER = {"width": 390, "height": 844}, {"width": 680, "height": 960}
CHAPTERS = [page for page in PAGES if page.removeprefix("chapters/")[:2].isdigit()]
CHAPTER = "chapters/08_coalescing.html"
# Folded code is unfolded; boxes that scroll sideways, by the beginning of their text.
SCROLL = """() => {
    document.querySelectorAll('article details').forEach((one) => { one.open = true; });
    return [...document.querySelectorAll('article :is(pre, .ww-report)')]
        .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth)
        .map((box) => box.textContent.trim().slice(0, 60));
}"""
# Where the first word of a line begins, and each row below it.
LEFTS = """line => {
    const word = line.querySelector('span').getBoundingClientRect(), rows = {};
    const range = document.createRange();
    range.selectNodeContents(line);
    for (const { bottom, left } of range.getClientRects())
        if (bottom > word.bottom + 4) rows[Math.round(bottom)] ??= left;
    return [word.left, ...Object.values(rows)].map(Math.round);
}"""
CUT = "line => line.scrollWidth > line.clientWidth + 1"


@pytest.fixture(scope="module")
def page(base, browser, watch):
    with read(browser, base, CHAPTER, watch, PHONE) as opened:
        yield opened


def test_no_box_of_code_scrolls_on_a_phone(page, base):
    found = {}
    for name in CHAPTERS:
        page.goto(f"{base}{name}.html", wait_until="load")
        assert page.locator("article pre .ww-l").count() > 50
        found[name] = page.evaluate(SCROLL)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert {name: boxes for name, boxes in found.items() if boxes} == {}


def test_a_line_goes_on_behind_its_indentation_and_text_is_copied_as_it_was(page, base):
    page.goto(base + CHAPTER, wait_until="load")
    page.evaluate(SCROLL)  # imports are folded
    line = page.locator(".ww-l:visible", has_text="from warpwise.report import").first
    long = page.locator(".ww-l:visible").filter(has_text="t = trace(kernel").first
    height = line.bounding_box()["height"]
    assert long.bounding_box()["height"] >= 2 * height
    first, *others = long.evaluate(LEFTS)
    assert others and set(others) == {others[0]} and first < others[0] < first + 40
    box = long.locator("xpath=ancestor::pre")
    box.evaluate("box => getSelection().selectAllChildren(box)")
    copied = page.evaluate("String(getSelection())")
    assert copied.rstrip() == box.evaluate("box => box.textContent").rstrip()


def test_on_paper_boxes_stay_whole_and_nothing_is_cut(page):
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    assert page.evaluate(SCROLL) == []
    boxes = page.locator("article div.highlight:visible").all()
    assert {box.evaluate("box => getComputedStyle(box).breakInside") for box in boxes} == {"avoid"}
    assert not any(line.evaluate(CUT) for line in page.locator(".ww-l:visible").all())
    for part in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".ww-bar", ".bd-header-article"):
        assert page.locator(f"{part}:visible").count() == 0, part
    page.emulate_media(media="screen")
