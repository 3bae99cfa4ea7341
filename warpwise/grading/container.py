"""Keep student code apart in a container that is one submission's, started by root, where no namespaces can be made: on Gradescope.

Each run becomes a user that nobody else is, without a right to any of the grader's files, under the same limits and refused system
calls as in the sandbox. Against the sandbox it lacks a root of its own: student code sees the system's files, and what it leaves in
places where anybody may write goes with the container. So it is for one submission a container, and for host functions only.

    python -I -m warpwise.grading.container FOLDER      say whether this machine keeps student code from FOLDER
"""

from __future__ import annotations

import base64
import json
import os
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
from warpwise.grading import sandbox, seccomp, watch

END_SECONDS = 5.0
# Less than a container of 768 MB has, since what passes that ends the grader too.
MOST_BYTES = 320 << 20  #: resident, of all processes together
MOST_ADDRESSES = 640 << 20  #: bytes of address space, for each process
OPEN, CLOSED = 1, 2  # what a stranger finds
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
    """Raises GradingError unless student code runs here, and cannot look into ``folder``."""
    if os.geteuid() != 0:
        raise GradingError("this has to be started by root, who can become another user")
    call = {"args": [], "shapes": [[]], "several": False}
    text = STRANGER.format(folder=str(folder), open=OPEN, closed=CLOSED)
    job = {"text": text, "name": "look", "calls": [call], "stay_seconds": 0}
    done = sandbox.run(sandbox.FUNCTIONS, job, sandbox.CONTAINER)
    if done.result != b"q" + CLOSED.to_bytes(8, sys.byteorder):
        last_words = (done.chatter.strip().splitlines() or [f"{folder} is open to it"])[-1]
        raise GradingError(f"this machine cannot keep student code apart: {last_words}")


def run(part: sandbox.Part, job: bytes, limits: watch.Limits, uid: int) -> watch.Finished:
    """Play a part on a job as the user ``uid``, of whom nothing is running when this returns."""
    rules = base64.b64encode(seccomp.program(part.sockets)).decode()
    rlimits = part.rlimits | {"AS": min(part.rlimits["AS"], MOST_ADDRESSES)}
    own = {"rlimits": rlimits, "path": [sysconfig.get_path("purelib")], "uid": uid, "seccomp": rules}
    limits = replace(limits, memory_bytes=min(limits.memory_bytes, MOST_BYTES))
    command = [sys.executable, "-I", "-S", str(sandbox.INSIDE / "alone.py"), part.name, json.dumps(own)]
    with tempfile.TemporaryDirectory(prefix="warpwise-") as folder:
        os.chown(folder, uid, uid)
        try:
            return watch.run(command, job, limits, env=sandbox.ENVIRONMENT | {"HOME": folder}, cwd=folder)
        finally:
            end(uid)


def end(uid: int) -> None:
    """End every process of a user. Raises GradingError if one goes on: then nothing that comes after can be believed."""
    until = time.monotonic() + END_SECONDS
    while found := list(processes(uid)):
        if time.monotonic() > until:
            raise GradingError("a process of the submission cannot be ended")
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def processes(uid: int) -> Iterator[int]:
    """The living processes of a user. Those that have ended and wait to be collected are none.

    The owner of a folder in /proc does not tell: a process can make it root's.
    """
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
