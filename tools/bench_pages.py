"""Time what a reader waits for on the pages that run Python: in Chromium, on the built site."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench_row import Row
from support.editors import ENDED, FIRST, PATIENCE
from support.paths import ROOT
from support.served_site import CHROMIUM_FLAGS, served

from warpwise import doctor

SITE = Path(os.environ.get("WARPWISE_BENCH_SITE", ROOT / "_build/html"))
PAGES = {
    "home": "chapters/index.html",
    "chapter 8": "chapters/08_coalescing.html",
    "playground": "chapters/playground.html",
}
SECOND_VISIT, MEGABYTES = 3.0, 12.0  # seconds; on the wire, gzipped
EDITS = 5


@dataclass
class Spent:
    """Seconds that passed, and those that processors worked for Chromium."""

    passed: float = 0.0
    worked: float = 0.0


@contextmanager
def spending() -> Iterator[Spent]:
    spent = Spent(-time.perf_counter(), -worked())
    yield spent
    spent.passed += time.perf_counter()
    spent.worked += worked()


def worked() -> float:
    """Return the processor time of all processes below this one, in seconds."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
        ticks[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    ours = (one for one in parents if os.getpid() in lineage(one, parents))
    return sum(ticks[one] for one in ours) / os.sysconf("SC_CLK_TCK")


def lineage(process: int, parents: dict[int, int]) -> Iterator[int]:
    while process := parents.get(process, 0):
        yield process


def pages(say: Callable[[str], None]) -> Iterator[Row]:
    """Time the first result on a first and on a second visit, and from an edit to its result."""
    from playwright.sync_api import sync_playwright

    chromium = doctor.browser()
    if chromium is None or not (SITE / "_static/runtime/manifest.json").exists():
        yield Row(
            "first result on a page", None, "s", note="needs Chromium and the site: make book"
        )
        return
    with served(SITE) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        for name, path in PAGES.items():
            say(f"{name}: a first and a second visit ...")
            context = browser.new_context()
            yield from visits(context, name, f"{url}/{path}")
            context.close()
        browser.close()


def visits(context, name: str, address: str) -> Iterator[Row]:
    """Visit a page twice in a browser that has never been there."""
    for visit in ("first", "second"):
        page, asked = context.new_page(), set()
        page.on("request", lambda request, asked=asked: asked.add(request.url.partition("?")[0]))
        page.goto(address, wait_until="networkidle")
        with spending() as spent:
            page.get_by_role("button", name=FIRST, exact=True).first.click()
            ended(page)
        need = SECOND_VISIT if visit == "second" else None
        note = f"{spent.worked:.1f} s of processor time"
        yield Row(f"{name}, {visit} visit: first result", spent.passed, "s", need, True, note)
        if visit == "first":
            size = sum(map(gzipped, asked)) / 1e6
            yield Row(f"{name}: loaded, gzipped", size, "MB", MEGABYTES, at_most=True)
            page.wait_for_timeout(5000)  # the image of Python is being kept
        else:
            yield Row(f"{name}: edit to result", edited(page), "s")
        page.close()


def ended(page) -> None:
    page.locator(".ww-status", has_text=ENDED).first.wait_for(timeout=PATIENCE)


def edited(page) -> float:
    """Return the median time from Ctrl-Enter to the result."""
    taken = []
    for _ in range(EDITS):
        page.locator(".ww-status").first.evaluate("status => { status.textContent = '' }")
        page.locator(".cm-content").first.focus()
        start = time.perf_counter()
        page.keyboard.press("Control+Enter")
        ended(page)
        taken.append(time.perf_counter() - start)
    return sorted(taken)[EDITS // 2]


def gzipped(url: str) -> int:
    """Return the bytes that a file of the runtime has on the wire; 0 for what else a page loads."""
    inside = url.partition("/_static/runtime/")[2]
    return len(gzip.compress((SITE / "_static/runtime" / inside).read_bytes())) if inside else 0
