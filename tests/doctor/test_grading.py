"""``warpwise doctor --grading``: bubblewrap as it is, missing, forbidden, or with holes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warpwise.errors import GradingError
from warpwise.grading import sandbox as box
from warpwise.grading import selftest

pytestmark = pytest.mark.unix("its programs are scripts that name their interpreter")

# Starts the real bubblewrap, without its own network and without the filter of system calls.
LEAKY = """#!{python}
import os, sys
given = [word for word in sys.argv[1:] if word != "--unshare-net"]
if "--seccomp" in given:
    at = given.index("--seccomp")
    given[at:at + 2] = []
os.execv("{bwrap}", ["bwrap", *given])
"""


def run(path: str) -> tuple[dict[str, str], str, int]:
    """Return what the command says of each trial, its whole output, and its status.

    ``path`` is where it finds programs."""
    command = [sys.executable, "-m", "warpwise.cli", "doctor", "--grading"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        cwd="/",
        timeout=1000,
    )
    assert done.stderr == ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("held", "NOT HELD"))]
    return {line[10:68].strip(): line[:10].strip() for line in lines}, done.stdout, done.returncode


def program(folder: Path, text: str) -> str:
    """Return a search path on which this text is bubblewrap."""
    folder.mkdir()
    (folder / "bwrap").write_text(text)
    (folder / "bwrap").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_this_machine_isolates(sandbox):
    trials, said, status = run(os.environ["PATH"])
    assert (status, set(trials.values())) == (0, {"held"}), said
    assert 12 <= len(trials) <= 20
    assert said.endswith("This machine isolates student code.\n")
    assert all(line.endswith(" s") for line in said.splitlines()[:-1])


def test_a_sandbox_with_holes_is_found_out(sandbox, tmp_path: Path):
    text = LEAKY.format(python=sys.executable, bwrap=shutil.which("bwrap"))
    trials, said, status = run(program(tmp_path / "bin", text))
    lost = {name for name, how in trials.items() if how != "held"}
    assert {"system calls that lead out", "network"} <= lost, said
    assert "leaving a process behind" not in lost and "taking memory without end" not in lost
    assert status == 1 and "does not isolate student code" in said


def test_without_bubblewrap_it_says_what_to_install(tmp_path: Path):
    trials, said, status = run(str(tmp_path))
    assert status == 1 and "held" not in trials.values()
    assert "bubblewrap is not installed" in said
    assert "apt-get install bubblewrap" in said.splitlines()[-1]


def test_where_bubblewrap_may_not_start_it_says_why(tmp_path: Path):
    _, said, status = run(
        program(
            tmp_path / "bin",
            "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
        )
    )
    assert status == 1
    assert "No permissions to create new namespace" in said
    assert "grade on another machine" in said.splitlines()[-1]


def test_trials_never_run_without_a_sandbox():
    with pytest.raises(GradingError, match="in a sandbox only"):
        next(selftest.run(box.NONE))
