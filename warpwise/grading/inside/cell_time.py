"""Interrupt a cell of a notebook that has used up its processor time.

nbval's own limit counts wall time, of which a busy machine takes any amount."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

LOOK_SECONDS = 0.2


class CellTime:
    """A limit on the processor time of a cell. ``late`` is True of one that was interrupted."""

    def __init__(self, seconds: float):
        self.seconds, self.late = seconds, False
        self.kernel: int | None = None  #: the process number, while a cell runs
        self.begun = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def begin(self, kernel: int) -> None:
        self.late, self.begun = False, used(kernel)
        self.kernel = kernel

    def end(self) -> None:
        self.kernel = None

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            kernel = self.kernel
            if kernel is not None and used(kernel) - self.begun > self.seconds:
                self.late = True
                with suppress(OSError):
                    os.kill(kernel, signal.SIGINT)


def used(pid: int) -> float:
    """Return the seconds of processor time of a process and the children that it has collected."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # of proc(5), from the state
