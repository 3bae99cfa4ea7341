"""Nsight Compute: the metrics to compare, the command that collects them, and reading what it prints.

Names: Nsight Compute's documentation, "Metrics Reference" and the table that maps nvprof's names to its own.
"""

from __future__ import annotations

import csv
import re
import subprocess
from dataclasses import dataclass

WARP_SIZE = 32
SECONDS = 150  # of one run under ncu
#: Our counter -> Nsight Compute's.
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "warp_efficiency": "smsp__thread_inst_executed_per_inst_executed.ratio",
}
NOT_PERMITTED = "ERR_NVGPUCTRPERM"
_UNKNOWN = re.compile(r"(?:Failed to find metric|Unknown metric|metric not found:?)\s+'?([\w.]+)")


class NcuError(Exception):
    """Nsight Compute did not give counters; the message is one line that says why."""


@dataclass(frozen=True)
class Launch:
    """One profiled launch: the kernel's name as ncu prints it, and its metrics by Nsight Compute's names (None: not available)."""

    kernel: str
    values: dict[str, float | None]


def profiled(program: list[str], ncu: str = "ncu") -> list[Launch]:
    """Run a program under ncu and return its launches in order. A metric that this ncu does not know is left out.

    Raises NcuError where ncu is missing, may not read the counters, or fails.
    """
    wanted = list(METRICS.values())
    while wanted:
        command = [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(wanted)]
        try:
            done = subprocess.run(
                [*command, *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS
            )
        except OSError as error:
            raise NcuError(f"cannot run {ncu} ({error.strerror}): install Nsight Compute, or put it on the PATH") from error
        except subprocess.TimeoutExpired as error:
            raise NcuError(f"{ncu} was stopped after {SECONDS} seconds") from error
        unknown = [name for name in _UNKNOWN.findall(done.stdout) if name in wanted]
        if not unknown or done.returncode == 0:
            return _launches(done)
        wanted = [name for name in wanted if name not in unknown]
    raise NcuError(f"{ncu} knows none of the metrics that are compared")


def _launches(done: subprocess.CompletedProcess) -> list[Launch]:
    if NOT_PERMITTED in done.stdout:
        advice = f"run as root, or see developer.nvidia.com/{NOT_PERMITTED}"
        raise NcuError(f"the driver lets only administrators read counters ({NOT_PERMITTED}): {advice}")
    found = read_csv(done.stdout)
    if not found:
        said = [line.strip() for line in done.stdout.splitlines() if line.strip()] or ["nothing"]
        errors = [line for line in said if line.startswith("==ERROR==")]  # warnings and what the program prints come after it
        raise NcuError(f"ncu profiled no launch (status {done.returncode}); it said: {[*errors, said[-1]][0]}")
    return found


def read_csv(text: str) -> list[Launch]:
    """The launches in what ``ncu --csv --page raw`` printed: what it or the program said around the table does not matter.

    The table begins at the line that names the columns; a row of units, without an ID, follows it.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    table = [line for line in lines[start:] if line.startswith('"')]
    rows = [row for row in csv.DictReader(table) if (row["ID"] or "").isdigit()]
    return [Launch(row["Kernel Name"], {m: number(row[m]) for m in METRICS.values() if m in row}) for row in rows]


def number(text: str | None) -> float | None:
    """``1,024`` or ``12.5``; None for ``n/a`` and for nothing."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def counters(launch: Launch) -> dict[str, float | None]:
    """The launch's values by our names; warp efficiency as a share of 32 lanes."""
    values = {ours: launch.values.get(theirs) for ours, theirs in METRICS.items()}
    lanes = values["warp_efficiency"]
    return values | {"warp_efficiency": None if lanes is None else lanes / WARP_SIZE}


def matched(launches: list[Launch], functions: list[str]) -> list[Launch | None]:
    """For each function, in order, its launch; launches of other kernels between them are passed over."""
    rest, found = iter(launches), []
    for function in functions:
        found.append(next((launch for launch in rest if function in launch.kernel), None))
    return found
