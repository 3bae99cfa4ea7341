"""The grader's side of a warm process: it was started once, has imported what its jobs need, and forks for each (``inside/serve.py``)."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

from warpwise.errors import GradingError
from warpwise.grading import watch
from warpwise.grading.inside.serve import ENDED, READY

START_SECONDS = 60
LEAVE_SECONDS = 0.5
END_SECONDS = 10
CREDENTIALS = struct.Struct("3i")  # unix(7), struct ucred: process, user and group number of who wrote
PASS_CREDENTIALS, SENT_CREDENTIALS = 16, 2  # SO_PASSCRED, SCM_CREDENTIALS


class Broken(GradingError):
    """A warm process did not start, or ended."""


class Warm:
    """A warm process. One job at a time; raises Broken when it is of no more use."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]):
        self.control, theirs = socket.socketpair()
        self.control.setsockopt(socket.SOL_SOCKET, PASS_CREDENTIALS, 1)
        with theirs:
            whole = [*command, str(theirs.fileno())]
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            self.process = subprocess.Popen(whole, **quiet, env=env, pass_fds=(theirs.fileno(),), start_new_session=True)
        self.broken = False
        self.control.settimeout(START_SECONDS)
        if self._heard(1) != READY:
            said = self.process.stderr.read1().decode("utf-8", "replace").strip().splitlines()
            self.close()
            raise Broken(f"a warm process did not start: {said[-1] if said else 'it said nothing'}")

    def run(self, job: bytes, limits: watch.Limits, header: Mapping[str, object] | None = None) -> watch.Finished:
        """What one job comes to, in a fork of its own."""
        self.broken = True  # until it is told how the fork ended
        result, chatter = os.pipe(), os.pipe()
        try:
            with watch.as_file(job) as given:
                files = [given.fileno(), result[1], chatter[1]]
                socket.send_fds(self.control, [json.dumps(header or {}).encode()], files)
            pid = self._started()
        except OSError as error:
            os.close(result[0])
            os.close(chatter[0])
            raise Broken(f"a warm process ended: {error}") from error
        finally:
            os.close(result[1])
            os.close(chatter[1])
        return watch.follow(_Fork(self, pid, os.fdopen(result[0], "rb", 0), os.fdopen(chatter[0], "rb", 0)), limits)

    def close(self) -> None:
        """End it, with all that it started."""
        self.control.close()
        watch.kill_descendants(self.process.pid)
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def ended(self, seconds: float) -> tuple[int, float] | None:
        """Exit status and CPU seconds of the fork, if it ends within so many seconds."""
        if not select.select([self.control], [], [], seconds)[0]:
            return None
        said = self._heard(ENDED.size)
        if len(said) < ENDED.size:
            raise Broken("a warm process ended")
        self.broken = False
        return ENDED.unpack(said)

    def _started(self) -> int:
        """The number that the fork, which writes one byte, has here."""
        byte, told, _, _ = self.control.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
        for level, kind, content in told:
            if byte and (level, kind) == (socket.SOL_SOCKET, SENT_CREDENTIALS):
                return CREDENTIALS.unpack(content)[0]
        raise Broken("a warm process ended")

    def _heard(self, count: int) -> bytes:
        said = b""
        with suppress(OSError):
            while len(said) < count and (piece := self.control.recv(count - len(said))):
                said += piece
        return said


class _Fork:
    """A fork of a warm process, as ``watch`` follows it."""

    def __init__(self, warm: Warm, pid: int, stdout: BinaryIO, stderr: BinaryIO):
        self.warm, self.pid, self.stdout, self.stderr = warm, pid, stdout, stderr

    def end(self, stopped: str) -> tuple[int, float]:
        """The first process of a room is among the descendants: with it the kernel ends the whole room."""
        found = None if stopped else self.warm.ended(LEAVE_SECONDS)
        if found is None:
            watch.kill_descendants(self.pid)
            found = self.warm.ended(LEAVE_SECONDS)
        if found is None:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            found = self.warm.ended(END_SECONDS)
        if found is None:
            raise Broken("a warm process does not end its job")
        return found
