"""nbgrader's command line, in a course of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# nbgrader calls alembic by its name.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def nbgrader(root: Path, *arguments: str) -> str:
    env = os.environ | {
        "HOME": str(root),
        "JUPYTER_NO_CONFIG": "1",
        "IPYTHONDIR": str(root / ".ipython"),
        "PATH": PATH,
    }
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr
