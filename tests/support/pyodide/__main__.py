"""``python -m support.pyodide [ARGUMENTS]``: pytest under Pyodide."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy

from support.paths import ROOT

HERE = Path(__file__).parent
#: Packages of this environment that run anywhere.
PURE = (
    "pytest _pytest py pluggy iniconfig packaging pygments hypothesis _hypothesis_globals "
    "_hypothesis_ftz_detector sortedcontainers attr attrs yaml"
)
PACKAGES = "/lib/python3.12/site-packages"


def room(scratch: str) -> dict[str, object]:
    site = str(Path(numpy.__file__).parents[1])
    parts = Path(os.environ["WARPWISE_PYODIDE_PARTS"])
    cache = os.environ.get("WARPWISE_PYC", scratch)
    settings = {
        "HOME": "/home/pyodide",
        "PYTHONPYCACHEPREFIX": cache,
        "WARPWISE_PURE": PURE,
        "WARPWISE_PYTHON": sys.executable,
        "WARPWISE_SITE": site,
        "WARPWISE_SCRATCH": scratch,
    }
    return {
        "pyodide": str(parts / "node_modules/pyodide"),
        "wheels": [str(wheel) for wheel in parts.glob("numpy*.whl")],
        "packages": PACKAGES,
        "folders": [*{str(ROOT), site, scratch, cache}],
        "script": str(HERE / "inside.py"),
        "scratch": scratch,
        "env": settings,
    }


def main() -> int:
    with TemporaryDirectory() as scratch:
        env = os.environ | {"WARPWISE_ROOM": json.dumps(room(scratch))}
        command = ["node", str(HERE / "run.mjs"), *sys.argv[1:]]
        return subprocess.run(command, env=env, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
