"""What the tests share: the built site, a browser, a sandbox, and the rule that CI skips nothing.

A fixture that needs a system package skips its tests where the package is missing, and says which it is.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from warpwise import doctor

ROOT = Path(__file__).parent.parent
# Programs that tests read: some of them are hostile, and none is a test.
collect_ignore = ["attacks", "corpus", "correct", "faults", "hidden", "kernels", "wrong"]
# Keep Chromium from talking to anyone but the site.
CHROMIUM_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@dataclass(frozen=True)
class Site:
    """The built book: its folder, the address that serves it, and the processor time that a clean build took, in seconds."""

    folder: Path
    url: str
    seconds: float


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id) -> Iterator[Site]:
    """The book, built clean with warnings as errors, once for all workers, and served on 127.0.0.1."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with open(shared / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = build_once(shared / "site")
    if built["status"] != 0:
        complaints = [line for line in built["log"].splitlines() if "WARNING" in line or "ERROR" in line or "Error" in line]
        pytest.fail("\n".join(["the book does not build (see `make book`):", *(complaints or [built["log"][-2000:]])]), pytrace=False)
    folder = shared / "site" / "_build" / "html"
    with served(folder) as url:
        yield Site(folder, url, built["seconds"])


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
    return path


@pytest.fixture(scope="module")
def browser(chromium):
    """A headless Chromium. One for each module: Playwright's event loop must not be running when other modules start theirs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Bubblewrap, really starting a sandbox."""
    finding = doctor.bubblewrap()
    if finding.status != doctor.OK:
        pytest.skip(f"needs bubblewrap ({finding.found}): {finding.advice}")


def build_once(output: Path) -> dict:
    """Build the book below ``output`` unless that was done; the status, the log and the seconds of processor time.

    Processor time is the build's own, unlike a clock that other tests slow down.
    """
    record = output / "built.json"
    if not record.exists():
        output.mkdir()
        command = [Path(sys.executable).parent / "jupyter-book", "build", ROOT, "--path-output", output, "-W", "--keep-going"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        record.write_text(json.dumps({"status": done.returncode, "log": done.stdout, "seconds": seconds}))
    return json.loads(record.read_text())


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder over HTTP on a free port of 127.0.0.1."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line on stderr for each."""

    def log_message(self, format, *args):
        pass


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Under CI a skipped test is a failed one: there everything that tests need can be installed."""
    return no_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """The same for a module that skips itself while it is collected."""
    return no_skips((yield))


def no_skips(report):
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped under CI: {report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr}"
    return report
