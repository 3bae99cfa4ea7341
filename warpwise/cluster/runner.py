"""The runner: lets the programs of all ranks take turns, and keeps the log.

In each round every rank has its turn, by number: its collectives go on as far as they can, and its
program until it waits for what is not done. So a run is the same each time."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, overload

from warpwise.cluster.collectives import ALL_REDUCE
from warpwise.cluster.communicator import Communicator
from warpwise.cluster.engines.job import Job
from warpwise.cluster.engines.outcome import Outcome
from warpwise.cluster.engines.start import run_on
from warpwise.cluster.record import Record
from warpwise.cluster.rewritten import call
from warpwise.cluster.sites import note_rank
from warpwise.cluster.state import Run
from warpwise.cluster.stuck import stuck
from warpwise.cluster.tasks import Rewritten, Stacked, Task, Yielding
from warpwise.cluster.topology import Topology, usual
from warpwise.cluster.transfers import Transfers
from warpwise.cuda.redirected import Asked
from warpwise.devices import H100, Device, known
from warpwise.errors import LaunchError


@overload
def run(
    program: Callable[..., Any],
    ranks: int,
    *args: Any,
    each: Sequence[Sequence[Any]] = ...,
    topology: Topology | None = ...,
    device: Device | str = ...,
    algorithm: str = ...,
    engine: None = None,
    timeout: float = ...,
) -> Record: ...


@overload
def run(
    program: Callable[..., Any],
    ranks: int,
    *args: Any,
    each: Sequence[Sequence[Any]] = ...,
    topology: Topology | None = ...,
    device: Device | str = ...,
    algorithm: str = ...,
    engine: str,
    timeout: float = ...,
) -> Outcome: ...


def run(
    program: Callable[..., Any],
    ranks: int,
    *args: Any,
    each: Sequence[Sequence[Any]] = (),
    topology: Topology | None = None,
    device: Device | str = H100,
    algorithm: str = "ring",
    engine: str | None = None,
    timeout: float = 60.0,
) -> Record | Outcome:
    """Run ``program(dist, *args)`` for each rank, and return the record of all.

    ``program``: a function of the rank's ``Communicator``, which has ``torch.distributed``'s names,
    and of ``args``. ``ranks``: how many. ``args``: each rank has copies of its own. ``each``: for
    each rank, further arguments for it alone. ``topology``: one of that many ranks; by default
    NVLink for up to eight, and nodes of eight beyond. ``device``: the GPU whose peaks give the
    kernels' times. ``algorithm``: of ``all_reduce``, "ring", "tree" or "doubling".
    ``engine``: None simulates; "mpi" or "gloo" runs each rank in a process of its own, with the
    same results but without a trace, so ``topology`` is ignored. ``timeout``: seconds after
    which a rank of an engine gives up if nothing comes to it.

    Raises LaunchError for arguments that cannot be, ClusterError and those below it for mistakes
    among the ranks, and whatever else a program raises, with a note that names its rank."""
    if not isinstance(ranks, int) or ranks < 1:
        raise LaunchError(f"a cluster has one rank or more, not {ranks!r}")
    if algorithm not in ALL_REDUCE:
        raise LaunchError(f"algorithm is one of {', '.join(ALL_REDUCE)}, not {algorithm!r}")
    if each and len(each) != ranks:
        raise LaunchError(f"each has arguments of {len(each)} ranks, and {ranks} run")
    for rank, own in enumerate(each):
        if not isinstance(own, Iterable) or isinstance(own, str):
            kind = type(own).__name__
            raise LaunchError(
                f"each[{rank}] is a list or tuple of arguments, such as (x,), not {kind}"
            )
    if not isinstance(timeout, Real) or not timeout > 0:
        raise LaunchError(f"timeout is {timeout!r}; it has to be seconds, above 0")
    if engine is not None:
        options = {"device": known(device), "algorithm": algorithm, "timeout": timeout}
        return run_on(engine, ranks, Job(program, args, each, options, sys.argv))
    topology = usual(ranks, device) if topology is None else topology
    if not isinstance(topology, Topology):
        made = getattr(topology, "__name__", "")
        kind = f"the function {made}" if made else repr(topology)
        raise LaunchError(
            f"topology is {kind}; it is what a call returns, such as cluster.nodes({ranks})"
        )
    if topology.ranks != ranks:
        raise LaunchError(f"{topology.name} joins {topology.ranks} ranks, and {ranks} run")
    state = Run(ranks, known(device), algorithm)
    everyone = [Communicator(state, rank) for rank in range(ranks)]
    running = {one._rank: one._transfers for one in everyone}
    tasks: list[Task] = []
    try:
        for rank, one in enumerate(everyone):
            given = copy.deepcopy((*args, *(each[rank] if each else ())))
            called = functools.partial(program, one, *given)
            tasks.append(_task_of(called, one._transfers.launch))
            one._transfers.task = tasks[-1]
        _take_turns(state, running)
        state.boards.need_all()
    finally:
        for task in tasks:
            task.stop()
    results = tuple(task.result for task in tasks)
    return Record.of(state.log(), topology, results, tuple(state.register.notes.values()))


def _task_of(program: functools.partial[Any], take: Callable[[Asked], None]) -> Task:
    """Return the task of a program; ``take`` is handed its kernels' launches."""
    if inspect.isgeneratorfunction(program.func):
        return Yielding(program(), take)
    try:
        return Stacked(program, take)
    except RuntimeError:  # the system gives no threads
        return Rewritten(call(program), take)


def _take_turns(state: Run, running: dict[int, Transfers]) -> None:
    """Let all programs run to their ends. Raises DeadlockError if none can go on."""
    while running:
        moved = False
        for rank, one in list(running.items()):
            moved |= one.progress()
            if all(work.ready for work in one.task.blocked):
                moved = True
                _turn(one, rank)
                if one.task.ended:
                    one.need_waited()
                    del running[rank]
        if not moved:
            raise stuck(state, running)


def _turn(one: Transfers, rank: int) -> None:
    try:
        one.task.resume()
    except Exception as error:
        note_rank(error, rank)
        raise
