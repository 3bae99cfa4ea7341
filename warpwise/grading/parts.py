"""The parts that are played in a sandbox, each with its limits and its job's form.

``functions`` calls host functions, which see Python, NumPy and nothing else. ``notebook`` re-runs a
notebook through nbval; it sees the Python environment and the ``warpwise`` package. ``compiler``
compiles a kernel, and sees the same. The folder ``inside`` is all that a sandbox holds of
the grader."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwise.grading import watch
from warpwise.labs.limit import PATIENCE

MB = 1 << 20
SPARE_BYTES = 64 * MB  #: of a process's data that libraries reserve and do not use
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
    name: str,
    limits: watch.Limits,
    address_space: int,
    processes: int,
    files: int,
    tmp_bytes: int,
    sockets: bool,
) -> Part:
    sizes = {"AS": address_space, "FSIZE": tmp_bytes, "CORE": 0, "MSGQUEUE": 0}
    sizes["DATA"] = limits.memory_bytes + SPARE_BYTES
    # twice the limit, which ``watch`` sees first, on a busy machine too
    counts = {"CPU": 2 * round(limits.cpu_seconds), "NPROC": processes, "NOFILE": files}
    counts["SIGPENDING"] = 16 * processes  # each holds eight bytes
    return Part(name, limits, sizes | counts, tmp_bytes, sockets)


_USE = watch.Limits(3, 512 * MB, result_bytes=4 * MB)
# An open file may be a pipe, which holds 64 KiB; a child costs more memory than its pipes hold.
FUNCTIONS = _part("functions", _USE, 2048 * MB, 16, files=32, tmp_bytes=1 * MB, sockets=False)
_USE = watch.Limits(20, 1536 * MB, result_bytes=1 * MB)
NOTEBOOK = _part("notebook", _USE, 8192 * MB, 64, files=512, tmp_bytes=32 * MB, sockets=True)

_USE = watch.Limits(30, 2048 * MB, result_bytes=1024)
# Its own programs, ptxas among them, hand files to each other, and a kernel is small.
COMPILER = _part("compiler", _USE, 8192 * MB, 64, files=256, tmp_bytes=32 * MB, sockets=False)


def confinement(rlimits: Mapping[str, int], limits: watch.Limits) -> dict[str, Any]:
    """Make what ``inside/start.py`` has to know of limits."""
    memory = {"memory_bytes": limits.memory_bytes, "over_memory": watch.OVER_MEMORY}
    return {"rlimits": rlimits, **memory}


def one_call(text: str, name: str) -> Job:
    """Make a job for FUNCTIONS: define and call a function that returns one number."""
    call = {"args": [], "shapes": [[]], "several": False}
    return {"text": text, "name": name, "calls": [call], "stay_seconds": 0}


def whole(notebook: Job, cell_seconds: float) -> Job:
    """Make a job for NOTEBOOK: run it, with a limit on the processor time of each cell."""
    limits = {"cell_seconds": cell_seconds, "wall_seconds": PATIENCE * cell_seconds}
    return {"notebook": notebook, "over_cpu": watch.OVER_CPU, **limits}


def integer_frame(number: int) -> bytes:
    """Return the result of a call that returns an int: see ``inside/functions.py``."""
    return b"q" + number.to_bytes(8, sys.byteorder)
