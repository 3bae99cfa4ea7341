"""End a cell of a notebook that has used up its processor time.

What runs a notebook has a limit of its own, which counts wall time: a busy machine takes any
amount of that. Left out: the time of processes that a cell starts, until the kernel collects them.
"""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

import psutil

LOOK_SECONDS = 0.2


class CellTime:
    """A limit on the processor time of each cell, looked after in a thread of its own.

    A kernel over it is interrupted for ``grace`` seconds more of its time, if any, and killed then.
    ``late`` is True of a cell that passed the limit."""

    def __init__(self, seconds: float, grace: float = 0):
        self.seconds, self.grace = seconds, grace
        self.late, self.over = False, threading.Event()
        self.kernel: psutil.Process | None = None  #: while a cell runs
        self.begun = 0.0
        self.looks = threading.Thread(target=self._look, daemon=True)
        self.looks.start()

    def begin(self, kernel: int) -> None:
        """Let a cell begin in the kernel with this process number."""
        self.late = False
        with suppress(psutil.Error):  # it has ended
            running = psutil.Process(kernel)
            self.begun, self.kernel = _used(running), running

    def end(self) -> None:
        self.kernel = None

    def close(self) -> None:
        """Look no more."""
        self.over.set()
        self.looks.join()

    def _look(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            kernel = self.kernel
            if kernel is None:
                continue
            with suppress(psutil.Error):  # it has ended
                more = _used(kernel) - self.begun - self.seconds
                if more > 0:
                    self.late = True
                    kernel.send_signal(signal.SIGINT) if more < self.grace else kernel.kill()


def _used(process: psutil.Process) -> float:
    """Return the processor time of a process and of the children that it has collected."""
    return float(sum(process.cpu_times()[:4]))
