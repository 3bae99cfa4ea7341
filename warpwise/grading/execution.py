"""Where submissions are graded: in this process, in several here, or on a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwise.errors import GradingError
from warpwise.grading import material, sandbox
from warpwise.grading.grader import Grader, Task
from warpwise.grading.layouts import Submission
from warpwise.grading.material import Material
from warpwise.grading.record import Record

if TYPE_CHECKING:  # Dask takes long to import, and most runs need none
    from warpwise.grading.cluster import Tls


@dataclass(frozen=True)
class Execution:
    """A run's place of execution: this process, ``jobs`` local ones, or a Dask cluster.

    ``shard`` is ``(i, n)``, to grade the i-th of n parts, counted from 1. With ``gpu``, this
    machine's GPU runs the kernels that pass, one at a time."""

    jobs: int = 1
    scheduler: str | None = None
    tls: Tls | None = None
    shard: tuple[int, int] = (1, 1)
    gpu: bool = False

    def __post_init__(self) -> None:
        i, n = self.shard
        if not 1 <= i <= n:
            raise GradingError(f"there is no shard {i}/{n}; of {n} there are 1/{n} to {n}/{n}")
        if self.gpu and (self.jobs > 1 or self.scheduler):
            alone = "leave out --jobs and --scheduler, or grade shards on several machines"
            raise GradingError(f"--gpu times one kernel at a time: {alone}")

    def has(self, submission: Submission) -> bool:
        """True if a submission is in this part."""
        i, n = self.shard
        return int(hashlib.sha256(submission.file.encode()).hexdigest(), 16) % n == i - 1


@dataclass(frozen=True)
class Means:
    """What submissions are graded with: the labs' ``materials``, the ``seed``, and the sandbox.

    ``mode`` isolates student code; ``gpu`` is the name of the GPU, if kernels run on it too."""

    materials: Mapping[str, Material]
    seed: int
    mode: str
    gpu: str = ""

    def grader(self) -> Grader:
        return Grader(self.materials, self.mode, self.gpu)


def graded(
    means: Means, execution: Execution, tasks: Iterable[Task], count: int
) -> Iterator[tuple[Task, Record]]:
    """Grade so many submissions, and yield each as soon as it is done.

    Raises GradingError where the workers cannot be reached."""
    jobs, scheduler = execution.jobs, execution.scheduler
    if jobs <= 1 and not scheduler:
        with means.grader() as grader:
            for task in tasks:
                yield task, grader.record(task)
        return
    from warpwise.grading import cluster

    labs = {stem: m.lab for stem, m in means.materials.items()}
    files = {stem: material.files(m.course, stem) for stem, m in means.materials.items()}
    version = material.grader_version() if scheduler else ""
    kit = cluster.Kit(files, means.seed, means.mode == sandbox.NONE, version)
    tls = execution.tls or cluster.Tls()
    with cluster.connect(scheduler, tls) if scheduler else cluster.local_workers(jobs) as client:
        yield from cluster.graded(tasks, count, kit, client, labs)
