"""The run before any reader's: a reader's imports nothing more of this package."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from warpwise.playground.first import first_run

assert first_run() == "1"
before = set(sys.modules)
from warpwise.playground import play

kernel = "from warpwise import cuda, trace\\n@cuda.jit\\ndef add(x):\\n    x[cuda.grid(1)] += 1"
launch = "import numpy as np\\nx = np.zeros(64, np.float32)\\ntrace(add, 2, 32, x).show()"
[shown] = play({"kernel": kernel, "launch": launch})["kernels"]
assert not shown["error"], shown
print(*sorted(name for name in set(sys.modules) - before if name.startswith("warpwise")))
"""


def test_a_launch_and_its_tabs_import_nothing_more():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done
