"""A reader who comes back: Python resumes from what the browser kept, and no network is needed."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager

import pytest
from playwright.sync_api import expect
from support.editors import editor
from support.pages import Watch
from support.served_site import served

pytestmark = pytest.mark.slow
PAGE = "chapters/08_coalescing.html"
KEPT = """cut => new Promise((found, failed) => {
    const asked = indexedDB.open("warpwise", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("images");
    asked.onerror = failed;
    asked.onsuccess = () => {
        const store = asked.result.transaction("images", "readwrite").objectStore("images");
        const all = store.openCursor();
        all.onsuccess = () => {
            const place = all.result;
            const memory = place?.value.memory.slice(0, cut);
            if (cut && place) place.update({ ...place.value, memory });
            asked.result.close();
            found(place ? place.value.memory.size : 0);
        };
    };
})"""
HOSTILE = """import js
for kind in ("image", "spoiled"):
    js.postMessage(js.JSON.parse('{"kind": "%s", "image": {"memory": 1}}' % kind))
'sent'"""
DRAWN = "import random\nrandom.random()"


@pytest.fixture(scope="module")
def server(base, site):
    """What ends the server of these tests, and the site's address there."""
    with ExitStack() as running:
        url = running.enter_context(served(site.folder.parent))
        yield running, f"{url}/{site.folder.name}/"


@pytest.fixture(scope="module")
def there(server) -> str:
    return server[1]


@pytest.fixture(scope="module")
def reader(browser):
    """The browser of one reader."""
    context = browser.new_context()
    yield context
    context.close()


@contextmanager
def visit(reader, site: str):
    """A page that the reader opens, its first cell, and what it asks for."""
    page = reader.new_page()
    watch = Watch().over(page)
    page.goto(site + PAGE, wait_until="networkidle")
    yield page, editor(page), watch
    page.evaluate("localStorage.clear()")  # of texts only the original is of interest
    page.close()


def wait_for(page, script: str, *arguments: object) -> None:
    page.wait_for_function(f"async () => Boolean(await ({script})({', '.join(arguments)}))")


@pytest.fixture(scope="module")
def drawn(reader, there) -> str:
    """A number that the first visit drew by chance. Python was kept before."""
    with visit(reader, there) as (page, cell, _):
        cell.touch()
        wait_for(page, KEPT)
        wait_for(page, "() => navigator.serviceWorker.ready")
        return cell.run(DRAWN)


def test_a_second_visit_resumes_and_fetches_no_package(reader, there, drawn):
    with visit(reader, there) as (_, cell, watch):
        cell.touch()
        expect(cell.picture.locator("p.text")).to_contain_text("touches 32 sectors")
        assert not [url for url in watch.requests if ".whl" in url]
        assert (
            cell.run("import numpy as np, numpy.fft\nfloat(np.linalg.inv(2 * np.eye(2))[0, 0])")
            == "0.5"
        )
        assert cell.run(DRAWN) != drawn  # chance is not what it was


def test_a_cell_cannot_change_what_is_kept(reader, there, drawn):
    with visit(reader, there) as (page, cell, _):
        before = page.evaluate(KEPT)
        cell.touch()
        assert cell.run(HOSTILE).strip() == "'sent'"
        assert cell.run("1 + 1").strip() == "2"
        assert page.evaluate(KEPT) == before > 1e7


def test_stop_while_python_is_on_its_way_and_run_again(browser, there):
    """The library of Python comes when the test lets it, to a reader who was never there."""
    context = browser.new_context(service_workers="block")
    with visit(context, there) as (page, cell, _):
        held = []
        page.route("**/python_stdlib.zip*", lambda route: held.append(route))
        cell.button("Edit and run").click()
        expect(cell.cell.locator(".ww-status")).to_have_text(re.compile(r"MB, [1-9]\d* s\.$"))
        cell.button("Stop").click()
        expect(cell.cell.locator(".ww-status")).to_have_text("Stopped.")
        cell.write("'again'")
        page.keyboard.press("Control+Enter")
        expect(cell.cell.locator(".ww-status")).to_have_text(re.compile(r"MB, \d+ s\.$"))
        held.pop().continue_()
        assert cell.wait().startswith("Done")
        assert cell.shown.inner_text().strip() == "'again'"
    context.close()


def test_what_does_not_fit_is_forgotten(reader, there, drawn):
    with visit(reader, there) as (page, cell, _):
        assert page.evaluate(KEPT, 5_000_000) > 1e7
        assert page.evaluate(KEPT) == 5_000_000
        cell.touch()
        assert cell.status.startswith("Done")
        wait_for(page, f"async () => await ({KEPT})() > 1e7")


def test_without_a_network_a_visited_page_runs(reader, server, drawn):
    """The server ends; a page that was not visited is not there."""
    running, there = server
    with visit(reader, there) as (page, *_):
        wait_for(page, "() => navigator.serviceWorker.controller")
    running.close()
    with visit(reader, there) as (page, cell, _):
        cell.touch()
        expect(cell.picture.locator("p.text")).to_contain_text("touches 32 sectors")
        assert page.evaluate("fetch('09_tiling.html').catch(error => error.name)") == "TypeError"
