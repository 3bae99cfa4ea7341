"""The playground in Chromium, with one Python for all of its tests: a reader's, and a hostile link.

What code and HTML are kept from is tested for editable cells, which run in the same frames; here
are the ways that a link adds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support.editors import FIRST, editor
from support.pages import Watch, read, violations
from support.playgrounds import Playground, fragment

pytestmark = pytest.mark.slow
PAGE = "chapters/playground.html"
CHAPTER = "chapters/08_coalescing.html"
KEPT = "Object.keys(localStorage).filter(one => one.startsWith('warpwise')).length"
SIDE_BY_SIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def page(base, browser, watch):
    """The page, as one reader has it open."""
    with read(browser, base, PAGE, watch, SIDE_BY_SIDE) as opened:
        yield opened


@pytest.fixture(scope="module")
def here(page, watch) -> Playground:
    """The playground, opened; its own program has run."""
    assert not [url for url in watch.requests if "/runtime/" in url or "examples" in url]
    opened = Playground(page)
    assert opened.open().startswith("Done")
    return opened


def test_program_and_picture_stand_side_by_side(here, page):
    left = page.locator(".ww-part-kernel").bounding_box()
    right = page.locator(".ww-ran-kernel").bounding_box()
    assert left["x"] + left["width"] <= right["x"]
    assert here.verdicts == ["y is as expected."]
    expect(here.picture().get_by_role("tab")).to_have_count(4)


def test_a_change_runs_by_itself_and_reset_brings_the_program_back(here):
    before = here.text("Kernel")
    here.write("Kernel", before.replace("row, col = cuda", "col, row = cuda"))
    expect(here.picture().locator("p.text").first).to_contain_text("writes y")
    here.press("Reset")
    assert here.text("Kernel") == before
    assert here.page.locator(".ww-launch-cell, .ww-ran-kernel").first.is_visible()


def test_races_are_underlined_in_the_kernel_and_said(here):
    assert here.choose("Histogram with bins for each warp").startswith("Done")
    assert here.marked("Kernel")
    assert here.marked("Other kernel") == []
    assert "underlined in the kernel" in here.verdicts[0]
    code, said = here.code("Kernel"), here.page.locator(".ww-part-kernel .ww-remarks li").first
    expect(said).to_contain_text("nothing orders the two")
    assert said.inner_text().startswith("Line ")
    below = code.bounding_box()["y"] + code.bounding_box()["height"]
    assert said.bounding_box()["y"] >= below  # and over no code
    code.locator(".cm-lintRange").first.hover()
    expect(here.page.locator(".cm-tooltip")).to_have_count(0)
    here.page.mouse.move(0, 0)


def test_two_kernels_are_compared(here, page):
    here.choose("Transpose: a tile with bank conflicts, and with a pad")
    rows = page.locator(".ww-difference tbody tr").all_inner_texts()
    assert ["bank conflicts", "3,968", "0", "to nothing"] in [row.split("\t") for row in rows]
    assert here.verdicts == [
        f"{name}: target is as expected." for name in ("Kernel", "Other kernel")
    ]
    expect(here.picture("other").get_by_role("tab")).to_have_count(4)
    here.press("One kernel")
    expect(page.locator(".ww-difference")).to_have_count(0)
    assert not here.code("Other kernel").is_visible()


def test_an_error_marks_its_line_in_its_cell(here):
    said = here.choose("Too many threads in a block")
    assert re.match(r"An error in line \d+ of the launch", said)
    assert here.marked("Launch", "error")[0].startswith("trace(")
    here.choose("Barrier in a branch")
    assert here.marked("Kernel", "error") == ["cuda.syncthreads()"]
    assert here.marked("Launch", "error") == []


def test_a_kernel_for_numba_runs_as_it_stands(here):
    kernel = "import numpy as np\nfrom numba import cuda, float32\nfrom warpwise import trace\n\n"
    kernel += "@cuda.jit\ndef one(x):\n    x[cuda.grid(1)] = float32(1)\n"
    here.choose("GELU, one element a thread")
    said = here.run(
        Kernel=kernel, Launch="x = np.zeros(32)\nexpected = np.ones(32)\ntrace(one, 1, 32, x)"
    )
    assert said.startswith("Done")
    assert here.verdicts[0].endswith("x is as expected.")


def test_a_program_is_saved_as_a_file_and_as_a_notebook(here, page, tmp_path: Path):
    here.choose("Strided reads: every eighth element")
    with page.expect_download() as saved:
        here.press("Download .py")
    saved.value.save_as(tmp_path / "playground.py")
    done = subprocess.run(
        [sys.executable, tmp_path / "playground.py"], capture_output=True, text=True
    )
    assert "8.0 sectors" in done.stdout or "sectors" in done.stdout, done.stderr
    with page.expect_download() as saved:
        here.press("Download notebook")
    notebook = json.loads(Path(saved.value.path()).read_text("utf-8"))
    assert notebook["metadata"]["language_info"]["name"] == "python"
    assert notebook["cells"][0]["source"] == here.text("Kernel")


def test_a_link_holds_the_program_and_does_not_run_it(here, page, browser):
    here.choose("Histogram in global memory without atomics")
    texts = {name: here.text(name) for name in ("Kernel", "Other kernel", "Launch")}
    here.press("Copy link")
    expect(here.status).to_contain_text("no server sees it")
    other = browser.new_context().new_page()  # of another reader
    asked = Watch().over(other).requests
    other.goto(page.url, wait_until="networkidle")
    there = Playground(other)
    expect(there.status).to_have_text("This program comes from a link. Read it, then press Run.")
    assert {name: there.text(name) for name in texts} == texts
    there.write("Launch", "1 + 1")  # not even a change runs it
    other.wait_for_timeout(1500)
    assert not [url for url in asked if "pyodide" in url]
    assert not [url for url in asked if "program" in url]
    assert not other.evaluate(KEPT)  # it is not that reader's yet
    other.context.close()
    page.evaluate("history.replaceState(null, '', location.pathname)")


def test_what_the_reader_changed_stays_beside_examples_and_links(here, page):
    name = "Stencil in place"
    here.choose(name)
    changed = here.text("Launch") + "\n# mine"
    here.write("Launch", changed)
    here.wait()
    page.evaluate("ending => { location.hash = ending }", fragment({"launch": "1 + 1"}))
    expect(here.status).to_contain_text("comes from a link")
    here.press("Run")
    here.wait()
    here.write("Launch", "2 + 2")
    expect(page).to_have_url(re.compile(r"\.html$"))  # it is not that of another text
    here.wait()
    options = page.locator("optgroup[label='Kept in this browser'] option").all_inner_texts()
    assert options[:2] == ["The program of a link", name]
    here.choose(name)
    assert here.text("Launch") == changed
    told = page.locator(".ww-told")
    expect(told).to_contain_text(f"“{name}”, as you changed it. Reset brings the original back.")
    here.press("Reset")
    expect(here.status).to_have_text(f"Reset: “{name}” is as it was.")
    assert here.text("Launch") == changed.removesuffix("\n# mine")
    assert "as you changed it" not in told.inner_text()


def test_a_link_to_the_readers_own_program_is_not_said_to_be_anothers(here, page):
    here.choose("Stencil in place")
    here.press("Copy link")
    expect(here.status).to_contain_text("The link")
    here.forget()
    page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")
    assert here.wait().startswith("Done")
    here.press("Reset")


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("#program=", "This link is broken"),
        ("#program=abc~", "This link is broken"),
        ("#program=AAAA", "This link is broken"),
        (fragment(["a", "list"]), "This link is broken"),
        (fragment({"kernel": "x" * 10**6}), "This link is broken"),
        ("#program=" + "A" * 40_000, "The program in this link is too long"),
    ],
    ids=["empty", "letters", "deflate", "list", "bomb", "long"],
)
def test_a_broken_link_is_said_in_a_line(here, page, ending: str, said: str):
    page.evaluate("ending => { location.hash = ending }", ending)
    expect(here.status).to_contain_text(said)
    assert here.text("Kernel").startswith("import numpy")
    page.evaluate("history.replaceState(null, '', location.pathname)")


HOSTILE = {
    "kernel": "from js import eval as run\nimport js\n",
    "launch": """\
