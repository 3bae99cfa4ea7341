"""The parts that students use, without what Windows lacks (``support/as_on_windows.py``).

Grading refuses in one line."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import as_on_windows
from support.paths import ROOT

IMPORT_ALL = """
import importlib, pkgutil, warpwise
# modules of a sandbox's inside, and Sphinx's configuration, are no modules of the package
left_out = "warpwise.grading.inside.", "warpwise.book.conf"
names = [module.name for module in pkgutil.walk_packages(warpwise.__path__, "warpwise.")]
for name in names:
    if not name.startswith(left_out) and not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
TRACE = """
import numpy as np, warpwise
from warpwise import cuda

@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]

x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
t = warpwise.trace(double, 2, 32, x, y)
t.show()
print((y == 2 * x).all(), t.metrics.global_load_sectors)
"""


def run(*command: str, path: str = "") -> subprocess.CompletedProcess:
    """Run a program without what Windows lacks, and without this machine's programs."""
    call = [sys.executable, as_on_windows.__file__, *command]
    return subprocess.run(
        call, capture_output=True, text=True, cwd=ROOT, env=os.environ | {"PATH": path}
    )


def program(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text)
    return str(folder / "program.py")


def test_the_names_are_really_missing(tmp_path):
    text = "import warpwise.grading.sandbox as box\nbox.os.geteuid()"
    assert "has no attribute 'geteuid'" in run(program(tmp_path, text)).stderr


@pytest.mark.slow
def test_every_module_is_imported(tmp_path):
    done = run(program(tmp_path, IMPORT_ALL))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_a_kernel_is_traced_and_shown(tmp_path):
    done = run(program(tmp_path, TRACE))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True 8"


def test_the_doctor_looks_at_the_machine():
    done = run("warpwise", "doctor")
    assert done.returncode == 0, done.stderr
    assert "ok      Python" in done.stdout and "ok      Backend       simulator" in done.stdout


@pytest.mark.slow
def test_a_lab_is_checked():
    done = run("warpwise", "check", "labs/01_why_gpus.ipynb")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("not done yet") == 6


@pytest.mark.slow
def test_grading_refuses_in_one_line(tmp_path):
    done = run("warpwise", "grade", "labs", "--out", str(tmp_path / "graded"))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "bubblewrap is not installed" in done.stderr


def test_tests_are_collected_without_modules_of_unix():
    """Only the grader's tests, left out there, may import such a module before they begin."""
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "tests").rglob("*.py")
        if not {"attacks", "correct", "wrong", "programs", "grading"} & set(path.parts)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        )
        if name in as_on_windows.MODULES
    }
    assert found == set()
