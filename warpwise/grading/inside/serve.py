"""Serve jobs from a process that has imported what they need, and forks for each one.

Nothing is imported twice, and nothing is shared. For each job a socket brings a header of JSON and
three open files: the job, the pipe for its result, the pipe for its chatter. Each fork sends one
byte, by which the grader learns its process number; at its end its exit status and CPU seconds are
sent back."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

READY, STARTED = b"r", b"s"
ENDED = struct.Struct("<qd")  #: exit status, CPU seconds
MOST_HEADER_BYTES = 1 << 16
PARENT_DEATH_SIGNAL = 1  # prctl(2), PR_SET_PDEATHSIG
Header = dict[str, Any]


def serve(number: int, prepare: Callable[[Header], None], play: Callable[[], None]) -> None:
    """Serve jobs from the socket with this number until it closes.

    ``prepare`` is called here, ``play`` in the fork."""
    die_with_parent()
    control = socket.socket(fileno=number)
    gc.collect()
    gc.freeze()  # so that memory shared with the forks stays shared
    control.sendall(READY)
    while True:
        header, files, _, _ = socket.recv_fds(control, MOST_HEADER_BYTES, 3)
        if not header:
            return
        prepare(json.loads(header))
        child = os.fork()
        if child == 0:
            _begin(control, files, play)
        for file in files:
            os.close(file)
        _, status, used = os.wait4(child, 0)
        exit = os.waitstatus_to_exitcode(status)
        control.sendall(ENDED.pack(exit, used.ru_utime + used.ru_stime))


def die_with_parent() -> None:
    """Be killed when the parent process ends. A change of user takes this back."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _begin(control: socket.socket, files: list[int], play: Callable[[], None]) -> None:
    status = 1
    try:
        die_with_parent()
        os.setsid()
        control.sendall(STARTED)
        control.close()
        for target, file in enumerate(files):
            os.dup2(file, target)
            os.close(file)
        play()
        sys.stdout.flush()
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
