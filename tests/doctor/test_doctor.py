"""The doctor on this machine, and on poorer ones with fewer packages and programs.

GPUs, drivers and wheels are in ``test_gpu.py``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from support.paths import ROOT

from warpwise import doctor
from warpwise.doctor import MISSING, OK, WARN, Finding

NAMES = [
    "Python",
    "NumPy",
    "Numba CUDA",
    "Toolchain",
    "GPU",
    "GPU wheels",
    "Backend",
    "Chromium",
    "bubblewrap",
    "Versions",
]
# The interpreter itself, without its site-packages.
BARE = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import runpy
runpy.run_module("warpwise.doctor", run_name="__main__")
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd="/"
    )


def named(output: str) -> dict[str, str]:
    """Map names to statuses of the doctor's table; lines of advice are indented."""
    lines = [line for line in output.splitlines() if not line.startswith(" ")]
    return {line[8:22].strip(): line[:8].strip() for line in lines}


@pytest.fixture
def bare(tmp_path: Path) -> list[str]:
    """A command that runs the doctor where only NumPy and the package are installed."""
    installed = Path(numpy.__file__).parent.parent
    for path in [
        installed / "numpy",
        *installed.glob("numpy.libs"),
        *installed.glob("numpy-*.dist-info"),
        ROOT / "warpwise",
    ]:
        (tmp_path / path.name).symlink_to(path)
    return [sys.executable, "-I", "-S", "-c", BARE, str(tmp_path)]


def test_this_machine():
    findings = doctor.examine()
    assert [finding.name for finding in findings] == NAMES
    assert all(finding.status in (OK, WARN, MISSING) and finding.found for finding in findings)
    assert all(finding.advice for finding in findings if finding.status != OK)
    assert doctor.healthy(findings)


def test_the_command_prints_every_finding():
    done = run(sys.executable, "-m", "warpwise.cli", "doctor")
    assert list(named(done.stdout)) == NAMES
    assert done.returncode == 0


@pytest.mark.unix("its packages are symbolic links")
def test_nothing_but_numpy(bare: list[str]):
    done = run(*bare, PATH="")
    assert done.stderr == ""
    assert named(done.stdout) == dict.fromkeys(NAMES, OK) | {"Chromium": WARN, "bubblewrap": WARN}
    assert "apt-get install chromium-headless-shell" in done.stdout
    assert "apt-get install bubblewrap" in done.stdout
    assert done.returncode == 0


def test_not_even_numpy():
    done = run(sys.executable, "-I", "-S", str(ROOT / "warpwise" / "doctor"))
    assert named(done.stdout)["NumPy"] == MISSING
    assert "pip install numpy" in done.stdout
    assert done.returncode == 1


@pytest.mark.unix("its packages are symbolic links")
def test_a_gpu_is_asked_for_where_none_is(bare: list[str]):
    done = run(*bare, PATH="", WARPWISE_BACKEND="gpu")
    assert named(done.stdout)["Backend"] == MISSING
    assert "unset WARPWISE_BACKEND" in done.stdout
    assert done.returncode == 1


@pytest.mark.unix("its packages are symbolic links")
def test_a_sandbox_that_does_not_start(bare: list[str], tmp_path: Path):
    """A stand-in for bwrap fails as it does where the system forbids user namespaces."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    done = run(*bare, PATH=str(program.parent))
    assert named(done.stdout)["bubblewrap"] == WARN
    assert "cannot start a sandbox: bwrap: No permissions" in done.stdout


def test_the_sandbox_of_this_machine(sandbox):
    assert doctor.bubblewrap().found.endswith("starts a sandbox")
    assert shutil.which("bwrap")


def test_versions_against_constraints():
    assert list(doctor.differences(f"numpy=={numpy.__version__}\nno-such-package==1.0\n")) == []
    assert list(doctor.differences("numpy==0.0.1\n")) == [
        f"numpy {numpy.__version__} instead of 0.0.1"
    ]


def test_constraints_are_plain_lines():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert lines
    assert [
        line for line in lines if line.count("==") != 1 or any(c in line for c in " /@;:")
    ] == []


def test_only_what_is_missing_makes_a_machine_unfit():
    assert doctor.healthy([Finding("a", OK, "x"), Finding("b", WARN, "y", "z")])
    assert not doctor.healthy([Finding("a", OK, "x"), Finding("b", MISSING, "y", "z")])
