"""The grader's side of a warm process, which was started once and forks for each job.

Its own side is ``inside/serve.py``: it has imported what its jobs need."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import BufferedReader, FileIO
from typing import cast

from warpwise.errors import GradingError
from warpwise.grading import watch
from warpwise.grading.inside.serve import ENDED, READY

# on a busy machine: neither is a limit on what students do
START_SECONDS, END_SECONDS = 300, 100
LEAVE_SECONDS = 0.5
# unix(7), struct ucred: process, user and group number of the sender
CREDENTIALS = struct.Struct("3i")
PASS_CREDENTIALS, SENT_CREDENTIALS = 16, 2  # SO_PASSCRED, SCM_CREDENTIALS


class Broken(GradingError):
    """A warm process did not start, or ended."""


class Warm:
    """A warm process, for one job at a time; raises Broken when it is of no more use.

    ``header`` makes what the header of each job holds beside what is given for the job. The first
    ``waiting`` processes of a job, parent and child, only wait for the one that does it."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        header: Callable[[], Mapping[str, object]] = dict,
        waiting: int = 0,
    ):
        self.header, self.waiting = header, waiting
        self.control, theirs = socket.socketpair()
        self.control.setsockopt(socket.SOL_SOCKET, PASS_CREDENTIALS, 1)
        with theirs:
            self.process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=env,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self.chatter = cast(BufferedReader, self.process.stderr)
        self.broken = False
        self.control.settimeout(START_SECONDS)
        if self._heard(1) != READY:
            said = self.chatter.read1().decode("utf-8", "replace").strip().splitlines()
            self.close()
            raise Broken(f"a warm process did not start: {said[-1] if said else 'it said nothing'}")

    def run(
        self, job: bytes, limits: watch.Limits, header: Mapping[str, object] | None = None
    ) -> watch.Finished:
        """Run one job in a fork of its own."""
        self.broken = True  # until the fork's end is known
        result, chatter = os.pipe(), os.pipe()
        try:
            with watch.as_file(job) as given:
                files = [given.fileno(), result[1], chatter[1]]
                told = {**self.header(), **(header or {})}
                socket.send_fds(self.control, [json.dumps(told).encode()], files)
            pid = self._started()
        except OSError as error:
            os.close(result[0])
            os.close(chatter[0])
            raise Broken(f"a warm process ended: {error}") from error
        finally:
            os.close(result[1])
            os.close(chatter[1])
        ends = [os.fdopen(pipe[0], "rb", 0) for pipe in (result, chatter)]
        return watch.follow(_Fork(self, pid, *ends), limits)

    def close(self) -> None:
        """End the process, with all that it started."""
        self.control.close()
        watch.kill_descendants(self.process.pid)
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.chatter.close()

    def ended(self, seconds: float) -> tuple[int, float] | None:
        """Return the fork's exit status and CPU seconds, if it ends within so many seconds."""
        if not select.select([self.control], [], [], seconds)[0]:
            return None
        said = self._heard(ENDED.size)
        if len(said) < ENDED.size:
            raise Broken("a warm process ended")
        self.broken = False
        exit, cpu_seconds = ENDED.unpack(said)
        return exit, cpu_seconds

    def _started(self) -> int:
        """Return the process number, as seen here, of the fork, which writes one byte."""
        byte, told, _, _ = self.control.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size))
        for level, kind, content in told:
            if byte and (level, kind) == (socket.SOL_SOCKET, SENT_CREDENTIALS):
                return int(CREDENTIALS.unpack(content)[0])
        raise Broken("a warm process ended")

    def _heard(self, count: int) -> bytes:
        said = b""
        with suppress(OSError):
            while len(said) < count and (piece := self.control.recv(count - len(said))):
                said += piece
        return said


class _Fork:
    """A fork of a warm process, as ``watch`` follows it."""

    def __init__(self, warm: Warm, pid: int, stdout: FileIO, stderr: FileIO):
        self.warm, self.pid, self.waiting = warm, pid, warm.waiting
        self.stdout: watch.Pipe = stdout
        self.stderr: watch.Pipe = stderr

    def end(self, stopped: str) -> tuple[int, float]:
        """End the fork. With a room's first process, a descendant, all of the room ends."""
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