reached = []
for name in ("localStorage", "document", "indexedDB", "caches", "parent"):
    try:
        value = getattr(js, name)
        value.open("x") if name in ("indexedDB", "caches") else None
        reached.append(name)
    except BaseException:
        pass
js.postMessage(js.JSON.parse('{"kind": "shown", "id": 1e9, "shown": {"kernels": 5}}'))

class Html:
    def _repr_html_(self):
        return (
            "<img src=x onerror='parent.document.title = 1'><b id=in>in</b>"
            "<script>try { parent.hurt = 1 } catch {}</script>"
        )

print(reached)
Html()""",
}


def test_code_of_a_link_reaches_nothing_of_the_page(here, page):
    title = page.title()
    page.evaluate("ending => { location.hash = ending }", fragment(HOSTILE))
    expect(here.status).to_contain_text("comes from a link")
    here.forget()
    here.press("Run")
    here.wait()
    expect(here.picture().locator("#in")).to_have_text("in")
    assert set(re.findall(r"'(\w+)'", here.printed())) <= {"indexedDB", "caches"}
    assert page.evaluate(
        "[document.title, window.hurt ?? null, !document.getElementById('in')]"
    ) == [
        title,
        None,
        True,
    ]
    page.evaluate("history.replaceState(null, '', location.pathname)")


def test_a_verdict_that_is_markup_is_shown_as_text(here):
    launch = "x = np.zeros(4)\nname = '<img src=x onerror=alert(1)>'\nexpected = np.array([name])\n"
    here.choose("GELU, one element a thread")
    here.run(Launch=launch + "print(name)\nraise ValueError(name)")
    assert "<img src=x" in here.printed()
    assert here.page.locator(".ww-playground img").count() == 0


def test_the_keyboard_alone_does_everything(here, page):
    here.code("Launch").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("'typed'")
    here.forget()
    page.keyboard.press("Control+Enter")
    here.wait()
    assert "typed" in here.printed()
    page.keyboard.press("Escape")
    for name in ("Run", "Examples", "Reset", "Copy link", "Second kernel"):
        expect(page.locator(".ww-bar :focus")).to_have_accessible_name(name)
        page.keyboard.press("Tab")


def test_axe_finds_nothing_in_light_and_dark(here, page):
    here.choose("Reduction without barrier")
    page.get_by_role("button", name="Reset").focus()  # where no cursor blinks
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "theme => document.documentElement.dataset.theme === theme"
            " && !document.getAnimations().some(one => one.playState === 'running')",
            arg=scheme,
        )
        assert violations(page, ".ww-playground", iframes=False, preload=False) == []


def test_a_phone_shows_one_below_the_other_without_scrolling_sideways(here, page):
    here.choose("Stencil in place")
    page.set_viewport_size(PHONE)
    kernel = page.locator(".ww-part-kernel").bounding_box()
    ran = page.locator(".ww-ran-kernel").bounding_box()
    assert kernel["y"] + kernel["height"] <= ran["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for box in page.locator(".cm-scroller:visible, pre:visible").all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), box.inner_text()
    tabs = here.picture().get_by_role("tab")
    expect(tabs).to_have_count(4)
    assert len({tab.bounding_box()["y"] for tab in tabs.all()}) == 1
    page.set_viewport_size(SIDE_BY_SIDE)


def test_an_endless_loop_is_stopped_and_a_gigabyte_ends(here):
    here.run(Launch="len(bytearray(2**31 - 1))")
    assert here.status.inner_text().startswith(("Done", "An error", "Python ended"))
    here.write("Launch", "while True:\n    pass")
    here.page.keyboard.press("Control+Enter")
    expect(here.status).to_have_text("Still running. Stop ends it.")
    here.press("Stop")
    assert here.wait() == "Stopped."


def test_a_chapters_cell_opens_here_with_what_it_needs(here, page, base):
    """Its Python takes the program apart; the way back leads to the cell as it was left."""
    page.goto(base + CHAPTER, wait_until="networkidle")
    cell = editor(page)
    cell.touch()
    cell.write(cell.text.replace("row, col = cuda.grid(2)", "col, row = cuda.grid(2)", 1))
    cell.wait()
    cell.button("Open in the playground").click()
    page.wait_for_url(f"{base}{PAGE}#program=*")
    expect(page.locator(".ww-part-kernel .cm-content")).to_be_visible()
    assert "link" not in here.status.inner_text()
    assert here.text("Kernel").count("col, row = cuda.grid(2)") == 2
    assert "import numpy as np" in here.text("Kernel")
    assert "trace(scale_1" in here.text("Launch")
    page.go_back()
    expect(cell.cell.locator(".cm-content")).to_contain_text("col, row = cuda.grid(2)")
    assert cell.text.count("col, row = cuda.grid(2)") == 2


def test_without_scripts_the_page_is_a_program_with_its_picture(site, browser):
    plain = browser.new_page(java_script_enabled=False)
    plain.goto(f"{site.url}/{PAGE}", wait_until="load")
    assert plain.locator("noscript p", has_text="JavaScript").is_visible()
    inputs = plain.locator(".ww-playground .cell_input")
    first, second = (inputs.nth(i).bounding_box() for i in range(2))
    assert first["y"] + first["height"] <= second["y"]
    assert plain.locator(".ww-playground svg").first.is_visible()
    assert plain.get_by_role("button", name=FIRST).count() == 0
    plain.close()
