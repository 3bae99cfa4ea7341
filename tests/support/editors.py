"""An editable cell of the site in a browser, as a reader uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import jupytext
from playwright.sync_api import FrameLocator, Locator, Page, expect

from support.paths import ROOT
from support.site_pages import PAGES
from warpwise.book.editor.editable import Cells, cells

#: What a cell says when a run has ended, one way or another.
ENDED = re.compile(r"^(Done|An error|Stopped|Python ended|The editor)")
FIRST = "Edit and run"
PATIENCE = 300_000  #: milliseconds; Python starts in seconds, and on a busy machine in minutes


@dataclass(frozen=True)
class Editor:
    """One of a page's editable cells."""

    cell: Locator

    @property
    def page(self) -> Page:
        return self.cell.page

    @property
    def status(self) -> str:
        return self.cell.locator(".ww-status").inner_text()

    @property
    def text(self) -> str:
        """The code in the editor."""
        return "\n".join(self.cell.locator(".cm-line").all_inner_texts()).replace("\n\n", "\n")

    @property
    def shown(self) -> Locator:
        """The outputs of the last run."""
        return self.cell.locator(".ww-shown")

    @property
    def picture(self) -> FrameLocator:
        return self.cell.frame_locator("iframe.ww-result")

    def button(self, name: str) -> Locator:
        return self.cell.get_by_role("button", name=name, exact=True)

    def touch(self) -> None:
        """Open the editor, and wait for the first result."""
        self.button(FIRST).click()
        self.wait()

    def wait(self) -> str:
        """Wait until the run has ended; return what is said."""
        expect(self.cell.locator(".ww-status")).to_have_text(ENDED, timeout=PATIENCE)
        return self.status

    def write(self, text: str) -> None:
        """Put another text into the editor. It runs by itself after a pause."""
        self.cell.locator(".cm-content").focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def run(self, text: str) -> str:
        """Run another text now; return what it prints, shows as text, or fails with."""
        self.write(text)
        self.cell.locator(".ww-status").evaluate("status => { status.textContent = '' }")
        self.page.keyboard.press("Control+Enter")
        self.wait()
        return self.shown.inner_text()


def editor(page: Page, nth: int = 0) -> Editor:
    """Return one of a page's editable cells."""
    return Editor(page.locator(".ww-editable").nth(nth))


def pages() -> Iterator[tuple[str, Cells]]:
    """Yield the book's pages that have a cell to edit."""
    for name in PAGES:
        text = (ROOT / f"{name}.md").read_text("utf-8")
        if "editable]" in text:
            yield name, cells(jupytext.reads(text, "md:myst"))


def alike(one: str, other: str) -> bool:
    """Return whether two texts are the same but for the last digits of their numbers.

    Libraries of mathematics round in different ways; an error of 1e-7 may be one of 3e-7."""
    numbers = re.compile(r"\d+\.\d+(?:e[-+]\d+)?|\d(?:\.\d+)?e-\d+")
    pairs = zip(numbers.findall(one), numbers.findall(other), strict=False)
    close = all(abs(float(a) - float(b)) <= 1e-3 * abs(float(b)) + 1e-4 for a, b in pairs)
    words = [" ".join(numbers.sub("#", text).split()) for text in (one, other)]
    return close and words[0] == words[1]
