"""A lab in the browser: from a chapter's button to a green card, a moving widget and the file that
is handed in, without a request to elsewhere."""

from __future__ import annotations

import json

import pytest
from support.lite_lab import LiteLab
from support.pages import Watch, violations
from support.paths import ROOT

from warpwise.labs.source import load_lab, solved_notebook

CHAPTER, LAB = "chapters/01_why_gpus.html", "01_why_gpus.ipynb"
IMPORTS, GIVEN, EXERCISE, CHECK, HOST, CHECK_OF_HOST = range(6)  # cells of code of lab 1
#: What Lab says in the console, and no reader has to know.
SAID = ("terminals plugin", "No exact match found for python", "contents will NOT be synced")


@pytest.fixture(scope="module")
def chapter(site, browser):
    """A chapter of a site that has the labs, in the dark theme, and a record of all its tabs."""
    if not (site.folder / "lite").is_dir():
        pytest.skip("the site was built without labs in the browser: their parts cannot be had")
    context = browser.new_context(
        viewport={"width": 1280, "height": 6000}, color_scheme="dark", accept_downloads=True
    )
    watch = Watch()
    context.on("page", watch.over)
    page = context.new_page()
    page.goto(f"{site.url}/{CHAPTER}", wait_until="load")
    yield page, watch
    context.close()


def solution(exercise: str) -> str:
    cells = solved_notebook(load_lab(LAB.removesuffix(".ipynb"))).cells
    return next(cell.source for cell in cells if cell.id == f"exercise-{exercise}")


@pytest.mark.slow
def test_a_lab_is_done_in_the_browser(site, chapter, tmp_path):
    chapter_page, watch = chapter
    with chapter_page.expect_popup() as opened:
        chapter_page.locator("a.btn-lab-button").click()
    page = opened.value
    lab = LiteLab(page)
    lab.wait()
    assert page.locator("body").get_attribute("data-jp-theme-light") == "false"
    assert violations(page, "#bar") == []

    target = lab.cell(CHECK).inner_text()
    assert "passed" in target and "\n," not in target
    lab.run(IMPORTS)
    lab.run(GIVEN)
    lab.write(EXERCISE, solution("square"))
    lab.run(EXERCISE, following=1)
    card = lab.cell(CHECK).locator(".ww-card")
    card.get_by_text("Passed", exact=True).wait_for()

    widget = lab.cell(CHECK).locator("ww-requests")
    slider = widget.get_by_role("slider", name="request")
    slider.press("ArrowRight")
    assert slider.input_value() == "2"

    lab.write(HOST, solution("place"))
    lab.run(HOST, following=1)
    lab.cell(CHECK_OF_HOST).locator(".ww-card").get_by_text("Passed", exact=True).wait_for()

    with page.expect_download() as download:
        page.get_by_role("button", name="Download this lab").click()
    assert download.value.suggested_filename == LAB
    handed_in = json.loads(download.value.path().read_text("utf-8"))
    check_equal_but_for(handed_in, {"exercise-square", "exercise-place"})

    lab.write(HOST, "while True:\n    pass")
    page.keyboard.press("Shift+Enter")
    page.locator("#state", has_text="A cell that never ends: Kernel > Restart Kernel").wait_for()

    page.reload()
    lab.cell(EXERCISE).get_by_text("out[i] = x[i] * x[i]").first.wait_for()
    foreign = [url for url in watch.requests if not url.startswith((site.url, "data:", "blob:"))]
    assert foreign == []
    assert [words for words in watch.complaints if not any(one in words for one in SAID)] == []


def check_equal_but_for(notebook: dict, changed: set[str]) -> None:
    """Check that a notebook is the lab that students get, but for solutions and outputs."""
    given = json.loads((ROOT / "labs" / LAB).read_text("utf-8"))
    assert notebook["metadata"]["warpwise"] == given["metadata"]["warpwise"]
    assert [cell["id"] for cell in notebook["cells"]] == [cell["id"] for cell in given["cells"]]
    for ours, theirs in zip(given["cells"], notebook["cells"], strict=True):
        id = ours["id"]
        text = solution(id.partition("-")[2]) if id in changed else "".join(ours["source"])
        assert "".join(theirs["source"]) == text
        assert theirs["metadata"].get("warpwise") == ours["metadata"].get("warpwise")


def test_from_a_disk_a_lab_is_offered_to_download(chapter, site):
    page = chapter[0].context.browser.new_page()
    page.goto(f"{(site.folder / 'lite/lab/index.html').as_uri()}?path={LAB}")
    link = page.get_by_role("link", name="Download this lab")
    assert link.get_attribute("href") == f"../files/{LAB}"
    assert (site.folder / "lite/files" / LAB).is_file()
    assert "not in pages from a disk" in page.locator("#bar").inner_text()
    page.close()
