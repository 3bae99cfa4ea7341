"""Every page of the site: how much it loads, on a phone, on paper, from a folder of a server, and
from a disk."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.pages import COLOURS, OF_COLOUR, SETTLED, Watch, violations
from support.paths import ROOT
from support.served_site import served
from support.site_pages import PAGES, Page, html_pages

LIMIT, OUR_LIMIT = 1_000_000, 250_000  # bytes, gzipped
OURS = ("chapters/", "labs/", "_images/")
OWN_FILES = {path.name for path in (ROOT / "warpwise/book").rglob("static/*")}
#: What can be operated, and has no place on paper. A widget's list of source lines is text, with a
#: mark at the line in the picture.
CONTROLS = "button:visible, select:visible, textarea:visible, input:not(form.source input):visible"
# Elements that paint a dark ground, of those that paper shows.
DARK_GROUNDS = """() => [...document.querySelectorAll('body, body *')].filter(element => {
    const numbers = getComputedStyle(element).backgroundColor.match(/[\\d.]+/g) || [];
    const [red, green, blue, alpha = 1] = numbers.map(Number);
    const seen = element.checkVisibility() && element.getBoundingClientRect().height > 8;
    return seen && alpha > 0.5 && red + green + blue < 330;
}).map(element => element.outerHTML.slice(0, 120))"""
# Text that is too light to be read on paper.
PALE_TEXT = """() => [...document.querySelectorAll('article *')].filter(element => {
    const numbers = getComputedStyle(element).color.match(/[\\d.]+/g) || [];
    const [red, green, blue] = numbers.map(Number);
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const seen = element.checkVisibility() && !(element instanceof SVGElement);
    return own && seen && red * 0.3 + green * 0.59 + blue * 0.11 > 160;
}).map(element => element.outerHTML.slice(0, 120))"""


# The theme's icon script draws an animation where it lacks the icon that is asked for.
ICONS_DRAWN = """[...document.querySelectorAll('.svg-inline--fa')].map(
    icon => icon.querySelector('animate') ? 'missing' : icon.dataset.icon)"""
# The theme lets the keyboard reach what scrolls, a while after the page was resized. Here the event
# may come before the medium is the one that is meant, so it is sent once more.
REACHABLE = """() => [...document.querySelectorAll('pre')].every(
    one => one.tabIndex >= 0 || one.scrollWidth <= one.clientWidth)"""
# How each text looks, in widgets too: colour, whether it is large, line, colour around it, ground.
# What axe says of colours follows from that. Of text in pictures it says nothing.
LOOKS = """() => {
    const over = (element) =>
        element.assignedSlot ?? element.parentElement ?? element.getRootNode().host;
    const grounds = new Map();
    const ground = (element) => {
        if (!element) return '';
        if (!grounds.has(element)) grounds.set(element, seen(element));
        return grounds.get(element);
    };
    const seen = (element) => {
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
        const own = `${backgroundColor} ${backgroundImage} ${opacity}`;
        const nothing = own === 'rgba(0, 0, 0, 0) none 1';
        const clear = backgroundColor.startsWith('rgba') || opacity !== '1';
        const below = clear ? ground(over(element)) : '';
        return nothing ? below : `${own} ${below}`;
    };
    const hasText = (element) => [...element.childNodes].some(
        node => node.nodeType === 3 && node.data.trim());
    const within = (root) => [...root.querySelectorAll(':not(head, head *, svg, svg *)')].flatMap(
        element => [element, ...(element.shadowRoot ? within(element.shadowRoot) : [])]);
    const looks = {};
    for (const element of within(document)) {
        if (!hasText(element) || !element.checkVisibility()) continue;
        const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element);
        const size = parseFloat(fontSize), large = size >= 24 || size >= 18.66 && fontWeight >= 700;
        const around = getComputedStyle(over(element)).color;
        const look = [color, large, textDecorationLine, around, ground(element)].join();
        (looks[look] ??= []).push(element);
    }
    return looks;
}"""
# Looks that are new, and of each the first texts: axe may be unable to judge one.
NEW = f"""seen => {{
    const looks = Object.entries(({LOOKS})()).filter(([look]) => !seen.includes(look));
    return [looks.map(([look]) => look), looks.flatMap(([, texts]) => texts.slice(0, 3))];
}}"""
OTHERS = {"rules": {name: {"enabled": False} for name in COLOURS}}
PHONE, PAPER, DESKTOP = (320, 640), (720, 1000), (1280, 720)


def ours(path: str) -> bool:
    """Return whether a file is the book's own: not the theme's, MathJax's or a font."""
    return path.startswith(OURS) or path.rpartition("/")[2] in OWN_FILES


