"""PyTorch's gloo as an engine: bytes between the processes of ``torchrun``.

Its works do not say whether they are done, so each is waited for on a thread."""

from __future__ import annotations

import os
from datetime import timedelta
from threading import Thread
from typing import Any

import numpy as np

from warpwise.cluster.engines.wire import Done, GoneError

FOREVER = timedelta(days=30)  #: how long to wait is decided above
#: what torchrun says to a process that it has started
SAID = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def started() -> bool:
    """Return whether torchrun, or what does the same, has started this process."""
    return all(name in os.environ for name in SAID)


class Gloo:
    """The processes of one process group. See ``wire.Transport``."""

    def __init__(self, store: str | None = None, rank: int = -1, ranks: int = -1) -> None:
        import torch
        import torch.distributed as dist

        self.tensor, self.dist = torch.from_numpy, dist
        self.opened = not dist.is_initialized()
        if self.opened:
            dist.init_process_group(
                "gloo", init_method=store, timeout=FOREVER, rank=rank, world_size=ranks
            )
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()

    def send(self, data: np.ndarray, to: int, tag: int) -> Done:
        """Start to send."""
        return Followed(self.dist.isend(self.tensor(data), to, tag=tag))

    def receive(self, room: np.ndarray, sender: int, tag: int) -> Done:
        """Start to receive."""
        return Followed(self.dist.irecv(self.tensor(room), sender, tag=tag))

    def close(self) -> None:
        """Leave the others."""
        if self.opened:
            self.dist.destroy_process_group()

    def abort(self, error: Exception) -> None:
        """Do nothing: torchrun ends all processes when one fails."""


class Followed:
    """A work of gloo's, followed on a thread. Raises GoneError if it fails."""

    def __init__(self, work: Any):
        self.work, self.failed = work, ""
        self.thread = Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _follow(self) -> None:
        try:
            self.work.wait()
        except RuntimeError as error:
            self.failed = str(error).partition("\n")[0]

    def __call__(self) -> bool:
        if self.failed:
            raise GoneError(f"the connection to another rank is gone: {self.failed}")
        return not self.thread.is_alive()
