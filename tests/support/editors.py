"""An editable cell of the site in a browser, as a reader uses it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import FrameLocator, Locator, Page

#: What a cell says when a run has ended, one way or another.
ENDED = re.compile(r"^(Done|An error|Stopped|Python ended|The editor)")
FIRST = "Edit and run"


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
        from playwright.sync_api import expect

        expect(self.cell.locator(".ww-status")).to_have_text(ENDED)
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