def weights(site, asked: list[str]) -> dict[str, int]:
    """Path -> gzipped bytes, of what a page asked the site for."""
    paths = {unquote(urlsplit(url).path).lstrip("/") for url in asked if url.startswith(site.url)}
    return {path: gzipped(site.folder / path) for path in paths}


@cache
def gzipped(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))


def weigh(site, name: str, asked: list[str]) -> None:
    """Check that a page loads little, and of the book's own files less."""
    loaded = weights(site, asked)
    assert f"{name}.html" in loaded
    assert sum(loaded.values()) < LIMIT, sorted(loaded.items(), key=lambda item: -item[1])[:5]
    assert sum(size for path, size in loaded.items() if ours(path)) <= OUR_LIMIT


def look(page, size: tuple[int, int], scheme: str, media: str = "screen") -> None:
    """Show a page on a medium of this size, in the theme that the reader prefers."""
    # first the medium: what the theme does of a new size depends on it
    page.emulate_media(media=media, color_scheme=scheme)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    theme = "light" if media == "print" else scheme
    page.wait_for_function(SETTLED, arg=theme)
    if media == "screen":
        page.evaluate("dispatchEvent(new Event('resize'))")
        page.wait_for_function(REACHABLE)


def check_paper(page) -> None:
    """Check that a printed page holds no control, no dark ground and no pale text."""
    assert page.locator(CONTROLS).count() == 0, [
        one.evaluate("e => e.outerHTML") for one in page.locator(CONTROLS).all()
    ][:5]
    assert page.evaluate(DARK_GROUNDS) == []
    assert page.evaluate(PALE_TEXT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER[0]


def of_colour(page, seen: set[str]) -> list[tuple[str, list[str]]]:
    """Return what axe finds wrong with colours of texts that look as none has before.

    It works out the ground of everything in question, which takes seconds for a whole page."""
    new = page.evaluate_handle(NEW, list(seen))
    looks = new.evaluate("([looks]) => looks")
    found = violations(page, new.get_property("1"), **OF_COLOUR) if looks else []
    if not found:
        seen.update(looks)
    return found


@pytest.fixture(scope="module")
def seen() -> set[str]:
    """The looks of texts that axe found nothing wrong with."""
    return set()


@pytest.fixture
def page(browser):
    """A page on a phone, for a reader who prefers the dark theme."""
    opened = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]}, color_scheme="dark")
    yield opened
    opened.close()


@pytest.mark.parametrize("name", PAGES)
def test_page(site, page, seen, name: str):
    """A page fetches nothing from elsewhere and little from the site, logs no error, draws every
    icon, fits a phone and paper, and breaks no rule of axe. In the dark only colours can differ.

    axe comes last: it fetches style sheets anew, and resolves their imports against the page."""
    watch = Watch().over(page)
    page.goto(f"{site.url}/{name}.html", wait_until="networkidle")
    weigh(site, name, watch.requests)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    look(page, PAPER, "dark", "print")
    check_paper(page)
    look(page, DESKTOP, "dark")
    icons = page.evaluate(ICONS_DRAWN)
    assert icons and "missing" not in icons
    watch.check(site.url)
    found = of_colour(page, seen)
    look(page, DESKTOP, "light")
    assert found + of_colour(page, seen) + violations(page, **OTHERS) == []


FAULTY = """<html lang="en"><title>Faults</title><main><h1>Faults</h1><img src="data:,">
<p>Fine, and <span style="color: {}">perhaps</span> pale</p>{}</main></html>"""
# A widget with a text that looks like another of the page's, and one that looks like none.
IN_A_WIDGET = """<div><template shadowrootmode="open">
<p>Fine, and <b style="color: {}">pale</b></p></template></div>"""


