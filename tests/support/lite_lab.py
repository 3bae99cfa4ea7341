"""A lab in JupyterLite, for the test of the page and for ``tools/lite.py``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import expect

STATE = "#state"
READY = "Python is ready"
DONE = re.compile(r"^\[\d+\]:")
PANEL = "window.jupyterapp.shell.currentWidget"
RUN_ALL = """() => {
    window.ranAll = false;
    window.jupyterapp.commands.execute("notebook:run-all-cells").then(() => { window.ranAll = true; });
}"""


@dataclass(frozen=True)
class LiteLab:
    """A lab that a page of Chromium has opened."""

    page: Any

    def wait(self, seconds: float = 300) -> None:
        """Wait until Python is ready: Lab loses what is run before."""
        self.page.locator(STATE, has_text=READY).wait_for(timeout=1000 * seconds)

    def cell(self, index: int):
        """Return a cell of code, of those that are drawn."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def write(self, index: int, text: str) -> None:
        """Replace a cell's text, as pasted."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def run(self, index: int) -> None:
        """Run a cell as a reader does, and wait until it is done."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(self.cell(index).locator(".jp-InputPrompt")).to_have_text(DONE)

    def run_all(self, seconds: float) -> None:
        """Run all cells, and wait until they are done or one of them failed."""
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function("window.ranAll", timeout=1000 * seconds)

    def notebook(self) -> dict[str, Any]:
        """Return the notebook as it is now."""
        return self.page.evaluate(f"() => {PANEL}.content.model.toJSON()")
