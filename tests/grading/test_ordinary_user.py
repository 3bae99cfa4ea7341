"""The same attacks against a grader that an ordinary user runs, as most instructors do."""

from __future__ import annotations

import os
import re
import sys

import pytest
from support import ordinary_user
from support.attacks import LABS
from support.paths import ROOT

HERE = ROOT / "tests/grading"
RUNS = {
    "what code sees and reaches": ("test_sandbox.py", ""),
    "where bytes can hide": ("test_hiding_places.py", ""),
    "what notebooks leave": ("test_rooms.py", ""),
    **{f"attacks on {lab}": ("test_attacks.py", lab) for lab in LABS},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_attacks_as_an_ordinary_user(sandbox, name: str):
    """By anybody else than root these modules are run so anyway."""
    if os.geteuid() != 0:
        return
    module, kept = RUNS[name]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-p", "no:xdist", "-k", kept]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(ROOT), str(HERE / module)]
    done = ordinary_user.run([*command, "-c", str(ROOT / "pyproject.toml")])
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"\n\d+ passed", done.stdout) and "skipped" not in done.stdout, done.stdout
