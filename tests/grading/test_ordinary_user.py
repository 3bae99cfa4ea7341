"""The same attacks against a grader that an ordinary user runs, as most instructors do."""

from __future__ import annotations

import os
import re
import sys

import pytest
from support import ordinary_user
from support.paths import ROOT

HERE = ROOT / "tests/grading"
RUNS = {
    "sandboxes": ("test_sandbox.py", "test_hiding_places.py", "test_rooms.py"),
    "attacks": ("test_attacks.py",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_attacks_as_an_ordinary_user(sandbox, name: str):
    """By anybody else than root these modules are run so anyway."""
    if os.geteuid() != 0:
        return
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(ROOT)]
    modules = [str(HERE / module) for module in RUNS[name]]
    done = ordinary_user.run([*command, "-c", str(ROOT / "pyproject.toml"), *modules])
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"\n\d+ passed", done.stdout) and "skipped" not in done.stdout, done.stdout
