"""Cells that are edited on the page, in Chromium: with one Python for most of these tests."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from support.editors import FIRST, PATIENCE, alike, editor, pages
from support.pages import Watch, read, violations

from warpwise.cells import Page
from warpwise.views import burst

pytestmark = pytest.mark.slow
PAGE = "chapters/08_coalescing.html"
SWAPPED = "row, col = cuda.grid(2)"
KEPT = "Object.keys(localStorage).filter(one => one.startsWith('warpwise')).length"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def page(base, browser, watch):
    """A chapter, as one reader has it open."""
    with read(browser, base, PAGE, watch, {"width": 1280, "height": 900}) as opened:
        yield opened


@pytest.fixture(scope="module")
def first(page, watch):
    """The first cell, touched; its result has been drawn."""
    page.locator(".ww-status").first.wait_for(state="attached")
    assert not [url for url in watch.requests if "/runtime/" in url]  # nothing before the touch
    page.evaluate(
        """() => {
            const status = document.querySelector('.ww-status');
            window.said = [];
            new MutationObserver(() => said.push(status.textContent))
                .observe(status, { childList: true, characterData: true, subtree: true });
        }"""
    )
    opened = editor(page)
    opened.touch()
    return opened


def test_the_start_is_told_in_megabytes_and_seconds(first):
    said = first.page.evaluate("said")
    assert any(
        re.fullmatch(r"Loading Python: [\d.]+ of [\d.]+ MB, \d+ s\.", one) for one in said
    ) or (any(re.fullmatch(r"Starting Python, \d+ s\.", one) for one in said)), said
    assert re.fullmatch(r"Done in [\d.]+ s\.", said[-1])


def test_a_change_runs_by_itself_and_the_picture_moves(first):
    expect(first.picture.locator("p.text")).to_contain_text("touches 32 sectors")
    first.write(first.text.replace(SWAPPED, "col, row = cuda.grid(2)", 1))
    expect(first.picture.locator("p.text")).to_contain_text("touches 4 sectors")
    slider = first.picture.get_by_role("slider", name="follow lane")
    slider.press("ArrowRight")
    expect(first.picture.locator("p.text")).to_contain_text("Lane 1 reads")


def test_text_values_and_errors_are_shown_and_the_line_is_marked(first):
    assert first.run("print('hello')\n6 * 7").split() == ["hello", "42"]
    assert first.run("a = 1\nb = a / 0") == "ZeroDivisionError: division by zero"
    assert first.cell.locator(".cm-line.ww-wrong").all_inner_texts() == ["b = a / 0"]
    assert first.status.startswith("An error in line 2")
    assert first.run("x = 1\nx").strip() == "1"
    assert first.cell.locator(".cm-line.ww-wrong").count() == 0


def test_axe_finds_nothing_in_light_and_dark(first, page, watch):
    """axe fetches style sheets anew, with errors that are not the page's."""
    said = len(watch.complaints)
    first.run("# a comment\ndef f(x):\n    return 'text', 1 + x\n\nf(2)\n1 / 0")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "theme => document.documentElement.dataset.theme === theme"
            " && !document.getAnimations().some("
            "one => one instanceof CSSTransition && one.playState === 'running')",
            arg=scheme,
        )
        assert violations(page, ".ww-editable") == []
    del watch.complaints[said:]


def test_a_phone_shows_it_without_scrolling_sideways(first, page):
    page.set_viewport_size(PHONE)
    first.run("from warpwise.views import burst\nburst.explorer(8)")
    expect(first.picture.locator("p.text")).to_contain_text(burst.explorer(8).sentence[:40])
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.set_viewport_size({"width": 1280, "height": 900})


HOSTILE = """import js
tried = {}
for name, attempt in {
    "request": lambda: js.eval('''
        const asked = new XMLHttpRequest();
        asked.open("GET", "http://127.0.0.1:9/secret", false);
        asked.send();
    '''),
    "import": lambda: js.importScripts("http://127.0.0.1:9/x.js"),
    "socket": lambda: js.WebSocket.new("ws://127.0.0.1:9/"),
    "storage": lambda: js.localStorage.length,
    "page": lambda: js.document.cookie,
    "parent": lambda: js.parent.document,
    "worker": lambda: js.Worker.new("http://127.0.0.1:9/w.js"),
}.items():
    try:
        attempt()
        tried[name] = "done"
    except BaseException as error:
        tried[name] = "refused"
js.postMessage(js.JSON.parse('{"kind": "shown", "id": 1e9, "shown": {"html": 5}}'))
js.postMessage(js.JSON.parse('{"kind": "height", "height": "1e99"}'))
sorted(name for name, end in tried.items() if end == "done")"""


def test_code_reaches_neither_network_nor_page(first, page, watch):
    """A worker's socket, or another worker, can be made; both fail when they connect."""
    told = first.run(HOSTILE)
    assert set(re.findall(r"'(\w+)'", told)) <= {"socket", "worker"}
    page.wait_for_timeout(300)
    assert not [url for url in watch.requests if ":9/" in url and answered(page, url)]
    watch.requests[:] = [url for url in watch.requests if ":9/" not in url]
    assert first.run("1 + 1").strip() == "2"


