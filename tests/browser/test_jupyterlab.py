"""Widgets in a real JupyterLab: drawing, arrow keys, and choices back in Python."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest
from playwright.sync_api import TimeoutError

TRACE = """
import numpy as np
from warpwise import cuda, trace
from warpwise.views import burst

@cuda.jit
def transpose(src, dst):
    x, y = cuda.grid(2)
    value = src[y, x]
    dst[x, y] = value

def zeros():
    return np.zeros((32, 32), np.float32)

t = trace(transpose, (1, 4), (32, 8), zeros(), zeros())
widget = burst.widget(t)
widget
"""
# Lab would look on the network for newer versions of itself.
QUIET = "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate"
READ = "print('in Python:', widget.line)"
SET = "widget.line = max(t.by_line)"
SHOW = "t.show()"


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab with one notebook, apart from the user's settings."""
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in (TRACE, READ, SET, SHOW)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}),
        tmp_path / "lab.ipynb",
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        f"--port={port}",
        "--no-browser",
        "--allow-root",
        "--IdentityProvider.token=",
        QUIET,
        f"--ServerApp.root_dir={tmp_path}",
    ]
    homes = {
        f"JUPYTER_{name}": str(tmp_path / "home")
        for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    }
    homes |= {
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "home"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "home"),
    }
    command = [sys.executable, "-m", "jupyter", "lab", *options]
    with open(tmp_path / "server.log", "w") as log:
        server = subprocess.Popen(
            command, env=os.environ | homes, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/api", server)
        yield f"http://127.0.0.1:{port}/lab/tree/lab.ipynb?reset"
    finally:
        server.terminate()
        server.wait(300)


def _wait_for(address: str, server: subprocess.Popen, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < end:
        try:
            return urlopen(address).close()
        except URLError:
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not answer at {address}")


def run(cell, shows) -> None:
    """Run a cell as a reader does, again if its result does not show.

    Lab loses messages while it connects to the kernel."""
    for _ in range(8):
        cell.locator(".cm-content").click()
        cell.page.keyboard.press("Shift+Enter")
        with suppress(TimeoutError):
            return shows.wait_for(timeout=10_000)
    pytest.fail("the cell does not run")


def test_widget_in_jupyterlab(lab, browser):
    context = browser.new_context(viewport={"width": 1200, "height": 1400})
    page = context.new_page()
    page.goto(lab)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    widget = cells.nth(0).locator(".ww")
    run(cells.nth(0), widget.locator("svg"))
    assert widget.bounding_box()["width"] > 600
    assert re.match(
        r"Line \d+: warp 0 of block \(0, 0, 0\) writes dst", widget.locator("p.text").inner_text()
    )

    chosen = widget.locator("[type=radio]:checked")
    store = int(chosen.get_attribute("value").split()[0])
    chosen.press("ArrowUp")
    assert (
        widget.locator("p.text")
        .inner_text()
        .startswith(f"Line {store - 1}: warp 0 of block (0, 0, 0) reads src")
    )
    run(
        cells.nth(1),
        cells.nth(1).locator(".jp-OutputArea-output", has_text=f"in Python: {store - 1}"),
    )
    run(
        cells.nth(2), widget.get_by_text(f"Line {store}: warp 0 of block (0, 0, 0) writes dst with")
    )

    step = widget.get_by_role("slider", name="request")
    for _ in range(3):
        step.press("ArrowRight")
    assert step.input_value() == "4"
    assert " warp 3 of block" in widget.locator("p.text").inner_text()

    tabs = cells.nth(3).get_by_role("tab")
    run(cells.nth(3), tabs.first)
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    player = cells.nth(3).locator("ww-divergence").get_by_role("slider", name="step")
    player.press("ArrowRight")
    assert player.input_value() == "2"
    context.close()
