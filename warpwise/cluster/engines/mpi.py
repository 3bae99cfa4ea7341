"""MPI as an engine: bytes between the processes of ``mpiexec``, by ``mpi4py``."""

from __future__ import annotations

import os
import sys
import traceback
from typing import cast

import numpy as np

from warpwise.cluster.engines.wire import HEADS, Done
from warpwise.errors import ClusterError

#: what launchers say to a process that they have started
SAID = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")


def started() -> bool:
    """Return whether an MPI launcher has started this process."""
    return any(name in os.environ for name in SAID)


class Mpi:
    """The processes of one ``mpiexec``. See ``wire.Transport``."""

    def __init__(self) -> None:
        from mpi4py import MPI  # starts MPI

        self.world = MPI.COMM_WORLD.Dup()
        self.rank, self.ranks = self.world.Get_rank(), self.world.Get_size()

    def send(self, data: np.ndarray, to: int, tag: int) -> Done:
        """Start to send; bytes that are no head wait until they are received."""
        start = self.world.Isend if tag == HEADS else self.world.Issend
        return cast(Done, start(data, to, tag).Test)

    def receive(self, room: np.ndarray, sender: int, tag: int) -> Done:
        """Start to receive."""
        return cast(Done, self.world.Irecv(room, sender, tag).Test)

    def close(self) -> None:
        """Leave the others."""
        self.world.Free()

    def abort(self, error: Exception) -> None:
        """Tell an error, a mistake among ranks in its one line, and end all processes."""
        if isinstance(error, ClusterError):
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        else:
            traceback.print_exception(error)
        sys.stderr.flush()
        self.world.Abort(1)