def test_axe_finds_a_picture_without_words_and_a_pale_text(page):
    page.set_content(FAULTY.format("#ddd", ""))
    assert [rule for rule, _ in violations(page, **OTHERS)] == ["image-alt"]
    seen = set()
    for _ in range(2):
        assert [rule for rule, _ in of_colour(page, seen)] == ["color-contrast"]


def test_looks_are_looked_at_once(page):
    page.set_content(FAULTY.format("black", ""))
    seen = set()
    assert of_colour(page, seen) == [] and len(seen) == 2
    assert of_colour(page, seen) == [] and len(seen) == 2
    page.set_content(FAULTY.format("#ddd", ""))
    assert of_colour(page, seen) != []


def test_axe_finds_the_pale_text_among_those_that_look_new(page):
    """Not only the first, and in a widget too; what has been seen is not looked at again."""
    seen = set()
    pale = '<p>Two <b style="color: navy">more</b>, the <b style="color: #dde">last</b> pale</p>'
    for body in (pale, IN_A_WIDGET.format("#edd")):
        page.set_content(FAULTY.format("black", ""))
        of_colour(page, seen)
        page.set_content(FAULTY.format("black", body))
        ((rule, (element,)),) = of_colour(page, seen)
        assert rule == "color-contrast" and (">last<" in element or ">pale<" in element)


def test_heavy_and_foreign_files_are_told_apart():
    assert ours("chapters/a.html") and ours("_static/first_touch.js") and ours("_images/a.svg")
    assert not ours("_static/mathjax/tex-chtml.js") and not ours("_static/scripts/fontawesome.js")


def test_no_address_of_the_site_begins_at_the_servers_root(site):
    """So that the folder can be copied to any address, and opened from a disk."""
    rooted = {}
    for path in html_pages(site.folder):
        found = addresses(path)
        rooted[path.name] = [
            address for address in [*found.links, *found.loads] if address.startswith("/")
        ]
    for path in site.folder.rglob("*.css"):
        rooted[path.name] = re.findall(r"url\(['\"]?(/[^)]*)", path.read_text("utf-8"))
    assert {name: found for name, found in rooted.items() if found} == {}


@cache
def addresses(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def scripts_and_sheets(path: Path) -> set[str]:
    """The names of what a page loads, pictures and its own data aside."""
    loads = addresses(path).loads
    return {address.rpartition("/")[2] for address in loads if "_images/" not in address}


def test_site_works_from_a_folder_of_a_server(site, browser, tmp_path: Path):
    """As at a university: the built files, below an address that is not the server's root. Of
    pages that load the same files one is opened."""
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses/gpu").symlink_to(site.folder.resolve())
    with served(tmp_path) as url:
        base = f"{url}/courses/gpu/"
        page = browser.new_page()
        watch, failed = Watch().over(page), []
        page.on(
            "response",
            lambda response: failed.append(response.url) if response.status >= 400 else None,
        )
        page.goto(base, wait_until="networkidle")  # index.html leads to the first page
        page.wait_for_url(f"{base}{PAGES[0]}.html")
        alike = {
            tuple(sorted(scripts_and_sheets(site.folder / f"{name}.html"))): name for name in PAGES
        }
        for name in alike.values():
            page.goto(f"{base}{name}.html", wait_until="load")
        page.goto(f"{base}search.html?q=sector")
        page.wait_for_selector("ul.search li a")
        page.locator("ul.search li a").first.click()
        page.wait_for_url(f"{base}chapters/**")
        page.close()
    assert failed == []
    watch.check(base)


def test_site_works_from_a_disk(site, browser):
    """Opened as files: widgets move, maths is set, quizzes answer and are kept from one page to the
    next."""
    page = browser.new_page()
    watch = Watch().over(page)
    folder = site.folder.resolve().as_uri()
    page.goto(f"{folder}/chapters/08_coalescing.html", wait_until="load")
    page.locator("ww-burst").first.locator(".ww svg").wait_for()
    page.locator(".ww-quiz label").first.click()
    page.goto(f"{folder}/chapters/index.html", wait_until="load")
    # told from window to window, in time
    page.locator("[data-quizzes*=coalescing]").filter(has_text="Quiz: 1 of ").wait_for()
    page.get_by_role("link", name="Chapter 8: Coalescing").first.click()
    page.wait_for_url(f"{folder}/chapters/08_coalescing.html")
    page.close()
    watch.check(folder)
