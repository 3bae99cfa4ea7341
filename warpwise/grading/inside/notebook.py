"""Re-run a notebook through nbval and say for each cell whether it passed. What the grader shows as "visible checks"; never points.

A cell is known by what its metadata says, not by nbval's names for it, which change between releases. A kernel that ends in the
middle of a cell is noticed at once: nbval alone would wait for the cell's whole time limit.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import time
from pathlib import Path

# Importing nbformat reads a grammar of web addresses with this package if it is there, which takes as long as all the rest together.
sys.modules["rfc3987_syntax"] = None

import pytest  # noqa: E402
from nbval.plugin import NbCellError  # noqa: E402

REASON_CHARACTERS = 200
NOT_DUMPABLE = 4  # prctl(2), PR_SET_DUMPABLE: the notebook's kernel, of the same user, cannot open this process's files


def answer(job: dict, result) -> None:
    """Write one JSON line per code cell of ``job["notebook"]``: its metadata's ``warpwise`` entry, whether it passed, and why not."""
    ctypes.CDLL(None).prctl(NOT_DUMPABLE, 0, 0, 0, 0)
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[1:2])
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    Path("work").mkdir()
    Path("work/lab.ipynb").write_text(json.dumps(job["notebook"]))
    os.chdir("work")

    options = ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={job['cell_seconds']}", "--color=no", "-q"]
    alone = ["--noconftest", "-c", "/dev/null", "--rootdir", ".", "-p", "no:cacheprovider", "-p", "nbval.plugin"]
    pytest.main([*alone, *options, "lab.ipynb"], plugins=[Reporter(result)])


class Reporter:
    """A pytest plugin: one line for each cell that ran."""

    def __init__(self, result):
        self.result = result
        self.watching = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        if not self.watching:
            threading.Thread(target=leave_with, args=(item.parent.kernel,), daemon=True).start()
            self.watching = True

    def pytest_runtest_makereport(self, item, call):
        if call.when != "call" and not call.excinfo:
            return
        about = item.cell.metadata.get("warpwise", {})
        why = str(call.excinfo.value)[:REASON_CHARACTERS] if call.excinfo else ""
        line = json.dumps({"cell": item.cell_num, "about": about, "passed": not call.excinfo, "why": why})
        self.result.write(line.encode() + b"\n")
        if call.excinfo and not isinstance(call.excinfo.value, NbCellError):
            os._exit(1)  # not the cell but the talk with the kernel broke, and the cells after it would each wait in vain

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem):
        if nextitem is None:
            os._exit(0)  # the sandbox ends the kernel faster than asking it to shut down


def leave_with(kernel) -> None:
    """End with the notebook's kernel: a cell that ended it has no more to say, nor have those after it."""
    while kernel.is_alive():
        time.sleep(0.1)
    os._exit(1)
