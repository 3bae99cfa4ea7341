"""Run a command and end it, with everything it started, once it passes a limit.

Limits of the operating system hold for one process at a time: forty processes get forty times as
much. So the use of the whole tree is read from /proc while it runs: every POLL_SECONDS, and every
NEAR_SECONDS once more than half of the memory is in use. Files in a sandbox's memory count as
memory. CPU time decides: the wall limit, against what only waits, is PATIENCE times as long, and
time in which processes waited for a processor does not count, since a busy machine slows correct
submissions too. Nothing that the command writes is believed beyond its
length."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, cast

from warpwise.labs.limit import PATIENCE, counted, queued

POLL_SECONDS, NEAR_SECONDS = 0.05, 0.01
INODE_BYTES = 1024  #: what the kernel counts for a file in memory, beside its pages
IN_MEMORY = ("/tmp", "/dev/shm")  # of a sandbox
LEAVE_SECONDS = 0.5
CHUNK_BYTES = 1 << 16
#: exit statuses by which a sandbox says that a process passed a limit that it saw itself
OVER_CPU, OVER_MEMORY = 118, 119
OVER = {OVER_CPU: "cpu", OVER_MEMORY: "memory"}


@dataclass(frozen=True)
class Limits:
    """Limits on one command, with all its descendants."""

    cpu_seconds: float
    memory_bytes: int  #: resident at most, summed over the tree
    result_bytes: int  #: standard output, which carries results
    chatter_bytes: int = 1 << 20  #: standard error, which carries whatever student code prints
    patience: float = PATIENCE  #: wall seconds for each second of CPU time

    @property
    def wall_seconds(self) -> float:
        return self.patience * self.cpu_seconds


@dataclass(frozen=True)
class Finished:
    """A command's end.

    ``stopped`` is empty, or the limit that ended it: cpu, wall, memory, result or chatter."""

    result: bytes
    chatter: str
    exit: int
    stopped: str
    cpu_seconds: float
    wall_seconds: float


class Pipe(Protocol):
    """The readable end of a pipe."""

    def fileno(self) -> int: ...
    def close(self) -> None: ...


class Running(Protocol):
    """A process under watch: its number, what it writes, and how it is ended.

    It and its descendants, one below the other, are ``waiting`` for the one that does the work:
    their memory is what they shared with the process that forked them, and does not count."""

    pid: int
    waiting: int
    stdout: Pipe
    stderr: Pipe

    def end(self, stopped: str) -> tuple[int, float]:
        """End it with everything it started, and return exit status and CPU seconds.

        ``stopped`` is the limit it passed, if any."""


@dataclass
class _Use:
    """The use of the tree so far, as last seen."""

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    started: float = field(default_factory=time.monotonic)
    #: by process, gone ones too: a process that nobody collects is in no parent's time
    own_seconds: dict[int, float] = field(default_factory=dict)
    queued_seconds: dict[int, float] = field(default_factory=dict)

    def look(self, pid: int, waiting: int) -> None:
        seen = {p: _usage(p) for p in tree(pid)}
        for p, (own, _, _) in seen.items():
            self.own_seconds[p] = max(own, self.own_seconds.get(p, 0.0))
            self.queued_seconds[p] = max(queued(p), self.queued_seconds.get(p, 0.0))
        collected = sum(own + children for own, children, _ in seen.values())
        self.cpu_seconds = max(self.cpu_seconds, collected, sum(self.own_seconds.values()))
        working = list(seen.values())[waiting:]
        self.memory_bytes = sum(memory for _, _, memory in working) + _in_files(seen)

    def over(self, limits: Limits) -> str:
        if self.cpu_seconds > limits.cpu_seconds:
            return "cpu"
        if self.memory_bytes > limits.memory_bytes:
            return "memory"
        waited = counted(time.monotonic() - self.started, sum(self.queued_seconds.values()))
        return "wall" if waited > limits.wall_seconds else ""

    def pause(self, limits: Limits) -> float:
        """Return the seconds until the next look."""
        return NEAR_SECONDS if self.memory_bytes > limits.memory_bytes / 2 else POLL_SECONDS


@dataclass
class _Read:
    """A pipe and the bytes that were read from it, which may be some more than ``most_bytes``."""

    name: str
    pipe: Pipe
    most_bytes: int
    held: bytearray = field(default_factory=bytearray)

    def content(self) -> bytes:
        return bytes(self.held[: self.most_bytes])


def run(
    command: Sequence[str],
    stdin: bytes,
    limits: Limits,
    *,
    env: Mapping[str, str] | None = None,
    fds: Sequence[int] = (),
    cwd: str | None = None,
) -> Finished:
    """Run ``command`` to its end or to the first limit it passes.

    Its standard output is the result, its standard error chatter."""
    with as_file(stdin) as given:
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            pass_fds=tuple(fds),
            cwd=cwd,
            start_new_session=True,
        )
    return follow(_Command(process), limits)


def follow(running: Running, limits: Limits) -> Finished:
    """Read a process's output until it ends or passes a limit, and end it."""
    use, stopped = _Use(), "wall"
    result = _Read("result", running.stdout, limits.result_bytes)
    chatter = _Read("chatter", running.stderr, limits.chatter_bytes)
    try:
        stopped = _follow(running, (result, chatter), limits, use)
    finally:
        exit, cpu_seconds = running.end(stopped)
        running.stdout.close()
        running.stderr.close()
    seconds, cpu_seconds = time.monotonic() - use.started, max(cpu_seconds, use.cpu_seconds)
    stopped = stopped or OVER.get(exit, "")
    if not stopped and cpu_seconds > limits.cpu_seconds:  # it ended between two looks
        stopped = "cpu"
    said = chatter.content().decode("utf-8", "replace")
    return Finished(result.content(), said, exit, stopped, cpu_seconds, seconds)