def answered(page, url: str) -> bool:
    """Whether a request that Chromium names went further than the policy."""
    return url in page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")


ATTACK = """<p id="told">waiting</p><script>
const tried = {};
const attempt = (name, act) => {
    try { act(); tried[name] = "done"; } catch { tried[name] = "refused"; }
};
attempt("parent", () => parent.document.body);
attempt("top", () => { top.location = "http://127.0.0.1:9/top"; });
attempt("storage", () => localStorage.setItem("a", "b"));
attempt("cookie", () => document.cookie);
attempt("window", () => { if (!window.open("http://127.0.0.1:9/open")) throw 1; });
new Image().src = "http://127.0.0.1:9/image";
fetch("http://127.0.0.1:9/fetch").then(() => { tried.fetch = "done"; }, () => {});
document.body.insertAdjacentHTML("beforeend", `<iframe src="http://127.0.0.1:9/frame"></iframe>`);
parent.postMessage({ kind: "ready" }, "*");
parent.postMessage({ kind: "height", height: 1e9 }, "*");
setTimeout(() => {
    document.getElementById("told").textContent = "tried " + JSON.stringify(tried);
}, 200);
setTimeout(() => { location = "http://127.0.0.1:9/away"; }, 2000);
</script>"""


def test_html_of_a_result_reaches_neither_network_nor_page(first, page, watch):
    at, failed = page.url, []
    page.on("requestfailed", lambda request: failed.append((request.url, request.failure)))
    first.run(f"class Html:\n    def _repr_html_(self): return {ATTACK!r}\n\nHtml()")
    told = first.picture.locator("#told")
    expect(told).to_contain_text("tried")
    assert "done" not in told.inner_text()
    expect(told).to_be_hidden()  # it left, and arrived nowhere
    assert page.url == at
    assert {why for url, why in failed if ":9/" in url} <= {"csp", "net::ERR_BLOCKED_BY_CSP"}
    assert first.cell.locator("iframe").bounding_box()["height"] <= 20_000
    watch.requests[:] = [url for url in watch.requests if ":9/" not in url]
    assert first.run("2 + 2").strip() == "4"


def test_a_gigabyte_ends_with_an_error_or_without_and_the_next_run_goes_on(first):
    first.run("import numpy as np\nlen([np.ones(2**26) for _ in range(2)])")
    assert first.run("3 + 3").strip() == "6"


def test_two_cells_share_one_python(first, page, watch):
    before = len([url for url in watch.requests if "/runtime/" in url])
    second = editor(page, 1)
    second.touch()
    assert second.shown.inner_text().strip() == "(4, 32)"
    assert len([url for url in watch.requests if "/runtime/" in url]) == before


def test_the_keyboard_alone_opens_edits_runs_and_leaves(first, page):
    third = editor(page, 2)
    code = third.cell.get_by_role("group", name="Code. Enter edits it.")
    code.focus()
    page.keyboard.press("Enter")
    expect(third.cell.locator(".cm-content")).to_be_focused()
    third.wait()
    page.keyboard.press("Control+a")
    page.keyboard.type("if True:\nprint('typed')")
    page.keyboard.press("Control+Enter")
    expect(third.shown).to_contain_text("typed")
    assert third.text == "if True:\n    print('typed')"
    page.keyboard.press("Escape")
    for name in ("Run", "Reset", "Copy link"):
        expect(third.button(name)).to_be_focused()
        page.keyboard.press("Tab")


RUN_ALL = """async ([base, requests]) => {
    const { python } = await import(`${base}_static/runtime/editor.js`);
    const all = [];
    for (const request of requests)
        all.push(await python(`${base}_static/runtime/`).run(request, () => {}));
    return all;
}"""


def test_every_editable_cell_of_the_book_shows_there_what_it_shows_here(first, page, base):
    cells = {(name, cell.at): (found, cell) for name, found in pages() for cell in found.editable}
    requests = [
        {"cells": found.kept[: cell.at], "at": cell.at, "text": cell.text, "then": cell.then}
        for found, cell in cells.values()
    ]
    for (name, (found, cell)), there in zip(
        cells.items(), page.evaluate(RUN_ALL, [base, requests]), strict=True
    ):
        here = Page(found.texts).run(cell.text, cell.at, cell.then)
        assert there["error"] == here.error == "", name
        for part in ("printed", "value"):
            assert alike(there[part], getattr(here, part)), (name, there[part], here)
        assert there["html"][:10] == here.html[:10], name


def test_it_is_said_that_a_change_runs_by_itself(first, page):
    first.run("1 + 1")
    page.evaluate("said.length = 0")
    first.write("2 + 2")
    first.wait()
    kinds = [one for one in page.evaluate("said") if one]
    assert kinds[0] == "Runs by itself when you stop typing."
    assert "Running …" in kinds[1:]


