"""The start of a run on an engine: processes of its own, or those of ``mpiexec`` or ``torchrun``.

Where a launcher has started this process, the run is joined: this process is one rank. Otherwise
as many processes are started here, and end with the run."""

from __future__ import annotations

import copy
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from warpwise.cluster.engines import gloo, mpi
from warpwise.cluster.engines.apart import Rank, StalledError
from warpwise.cluster.engines.job import DONE, FAILED, STALLED, Job, left, write_job
from warpwise.cluster.engines.outcome import Outcome
from warpwise.cluster.engines.wire import Transport
from warpwise.cluster.sites import note_rank
from warpwise.errors import ClusterError, DeadlockError, LaunchError

#: engine -> the modules that it needs
NEEDS = {"mpi": ("mpi4py", "cloudpickle"), "gloo": ("torch", "cloudpickle")}
WORKER = "warpwise.cluster.engines.worker"
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
#: by which launchers and libraries stay on this machine
LOCAL = {
    "HYDRA_LAUNCHER": "fork",
    "HYDRA_IFACE": LOOPBACK,
    "FI_TCP_IFACE": LOOPBACK,
    "GLOO_SOCKET_IFNAME": LOOPBACK,
}
#: MPICH's first forks, and listens at no port; the other listens at one for all addresses
LAUNCHERS = ("mpiexec.gforker", "mpiexec")
GRACE = 1.0  #: seconds in which other ranks may say where they wait
MOST = 4  #: ranks that an error names

Processes: TypeAlias = list[subprocess.Popen[str]]
Lines: TypeAlias = queue.SimpleQueue[tuple[str, str]]  #: "stdout" or "stderr", and a line
Left: TypeAlias = tuple[Any, ...]


def run_on(engine: str, ranks: int, job: Job) -> Outcome:
    """Run a program on an engine. Raises LaunchError where that is not installed."""
    if engine not in NEEDS:
        raise LaunchError(f"engine is one of {', '.join(NEEDS)}, not {engine!r}")
    missing = [name for name in NEEDS[engine] if find_spec(name) is None]
    if missing:
        raise LaunchError(
            f"engine {engine!r} needs {' and '.join(missing)}: pip install 'warpwise[{engine}]'"
        )
    if {"mpi": mpi, "gloo": gloo}[engine].started():
        return _joined(engine, ranks, job)
    with TemporaryDirectory(prefix="warpwise-ranks-") as name:
        folder = Path(name)
        write_job(folder, job)
        with _processes(engine, ranks, folder) as (processes, lines):
            found = _watch(folder, ranks, processes, lines)
            _need_all(found, ranks, processes)
    _show(lines)
    begins, ends = (tuple(one[place] for one in found.values()) for place in (2, 3))
    results = tuple(found[rank][1] for rank in range(ranks))
    return Outcome(engine, results, max(ends) - min(begins))


def _joined(engine: str, ranks: int, job: Job) -> Outcome:
    """Be one rank of a launcher's. An error is told, and ends all."""
    transport: Transport = mpi.Mpi() if engine == "mpi" else gloo.Gloo()
    if transport.ranks != ranks:
        said = f"the launcher has started {transport.ranks} processes, and {ranks} ranks run"
        raise LaunchError(said)
    try:
        rank = Rank(transport, **job.options)
        begin = time.monotonic()
        result = rank.call(job.program, *copy.deepcopy(job.arguments(transport.rank)))
        seconds = time.monotonic() - begin
        found = rank.gather((result, seconds))
        rank.close()
    except StalledError as error:
        deadlock = DeadlockError(str(error))
        transport.abort(deadlock)
        raise deadlock from None
    except Exception as error:
        note_rank(error, transport.rank)
        transport.abort(error)
        raise
    return Outcome(engine, tuple(one for one, _ in found), max(took for _, took in found))


def _commands(engine: str, ranks: int, folder: Path) -> list[list[str]]:
    worker = [sys.executable, "-m", WORKER, str(folder), engine]
    if engine == "gloo":
        return [[*worker, str(rank), str(ranks)] for rank in range(ranks)]
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = (shutil.which(name, path=places) for name in LAUNCHERS)
    launcher = next(filter(None, found), None)
    if launcher is None:
        raise LaunchError("engine 'mpi' needs mpiexec: pip install 'warpwise[mpi]'")
    return [[launcher, "-n", str(ranks), *worker]]


@contextmanager
def _processes(engine: str, ranks: int, folder: Path) -> Iterator[tuple[Processes, Lines]]:
    """Start the ranks' processes; give them and the queue of what they print. They end with it."""
    path = os.pathsep.join(one or os.getcwd() for one in sys.path)
    environment = {**os.environ, **LOCAL, "PYTHONPATH": path}
    processes: Processes = []
    lines: Lines = queue.SimpleQueue()
    readers = []
    try:
        for command in _commands(engine, ranks, folder):
            one = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            processes.append(one)
            for name in ("stdout", "stderr"):
                readers.append(threading.Thread(target=_read, args=(one, name, lines), daemon=True))
                readers[-1].start()
        yield processes, lines
    finally:
        for one in processes:
            _end(one)
        for reader in readers:
            reader.join(5)


def _read(process: subprocess.Popen[str], name: str, lines: Lines) -> None:
    with getattr(process, name) as printed:
        for line in printed:
            lines.put((name, line))


def _show(lines: Lines) -> None:
    while not lines.empty():
        name, line = lines.get()
        getattr(sys, name).write(line)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _watch(folder: Path, ranks: int, processes: Processes, lines: Lines) -> dict[int, Left]:
    """Return what ranks leave, when all have ended or some cannot go on; show what they print."""
    until = float("inf")
    while True:
        ended = None not in [one.poll() for one in processes]
        found = left(folder)
        _show(lines)
        kinds = {kind for kind, *_ in found.values()}
        whole = len(found) == ranks and kinds != {DONE}
        if STALLED in kinds or any(one.returncode for one in processes):
            until = min(until, time.monotonic() + GRACE)
        if ended or whole or FAILED in kinds or time.monotonic() > until:
            return found
        time.sleep(0.01)


def _need_all(found: dict[int, Left], ranks: int, processes: Processes) -> None:
    """Raise what a rank has raised, or what ended it."""
    for _, error, told in (one for one in found.values() if one[0] == FAILED):
        raise error from (RuntimeError(f"\n{told}") if told else None)
    for rank, one in enumerate(processes):
        if one.returncode and (rank not in found or len(processes) < ranks):
            who = f"rank {rank}" if len(processes) == ranks else "a rank"
            raise ClusterError(f"{who} ended without a result, with exit status {one.returncode}")
    stalled = [one for _, one in sorted(found.items()) if one[0] == STALLED]
    if stalled:
        also = [waits for _, _, waits in stalled[1:MOST]]
        raise DeadlockError("; ".join([stalled[0][1], *also]))
    if len(found) < ranks:
        raise ClusterError(f"{len(found)} of {ranks} ranks have left a result")
