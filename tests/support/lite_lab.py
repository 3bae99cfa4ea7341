"""A lab in JupyterLite, for the test of it and for ``tools/lite.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PANEL = "window.jupyterapp.shell.currentWidget"
IDLE = f"{PANEL}.sessionContext.session.kernel.status === 'idle'"
RUN_ALL = """() => {
    window.ranAll = false;
    const done = window.jupyterapp.commands.execute("notebook:run-all-cells");
    done.then(() => { window.ranAll = true; });
}"""
SOME_OUTPUT = f"""() => [...{PANEL}.content.model.cells].some(cell => cell.outputs?.length)"""


@dataclass(frozen=True)
class LiteLab:
    """A lab that a page of Chromium has opened."""

    page: Any

    def wait(self, seconds: float = 300) -> None:
        """Wait until Python is ready: Lab loses what is run before."""
        state = self.page.locator("#state", has_text="Python is ready")
        state.wait_for(timeout=1000 * seconds)

    def cell(self, index: int):
        """Return a cell of code, of those that are drawn."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def write(self, index: int, text: str) -> None:
        """Replace a cell's text, as pasted."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def run(self, index: int, following: int = 0) -> None:
        """Run a cell, and so many cells below it, as a reader does; wait until they are done."""
        self.cell(index).locator(".cm-content").click()
        for _ in range(1 + following):
            self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(IDLE, timeout=300_000)

    def begin(self) -> None:
        """Begin to run all cells."""
        self.page.evaluate(RUN_ALL)

    def wait_for_output(self, seconds: float) -> None:
        """Wait until a cell has an output: a lab's notebook for students comes with some."""
        self.page.wait_for_function(SOME_OUTPUT, timeout=1000 * seconds)

    def wait_for_end(self, seconds: float) -> None:
        """Wait until all cells are done, or one of them failed."""
        self.page.wait_for_function("window.ranAll", timeout=1000 * seconds)

    def notebook(self) -> dict[str, Any]:
        """Return the notebook as it is now."""
        return self.page.evaluate(f"() => {PANEL}.content.model.toJSON()")
