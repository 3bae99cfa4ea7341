"""Every page of the site: how much it loads, on a phone, on paper, from a folder of a server, and from a disk."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import served
from pages import Watch
from test_site import PAGES, Page, html_pages

LIMIT, OUR_LIMIT = 1_000_000, 250_000  # bytes, gzipped
OURS = ("chapters/", "labs/", "_images/")
OWN_FILES = ("warpwise.css", "quiz.css", "quiz.js", "paper.js")
#: What can be operated, and has no place on paper. A widget's list of source lines is text, with a mark at the line in the picture.
CONTROLS = "button:visible, select:visible, textarea:visible, input:not(form.source input):visible"
# Elements that paint a dark ground, of those that paper shows.
DARK_GROUNDS = """() => [...document.querySelectorAll('body, body *')].filter(element => {
    const [red, green, blue, alpha = 1] = (getComputedStyle(element).backgroundColor.match(/[\\d.]+/g) || []).map(Number);
    return element.checkVisibility() && element.getBoundingClientRect().height > 8 && alpha > 0.5 && red + green + blue < 330;
}).map(element => element.outerHTML.slice(0, 120))"""
# Text that is too light to be read on paper.
PALE_TEXT = """() => [...document.querySelectorAll('article *')].filter(element => {
    const [red, green, blue] = (getComputedStyle(element).color.match(/[\\d.]+/g) || []).map(Number);
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    return own && element.checkVisibility() && !(element instanceof SVGElement) && red * 0.3 + green * 0.59 + blue * 0.11 > 160;
}).map(element => element.outerHTML.slice(0, 120))"""


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 320, "height": 640})
    yield context.new_page()
    context.close()


def ours(path: str) -> bool:
    """Whether a file is the book's own: not the theme's, MathJax's or a font."""
    return path.startswith(OURS) or path.rpartition("/")[2] in OWN_FILES


def weights(site, asked: list[str]) -> dict[str, int]:
    """Path -> gzipped bytes, of what a page asked the site for."""
    paths = {unquote(urlsplit(url).path).lstrip("/") for url in asked if url.startswith(site.url)}
    return {path: len(gzip.compress((site.folder / path).read_bytes())) for path in paths}


@pytest.mark.parametrize("name", PAGES)
def test_page_is_light_and_fits_a_phone_and_paper(site, page, name: str):
    watch = Watch().over(page)
    page.emulate_media(color_scheme="dark")
    page.goto(f"{site.url}/{name}.html", wait_until="networkidle")
    loaded = weights(site, watch.requests)
    assert f"{name}.html" in loaded
    assert sum(loaded.values()) < LIMIT, sorted(loaded.items(), key=lambda item: -item[1])[:5]
    assert sum(size for path, size in loaded.items() if ours(path)) <= OUR_LIMIT

    assert page.evaluate("document.documentElement.scrollWidth") == 320

    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 720, "height": 1000})
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    assert page.locator(CONTROLS).count() == 0, [one.evaluate("e => e.outerHTML") for one in page.locator(CONTROLS).all()][:5]
    assert page.evaluate(DARK_GROUNDS) == []
    assert page.evaluate(PALE_TEXT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 720

    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def test_heavy_and_foreign_files_are_told_apart():
    assert ours("chapters/a.html") and ours("_static/quiz.js") and ours("_images/a.svg")
    assert not ours("_static/mathjax/tex-chtml.js") and not ours("_static/scripts/fontawesome.js")


def test_no_address_of_the_site_begins_at_the_servers_root(site):
    """So that the folder can be copied to any address, and opened from a disk."""
    rooted = {}
    for path in html_pages(site.folder):
        found = Page(path.read_text("utf-8"))
        rooted[path.name] = [address for address in [*found.links, *found.loads] if address.startswith("/")]
    for path in site.folder.rglob("*.css"):
        rooted[path.name] = re.findall(r"url\(['\"]?(/[^)]*)", path.read_text("utf-8"))
    assert {name: found for name, found in rooted.items() if found} == {}


def test_site_works_from_a_folder_of_a_server(site, browser, tmp_path: Path):
    """As at a university: the built files, below an address that is not the server's root."""
    (tmp_path / "courses").mkdir()
    shutil.copytree(site.folder, tmp_path / "courses/gpu")
    with served(tmp_path) as url:
        base = f"{url}/courses/gpu/"
        page = browser.new_page()
        watch, failed = Watch().over(page), []
        page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
        page.goto(base, wait_until="networkidle")  # index.html leads to the first page
        page.wait_for_url(f"{base}{PAGES[0]}.html")
        for name in PAGES[1:]:
            page.goto(f"{base}{name}.html", wait_until="load")
        page.goto(f"{base}search.html?q=sector")
        page.wait_for_selector("ul.search li a")
        page.locator("ul.search li a").first.click()
        page.wait_for_url(f"{base}chapters/**")
        page.close()
    assert failed == []
    watch.check(base)


def test_site_works_from_a_disk(site, browser):
    """Opened as files: widgets move, maths is set, quizzes answer and are kept from one page to the next."""
    page = browser.new_page()
    watch = Watch().over(page)
    folder = site.folder.resolve().as_uri()
    page.goto(f"{folder}/chapters/08_coalescing.html", wait_until="load")
    page.locator("ww-burst").first.locator(".ww svg").wait_for()
    page.locator(".ww-quiz label").first.click()
    page.goto(f"{folder}/chapters/index.html", wait_until="load")
    page.locator("[data-quizzes*=coalescing]").filter(has_text="Quiz: 1 of ").wait_for()  # told from window to window, in time
    page.get_by_role("link", name="Chapter 8: Coalescing").first.click()
    page.wait_for_url(f"{folder}/chapters/08_coalescing.html")
    page.close()
    watch.check(folder)
