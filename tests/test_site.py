"""The built book: complete, self-contained, light, and without faults in a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from conftest import ROOT, Site, served

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
PAGES = [TOC["root"], *(page["file"] for part in TOC["parts"] for page in part["chapters"])]
CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d", page)]
# What a browser fetches by itself, by element; an <a> is followed only by the reader.
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src", "object": "data"}
OUTSIDE_IN_CSS = re.compile(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*//[^;]*")
# The theme's icon script draws an animation where it lacks the icon that is asked for.
ICONS_DRAWN = "[...document.querySelectorAll('.svg-inline--fa')].map(icon => icon.querySelector('animate') ? 'missing' : icon.dataset.icon)"
LOADING_RELS = {"stylesheet", "preload", "modulepreload", "icon", "shortcut", "manifest", "prefetch", "preconnect", "dns-prefetch"}


@dataclass
class Page(HTMLParser):
    """The addresses in a page: those it links to, those it loads, and the anchors that it offers."""

    text: str
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self):
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and LOADING_RELS & set(found.get("rel", "").split()):
            self.loads.append(found["href"])
        if LOADS.get(tag) in found:
            self.loads.append(found[LOADS[tag]])
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", found.get("style", ""))


def html_pages(folder: Path) -> list[Path]:
    """The pages of a site, without the templates that the theme leaves in ``_static``."""
    return [path for path in folder.rglob("*.html") if "_static" not in path.parts]


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
            missing_anchor = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors
            if not target.exists() or missing_anchor:
                broken.append(f"{path.relative_to(folder.resolve())}: {address}")
    return broken


def test_build_takes_at_most_a_minute_on_two_processors(site: Site):
    assert site.seconds / 2 <= 60


@pytest.mark.parametrize("page", PAGES)
def test_page_is_built_with_its_licence(site: Site, page: str):
    text = (site.folder / f"{page}.html").read_text("utf-8")
    assert "https://creativecommons.org/licenses/by/4.0/" in text


def test_every_page_of_the_chapters_folder_is_in_the_contents():
    assert {path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "chapters").rglob("*.md")} == set(PAGES)


def test_nothing_but_the_pages_is_built(site: Site):
    built = {path.relative_to(site.folder).with_suffix("").as_posix() for path in html_pages(site.folder)}
    assert built == {*PAGES, "index", "genindex", "search"}


def test_front_leads_to_the_first_page_and_has_an_icon_of_its_own(site: Site):
    front = read(site.folder / "index.html")
    assert front.links == [f"{TOC['root']}.html"] and f"url={TOC['root']}.html" in front.text
    assert (site.folder / front.loads[0]).name == "favicon.svg" and (site.folder / front.loads[0]).exists()


def test_local_targets_and_anchors_exist(site: Site):
    assert broken_targets(site.folder) == []


def test_a_broken_target_is_found(tmp_path: Path):
    (tmp_path / "here.html").write_text('<p id="top"><a href="#top">fine</a><a href="#gone">no</a><a href="away.html">no</a></p>')
    assert broken_targets(tmp_path) == ["here.html: #gone", "here.html: away.html"]


def test_no_page_loads_an_outside_address(site: Site):
    pages = {path.name: [address for address in read(path).loads if outside(address)] for path in html_pages(site.folder)}
    sheets = {path.name: OUTSIDE_IN_CSS.findall(path.read_text("utf-8")) for path in site.folder.rglob("*.css")}
    assert {name: found for name, found in {**pages, **sheets}.items() if found} == {}


def test_every_lab_can_be_downloaded(site: Site):
    for lab in (ROOT / "labs").glob("[0-9]*.ipynb"):
        assert (site.folder / "labs" / lab.name).read_bytes() == lab.read_bytes()
        page = lab.stem if (ROOT / f"chapters/{lab.stem}.md").exists() else lab.stem.partition("_")[2]  # the project has no number
        landing, chapter = (read(site.folder / "chapters" / f"{name}.html") for name in ("index", page))
        assert (f"../labs/{lab.name}" if page == lab.stem else f"{page}.html") in landing.links
        assert f"../labs/{lab.name}" in chapter.links


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_all_that_a_chapter_has(site: Site, chapter: str):
    """Its closing sections, quizzes, exercises with folded solutions, and its lab."""
    text = (site.folder / f"{chapter}.html").read_text("utf-8")
    headings = re.findall(r"<h2>([^<]+)<", text)
    closing = ["Quiz", "Exercises", "What this model leaves out", "In production you would use", "Sources"]
    assert [heading for heading in headings if heading in closing] == closing
    assert text.count('data-quiz="') >= 4
    exercises = len(re.findall(r'class="exercise admonition"', text))
    assert exercises and exercises == len(re.findall(r'class="[^"]*\bsolution\b[^"]*\bdropdown\b[^"]*admonition', text))
    assert f"../labs/{Path(chapter).name}.ipynb" in read(site.folder / f"{chapter}.html").links


def test_site_is_light(site: Site):
    assert not list(site.folder.rglob("*.map"))
    assert (site.folder / "_static/scripts/fontawesome.js").stat().st_size < 150_000
    assert sum(path.stat().st_size for path in (site.folder / "_static/mathjax").rglob("*") if path.is_file()) < 2_000_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_page_in_a_browser(site: Site, browser, page: str, scheme: str):
    """Nothing is fetched from elsewhere, nothing is logged as an error, every icon is drawn, and axe finds no violation."""
    from axe_playwright_python.sync_playwright import Axe

    requests, errors = [], []
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    opened.on("request", lambda request: requests.append(request.url))
    opened.on("response", lambda response: errors.append(f"{response.status} {response.url}") if response.status >= 400 else None)
    opened.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(f"{site.url}/{page}.html", wait_until="networkidle")
    icons = opened.evaluate(ICONS_DRAWN)
    # axe fetches style sheets anew, and resolves their imports against the page: what it asks for is not the page's doing.
    asked, complaints = list(requests), list(errors)
    found = Axe().run(opened)
    context.close()
    assert [url for url in asked if not url.startswith((site.url, "data:", "blob:"))] == []
    assert complaints == []
    assert icons and "missing" not in icons
    # axe's own report fails on an element inside a widget's shadow tree, whose target is a list.
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found.response["violations"]] == []


def test_folder_is_served_from_this_machine_only(tmp_path: Path):
    with served(tmp_path) as url:
        assert url.startswith("http://127.0.0.1:")
