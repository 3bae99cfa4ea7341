"""Photograph every page and widget of the built site: ``make photos``, into _build/photos.

Each page comes three times, light, dark and at the width of a phone, and so does each widget of the
gallery. ``pages`` and ``widgets`` choose by a part of the name; only those are made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from playwright.sync_api import Browser, sync_playwright
from support.paths import ROOT
from support.served_site import CHROMIUM_FLAGS, served
from tqdm import tqdm

from warpwise import doctor

GALLERY = "chapters/reference_widgets.html"
# Numbers the visible widgets, and returns their names.
WIDGETS = """[...document.querySelectorAll('article *')]
    .filter(e => e.localName.startsWith('ww-') && e.checkVisibility()
        && !e.parentElement.closest('ww-tabs'))
    .map((e, i) => (e.dataset.photo = i, e.localName))"""
LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 360, "height": 740},
        "color_scheme": "light",
        "device_scale_factor": 2,
    },
}


def main(
    site: Annotated[Path, typer.Option(help="The built site.")] = ROOT / "_build/html",
    out: Annotated[Path, typer.Option(help="Where pictures go.")] = ROOT / "_build/photos",
    page: Annotated[str, typer.Option(help="Only pages whose name has this in it.")] = "",
    widgets: Annotated[
        bool, typer.Option(help="Also each widget of the gallery, by itself.")
    ] = True,
) -> None:
    """Photograph the pages and widgets of the built site: light, dark, phone."""
    chromium = doctor.browser()
    if chromium is None or not (site / "index.html").exists():
        raise SystemExit(
            "needs Chromium (apt-get install chromium-headless-shell)"
            if chromium is None
            else f"no site in {site}: make book"
        )
    pages = [
        path.relative_to(site).as_posix()
        for path in sorted((site / "chapters").glob("*.html"))
        if page in path.stem
    ]
    out.mkdir(parents=True, exist_ok=True)
    with served(site) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        for name in tqdm(pages, desc="pages"):
            photograph(browser, f"{url}/{name}", out / Path(name).stem)
        if widgets and not page:
            photograph_widgets(browser, f"{url}/{GALLERY}", out)
        browser.close()
    print(f"pictures are in {out}")


def photograph(browser: Browser, address: str, stem: Path) -> None:
    """Photograph the whole page in each look."""
    for look, settings in LOOKS.items():
        context = browser.new_context(**settings)
        opened = context.new_page()
        opened.goto(address, wait_until="networkidle")
        opened.screenshot(path=f"{stem}-{look}.png", full_page=True)
        context.close()


def photograph_widgets(browser: Browser, address: str, out: Path) -> None:
    """Photograph each widget of the gallery in each look, numbered in the page's order."""
    for look, settings in LOOKS.items():
        context = browser.new_context(**settings)
        opened = context.new_page()
        opened.goto(address, wait_until="networkidle")
        for i, tag in enumerate(tqdm(opened.evaluate(WIDGETS), desc=f"widgets, {look}")):
            opened.locator(f"[data-photo='{i}']").screenshot(
                path=out / f"widget-{i:02}-{tag}-{look}.png"
            )
        context.close()


if __name__ == "__main__":
    typer.run(main)
