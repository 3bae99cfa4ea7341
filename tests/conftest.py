"""Shared by all tests: the built site, a browser, a sandbox, and the rule that CI skips nothing.

A fixture that needs a system package skips its tests where the package is missing, and names it.
What Windows and macOS cannot run is named here, or in a test's mark ``unix``; it is skipped there,
under CI too.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from support import served_site
from support.served_site import CHROMIUM_FLAGS, FOLDER, Site, build_once, served

from warpwise import doctor

# Programs that tests read: some of them are hostile, and none is a test.
collect_ignore_glob = ["course/*/attacks", "course/*/correct", "course/*/wrong", "programs"]
# Fixtures that need more than Python: `make quick` leaves their tests out.
SYSTEM = {"browser", "chromium", "firefox", "sandbox", "site"}
# Folder of tests that need one process alone: one worker runs these while another builds the site.
MEANWHILE = "simt"
# Folder of tests: what it needs and only Linux has.
LINUX_ONLY = {"grading": "the grader confines student code with bubblewrap, seccomp and rlimits"}
ELSEWHERE = "not on this system: "  # begins the reason of a skip that CI accepts

# On a busy machine an example can take any time.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    """Name a folder for the built site, the same for all workers; one that the environment names is
    kept, for the next run."""
    if FOLDER not in os.environ:
        folder = TemporaryDirectory(prefix="warpwise-site-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        os.environ[FOLDER] = folder.name


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need the system; on Windows, skip those that need Unix."""
    for item in items:
        if SYSTEM & set(item.fixturenames):
            item.add_marker("system")
        if sys.platform == "win32" and (mark := item.get_closest_marker("unix")):
            item.add_marker(pytest.mark.skip(reason=ELSEWHERE + mark.args[0]))
    items.sort(key=partial(turn, builds=building(items)))


def building(items: list[pytest.Item]) -> Path | None:
    """Return the first file whose tests need the site."""
    return next((item.path for item in items if "site" in item.fixturenames), None)


def turn(item: pytest.Item, builds: Path | None) -> int:
    """Return when a test's file has its turn: one that builds the site, so that it lies ready for
    all others, then those that need neither it nor a second processor."""
    if builds is None:
        return 0
    return 0 if item.path == builds else 1 if item.path.parent.name == MEANWHILE else 2


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note whether the site is built in this run; and let no collection of garbage look through
    the modules and tests, which stay to the end."""
    served_site.wanted = any("site" in item.fixturenames for item in session.items)
    gc.freeze()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Elsewhere | None:
    """Leave out modules of ``LINUX_ONLY`` elsewhere, before they are imported."""
    if sys.platform != "linux" and module_path.parent.name in LINUX_ONLY:
        return Elsewhere.from_parent(parent, path=module_path)
    return None


class Elsewhere(pytest.Module):
    """A module of tests that this system cannot run."""

    def collect(self):
        pytest.skip(ELSEWHERE + LINUX_ONLY[self.path.parent.name])


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The book, built clean with warnings as errors, once for all workers, and served on
    127.0.0.1."""
    built = build_once(Path(os.environ[FOLDER]))
    if built.status != 0:
        said = built.complaints or [built.log[-2000:]]
        pytest.fail("\n".join(["the book does not build (see `make book`):", *said]), pytrace=False)
    with served(built.site) as url:
        yield Site(built.site, url)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium."""
    path = doctor.browser()
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium-headless-shell")
    return path


@pytest.fixture(scope="session")
def firefox() -> str:
    """The path of Firefox."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip("needs Firefox: apt-get install firefox-esr")
    return path


@pytest.fixture(scope="module")
def browser(chromium):
    """A headless Chromium. One for each module: Playwright's event loop must not be running when
    other modules start theirs."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # of milliseconds; five seconds are few on a busy machine
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


@pytest.fixture(scope="module")
def closed_rooms() -> Iterator[None]:
    """Close the rooms of ``support.rooms`` with a module's last test: others look for what stayed
    behind."""
    yield
    from support import rooms  # which needs Linux

    rooms.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Under CI a skipped test is a failed one: there everything that tests need can be
    installed."""
    return no_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """The same for a module that skips itself while it is collected."""
    return no_skips((yield))


def no_skips(report):
    if sys.platform == "darwin" and "No module named 'numba" in str(report.longrepr):
        report.outcome = "skipped"
        report.longrepr = (report.nodeid, 0, f"{ELSEWHERE}numba-cuda has no wheel for macOS")
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if sys.platform == "linux" or ELSEWHERE not in str(reason):
            report.outcome = "failed"
            report.longrepr = f"skipped under CI: {reason}"
    return report


def pytest_terminal_summary(terminalreporter) -> None:
    """Print how long the tests of each folder took, set-up and clean-up included."""
    seconds, tests = Counter(), Counter()
    for report in chain(*terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            folder = report.nodeid.partition("::")[0].rpartition("/")[0].removeprefix("tests/")
            seconds[folder] += report.duration
            tests[folder] += report.when == "call"
    if len(seconds) > 1:
        terminalreporter.section("time by folder of tests")
        for folder, total in seconds.most_common():
            terminalreporter.line(f"{total:8.1f} s {tests[folder]:6} tests  {folder}")
