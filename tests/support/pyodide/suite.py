"""Runs pytest in Pyodide; see ``__main__``."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from support.pyodide.numba_processes import PYTHON, NumbaProcess

#: Tests that cannot do here what they do elsewhere, by a part of their names.
LEFT_OUT = {
    "endless/spin_before_the_signal": "needs threads",
    "[hopper/": "needs threads",
    "documentation/shared_with_the_cpu": "needs numba.njit",
    "documentation/signatures": "means NumPy's own integers to have 64 bits",
    "are_numbas": "calls functions of Numba's",
    "test_numbas_names_of_types_are_known": "calls functions of Numba's",
    "lab_widget": "needs anywidget",
    "test_warpwise_has_the_same_names": "calls functions of Numba's",
}


class LeavesOut:
    """A plugin that skips the tests which cannot run here, each with its reason."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            if item.get_closest_marker("threads"):
                item.add_marker(pytest.mark.skip(reason="needs threads"))
            for part, reason in LEFT_OUT.items():
                if part in item.nodeid:
                    item.add_marker(pytest.mark.skip(reason=reason))


if __name__ == "__main__":
    subprocess.Popen, sys.executable = NumbaProcess, PYTHON
    scratch = os.environ["WARPWISE_SCRATCH"]  # where such a process can write, too
    options = f"--capture=sys --basetemp={scratch}/tests -p no:cacheprovider -p no:faulthandler"
    own = "--ignore=tests/simt/test_pyodide.py"  # which starts all this
    sys.exit(pytest.main([*options.split(), own, *sys.argv[1:]], [LeavesOut()]))
