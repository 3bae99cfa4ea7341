"""All ways in which a host function can hold bytes, and what limits each.

A place is counted: more than the budget there ends the call for its memory. Or it is small: it
holds about a megabyte for a process, however much is tried. Or it is refused."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from textwrap import dedent, indent

import pytest
from support import rooms
from support.share import THOROUGH

from warpwise.grading import parts, watch

pytestmark = pytest.mark.usefixtures("closed_rooms")

MB = 1 << 20
BUDGET = replace(parts.FUNCTIONS.limits, memory_bytes=120 * MB)  # as flash_numpy's
REFUSED, SMALL = 0, 2 * MB  # bytes of one process

# Bodies of a function: each tries to hold far more than a megabyte, and returns how much it held.
FILES = """
    held, made = 0, []
    try:
        for number in range(200):
            made.append(f"{folder}/{number}")
            with open(made[-1], "wb", buffering=0) as file:
                while written := file.write(bytes(1 << 16)):
                    held += written
    except OSError:
        pass
    for path in made:
        if os.path.exists(path):
            os.remove(path)
    return held
"""
ONE_IN_EACH = """
    held = 0
    for folder in {folders}:
        try:
            with open(folder + "/x", "wb") as file:
                held += file.write(bytes(1 << 16))
        except OSError:
            pass
    return held
"""
FILL = """
def filled(ends, others=()):
    held = 0
    for end in ends:
        os.set_blocking(end, False)
        try:
            while written := os.write(end, bytes(1 << 16)):
                held += written
        except OSError:  # it is full
            pass
    for end in (*ends, *others):
        os.close(end)
    return held

def opened(make):
    found = []
    try:
        while len(found) < 1000:
            found.append(make())
    except OSError:
        pass
    return found

def system(number, *arguments):
    return libc.syscall(number, *arguments)
