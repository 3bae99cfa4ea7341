"""Programs that compile kernels as Numba itself does on a machine with a GPU."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

from support.paths import ROOT


def answer(program: str, given: object = None) -> Any:
    """Return what a program pickles to its standard output; ``given`` is pickled on its input.

    It runs in a process of its own, for which kernels are Numba's."""
    folders = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = os.environ | {"WARPWISE_BACKEND": "gpu", "PYTHONPATH": folders}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        input=pickle.dumps(given),
        capture_output=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return pickle.loads(done.stdout)
