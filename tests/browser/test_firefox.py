"""The way that most readers go, in Firefox; all else is tested in Chromium."""

from __future__ import annotations

import pytest
from support.firefox import CONTROL, ENTER, started

pytestmark = pytest.mark.slow
STATUS = "document.querySelector('.ww-status').textContent"
DONE = f"{STATUS}.startsWith('Done')"


@pytest.fixture(scope="module")
def reader(base, firefox, tmp_path_factory):
    with started(firefox, tmp_path_factory.mktemp("firefox") / "profile") as opened:
        yield opened


def run(reader, text: str) -> None:
    """Put a text into the first editor, by keys, and run it."""
    reader.evaluate("document.querySelector('.cm-content').focus()")
    reader.press(CONTROL, "a")
    reader.type(text)
    reader.evaluate("void (document.querySelector('.ww-status').textContent = '')")
    reader.press(CONTROL, ENTER)
    reader.wait(DONE)


def test_a_cell_is_edited_and_its_result_is_seen(reader, base):
    reader.open(f"{base}chapters/08_coalescing.html")
    reader.evaluate("document.querySelector('.ww-edit').click()")
    reader.wait(DONE)
    reader.wait("document.querySelector('iframe.ww-result')?.offsetHeight > 100")
    run(reader, "6 * 7")
    assert reader.evaluate("document.querySelector('.ww-shown').innerText.trim()") == "42"


def test_the_playground_runs_an_example_and_resumes_what_was_kept(reader, base):
    reader.open(f"{base}chapters/playground.html")
    reader.evaluate("document.querySelector('.ww-edit').click()")
    reader.wait(DONE)
    asked = "performance.getEntriesByType('resource').map((one) => one.name)"
    assert not [url for url in reader.evaluate(asked) if ".whl" in url]
    chosen = "document.querySelector('.ww-bar select')"
    reader.evaluate(
        f"void ({STATUS.removesuffix('.textContent')}.textContent = '', {chosen}.selectedIndex = 3,"
        f" {chosen}.dispatchEvent(new Event('change', {{ bubbles: true }})))"
    )
    reader.wait(f"/^(Done|An error)/.test({STATUS})")
    assert reader.wait("document.querySelector('.ww-ran-kernel .ww-shown').children.length")