"""
PLACES = {
    "files in /tmp": (SMALL, FILES.replace("{folder}", "/tmp")),
    "files in /dev/shm": (SMALL, FILES.replace("{folder}", "/dev/shm")),
    "files in the working folder": (SMALL, FILES.replace("{folder}", os.curdir)),
    "files that have no name": (
        SMALL,
        """
        return filled(opened(lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR)))
        """,
    ),
    "files in /run, /var/tmp and elsewhere": (
        REFUSED,
        ONE_IN_EACH.replace(
            "{folders}",
            '("/run", "/var/tmp", "/dev", "/dev/mqueue", "/proc", "/sys", "/", "/usr")',
        ),
    ),
    "folders over installed packages": (
        REFUSED,
        ONE_IN_EACH.replace(
            "{folders}",
            'sys.path + [os.path.dirname(os.__file__) + "/site-packages"]',
        ),
    ),
    "the job's own file": (
        REFUSED,
        """
        held = 0
        for open_it in (lambda: os.dup(0), lambda: os.open("/proc/self/fd/0", os.O_RDWR)):
            try:
                held += os.pwrite(open_it(), bytes(1 << 16), 0)
            except OSError:
                pass
        try:
            os.ftruncate(0, 1 << 24)
            held += 1
        except OSError:
            pass
        return held
        """,
    ),
    "pipes": (
        SMALL,
        """
        held, kept = 0, []
        try:
            while len(kept) < 1000:
                read, write = os.pipe()
                kept.append(read)
                held += filled([write])  # a full pipe needs one end
        except OSError:
            pass
        for end in kept:
            os.close(end)
        return held
        """,
    ),
    "pipes made larger": (
        REFUSED,
        """
        read, write = os.pipe()
        try:
            return fcntl.fcntl(write, 1031, 1 << 20)
        except OSError:
            return 0
        finally:
            os.close(read), os.close(write)
        """,
    ),
    "named pipes": (
        SMALL,
        """
        def one():
            os.mkfifo("/tmp/fifo")
            try:
                return os.open("/tmp/fifo", os.O_RDWR)
            finally:
                os.remove("/tmp/fifo")
        return filled(opened(one))
        """,
    ),
    "sockets": (
        REFUSED,
        """
        held = 0
        for family in (1, 2, 10, 16, 17, 38, 40):
            try:
                socket.socket(family, socket.SOCK_DGRAM)
                held += 1
            except OSError:
                pass
        try:
            socket.socketpair()
        except OSError:
            return held
        return held + 1
        """,
    ),
    "the memory of the room's first process": (
        REFUSED,
        """
        try:
            return os.pwrite(os.open("/proc/1/mem", os.O_RDWR), b"x", 1 << 22)
        except OSError:
            return 0
        """,
    ),
    "terminals": (
        REFUSED,
        """
        try:
            os.openpty()
        except OSError:
            return 0
        return 1
        """,
    ),
    "files in memory": (
        REFUSED,
        "return int(libc.memfd_create(b'x', 0) >= 0) + int(system(447, 0) >= 0)",
    ),
    "shared mappings": (
        REFUSED,
        """
        held = 0
        for flags in (mmap.MAP_SHARED, 0x03, mmap.MAP_PRIVATE | 0x40000):
            try:
                held += len(mmap.mmap(-1, 1 << 21, flags=flags | mmap.MAP_ANONYMOUS))
            except OSError:
                pass
        return held
        """,
    ),
    "System V shared memory, messages and semaphores": (
        REFUSED,
        """
        made = (libc.shmget(0, 1 << 20, 0o1600), libc.msgget(0, 0o1600), libc.semget(0, 9, 0o1600))
        return sum(number >= 0 for number in made)
        """,
    ),
    "POSIX message queues": (
        REFUSED,
        "return int(system(240, b'x', 0o102, 0o600, 0) >= 0)",
    ),
    "keys of the kernel": (
        REFUSED,
        "return int(system(248, b'user', b'x', b'y' * 1000, 1000, -3) >= 0)",
    ),
    "attributes of files": (
        REFUSED,
        """
        try:
            fd = os.open("/tmp/attributes", os.O_CREAT | os.O_RDWR)
        except OSError:
            return 0
        held = 0
        for target in (fd, "/tmp/attributes"):
            try:
                os.setxattr(target, "user.a", bytes(1000))
                held += 1000
            except OSError:
                pass
        os.close(fd)
        os.remove("/tmp/attributes")
        return held
        """,
    ),
    "calls of kernels newer than the filter": (
        REFUSED,
        "return sum(system(number, 0, 0, 0, 0, 0, 0) != -1 for number in range(451, 512))",
    ),
    "queues of events": (
        REFUSED,
        "return int(libc.inotify_init() >= 0) + int(libc.fanotify_init(0, 0) >= 0)",
    ),
    "rings and requests to the disk": (
        REFUSED,
        """
        context = ctypes.c_ulong()
        made = system(425, 8, bytes(120)), system(206, 8, ctypes.byref(context))
        return sum(number >= 0 for number in made)
        """,
    ),
    "pages given to a pipe": (
        REFUSED,
        """
        read, write = os.pipe()
        page = ctypes.create_string_buffer(4096)
        class Piece(ctypes.Structure):
            _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))
        piece = Piece(ctypes.addressof(page), 4096)
        given = system(278, write, ctypes.byref(piece), 1, 0)
        os.close(read), os.close(write)
        return max(0, given)
        """,
    ),
    "signals that wait": (
        SMALL,
        """
        number = 34 + 6
        signal.pthread_sigmask(signal.SIG_BLOCK, [number])
        held = 0
        while held < 8 << 20 and libc.sigqueue(os.getpid(), number, ctypes.c_void_p(7)) == 0:
            held += 8
        return held
        """,
    ),
    "names of the process and the machine": (
        REFUSED,
        "return int(libc.sethostname(b'x' * 8, 8) == 0)",
    ),
    "what the kernel counts of the process": (
        REFUSED,
        """
        held = 0
        for name in ("clear_refs", "oom_score_adj", "comm", "setgroups", "timerslack_ns"):
            try:
                with open(f"/proc/self/{name}", "w") as file:
                    held += file.write("5")
            except OSError:
                pass
        return held
        """,
    ),
    "memory of the first process": (
        REFUSED,
        """
        held = 0
        for name in ("mem", "environ", "clear_refs"):
            try:
                with open(f"/proc/{os.getppid()}/{name}", "r+b", buffering=0):
                    held += 1
            except OSError:
                pass
        return held
        """,
    ),
}
IMPORTS = "import ctypes, errno, fcntl, mmap, os, signal, socket, sys\nlibc = ctypes.CDLL(None)\n"

# Held in none of the places above: counted, and more than the budget ends the call.
AND_STAY = "time.sleep(1)\nreturn 1"
COUNTED = {
    "the heap": f"x = bytearray(150 << 20)\n{AND_STAY}",
    "for a moment": "x = bytearray(150 << 20)\ndel x\ntime.sleep = lambda s: 0\nreturn 1",
    "a mapping of its own": f"""
m = mmap.mmap(-1, 150 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(m), 4096):
    m[at] = 1
{AND_STAY}""",
    "changed pages of a mapped file": f"""
