"""Isolate student code in a container that is one submission's, started by root: on Gradescope.

No namespaces can be made there. Each run becomes a user that nobody else is, without a right to any
of the grader's files, under the same limits and refused system calls as in the sandbox. Unlike the
sandbox it has no root of its own: student code sees the system's files, and what it leaves in
places where anybody may write goes with the container. So it is for one submission a container, and
for host functions only.

    python -I -m warpwise.grading.container FOLDER      check that student code cannot read FOLDER
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import parts, seccomp, watch

END_SECONDS = 60.0  # they are killed at once, but have to get a turn for it
# Less than a container of 768 MB has: beyond that the grader would be ended too.
MOST_BYTES = 320 << 20  #: resident, of all processes together
MOST_ADDRESSES = 640 << 20  #: bytes of address space, for each process
OPEN, CLOSED = 1, 2  # the folder, as a stranger finds it
STRANGER = """
import os

def look():
    try:
        os.listdir({folder!r})
    except PermissionError:
        return {closed} if os.getuid() else {open}
    return {open}
"""


def check(folder: Path) -> None:
    """Raise GradingError unless student code runs here, and cannot look into ``folder``."""
    if os.geteuid() != 0:
        raise GradingError("this has to be started by root, who can become another user")
    text = STRANGER.format(folder=str(folder), open=OPEN, closed=CLOSED)
    job = json.dumps(parts.one_call(text, "look")).encode()
    done = run(parts.FUNCTIONS, job, parts.FUNCTIONS.limits)
    if done.result != parts.integer_frame(CLOSED):
        last_words = (done.chatter.strip().splitlines() or [f"{folder} is open to it"])[-1]
        raise GradingError(f"this machine cannot isolate student code: {last_words}")


def run(part: parts.Part, job: bytes, limits: watch.Limits) -> watch.Finished:
    """Play a part on a job as a fresh user, of whom nothing is running when this returns."""
    uid = fresh_uid()
    # files would lie on the container's disk, which no limit counts
    rules = base64.b64encode(seccomp.program(part.sockets, files=False)).decode()
    rlimits = part.rlimits | {"AS": min(part.rlimits["AS"], MOST_ADDRESSES)}
    path = [sysconfig.get_path("purelib")]
    limits = replace(limits, memory_bytes=min(limits.memory_bytes, MOST_BYTES))
    own = parts.confinement(rlimits, limits) | {"path": path, "uid": uid, "seccomp": rules}
    command = [
        sys.executable,
        "-I",
        "-S",
        str(parts.INSIDE / "alone.py"),
        part.name,
        json.dumps(own),
    ]
    with tempfile.TemporaryDirectory(prefix="warpwise-") as folder:
        os.chown(folder, uid, uid)
        try:
            env = parts.ENVIRONMENT | {"HOME": folder}
            return watch.run(command, job, limits, env=env, cwd=folder)
        finally:
            end(uid)


def fresh_uid() -> int:
    """Draw a user number that no account and no other sandbox has: one of the upper half."""
    first, count = uids()
    return first + count // 2 + secrets.randbelow(count // 4)


def uids() -> tuple[int, int]:
    """Return the first user number that exists here, and their count: in containers a range."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    ranges = [[int(number) for number in line.split()] for line in lines]
    first, _, count = max(ranges, key=lambda r: r[2])
    return first, count


def end(uid: int) -> None:
    """End every process of a user.

    Raises GradingError if one goes on: then nothing that comes after can be believed."""
    until = time.monotonic() + END_SECONDS
    while found := list(processes(uid)):
        if time.monotonic() > until:
            raise GradingError("a process of the submission cannot be ended")
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def processes(uid: int) -> Iterator[int]:
    """Yield the living processes of a user, without those that have ended but are not collected.

    The owner of a folder in /proc is no evidence: a process can make it root's."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                lines = Path(entry.path, "status").read_text("ascii", "replace").splitlines()
                status = dict(line.split(":", 1) for line in lines)
                if str(uid) in status["Uid"].split() and status["State"].split()[0] not in "ZX":
                    yield int(entry.name)


if __name__ == "__main__":
    try:
        check(Path(sys.argv[1]))
    except GradingError as error:
        sys.exit(f"warpwise: {error}")
