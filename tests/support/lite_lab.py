"""A lab in JupyterLite, for the test of the page and for ``tools/lite.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STATE = "#state"
READY = "Python is ready"
PANEL = "window.jupyterapp.shell.currentWidget"
RUN_ALL = """() => {
    window.ranAll = false;
    const done = window.jupyterapp.commands.execute("notebook:run-all-cells");
    done.then(() => { window.ranAll = true; });
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

    def run(self, index: int, following: int = 0) -> None:
        """Run a cell, and so many that follow, as a reader does; wait until they are done."""
        self.cell(index).locator(".cm-content").click()
        for _ in range(1 + following):
            self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(f"{PANEL}.sessionContext.session.kernel.status === 'idle'")

    def run_all(self, seconds: float) -> None:
        """Run all cells, and wait until they are done or one of them failed."""
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function("window.ranAll", timeout=1000 * seconds)

    def notebook(self) -> dict[str, Any]:
        """Return the notebook as it is now."""
        return self.page.evaluate(f"() => {PANEL}.content.model.toJSON()")
