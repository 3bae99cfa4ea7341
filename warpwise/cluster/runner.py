"""The runner: lets the programs of all ranks take turns, and keeps the log.

In each round every rank has its turn, by number: its collectives go on as far as they can, and its
program until it waits for what is not done. So a run is the same each time."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

from warpwise.cluster.collectives import ALL_REDUCE
from warpwise.cluster.communicator import Communicator
from warpwise.cluster.record import Record
from warpwise.cluster.rewritten import call
from warpwise.cluster.state import Run
from warpwise.cluster.stuck import stuck
from warpwise.cluster.tasks import Rewritten, Stacked, Task, Yielding
from warpwise.cluster.topology import Topology, usual
from warpwise.cuda.redirected import Asked
from warpwise.devices import H100, Device, known
from warpwise.errors import ClusterError, LaunchError
from warpwise.messages import Rank, Words, message


def run(
    program: Callable[..., Any],
    ranks: int,
    *args: Any,
    topology: Topology | None = None,
    device: Device | str = H100,
    algorithm: str = "ring",
) -> Record:
    """Run ``program(dist, *args)`` for each rank, and return the record of all.

    ``program``: a function of the rank's ``Communicator``, which has ``torch.distributed``'s names,
    and of ``args``. ``ranks``: how many. ``args``: each rank has copies of its own. ``topology``:
    of so many ranks; without it NVLink for up to eight, and nodes of eight beyond. ``device``: the
    GPU on whose peaks the kernels' times are worked out. ``algorithm``: of ``all_reduce``, "ring",
    "tree" or "doubling".

    Raises LaunchError for arguments that cannot be, ClusterError and those below it for mistakes
    among the ranks, and what a program raises, with a note that names its rank."""
    if not isinstance(ranks, int) or ranks < 1:
        raise LaunchError(f"a cluster has one rank or more, not {ranks!r}")
    if algorithm not in ALL_REDUCE:
        raise LaunchError(f"algorithm is one of {', '.join(ALL_REDUCE)}, not {algorithm!r}")
    topology = topology or usual(ranks, device)
    if topology.ranks != ranks:
        raise LaunchError(f"{topology.name} joins {topology.ranks} ranks, and {ranks} run")
    state = Run(ranks, known(device), algorithm)
    everyone = [Communicator(state, rank) for rank in range(ranks)]
    try:
        for one in everyone:
            mine = functools.partial(program, one, *copy.deepcopy(args))
            one._task = _task_of(mine, one._launch)
        _take_turns(state, dict(enumerate(everyone)))
        state.boards.need_all()
    finally:
        for one in everyone:
            if hasattr(one, "_task"):
                one._task.stop()
    results = tuple(one._task.result for one in everyone)
    return Record.of(state.log(), topology, results, tuple(state.register.notes.values()))


def _task_of(program: functools.partial[Any], take: Callable[[Asked], None]) -> Task:
    """Return the task of a program; ``take`` is handed its kernels' launches."""
    if inspect.isgeneratorfunction(program.func):
        return Yielding(program(), take)
    try:
        return Stacked(program, take)
    except RuntimeError:  # the system gives no threads
        return Rewritten(call(program), take)


def _take_turns(state: Run, running: dict[int, Communicator]) -> None:
    """Let all programs run to their ends. Raises DeadlockError if none can go on."""
    while running:
        moved = False
        for rank, one in list(running.items()):
            moved |= one._progress()
            if all(work.ready for work in one._task.blocked):
                moved = True
                _turn(one, rank)
                if one._task.ended:
                    _check_end(one, rank)
                    del running[rank]
        if not moved:
            raise stuck(state, running)


def _turn(one: Communicator, rank: int) -> None:
    try:
        one._task.resume()
    except Exception as error:
        error.add_note(f"in rank {rank} of a cluster")
        raise


def _check_end(one: Communicator, rank: int) -> None:
    """Raise ClusterError if a program ended without a wait."""
    for work in one._works:
        what = message(
            "{rank} ends and has not waited for its {word} at {site}: {advice}",
            rank=Rank(rank),
            word=Words(work.in_use.word),
            site=Words(work.in_use.site),
            advice=Words(one._task.advice),
        )
        raise ClusterError(what)
