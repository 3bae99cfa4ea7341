"""A machine that is busy with other things: programs here get only a part of the time."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import psutil

from warpwise.grading import watch

ROUND = 0.1  # seconds


def slowly(pid: int, part: float) -> None:
    """Let a process and its descendants run only ``part`` of the time, until it ends."""
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            stopped = list(watch.tree(pid))
            _signal(stopped, signal.SIGSTOP)
            time.sleep(ROUND * (1 - part))
            _signal(stopped, signal.SIGCONT)
            time.sleep(ROUND * part)


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
