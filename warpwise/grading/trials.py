"""The small attacks that ``selftest`` runs in the sandbox.

Each is the body of a function that tries something and returns 1 if it could, 0 if not; or that
would go on for ever, and must be ended by a limit. More thorough ones are in
``tests/course/*/attacks``; these take seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from warpwise.grading import parts, watch

SECONDS = 1.0  #: of CPU time, or of waiting, where a trial is to run into a limit
MOST_PROCESSES = parts.FUNCTIONS.rlimits["NPROC"]
# Two notebooks, one after the other: the first tries to connect, and leaves files and a process;
# the second looks for them.
CELLS = (
    """
import os, socket, time
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=5)
except OSError:
    open("/tmp/left", "w").close()
    open("/dev/shm/left", "w").close()
    if os.fork() == 0:
        os.setsid()
        os.execlp("sleep", "sleep", "601")
else:
    raise SystemError
""",
    """
import glob, os
assert not os.path.exists("/tmp/left") and not os.path.exists("/dev/shm/left")
commands = [open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline")]
assert not any(b"sleep\\x00601" in command for command in commands)
""",
)


@dataclass(frozen=True)
class Trial:
    """An attack. ``stopped`` is the limit that must end it; without one it must be refused."""

    name: str
    body: str
    stopped: str = ""
    limits: watch.Limits = parts.FUNCTIONS.limits


@dataclass(frozen=True)
class Bait:
    """Things outside to reach: an open port, a folder, a secret, a process, a name of no file."""

    port: int
    folder: Path
    secret: str
    process: subprocess.Popen[bytes]
    name: str

    @property
    def folders(self) -> list[str]:
        """Folders where nothing must be written."""
        here = str(Path(__file__).parent)
        own = [str(self.folder), str(Path.home()), here]
        if os.getcwd() != "/tmp":  # where a sandbox has a folder of its own
            own.append(os.getcwd())
        return [*own, "/usr", "/etc", "/", "/var/tmp"]


def trials(bait: Bait) -> tuple[Trial, ...]:
    """Make the trials for this bait."""
    usual = parts.FUNCTIONS.limits
    short = replace(usual, cpu_seconds=SECONDS, patience=60)
    impatient = replace(short, patience=1)
    notes, engine = str(bait.folder / "notes.txt"), str(Path(__file__).with_name("engine.py"))
    read = READS_FOLDERS.format(
        paths=[notes, "/etc/passwd", "/etc/hostname", engine, *_in_home_folder()]
    )
    places = [*bait.folders, "/inside", "/site", "/dev", "/proc"]
    connect = CONNECTS.format(port=bait.port)
    told = READS_ENVIRONMENTS.format(secret=bait.secret)
    write = WRITES.format(folders=places, name=bait.name)
    fork = FORKS.format(most=MOST_PROCESSES + 8)
    kill = KILLS.format(bystander=bait.process.pid, grader=os.getpid())
    hoard = "held = []\nwhile True:\n    held.append(bytearray(10_000_000))"
    wait, chatter = "import time\ntime.sleep(600)", "while True:\n    print('x' * 10_000)"
    return (
        Trial("network", connect),
        Trial("reading your files, hidden tests and other submissions", read),
        Trial("reading the environment and command lines", told),
        Trial("seeing and tracing other processes", SEES_PROCESSES),
        Trial("writing outside of a small folder of its own", write),
        Trial("filling the disk", FILLS),
        Trial("starting processes without end", fork),
        Trial("leaving a process behind", STAYS),
        Trial("killing whatever it can", kill),
        Trial("system calls that lead out", CALLS),
        Trial("taking memory without end", hoard, "memory"),
        Trial("computing without end", "while True:\n    pass", "cpu", short),
        Trial("waiting without end", wait, "wall", impatient),
        Trial("printing without end", chatter, "chatter"),
    )


def _in_home_folder() -> list[str]:
    """Some paths in the home folder, unless Python itself is below it."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    kept = {*prefixes, *(parent for prefix in prefixes for parent in prefix.parents)}
    with suppress(OSError):
        return [str(path) for path in Path.home().iterdir() if path not in kept][:5]
    return []


CONNECTS = """
import socket
try:
    socket.create_connection(("127.0.0.1", {port}), 5)
except (OSError, ValueError):
    return 0
return 1
"""
READS_FOLDERS = """
import os
return int(any(os.path.exists(path) for path in {paths}))
"""
READS_ENVIRONMENTS = """
import glob, os
told = str(dict(os.environ)).encode()
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        told += open(path, "rb").read()
    except OSError:
        pass
return int({secret!r}.encode() in told)
"""
SEES_PROCESSES = """
import ctypes, glob
return int(len(glob.glob("/proc/[0-9]*")) > 4 or ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0)
"""
WRITES = """
import os
done = 0
for folder in {folders}:
    try:
        open(os.path.join(folder, {name!r}), "w").close()
        done = 1
    except OSError:
        pass
return done
"""
FORKS = """
import os, time
count = 0
while count < 200:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError:
        break
    count += 1
return int(count >= {most})
"""
FILLS = """
total = 0
for folder in ("/tmp", "/dev/shm"):
    try:
        for number in range(100):
            with open(f"{folder}/{number}", "wb") as file:
                total += file.write(bytes(1_000_000))
    except OSError:
        pass
return int(total > 80_000_000)
"""
STAYS = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(600)
    os._exit(0)
return 0
"""
KILLS = """
import os
own = os.getpid()  # in a container the grader's number may be as small
for pid in {{-1, {bystander}, {grader}}} - {{own}}:
    try:
        os.kill(pid, 9)
    except OSError:
        pass
return 0
"""
CALLS = """
import ctypes
libc = ctypes.CDLL(None)
calls = (
    libc.unshare(0x10000000),
    libc.mount(b"x", b"/tmp", b"tmpfs", 0, None),
    libc.memfd_create(b"x", 0),
    libc.setns(0, 0),
)
return int(any(answer != -1 for answer in calls))
"""
