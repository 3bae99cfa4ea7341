"""The playground in a browser, as a reader uses it."""

from __future__ import annotations

import json
import re
import zlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass

from playwright.sync_api import FrameLocator, Locator, Page, expect

from support.editors import ENDED, FIRST, PATIENCE


@dataclass(frozen=True)
class Playground:
    """The playground on a page."""

    page: Page

    @property
    def status(self) -> Locator:
        return self.page.locator(".ww-status")

    @property
    def verdicts(self) -> list[str]:
        return self.page.locator(".ww-verdict:visible").all_inner_texts()

    def code(self, name: str) -> Locator:
        """The editor of the Kernel, the Other kernel, or the Launch."""
        label = f"{name}. Escape leaves the editor."
        return self.page.get_by_role("textbox", name=label, exact=True)

    def text(self, name: str) -> str:
        lines = self.code(name).locator(".cm-line").all_inner_texts()
        return "\n".join(line.rstrip("\n") for line in lines)

    def marked(self, name: str, kind: str = "warning") -> list[str]:
        """The underlined texts of an editor."""
        return self.code(name).locator(f".cm-lintRange-{kind}").all_inner_texts()

    def picture(self, name: str = "kernel") -> FrameLocator:
        return self.page.frame_locator(f".ww-ran-{name} iframe.ww-result")

    def printed(self) -> str:
        return self.page.locator(".ww-ran-kernel .ww-shown").inner_text()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def wait(self) -> str:
        """Wait until the run has ended; return what is said."""
        expect(self.status).to_have_text(ENDED, timeout=PATIENCE)
        return self.status.inner_text()

    def open(self) -> str:
        self.press(FIRST)
        return self.wait()

    def write(self, name: str, text: str) -> None:
        """Put another text into an editor. It runs by itself after a pause."""
        self.code(name).focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def run(self, **texts: str) -> str:
        """Run other texts now, of the ``Kernel`` and the ``Launch``; return what is said."""
        for name, text in texts.items():
            self.write(name, text)
        self.forget()
        self.page.keyboard.press("Control+Enter")
        return self.wait()

    def choose(self, title: str) -> str:
        """Choose an example; return what is said of its run."""
        self.forget()
        self.page.get_by_label("Examples").select_option(label=title)
        return self.wait()

    def forget(self) -> None:
        self.status.evaluate("status => { status.textContent = '' }")


def fragment(program: object) -> str:
    """Return what a link to a program ends with."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(program).encode()) + packer.flush()
    return f"#program={re.sub('=+$', '', urlsafe_b64encode(packed).decode())}"
