"""The rules of a test run: what is missing is named, and under CI nothing is skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SKIPPING = {
    "a test": "import pytest\ndef test_it():\n    pytest.skip('needs a thing')\n",
    "a fixture": "import pytest\n@pytest.fixture\ndef thing():\n    pytest.skip('needs a thing')\ndef test_it(thing):\n    pass\n",
    "a mark": "import pytest\n@pytest.mark.skipif(True, reason='needs a thing')\ndef test_it():\n    pass\n",
    "a module": "import pytest\npytest.skip('needs a thing', allow_module_level=True)\n",
}


def run_tests(folder: Path, text: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a test module beside a copy of our conftest.py and one that passes."""
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "test_skips.py").write_text(text)
    (folder / "test_passes.py").write_text("def test_it():\n    pass\n")
    clean = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=clean | environment, cwd=folder)


@pytest.mark.parametrize("text", SKIPPING.values(), ids=SKIPPING)
def test_a_skip_is_reported_with_its_reason(tmp_path: Path, text: str):
    done = run_tests(tmp_path, text)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout and "needs a thing" in done.stdout


@pytest.mark.parametrize("text", SKIPPING.values(), ids=SKIPPING)
def test_a_skip_fails_under_ci(tmp_path: Path, text: str):
    done = run_tests(tmp_path, text, CI="true")
    assert done.returncode != 0
    assert "skipped under CI" in done.stdout and "needs a thing" in done.stdout


def test_system_packages_are_named_where_they_cannot_be_installed(tmp_path: Path):
    """A path on which there is neither apt-get nor sudo, nor what the packages would bring."""
    for program in ("sh", "make", "id"):
        (tmp_path / program).symlink_to(shutil.which(program))
    done = subprocess.run(["make", "-s", "system"], cwd=ROOT, capture_output=True, text=True, env={"PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "apt-get install chromium chromium-driver bubblewrap" in done.stdout


def test_nothing_is_installed_where_nothing_is_missing(chromium, sandbox):
    done = subprocess.run(["make", "-s", "system"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_ci_runs_make_test():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-1] == "exec make test"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
