"""Whether this machine keeps student code apart: a few small attacks, run for real in the sandbox that grading would use.

Each trial is the body of a function that tries something and returns 1 if it could, 0 if not; or that would go on for ever, and must be
ended by a limit. What it may have done outside is looked at from outside. The thorough ones are in ``tests/attacks``; these take seconds.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from warpwise.errors import GradingError
from warpwise.grading import sandbox, watch
from warpwise.grading.warm import Broken, Warm

REFUSED = b"q" + (0).to_bytes(8, sys.byteorder)  #: the frame of a function that returns 0: see ``inside/functions.py``
MARK, SECRET = "WARPWISE_SELFTEST", "WARPWISE_SECRET"  # in the sandbox's environment, to know its processes by; in ours, to be looked for
SECONDS = 1.0  #: of CPU time, or of waiting, where a trial is to run into a limit
MOST_PROCESSES = sandbox.FUNCTIONS.rlimits["NPROC"]
# Two notebooks, one after the other: the first tries to connect, and leaves files and a process; the second looks for them.
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
assert not any(b"601" in open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline"))
""",
)


@dataclass(frozen=True)
class Trial:
    """Something that student code may try. ``stopped`` is the limit that must end it; without one it must find itself refused."""

    name: str
    body: str
    stopped: str = ""
    limits: watch.Limits = sandbox.FUNCTIONS.limits


@dataclass(frozen=True)
class Outcome:
    """How a trial came out; ``why`` says what was seen where it did not hold."""

    name: str
    held: bool
    seconds: float
    why: str = ""

    def __str__(self) -> str:
        why = f"\n{'':10}{self.why}" if self.why else ""
        return f"{'held' if self.held else 'NOT HELD':10}{self.name:58}{self.seconds:5.1f} s{why}"


TRIED = """
try:
    {what}
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
for pid in (-1, {bystander}, {grader}):
    try:
        os.kill(pid, 9)
    except OSError:
        pass
return 0
"""
CALLS = """
import ctypes
libc = ctypes.CDLL(None)
calls = (libc.unshare(0x10000000), libc.mount(b"x", b"/tmp", b"tmpfs", 0, None), libc.memfd_create(b"x", 0), libc.setns(0, 0))
return int(any(answer != -1 for answer in calls))
"""


@dataclass(frozen=True)
class Bait:
    """What there is to reach outside: a port that somebody listens on, a folder, a secret, a process, a name that no file has."""

    port: int
    folder: Path
    secret: str
    process: subprocess.Popen
    name: str

    @property
    def folders(self) -> list[str]:
        """Where nothing must be written."""
        return [str(self.folder), str(Path.home()), "/usr", "/etc", "/", "/var/tmp", os.getcwd(), str(Path(__file__).parent)]


def trials(bait: Bait) -> tuple[Trial, ...]:
    short = replace(sandbox.FUNCTIONS.limits, cpu_seconds=SECONDS)
    hidden = [str(bait.folder / "notes.txt"), "/etc/passwd", "/etc/hostname", str(Path(__file__).with_name("engine.py")), *_of_home()]
    writes = WRITES.format(folders=[*bait.folders, "/inside", "/site", "/dev", "/proc"], name=bait.name)
    return (
        Trial("network", TRIED.format(what=f"__import__('socket').create_connection(('127.0.0.1', {bait.port}), 5)")),
        Trial("reading your files, hidden tests and other submissions", READS_FOLDERS.format(paths=hidden)),
        Trial("reading the environment and command lines", READS_ENVIRONMENTS.format(secret=bait.secret)),
        Trial("seeing and tracing other processes", SEES_PROCESSES),
        Trial("writing outside of a small folder of its own", writes),
        Trial("filling the disk", FILLS),
        Trial("starting processes without end", FORKS.format(most=MOST_PROCESSES + 8)),
        Trial("leaving a process behind", STAYS),
        Trial("killing whatever it can", KILLS.format(bystander=bait.process.pid, grader=os.getpid())),
        Trial("system calls that lead out", CALLS),
        Trial("taking memory without end", "held = []\nwhile True:\n    held.append(bytearray(10_000_000))", "memory"),
        Trial("computing without end", "while True:\n    pass", "cpu", short),
        Trial("waiting without end", "import time\ntime.sleep(600)", "wall", replace(short, wall_seconds=SECONDS)),
        Trial("printing without end", "while True:\n    print('x' * 10_000)", "chatter"),
    )


