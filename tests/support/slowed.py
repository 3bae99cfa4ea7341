"""A machine that is busy with other things: programs here get only a part of the time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

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


@contextmanager
def crowded_core() -> Iterator[str]:
    """Keep a core busy in the block, and yield what a program does to want this core only, last.

    Each loop is a session of its own, for a system may share its time out by session. The test is
    skipped where the system does not count the time in the core's queue."""
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this system does not count the time in its queues")
    pin = f"import os\nos.sched_setaffinity(0, [{min(os.sched_getaffinity(0))}])\n"
    loop = f"{pin}parent = os.getppid()\nwhile os.getppid() == parent: pass"
    command = [sys.executable, "-c", loop]
    loops = [subprocess.Popen(command, start_new_session=True) for _ in range(4)]
    try:
        yield f"{pin}os.nice(10)\n"
    finally:
        for other in loops:
            other.kill()
            other.wait()


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)