largest = max(glob.glob("/site/numpy*/**/*.so*", recursive=True), key=os.path.getsize)
held = []
for _ in range(150 * 1024 * 1024 // os.path.getsize(largest) + 1):
    with open(largest, "rb") as file:
        held.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=3))
    for at in range(0, len(held[-1]), 4096):
        held[-1][at] = 1
{AND_STAY}""",
    "stacks of threads": f"""
def deep():
    ctypes.memset(ctypes.create_string_buffer(1), 1, 1)
    held.append(b"1" * (50 << 20))
    time.sleep(2)
held = []
threads = [threading.Thread(target=deep) for _ in range(3)]
for thread in threads:
    thread.start()
{AND_STAY}""",
    "children": f"""
for _ in range(3):
    if os.fork() == 0:
        held = b"1" * (50 << 20)
        time.sleep(2)
        os._exit(0)
{AND_STAY}""",
    "children that nobody collects": f"""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            held = b"1" * (50 << 20)
            time.sleep(2)
        os._exit(0)
{AND_STAY}""",
    "a child that was collected": """
if (child := os.fork()) == 0:
    held = bytearray(150 << 20)
    os._exit(0)
os.waitpid(child, 0)
time.sleep = lambda s: 0
return 1""",
    "behind mapped files": f"""
held = bytearray(150 << 20)
del held
maps = []
for path in glob.glob("/usr/lib/**/*.so*", recursive=True)[:300]:
    with open(path, "rb") as file:
        maps.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=1))
    sum(maps[-1][::4096])
{AND_STAY}""",
}
IN_FILES = {  # counted where the sandbox has files of its own
    "names of files": f"""
for number in range(110_000):
    os.close(os.open(f"/tmp/{{number:0200}}", os.O_CREAT))
{AND_STAY}""",
}


def program() -> str:
    """One function by each place's number, and ``f``, which calls one of them."""
    functions = [IMPORTS, FILL]
    for number, (_, body) in enumerate(PLACES.values()):
        functions.append(f"def place{number}():\n{indent(dedent(body), '    ')}\n")
    return "\n".join([*functions, "def f(number):\n    return globals()[f'place{number}']()\n"])


@pytest.mark.parametrize("place", rooms.PLACES)
def test_what_no_limit_on_memory_counts_holds_next_to_nothing(sandbox, place: str):
    if os.uname().machine != "x86_64":
        pytest.skip("system calls are numbered as on x86-64")
    calls = [{"args": [n], "shapes": [[]], "several": False} for n in range(len(PLACES))]
    job = {"text": program(), "name": "f", "calls": calls, "stay_seconds": 0}
    done = rooms.play(job, place)
    assert done.stopped == "" and done.exit == 0, done
    frames, over = done.result, {}
    for name, (most, _) in PLACES.items():
        size = 9 if frames[:1] == b"q" else 41
        frame, frames = frames[:size], frames[size:]
        if size == 41 or (held := int.from_bytes(frame[1:], sys.byteorder)) > most:
            over[name] = frame[1:].decode().strip() if size == 41 else held
    assert over == {}


NAMES = [*COUNTED, *IN_FILES]
#: each in a sandbox of its own and in a room, by turns as root and as a user
BY_TURNS = [
    (place, name)
    for i, name in enumerate(NAMES)
    for j, place in enumerate(rooms.PLACES)
    if THOROUGH or (i + j) % 2 == 0
]


@pytest.mark.parametrize(("place", "name"), BY_TURNS)
def test_everything_else_counts_as_memory(sandbox, place: str, name: str):
    assert held(COUNTED.get(name) or IN_FILES[name], place).stopped == "memory"


@pytest.mark.parametrize("place", rooms.PLACES)
def test_less_than_the_budget_may_be_held(sandbox, place: str):
    done = held(f"x = b'1' * (60 << 20)\n{AND_STAY}", place)
    assert (done.stopped, done.result) == ("", parts.integer_frame(1))


@pytest.mark.parametrize("place", rooms.PLACES)
def test_the_kernel_gives_a_process_hardly_more_than_the_limit(sandbox, place: str):
    """However fast it is asked for: nothing has to be seen in time."""
    most = parts.FUNCTIONS.limits.memory_bytes + parts.SPARE_BYTES
    body = f"try:\n    bytearray({most})\nexcept MemoryError:\n    return 1\nreturn 0"
    assert held(body, place).result == parts.integer_frame(1)


def held(body: str, place: str) -> watch.Finished:
    """Run a function's body with a budget of memory."""
    above = "import ctypes, glob, mmap, os, signal, threading, time\n"
    text = f"{above}def f():\n{indent(body.strip(), '    ')}\n"
    return rooms.play(parts.one_call(text, "f"), place, BUDGET)
