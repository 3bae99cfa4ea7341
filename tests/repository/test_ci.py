"""The rules of a test run: what is missing is named, and under CI nothing is skipped."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

pytestmark = pytest.mark.slow

SKIPPING = {
    "a test": "import pytest\ndef test_it():\n    pytest.skip('needs a thing')\n",
    "a fixture": (
        "import pytest\n"
        "@pytest.fixture\n"
        "def thing():\n"
        "    pytest.skip('needs a thing')\n"
        "def test_it(thing):\n"
        "    pass\n"
    ),
    "a mark": (
        "import pytest\n"
        "@pytest.mark.skipif(True, reason='needs a thing')\n"
        "def test_it():\n"
        "    pass\n"
    ),
    "a module": "import pytest\npytest.skip('needs a thing', allow_module_level=True)\n",
}


# A plugin that makes a run believe it is on another system once conftest.py is read.
SYSTEM = """
import sys, pytest
@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    sys.platform = "{}"
"""


def run_tests(
    folder: Path, text: str, *options: str, module: str = "test_skips.py", **environment: str
) -> subprocess.CompletedProcess:
    """Run a test module beside a copy of our conftest.py and one that passes."""
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / module).parent.mkdir(exist_ok=True)
    (folder / module).write_text(text)
    (folder / "test_passes.py").write_text("def test_it():\n    pass\n")
    clean = {
        name: value
        for name, value in os.environ.items()
        if name != "CI" and not name.startswith("PYTEST")
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-rs",
        *options,
        str(folder),
    ]
    clean["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # their imports take most of pytest's start
    clean["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests"), str(folder)])
    return subprocess.run(
        command, capture_output=True, text=True, env=clean | environment, cwd=folder
    )


@pytest.fixture
def skipping(tmp_path: Path) -> Path:
    """A folder of modules of which each skips in its own way."""
    for number, text in enumerate(SKIPPING.values()):
        (tmp_path / f"test_{number}.py").write_text(text)
    return tmp_path


def check_failed(said: str) -> None:
    """Check that each module of ``skipping`` failed, and said why."""
    for number in range(len(SKIPPING)):
        assert re.search(rf"^(FAILED|ERROR) \S*test_{number}\.py.*skipped under CI", said, re.M), (
            said
        )
    assert said.count("needs a thing") >= len(SKIPPING)


def test_skips_are_reported_with_their_reasons(skipping: Path):
    done = run_tests(skipping, "")
    assert done.returncode == 0, done.stdout
    assert f"1 passed, {len(SKIPPING)} skipped" in done.stdout
    found = re.findall(r"^SKIPPED.*test_(\d)\.py.*: needs a thing", done.stdout, re.M)
    assert sorted(found) == [str(number) for number in range(len(SKIPPING))]


def test_skips_fail_under_ci(skipping: Path):
    done = run_tests(skipping, "", "-rfE", "--continue-on-collection-errors", CI="true")
    assert done.returncode != 0
    check_failed(done.stdout)


UNIX = "import pytest\n@pytest.mark.unix('a thing of Unix')\ndef test_it():\n    pass\n"
GRADER = "import a_module_of_linux\n"
NUMBA = "import sys\nsys.modules['numba'] = None\nimport numba.cuda\n"


@pytest.mark.parametrize(
    ("system", "text", "module", "reason"),
    [
        ("win32", UNIX, "test_skips.py", "a thing of Unix"),
        ("win32", GRADER, "grading/test_skips.py", "the grader confines student code"),
        ("darwin", GRADER, "grading/test_skips.py", "the grader confines student code"),
        ("darwin", NUMBA.replace("None", "None  # as on macOS"), "test_skips.py", "numba-cuda"),
    ],
)
def test_another_system_names_what_it_cannot_run(
    tmp_path: Path, system: str, text: str, module: str, reason: str
):
    (tmp_path / "system.py").write_text(SYSTEM.format(system))
    done = run_tests(tmp_path, text, "-p", "system", module=module, CI="true")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout
    assert "not on this system: " in done.stdout and reason in done.stdout


def test_any_other_skip_fails_on_another_system_too(skipping: Path):
    (skipping / "system.py").write_text(SYSTEM.format("darwin"))
    done = run_tests(
        skipping, "", "-p", "system", "-rfE", "--continue-on-collection-errors", CI="true"
    )
    assert done.returncode != 0
    check_failed(done.stdout)


def test_linux_runs_what_is_marked_for_unix(tmp_path: Path):
    assert "2 passed" in run_tests(tmp_path, UNIX, CI="true").stdout


def test_tests_that_need_the_system_are_marked(tmp_path: Path):
    text = """import pytest
@pytest.fixture
def page(site):
    pass
def test_needs_the_site_by_another_fixture(page):
    pass
def test_needs_nothing():
    pass
"""
    done = run_tests(tmp_path, text, "-m", "system", "--collect-only", "-q")
    assert "1/3 tests collected" in done.stdout
    assert "test_needs_the_site_by_another_fixture" in done.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_time_of_each_folder_is_printed(tmp_path: Path, workers: str):
    (tmp_path / "tests").mkdir()
    text = (
        "import pytest, time\n"
        "@pytest.fixture\n"
        "def slow():\n"
        "    yield time.sleep({})\n"
        "    time.sleep({})\n"
    )
    text += "def test_it(slow):\n    time.sleep({})\n"
    for folder, seconds in ("quick", 0.1), ("slow", 0.2):
        path = tmp_path / "tests" / folder / f"test_{folder}.py"
        path.parent.mkdir()
        path.write_text(text.format(seconds, seconds, seconds))
    options = (f"--rootdir={tmp_path}", "-p", "xdist.plugin", "-n", workers)
    done = run_tests(tmp_path / "tests", "", *options)
    table = done.stdout.partition("time by folder of tests")[2].splitlines()[1:4]
    (slow, quick, rest) = (line.split() for line in table)
    assert (slow[1:], quick[1:]) == (["s", "1", "tests", "slow"], ["s", "1", "tests", "quick"])
    assert 0.6 <= float(slow[0]) < 3 and 0.3 <= float(quick[0]) < float(slow[0])
    assert rest[2:] == ["1", "tests", "tests"]


def test_one_folder_has_no_table(tmp_path: Path):
    assert "time by folder" not in run_tests(tmp_path, "").stdout


@pytest.mark.unix("its programs are symbolic links")
def test_system_packages_are_named_where_they_cannot_be_installed(tmp_path: Path):
    """A path on which there is neither apt-get nor sudo, nor what the packages would bring."""
    for program in ("sh", "make", "id"):
        (tmp_path / program).symlink_to(shutil.which(program))
    done = subprocess.run(
        ["make", "-s", "system"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "apt-get install chromium-headless-shell firefox-esr bubblewrap" in done.stdout


def test_nothing_is_installed_where_nothing_is_missing(chromium, firefox, sandbox):
    done = subprocess.run(["make", "-s", "system"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_ci_runs_make_test():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-1] == "exec make test"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
