"""The two parts that run student code in a sandbox, each with its limits and its job's form.

``functions`` calls host functions, which see Python, NumPy and nothing else. ``notebook`` re-runs a
notebook through nbval; it sees the Python environment and the ``warpwise`` package. The folder
``inside`` is all that a sandbox holds of the grader."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwise.grading import watch

MB = 1 << 20
INSIDE = Path(__file__).resolve().parent / "inside"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "USER": "student",
    "LANG": "C.UTF-8",
    "WARPWISE_BACKEND": "simulator",
    "WARPWISE_PICTURES": "none",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
Job = dict[str, Any]  # JSON


@dataclass(frozen=True)
class Part:
    """A part's rights: ``rlimits`` hold for each process, ``limits`` for all of them together."""

    name: str
    limits: watch.Limits
    rlimits: dict[str, int]
    tmp_bytes: int
    sockets: bool


def _part(
    name: str, limits: watch.Limits, address_space: int, processes: int, files: int, sockets: bool
) -> Part:
    sizes = {"AS": address_space, "FSIZE": 16 * MB, "CORE": 0, "MSGQUEUE": 0}
    counts = {"CPU": round(limits.cpu_seconds) + 1, "NPROC": processes, "NOFILE": files}
    return Part(name, limits, sizes | counts, 32 * MB, sockets)


_USE = watch.Limits(3, 20, 512 * MB, result_bytes=4 * MB)
FUNCTIONS = _part("functions", _USE, 2048 * MB, processes=16, files=64, sockets=False)
_USE = watch.Limits(20, 60, 1536 * MB, result_bytes=1 * MB)
NOTEBOOK = _part("notebook", _USE, 8192 * MB, processes=64, files=512, sockets=True)


def one_call(text: str, name: str) -> Job:
    """Make a job for FUNCTIONS: define and call a function that returns one number."""
    call = {"args": [], "shapes": [[]], "several": False}
    return {"text": text, "name": name, "calls": [call], "stay_seconds": 0}


def integer_frame(number: int) -> bytes:
    """Return the result of a call that returns an int: see ``inside/functions.py``."""
    return b"q" + number.to_bytes(8, sys.byteorder)