def test_nothing_runs_after_stop_or_reset(first, page):
    """Not even what was typed while another text ran; and a reset says that it was one."""
    for name, said in (("Stop", "Stopped."), ("Reset", "Reset: the original text")):
        first.write("while True:\n    pass")
        page.keyboard.press("Control+Enter")
        expect(first.cell.locator(".ww-status")).to_have_text("Running …")
        first.write("6 * 9")
        expect(first.cell.locator(".ww-status")).to_contain_text("this one comes next")
        first.button(name).click()
        page.wait_for_timeout(700)
        expect(first.cell.locator(".ww-status")).to_contain_text(said)
        assert "54" not in first.shown.inner_text()
        assert first.button("Stop").is_disabled()
    assert first.text.startswith("@cuda.jit")
    assert first.shown.is_hidden()


def test_a_stop_says_to_other_editors_that_it_ended_them_too(first, page):
    """All share one worker; the next change, or Run, starts another."""
    second = editor(page, 1)
    first.write("while True:\n    pass")
    page.keyboard.press("Control+Enter")
    expect(first.cell.locator(".ww-status")).to_have_text("Running …")
    second.write("7 * 9")
    expect(second.cell.locator(".ww-status")).to_have_text("Running …")
    first.button("Stop").click()
    assert second.wait().startswith("Stopped together with another editor")
    assert first.status == "Stopped."
    second.write("9 * 7")
    expect(second.shown).to_contain_text("63", timeout=PATIENCE)


def test_an_endless_loop_is_said_to_run_and_is_stopped(first):
    first.write("while True:\n    pass")
    first.page.keyboard.press("Control+Enter")
    expect(first.cell.locator(".ww-status")).to_have_text("Still running. Stop ends it.")
    first.button("Stop").click()
    assert first.wait() == "Stopped."
    assert first.run("4 + 4").strip() == "8"  # in a new worker


def test_a_link_holds_the_text_and_does_not_run_it(first, page, base, browser):
    first.run("print('shared')\n'\N{GREEK SMALL LETTER PI}'")
    first.write(first.text)
    first.button("Copy link").click()
    page.wait_for_url(f"{base}{PAGE}#cell-*")
    assert re.fullmatch(r"Done in .+ The link .+ no server sees it\.", first.wait())
    other = browser.new_context().new_page()  # of another reader
    asked = Watch().over(other).requests
    other.goto(page.url, wait_until="networkidle")
    opened = editor(other)
    expect(opened.cell.locator(".cm-content")).to_be_visible()
    assert opened.text == "print('shared')\n'\N{GREEK SMALL LETTER PI}'"
    opened.write("print('more')")  # not even a change runs it
    other.wait_for_timeout(1500)
    assert not [url for url in asked if "pyodide" in url]
    assert "press Run" in opened.status
    assert opened.button("Run").is_enabled()
    other.evaluate("hash => { location.hash = hash; }", f"cell-11={page.url.partition('=')[2]}")
    expect(editor(other, 1).cell.locator(".cm-content")).to_contain_text("shared")
    assert not other.evaluate(KEPT)  # it is not that reader's yet
    other.context.close()


def test_a_text_is_kept_until_reset(first, page, base):
    """Another page of the same reader stands for one that is loaded again."""
    first.write("5 + 5")
    again = page.context.new_page()
    again.goto(base + PAGE, wait_until="networkidle")
    kept = editor(again)
    kept.button("Go on editing").click()
    expect(kept.cell.locator(".cm-content")).to_be_visible()
    assert kept.text == "5 + 5"
    kept.button("Reset").click()
    assert kept.text.startswith("@cuda.jit\ndef scale_1")
    assert kept.shown.is_hidden()
    again.close()
    fresh = page.context.new_page()
    fresh.goto(base + PAGE, wait_until="networkidle")
    assert editor(fresh).button(FIRST).is_visible()
    fresh.close()


def test_a_page_on_a_disk_says_that_it_takes_a_server(site, browser):
    page = browser.new_page()
    page.goto(f"{site.folder.resolve().as_uri()}/{PAGE}", wait_until="load")
    cell = editor(page)
    cell.button(FIRST).click()
    assert "make serve" in cell.status
    page.close()


def test_without_scripts_and_on_paper_a_cell_is_as_it_was(site, browser, first):
    plain = browser.new_page(java_script_enabled=False)
    plain.goto(f"{site.url}/{PAGE}", wait_until="load")
    assert plain.locator(".ww-bar").count() == 0
    assert plain.locator(".ww-editable .cell_input").first.is_visible()
    plain.close()
    first.page.emulate_media(media="print")
    assert first.cell.locator(".cell_input").is_visible()
    assert not first.cell.locator(".ww-bar").is_visible()
    assert not first.cell.locator(".ww-code").is_visible()
    first.page.emulate_media(media="screen")
