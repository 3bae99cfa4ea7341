"""Photograph every page and widget of the built site: ``make photos``, into _build/photos.

Each page comes six times: at 1,440, 1,024 and 390 pixels, light and dark. So does each widget of
the gallery. One browser opens several pages at once, and each page only once. ``--only`` chooses by
a part of the name, and can be given again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from playwright.async_api import Browser, Page, async_playwright
from support.gallery import GALLERIES, address
from support.paths import ROOT
from support.served_site import CHROMIUM_FLAGS, served
from tqdm import tqdm

from warpwise import doctor

# Numbers the visible widgets, and returns their names.
WIDGETS = """[...document.querySelectorAll('article *')]
    .filter(e => e.localName.startsWith('ww-') && e.checkVisibility()
        && !e.parentElement.closest('ww-tabs'))
    .map((e, i) => (e.dataset.photo = i, e.localName))"""
# Fonts and maths are there, and what follows the width has been drawn.
SETTLED = """async () => {
    await document.fonts.ready;
    await window.MathJax?.startup?.promise;
    await new Promise(done => setTimeout(done, 250));
}"""
# What floats over a page would lie on its widgets.
BARE = ".bd-header-article, .skip-link, #pst-skip-link, #pst-back-to-top { visibility: hidden }"
WIDTHS = (1440, 1024, 390)
SCHEMES = ("light", "dark")
LOOKS = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]

Take = Callable[[str], Awaitable[None]]  #: pictures of a page in one look, whose name is given


def main(
    site: Annotated[Path, typer.Option(help="The built site.")] = ROOT / "_build/html",
    out: Annotated[Path, typer.Option(help="Where pictures go.")] = ROOT / "_build/photos",
    only: Annotated[list[str], typer.Option(help="Only pages with this in their name.")] = [],  # noqa: B006
    widgets: Annotated[
        bool, typer.Option(help="Also each widget of the gallery, by itself.")
    ] = True,
    jobs: Annotated[int, typer.Option(help="Pages open at once.")] = 3,
) -> None:
    """Photograph the pages and widgets of the built site in every width, light and dark."""
    chromium = doctor.browser()
    if chromium is None:
        raise SystemExit("needs Chromium (apt-get install chromium-headless-shell)")
    pages = chosen(site, only)
    if not pages:
        raise SystemExit(f"no such page in {site}: make book")
    out.mkdir(parents=True, exist_ok=True)
    with served(site) as url:
        galleries = GALLERIES if widgets and not only else ()
        asyncio.run(photograph(chromium, url, pages, out, jobs, galleries))
    print(f"pictures are in {out}")


def chosen(site: Path, only: list[str]) -> list[str]:
    """Return the pages below ``chapters`` whose path has one of the parts in it."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.glob("chapters/**/*.html"))
    return [page for page in pages if not only or any(part in page for part in only)]


async def photograph(
    chromium: str, url: str, pages: list[str], out: Path, jobs: int, galleries: Sequence[str]
) -> None:
    """Photograph pages, ``jobs`` at a time, and the widgets of the gallery's pages, by stems."""
    places = asyncio.Semaphore(jobs)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        with tqdm(total=len(pages) * len(LOOKS), desc="pictures", smoothing=0) as progress:

            async def one(name: str) -> None:
                stem = out / name.removeprefix("chapters/").removesuffix(".html").replace("/", "-")
                async with places:
                    await whole_page(browser, f"{url}/{name}", stem, progress)

            await asyncio.gather(*map(one, pages))
        for gallery in galleries:
            await each_widget(browser, f"{url}/{address(gallery)}", out / gallery)
        await browser.close()


async def whole_page(browser: Browser, address: str, stem: Path, progress: tqdm) -> None:
    """Photograph a page from top to bottom in each look."""
    opened = await browser.new_page(reduced_motion="reduce")

    async def take(look: str) -> None:
        await opened.screenshot(
            path=f"{stem}-{look}.jpg",
            full_page=True,
            animations="disabled",
            type="jpeg",
            quality=80,
        )
        progress.update()

    await in_each_look(opened, address, take)


async def each_widget(browser: Browser, gallery: str, stem: Path) -> None:
    """Photograph each widget of a page in each look, numbered in the page's order."""
    opened = await browser.new_page(reduced_motion="reduce")

    async def take(look: str) -> None:
        for i, tag in enumerate(tqdm(await opened.evaluate(WIDGETS), desc=f"widgets, {look}")):
            path = f"{stem}-{i:02}-{tag}-{look}.png"
            await opened.locator(f"[data-photo='{i}']").screenshot(path=path, style=BARE)

    await in_each_look(opened, gallery, take)


async def in_each_look(opened: Page, address: str, take: Take) -> None:
    """Open a page, have pictures taken of it in each width and colour scheme, and close it."""
    await opened.set_viewport_size({"width": LOOKS[0][0], "height": 900})
    await opened.goto(address, wait_until="load")
    for width, scheme in LOOKS:
        await opened.set_viewport_size({"width": width, "height": 900})
        await opened.emulate_media(color_scheme=scheme)
        await opened.evaluate(SETTLED)
        await take(f"{width}-{scheme}")
    await opened.close()


if __name__ == "__main__":
    typer.run(main)