def run(mode: str) -> Iterator[Outcome]:
    """Every trial, with the isolation that ``sandbox.isolation`` gave. Raises GradingError without one: trials do what they say."""
    if mode == sandbox.NONE:
        raise GradingError("the grader's trials run in a sandbox only")
    secret, mark = secrets.token_hex(8), secrets.token_hex(8)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="warpwise-selftest-")))
        (folder / "notes.txt").write_text(secret)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)
        process = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(process.kill)
        os.environ[SECRET], sandbox.ENVIRONMENT[MARK] = secret, mark
        stack.callback(lambda: (os.environ.pop(SECRET), sandbox.ENVIRONMENT.pop(MARK)))
        bait = Bait(listener.getsockname()[1], folder, secret, process, f"warpwise-{mark}")
        with ThreadPoolExecutor(2) as workers:
            notebooks = workers.submit(_of_notebooks, mode, bait.port)
            yield from workers.map(partial(_tried, mode=mode), trials(bait))
            yield notebooks.result()
        start = time.monotonic()
        seen = "; ".join(_traces(bait, listener, mark))
        yield Outcome("nothing of all this is left, nobody was hurt", not seen, time.monotonic() - start, seen)


def advice() -> tuple[str, ...]:
    """What to do on a machine where no sandbox starts, as far as it can be told from here."""
    switches = (
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    )
    if not _has_bubblewrap():
        return ("install bubblewrap: apt-get install bubblewrap, or dnf install bubblewrap; then run this again",)
    found = []
    for name, wrong, command in switches:
        with suppress(OSError):
            if (Path("/proc/sys") / name).read_text().strip() == wrong:
                found.append(f"allow user namespaces, as root: {command}")
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        flags = " ".join(f"--security-opt {option}=unconfined" for option in ("seccomp", "apparmor", "systempaths"))
        found.append(f"this is a container: start it with --cap-add SYS_ADMIN {flags}")
    return (*found, "or grade on another machine: Linux on a computer of your own, or a virtual one, is enough")


def _has_bubblewrap() -> bool:
    return any(os.access(os.path.join(folder, "bwrap"), os.X_OK) for folder in os.environ.get("PATH", "").split(os.pathsep))


def _tried(trial: Trial, mode: str) -> Outcome:
    lines = "".join(f"    {line}\n" for line in trial.body.strip().splitlines())
    call = {"args": [], "shapes": [[]], "several": False}
    start = time.monotonic()
    job = {"text": f"def f():\n{lines}", "name": "f", "calls": [call], "stay_seconds": 0}
    done = sandbox.run(sandbox.FUNCTIONS, job, mode, trial.limits)
    held = done.stopped == trial.stopped if trial.stopped else done.result == REFUSED
    seen = done.stopped or done.chatter.strip()[-100:] or f"status {done.exit}, {done.result[:20]!r}"
    return Outcome(trial.name, held, time.monotonic() - start, "" if held else f"it could, or ended otherwise than it should: {seen}")


def _of_notebooks(mode: str, port: int) -> Outcome:
    """The re-run of notebooks, which has sockets, in the warm process that serves one after another."""
    start = time.monotonic()
    try:
        warm = sandbox.warm(sandbox.NOTEBOOK, mode)
    except Broken:
        warm = None
    try:
        ran = [_cell(source.strip().replace("{port}", str(port)), mode, warm) for source in CELLS]
    finally:
        if warm:
            warm.close()
    why = "" if all(ran) else f"the {'second' if ran[0] else 'first'} of two notebooks ended with an error, or not at all"
    return Outcome("notebooks: the network, and what another one left", not why, time.monotonic() - start, why)


def _cell(source: str, mode: str, warm: Warm | None) -> bool:
    """Whether a notebook of one cell runs without an error."""
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": source, "outputs": [], "execution_count": 1}
    job = {"notebook": {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}, "cell_seconds": 10}
    done = warm.run(json.dumps(job).encode(), sandbox.NOTEBOOK.limits) if warm else sandbox.run(sandbox.NOTEBOOK, job, mode)
    return b'"passed": true' in done.result


def _traces(bait: Bait, listener: socket.socket, mark: str) -> Iterator[str]:
    with suppress(BlockingIOError):
        listener.accept()[0].close()
        yield "a connection came out"
    if any((Path(folder) / bait.name).exists() for folder in bait.folders):
        yield "a file was written outside"
    if bait.process.poll() is not None:
        yield "a process outside was killed"
    if left := list(_marked(mark)):
        yield f"processes are left: {', '.join(map(str, left))}"


def _marked(mark: str) -> Iterator[int]:
    """Processes of this run's sandboxes, known by a variable of their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                yield int(folder.name)


def _of_home() -> list[str]:
    """Something in the home folder, unless Python itself is below it."""
    kept = {Path(sys.prefix), Path(sys.base_prefix), *Path(sys.prefix).parents, *Path(sys.base_prefix).parents}
    with suppress(OSError):
        return [str(path) for path in Path.home().iterdir() if path not in kept][:5]
    return []