@contextmanager
def as_file(content: bytes) -> Iterator[BinaryIO]:
    """Open a file in memory that holds ``content``, at its beginning, and cannot be changed."""
    with open(os.memfd_create("job", os.MFD_ALLOW_SEALING), "w+b") as file:
        file.write(content)
        file.seek(0)
        from fcntl import F_ADD_SEALS, F_SEAL_GROW, F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_WRITE, fcntl

        fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
        yield file


def _follow(running: Running, reads: Sequence[_Read], limits: Limits, use: _Use) -> str:
    """Read both pipes until all writers have gone or a limit is passed; return the limit."""
    with selectors.DefaultSelector() as ready:
        for read in reads:
            os.set_blocking(read.pipe.fileno(), False)
            ready.register(read.pipe, selectors.EVENT_READ, read)
        look_again = 0.0
        while ready.get_map():
            for key, _ in ready.select(use.pause(limits)):
                piece, read = os.read(key.fd, CHUNK_BYTES), key.data
                read.held += piece
                if not piece:
                    ready.unregister(key.fileobj)
                if len(read.held) > read.most_bytes:
                    return str(read.name)
            if time.monotonic() >= look_again:
                use.look(running.pid, running.waiting)
                look_again = time.monotonic() + use.pause(limits)
                if over := use.over(limits):
                    return over
    return ""


class _Command:
    """A command that this process started."""

    waiting = 0

    def __init__(self, process: subprocess.Popen[bytes]):
        self.process, self.pid = process, process.pid
        self.stdout, self.stderr = cast(Pipe, process.stdout), cast(Pipe, process.stderr)

    def end(self, stopped: str) -> tuple[int, float]:
        """Kill every descendant, the command and its process group, and collect it.

        The first process of a sandbox is among the descendants, and with it the kernel ends the
        whole process namespace; bubblewrap then collects it and goes by itself. Without a sandbox,
        a process that left the tree and the group can escape: this is what "not isolated" means.
        """
        descendants = kill_descendants(self.pid)
        if not (descendants and _leaves(self.pid)):
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        _, status, used = os.wait4(self.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, used.ru_utime + used.ru_stime


def kill_descendants(pid: int) -> list[int]:
    """Kill all living descendants of a process, the youngest first, and return their numbers."""
    descendants = list(tree(pid))[1:]
    for one in reversed(descendants):
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)
    return descendants


def _leaves(pid: int) -> bool:
    """True if a child ends within LEAVE_SECONDS. It stays to be collected."""
    until = time.monotonic() + LEAVE_SECONDS
    while time.monotonic() < until:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            return True
        time.sleep(0.005)
    return False


def tree(pid: int) -> Iterator[int]:
    """Yield a process and its living descendants, parents first; without /proc only itself."""
    yield pid
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in _read(f"/proc/{pid}/task/{task}/children").split():
                yield from tree(int(child))


def _usage(pid: int) -> tuple[float, float, int]:
    """Return CPU seconds, those of collected children, and the peak of bytes that are no file's.

    They are zero for a process that is gone. The peak counts, not the present use: it may have been
    between two looks. What a process has had written to swap counts too."""
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        status = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/status").splitlines())
        names = ("VmHWM", "VmSwap", "RssFile")
        most, swapped, of_files = (int(status[name].split()[0]) for name in names)  # KiB
    except (OSError, ValueError, KeyError):
        return 0.0, 0.0, 0
    # of proc(5), counted from the state
    own, children = (sum(map(int, fields[i : i + 2])) / os.sysconf("SC_CLK_TCK") for i in (11, 13))
    return own, children, max(0, 1024 * (most + swapped - of_files))


def _in_files(pids: Iterable[int]) -> int:
    """Return the bytes of files in memory that these processes can see and this one cannot."""
    held = {}
    for pid in pids:
        for folder in IN_MEMORY:
            with suppress(OSError):
                inside = f"/proc/{pid}/root{folder}"
                device, about = os.stat(inside).st_dev, os.statvfs(inside)
                if device != os.stat(folder).st_dev:
                    pages = (about.f_blocks - about.f_bfree) * about.f_frsize
                    held[device] = pages + (about.f_files - about.f_ffree) * INODE_BYTES
    return sum(held.values())


def _read(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()
