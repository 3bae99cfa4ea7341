"""Nsight Compute: run ``ncu``, read its output, and map its metrics to ours."""

from __future__ import annotations

import csv
import re
import subprocess
from dataclasses import dataclass

from warpwise.metrics import ABOUT

SECONDS = 150  # limit of one run under ncu
#: The counters that are compared -> their names in Nsight Compute.
METRICS = {name: about.nsight for name, about in ABOUT.items() if about.agrees}
NOT_PERMITTED = "ERR_NVGPUCTRPERM"
_UNKNOWN = re.compile(r"(?:Failed to find metric|Unknown metric|metric not found:?)\s+'?([\w.]+)")


class NcuError(Exception):
    """Nsight Compute returned no counters; the message is one line."""


@dataclass(frozen=True)
class Launch:
    """One profiled launch: the kernel's name as ncu prints it, and its metrics by ncu's names.

    A metric that is not available is None.
    """

    kernel: str
    values: dict[str, float | None]


def profiled(program: list[str], ncu: str = "ncu") -> list[Launch]:
    """Run a program under ncu and return its launches in order.

    Metrics that this ncu does not know are left out. Raises NcuError if ncu is missing, is not
    permitted to read the counters, or fails.
    """
    options = "--clock-control none --csv --page raw --print-units base --metrics".split()
    wanted = list(METRICS.values())
    while wanted:
        done = _finished([ncu, *options, ",".join(wanted), *program])
        unknown = [name for name in _UNKNOWN.findall(done.stdout) if name in wanted]
        if not unknown or done.returncode == 0:
            return _launches(done)
        wanted = [name for name in wanted if name not in unknown]
    raise NcuError(f"{ncu} knows none of the metrics that are compared")


def _finished(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
    except OSError as error:
        advice = "install Nsight Compute, or put it on the PATH"
        raise NcuError(f"cannot run {command[0]} ({error.strerror}): {advice}") from error
    except subprocess.TimeoutExpired as error:
        raise NcuError(f"{command[0]} was stopped after {SECONDS} seconds") from error


def _launches(done: subprocess.CompletedProcess[str]) -> list[Launch]:
    if NOT_PERMITTED in done.stdout:
        problem = f"the driver lets only administrators read counters ({NOT_PERMITTED})"
        raise NcuError(f"{problem}: run as root, or see developer.nvidia.com/{NOT_PERMITTED}")
    found = read_csv(done.stdout)
    if not found:
        said = [line.strip() for line in done.stdout.splitlines() if line.strip()] or ["nothing"]
        # warnings and the program's own output come after it
        errors = [line for line in said if line.startswith("==ERROR==")]
        problem = f"ncu profiled no launch (status {done.returncode})"
        raise NcuError(f"{problem}; it said: {[*errors, said[-1]][0]}")
    return found


def read_csv(text: str) -> list[Launch]:
    """Return the launches in the output of ``ncu --csv --page raw``, ignoring other text.

    The table begins with a line of column names, and a row of units, without an ID, follows it.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    table = [line for line in lines[start:] if line.startswith('"')]
    rows = [row for row in csv.DictReader(table) if (row["ID"] or "").isdigit()]
    return [
        Launch(row["Kernel Name"], {m: number(row[m]) for m in METRICS.values() if m in row})
        for row in rows
    ]


def number(text: str | None) -> float | None:
    """Parse ``1,024`` or ``12.5``; None for ``n/a`` and for an empty field."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def counters(launch: Launch) -> dict[str, float | None]:
    """Return a launch's values by our names, as shares where ours are shares."""
    values = {ours: launch.values.get(theirs) for ours, theirs in METRICS.items()}
    return {
        name: None if value is None else value / ABOUT[name].divisor
        for name, value in values.items()
    }


def matched(launches: list[Launch], functions: list[str]) -> list[Launch | None]:
    """Return the launch of each function, in order, skipping launches of other kernels."""
    rest, found = iter(launches), []
    for function in functions:
        found.append(next((launch for launch in rest if function in launch.kernel), None))
    return found
