"""Inside the sandbox: give up all rights, set the limits, then play a part.

    python -I -S start.py PART LIMITS < job
    python -I -S start.py PART LIMITS SOCKET      serve jobs, each in a fork with its own ``room``

PART is ``functions`` (call a student's host functions), ``notebook`` (re-run a notebook through
nbval) or ``compiler`` (compile a kernel). LIMITS is JSON. The job comes on standard input; standard
output carries the result and nothing else, so everything that is printed goes to standard error.
Only the standard library is used here: this folder is all that a host function could see of
Warpwise."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def confine(limits: dict[str, Any]) -> None:
    """Become the user ``limits["uid"]`` (if bubblewrap ran as root), then set resource limits.

    Processes are counted per user, and not at all for root: so the user changes first."""
    if "uid" in limits:
        become(limits["uid"])
    for name, value in limits["rlimits"].items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def become(uid: int) -> None:
    """Give up root for this user, and the group of the same number."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def stay_first(limits: dict[str, Any], end: Callable[[], None] = lambda: None) -> None:
    """As the first process of the sandbox, let a child do the work, and end with it.

    Then the kernel ends whatever the child left running. As the first process itself, student code
    would be immune to most signals. The kernel tells the most memory that the child, or one of its
    own, has held: nothing was between two looks then. ``end`` is called after the child's end."""
    child = os.fork()
    if child:
        _, status, used = os.wait4(child, 0)
        end()
        over = 1024 * used.ru_maxrss > limits["memory_bytes"]
        os._exit(limits["over_memory"] if over else os.waitstatus_to_exitcode(status) & 0xFF)


def main() -> None:
    part, limits, sockets = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    folders = [str(Path(__file__).resolve().parent), *limits["path"]]
    if sockets:
        sys.path[:0] = folders
        serve_many(part, limits, int(sockets[0]))
        return
    confine(limits)
    if os.getpid() == 1:
        stay_first(limits)
    sys.path[:0] = folders
    play(part)


def serve_many(part: str, limits: dict[str, Any], number: int) -> None:
    """Import what the part needs, then fork for each job."""
    import room
    from serve import serve

    def in_a_room() -> None:
        room.enter(limits)
        play(part)

    import_module(part).warm()
    serve(number, limits.update, in_a_room)


def play(part: str) -> None:
    """Read the job, play the part, and end."""
    result = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    import_module(part).answer(json.loads(sys.stdin.buffer.read()), result)
    sys.stdout.flush()
    os._exit(0)  # ends threads and exit handlers that student code left behind


if __name__ == "__main__":
    main()
