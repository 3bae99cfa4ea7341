"""Time a widget's frames in Chromium, on the gallery's pages of the built site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import TYPE_CHECKING

from bench_row import Row
from support.gallery import GALLERIES, MOVE, address, hosts, places, shown_on
from support.paths import ROOT
from support.served_site import CHROMIUM_FLAGS, served

from warpwise import doctor

if TYPE_CHECKING:
    from playwright.sync_api import Locator

FRAME_MS, ROUNDS = 16, 3


def widgets(say: Callable[[str], None]) -> Iterator[Row]:
    """Time each widget's median frame over states of its controls, in its best round."""
    from playwright.sync_api import sync_playwright

    site, chromium = ROOT / "_build/html", doctor.browser()
    if chromium is None or not all((site / address(stem)).exists() for stem in GALLERIES):
        yield Row("frame of a widget", None, "ms", note="needs Chromium, and the site: make book")
        return
    say("frames of every widget ...")
    with served(site) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = browser.new_page()
        for stem in GALLERIES:
            page.goto(f"{url}/{address(stem)}", wait_until="networkidle")
            for name in shown_on(stem):
                took = max(_frame(host, name) for host in hosts(page, name))
                yield Row(f"frame of {name}", took, "ms", FRAME_MS, at_most=True)
        browser.close()


def _frame(host: Locator, name: str) -> float:
    """Return the median of a widget's frames in milliseconds, of the best round."""
    return min(median(host.evaluate(MOVE, at) for at in places(name)) for _ in range(ROUNDS))
