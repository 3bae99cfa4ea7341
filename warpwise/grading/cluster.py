"""Grade submissions on Dask workers: processes of this machine, or a cluster's.

A cluster's machines need this package, of the same version, and a sandbox; the course's files are
sent to them. Dask's own messages are Python objects, and whoever can send one to a scheduler can
make it run code: so the workers of this machine use TLS with keys made for the run, and a cluster
should too. Student code cannot reach either, since its sandbox has no network."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import dask.config
from distributed import (
    Client,
    Future,
    LocalCluster,
    Security,
    WorkerPlugin,
    as_completed,
    get_worker,
)
from distributed.comm.core import CommClosedError

from warpwise.errors import GradingError
from warpwise.grading import material, sandbox, scratch
from warpwise.grading.grader import Grader, Task, failure, ungraded
from warpwise.grading.notebook import Cell, Notebook
from warpwise.grading.record import Record
from warpwise.grading.store import record
from warpwise.labs.source import Lab

MOST_TASKS = 10  #: in a message
AHEAD = 2  #: messages that a worker may have waiting
WAIT_SECONDS = 60
#: Dask's settings. By itself it looks at its own event loops, stacks and memory so often that two
#: workers and their scheduler take a tenth of a core doing nothing, and it keeps long logs: one has
#: the last thousand messages, and with them the submissions.
QUIET = {
    "distributed.admin.low-level-log-length": 0,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.log-length": 100,
    "distributed.admin.log-length": 1000,
    "distributed.worker.memory.monitor-interval": "10s",
    "distributed.worker.profile.enabled": False,
}
APART = (
    "the workers have another version of warpwise than this machine; install the same everywhere"
)
GONE = "the scheduler has gone; what was graded is kept: run the same command again"


@dataclass(frozen=True)
class Tls:
    """Files for a cluster's TLS, where Dask's settings do not name them."""

    ca_file: str | None = None
    certificate: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Kit:
    """Everything that a worker needs to grade, with a course's files by lab.

    ``version`` is the one that its grader must have, or empty."""

    files: Mapping[str, Mapping[str, str]]
    seed: int
    unsafe_local: bool
    version: str

    def write(self, folder: Path) -> dict[str, material.Material]:
        """Write the files below a folder, and read them as materials."""
        for files in self.files.values():
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
        return {stem: material.load(folder, stem, self.seed) for stem in self.files}


class Graders(WorkerPlugin):
    """A Dask worker's state for one run: a grader for each of its threads."""

    def __init__(self, kit: Kit):
        self.kit, self.name = kit, f"warpwise-{secrets.token_hex(8)}"

    def setup(self, worker: object) -> None:
        self.mine = threading.local()
        self.open: list[Grader] = []
        self.opened = ExitStack()
        self.folder = self.opened.enter_context(scratch.folder())

    def teardown(self, worker: object) -> None:
        for grader in self.open:
            grader.close()
        self.opened.close()

    def grader(self) -> Grader:
        """Return this thread's grader.

        Raises GradingError on a machine with another version, or that cannot isolate student code.
        """
        if not hasattr(self.mine, "grader"):
            if self.kit.version not in ("", material.grader_version()):
                raise GradingError(APART)
            mode = sandbox.NONE if self.kit.unsafe_local else sandbox.isolation()
            if mode != sandbox.NONE:
                sandbox.check_hidden({"the temporary folder": self.folder})
            folder = self.folder / str(threading.get_ident())
            self.mine.grader = Grader(self.kit.write(folder), mode)
            self.open.append(self.mine.grader)
        mine: Grader = self.mine.grader
        return mine


def work(name: str, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Grade some tasks on a worker, with the plugin of this name. In and out go plain values."""
    grader = get_worker().plugins[name].grader()  # type: ignore[attr-defined]  # a Graders
    return [asdict(grader.record(_task(fields))) for fields in tasks]


@contextmanager
def local_workers(jobs: int) -> Iterator[Client]:
    """Start worker processes on this machine, one job each."""
    workers = {"n_workers": jobs, "threads_per_worker": 1, "memory_limit": 0}
    quiet = {"dashboard_address": None, "silence_logs": 50}
    safe = {"security": Security.temporary(), "protocol": "tls://"}
    with (
        dask.config.set(QUIET),
        LocalCluster(**workers, **quiet, **safe) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def connect(address: str, tls: Tls) -> Iterator[Client]:
    """Connect to a running cluster. Raises GradingError if nobody answers, or no worker comes."""
    names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
    named = dict(zip(names, (tls.ca_file, tls.certificate, tls.key), strict=True))
    files = {name: file for name, file in named.items() if file}
    security = Security(require_encryption=address.startswith("tls:"), **files)
    try:
        with dask.config.set(QUIET):
            client = Client(address, security=security, timeout=WAIT_SECONDS)
        client.wait_for_workers(1, timeout=WAIT_SECONDS)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise GradingError(f"no worker answers at {address}: {error}") from error
    with client:
        yield client


def graded(
    tasks: Iterable[Task], count: int, kit: Kit, client: Client, labs: Mapping[str, Lab]
) -> Iterator[tuple[Task, Record]]:
    """Yield each of ``count`` tasks with its record, as they come.

    A worker that ends costs nothing: its tasks go to another. Raises GradingError if the workers
    cannot grade at all, or the scheduler ends."""
    plugin = Graders(kit)
    try:
        client.register_plugin(plugin)
        yield from _gathered(_Sender(client, plugin.name, iter(tasks), count), labs)
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise GradingError(GONE) from error
    finally:
        if client.status == "running":
            client.unregister_worker_plugin(plugin.name)


class _Sender:
    """Sends tasks in messages of a few, the last of one each.

    It does not send far ahead, so that they are not all in memory."""

    def __init__(self, client: Client, name: str, tasks: Iterator[Task], count: int):
        self.client, self.name, self.tasks, self.left = client, name, tasks, count
        self.sent: dict[Future[Any], list[Task]] = {}

    def start(self) -> list[Future[Any]]:
        """Send the first messages."""
        return [future for _ in range(AHEAD * self._workers()) for future in self.next()]

    def next(self) -> list[Future[Any]]:
        """Send one more message, if there are tasks left."""
        fair = self.left // (2 * AHEAD * self._workers())
        some = list(islice(self.tasks, max(1, min(MOST_TASKS, fair))))
        self.left -= len(some)
        return [self.send(some)] if some else []

    def _workers(self) -> int:
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def send(self, tasks: list[Task]) -> Future[Any]:
        future = self.client.submit(work, self.name, [asdict(task) for task in tasks], pure=False)
        self.sent[future] = tasks
        return future


def _gathered(sender: _Sender, labs: Mapping[str, Lab]) -> Iterator[tuple[Task, Record]]:
    coming = as_completed(sender.start())
    for future in coming:
        tasks, error = sender.sent.pop(future), future.exception()
        if isinstance(error, GradingError):
            raise error
        if error is None:
            yield from zip(tasks, map(record, future.result()), strict=True)
        elif len(tasks) > 1:  # workers ended over and over: which of these is to blame?
            coming.update([sender.send([task]) for task in tasks])
        else:
            [task] = tasks
            results = tuple(ungraded(labs.get(task.record.lab)))
            yield task, replace(task.record, problem=failure(error), results=results)
        coming.update(sender.next())


def _task(fields: dict[str, Any]) -> Task:
    notebook, read = None, fields["notebook"]
    if read:
        cells = tuple(Cell(**cell) for cell in read["cells"])
        notebook = Notebook(**read | {"cells": cells})
    return Task(record(fields["record"]), fields["key"], notebook)
