"""The files of the built book: complete, self-contained and light.

Its pages in a browser are tested in tests/browser/test_pages.py."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.paths import ROOT
from support.served_site import Site, served
from support.site_pages import PAGES, TOC, Page, html_pages

from warpwise.book import lite
from warpwise.book.parts import RUNTIME, Manifest

CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d", page)]
OUTSIDE_IN_CSS = re.compile(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*//[^;]*")


def read(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def outside(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def broken_targets(folder: Path) -> list[str]:
    """Every local target or anchor that a page below ``folder`` names and that is not there."""
    pages = {path.resolve(): read(path) for path in html_pages(folder)}
    broken = []
    for path, page in pages.items():
        for address in [*page.links, *page.loads]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            missing_anchor = (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            )
            if not target.exists() or missing_anchor:
                broken.append(f"{path.relative_to(folder.resolve())}: {address}")
    return broken


@pytest.mark.parametrize("page", PAGES)
def test_page_is_built_with_its_licence(site: Site, page: str):
    text = (site.folder / f"{page}.html").read_text("utf-8")
    assert "https://creativecommons.org/licenses/by/4.0/" in text


def test_every_page_of_the_chapters_folder_is_in_the_contents():
    assert {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in (ROOT / "chapters").rglob("*.md")
    } == set(PAGES)


def test_nothing_but_the_pages_is_built(site: Site):
    built = {
        path.relative_to(site.folder).with_suffix("").as_posix() for path in html_pages(site.folder)
    }
    labs = {"lite/lab/index"} if lite.is_in(site.folder) else set()
    assert built == {*PAGES, "index", "genindex", "search", *labs}


def test_front_leads_to_the_first_page_and_has_an_icon_of_its_own(site: Site):
    front = read(site.folder / "index.html")
    assert front.links == [f"{TOC['root']}.html"] and f"url={TOC['root']}.html" in front.text
    assert (site.folder / front.loads[0]).name == "favicon.svg" and (
        site.folder / front.loads[0]
    ).exists()


def test_local_targets_and_anchors_exist(site: Site):
    assert broken_targets(site.folder) == []


def test_a_broken_target_is_found(tmp_path: Path):
    (tmp_path / "here.html").write_text(
        '<p id="top"><a href="#top">fine</a><a href="#gone">no</a><a href="away.html">no</a></p>'
    )
    assert broken_targets(tmp_path) == ["here.html: #gone", "here.html: away.html"]


def test_no_page_loads_an_outside_address(site: Site):
    pages = {
        path.name: [address for address in read(path).loads if outside(address)]
        for path in html_pages(site.folder)
    }
    sheets = {
        path.name: OUTSIDE_IN_CSS.findall(path.read_text("utf-8"))
        for path in site.folder.rglob("*.css")
    }
    assert {name: found for name, found in {**pages, **sheets}.items() if found} == {}


def test_every_lab_can_be_downloaded(site: Site):
    for lab in (ROOT / "labs").glob("[0-9]*.ipynb"):
        assert (site.folder / "labs" / lab.name).read_bytes() == lab.read_bytes()
        # the project has no number
        page = (
            lab.stem if (ROOT / f"chapters/{lab.stem}.md").exists() else lab.stem.partition("_")[2]
        )
        landing, chapter = (
            read(site.folder / "chapters" / f"{name}.html") for name in ("index", page)
        )
        assert (f"../labs/{lab.name}" if page == lab.stem else f"{page}.html") in landing.links
        assert f"../labs/{lab.name}" in chapter.links


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_all_that_a_chapter_has(site: Site, chapter: str):
    """Its closing sections, quizzes, exercises with folded solutions, and its lab."""
    text = (site.folder / f"{chapter}.html").read_text("utf-8")
    headings = re.findall(r"<h2>([^<]+)<", text)
    closing = [
        "Quiz",
        "Exercises",
        "What this model leaves out",
        "In production you would use",
        "Sources",
    ]
    assert [heading for heading in headings if heading in closing] == closing
    assert text.count('data-quiz="') >= 4
    exercises = len(re.findall(r'class="exercise admonition"', text))
    assert exercises and exercises == len(
        re.findall(r'class="[^"]*\bsolution\b[^"]*\bdropdown\b[^"]*admonition', text)
    )
    assert f"../labs/{Path(chapter).name}.ipynb" in read(site.folder / f"{chapter}.html").links


def test_printed_tables_can_be_read_on_a_phone(site: Site):
    """Their letters shrink until a row fits: to 9.5 pixels with 59 characters on 390 pixels."""
    tables = re.compile(r'ww-table" style="--n:(\d+)')
    wide = {
        page.name: widest
        for page in html_pages(site.folder)
        if (widest := max(map(int, tables.findall(page.read_text("utf-8"))), default=0)) > 59
    }
    assert wide == {}


def test_site_is_light(site: Site):
    assert not list(site.folder.rglob("*.map"))
    assert (site.folder / "_static/scripts/fontawesome.js").stat().st_size < 150_000
    assert (
        sum(
            path.stat().st_size
            for path in (site.folder / "_static/mathjax").rglob("*")
            if path.is_file()
        )
        < 2_000_000
    )


def test_site_has_what_pages_run_on_and_no_page_loads_it(site: Site):
    manifest = Manifest.read(site.folder / RUNTIME)
    if manifest is None:
        pytest.skip("the book was built without the parts that pages run on, see its build's log")
    assert manifest.is_in(site.folder / RUNTIME)
    pages = html_pages(site.folder)
    loaded = {path.name for path in pages for one in read(path).loads if RUNTIME in one}
    assert loaded == set()


def test_folder_is_served_from_this_machine_only(tmp_path: Path):
    with served(tmp_path) as url:
        assert url.startswith("http://127.0.0.1:")
