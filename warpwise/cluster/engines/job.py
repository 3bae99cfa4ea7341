"""The job of a run's processes: a program and its arguments, and what each rank leaves, as files.

The program travels by value, so that it may stand in a notebook or in the script that is run."""

from __future__ import annotations

import io
import marshal
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from warpwise.cuda.kernels import SimulatedKernel
from warpwise.errors import LaunchError

JOB = "job.pickle"
#: what a rank leaves: its result, where it waits in vain, or an error
DONE, STALLED, FAILED = "done", "stalled", "failed"


class Job(NamedTuple):
    """What all ranks do. ``each``: further arguments by rank; ``options``: of ``apart.Rank``.

    ``command``: the command line of the script, which a program may look at."""

    program: Callable[..., Any]
    args: Sequence[Any]
    each: Sequence[Sequence[Any]]
    options: dict[str, Any]
    command: Sequence[str]

    def arguments(self, rank: int) -> tuple[Any, ...]:
        """Return the arguments of one rank."""
        return (*self.args, *(self.each[rank] if self.each else ()))


def write_job(folder: Path, job: Job) -> None:
    """Write a job. Raises LaunchError for what cannot be sent to another process."""
    import cloudpickle

    module = sys.modules.get(getattr(job.program, "__module__", ""), sys)
    apart = not module.__name__.startswith(("__main__", "warpwise", "sys"))
    if apart:
        cloudpickle.register_pickle_by_value(module)
    try:
        (folder / JOB).write_bytes(packed(tuple(job)))
    except (TypeError, pickle.PicklingError) as error:
        raise LaunchError(f"the program and its arguments cannot be sent: {error}") from error
    finally:
        if apart:
            cloudpickle.unregister_pickle_by_value(module)


def read_job(folder: Path) -> Job:
    """Read a job."""
    return Job(*pickle.loads((folder / JOB).read_bytes()))


def leave(folder: Path, rank: int, *what: Any) -> None:
    """Write what a rank leaves, whole or not at all."""
    try:
        data = packed(what)
    except Exception as error:
        kind = type(what[1]).__name__
        said = TypeError(f"rank {rank} leaves a {kind}, which cannot be sent: {error}")
        data = packed((FAILED, said, ""))
    path = folder / f"{rank}.part"
    path.write_bytes(data)
    path.rename(folder / f"{rank}.rank")


def left(folder: Path) -> dict[int, tuple[Any, ...]]:
    """Return what ranks have left so far, by rank."""
    paths = folder.glob("*.rank")
    return {int(path.stem): pickle.loads(path.read_bytes()) for path in paths}


def packed(thing: object) -> bytes:
    """Return anything pickled: kernels by value, and functions of scripts and notebooks."""
    from cloudpickle import Pickler
    from cloudpickle.cloudpickle import _PICKLE_BY_VALUE_MODULES as by_value

    class Packer(Pickler):  # type: ignore[misc] # cloudpickle brings no types
        def reducer_override(self, one: Any) -> Any:
            if isinstance(one, SimulatedKernel):
                home = one.function.__module__ if one.function else "__main__"
                if home == "__main__" or home in by_value:
                    return one.by_value()
            if isinstance(one, CodeType):  # with the file's name, for lines in messages
                return marshal.loads, (marshal.dumps(one),)
            return super().reducer_override(one)

    file = io.BytesIO()
    Packer(file).dump(thing)
    return file.getvalue()
