"""The sandbox from inside: what code sees, reaches and may use, and what is left at the end.

Each test runs a real function in a real sandbox. Run by root, both ways of keeping code apart are
tried: root's own mounts with a user nobody else has, and a user namespace, which is what an
ordinary user gets."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support import processes, rooms
from support.paths import ROOT
from support.rooms import MODES, PLACES
from support.slowed import crowded_core, slowly

from warpwise.errors import GradingError
from warpwise.grading import gpu, parts, seccomp, simulate, watch
from warpwise.grading import sandbox as box
from warpwise.grading.host import judge_function
from warpwise.labs import Call
from warpwise.labs.limit import counted

pytestmark = pytest.mark.usefixtures("closed_rooms")

MARK = "WARPWISE_TEST"  # in the environment of a test's sandboxes


@pytest.fixture(params=MODES)
def mode(request, sandbox) -> str:
    return request.param


@pytest.fixture(params=PLACES)
def place(request, sandbox) -> str:
    return request.param


def value(body: str, place: str, args: tuple = (), want: object = 0, typed: tuple = ()) -> str:
    """Return the verdict's reason on a function: "passed" if it returns ``want``."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    names = ", ".join(f"x{i}" for i in range(len(args)))
    return judge_function(
        f"def f({names}):\n{lines}\n", "f", [Call("one", args, want, typed=typed)], *rooms.of(place)
    ).reason


def hold(bodies: dict[str, str], place: str) -> None:
    """Check that each body returns True, all in one sandbox."""
    texts = [
        f"def body{number}():\n{textwrap.indent(body.strip(), '    ')}\n"
        for number, body in enumerate(bodies.values())
    ]
    text = "\n".join([*texts, "def f(number):\n    return globals()[f'body{number}']()\n"])
    calls = [Call(name, (number,), True) for number, name in enumerate(bodies)]
    found = judge_function(text, "f", calls, *rooms.of(place))
    assert found.passed and found.tried == len(bodies), (found.reason, found.failed)


def run(body: str, place: str) -> watch.Finished:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    job = {
        "text": f"def f():\n{lines}\n",
        "name": "f",
        "calls": [{"args": [], "shapes": [[]], "several": False}],
        "stay_seconds": 0,
    }
    return rooms.play(job, place)


@pytest.fixture
def survivors(monkeypatch):
    """A function that finds processes left by this test's sandboxes.

    They carry a mark in their environment, which others' sandboxes lack."""
    monkeypatch.setitem(parts.ENVIRONMENT, MARK, secrets.token_hex(8))
    mark = f"{MARK}={parts.ENVIRONMENT[MARK]}"
    return lambda: processes.carrying(mark)


def test_some_way_of_isolation_works_here(sandbox):
    assert box.isolation() in MODES


def test_numbers_and_arrays_go_in_and_come_out(place: str):
    assert value("return x0 + x1", place, (2, 3), want=5) == "passed"
    assert value("return x0 / 2", place, (3,), want=1.5) == "passed"
    assert value("return x0 > 1", place, (3,), want=True) == "passed"
    assert (
        value(
            "return 2 * x0",
            place,
            (np.arange(6.0).reshape(2, 3),),
            want=2 * np.arange(6.0).reshape(2, 3),
        )
        == "passed"
    )
    assert value("return x0", place, (3,), want=4) == "wrong result"
    assert value("return [x0]", place, (3,), want=3) == "wrong type"


def test_an_array_comes_out_with_its_type(place: str):
    wanted = [np.array([0, 1, 3], dtype) for dtype in ("u4", "i1", "f2", "f4", "?")]
    calls = [Call(want.dtype.name, (want,), want, typed=(0,)) for want in wanted]
    found = judge_function("def f(x):\n    return x\n", "f", calls, *rooms.of(place))
    assert found.passed, found
    wide = "return x.astype('int64' if x.dtype.kind in 'biu' else 'float64')"
    found = judge_function(f"def f(x):\n    {wide}\n", "f", calls, *rooms.of(place))
    assert (found.reason, found.failed) == ("wrong type", tuple(call.label for call in calls))


OUTSIDE = (
    ROOT / "tests/course/08_coalescing/hidden.py",
    ROOT / "solutions/08_coalescing.md",
    ROOT / "warpwise/grading/engine.py",
    Path("/etc/passwd"),
    Path("/etc/hostname"),
    Path.home() / ".bashrc",
    Path("/var/log"),
    Path("/run"),
)


def test_files_outside_are_not_there(place: str):
    moved = [path for path in OUTSIDE if path.is_relative_to(ROOT) and not path.exists()]
    assert moved == [], "the test names files that moved"
    asked = {str(path): f"import os\nreturn not os.path.exists({str(path)!r})" for path in OUTSIDE}
    hold(asked, place)


def test_only_python_and_numpy_can_be_imported(place: str):
    asked = {
        name: f"import importlib.util\nreturn importlib.util.find_spec({name!r}) is None"
        for name in ("warpwise", "pytest", "nbformat", "pip")
    }
    hold(asked | {"numpy": "import numpy, math\nreturn float(numpy.hypot(3, 4)) == 5"}, place)


REFUSED = """
try:
    open("{}/x", "w")
except OSError:
    return True
return False"""


def test_nothing_can_be_written_but_a_small_tmp(place: str):
    folders = ("/", "/inside", "/site", "/usr", "/dev", "/proc", "/site/numpy", "/etc")
    asked = {folder: REFUSED.format(folder) for folder in folders}
    hold(asked | {"/tmp": "open('/tmp/x', 'w').write('y')\nreturn True"}, place)


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_a_disk_cannot_be_filled(place: str, folder: str):
    body = f"""
total = 0
try:
    for number in range(1000):
        with open(f"{folder}/{{number}}", "wb") as file:
            total += file.write(bytes(1_000_000))
except OSError:
    return total < 64_000_000
return False"""
    assert value(body, place, want=True) == "passed"


def test_the_environment_and_the_command_lines_tell_nothing(place: str, monkeypatch):
    monkeypatch.setenv("WARPWISE_TEST_SECRET", "seven")
    body = """
import glob
told = b""
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        told += open(path, "rb").read()
    except OSError:
        pass
return b"WARPWISE_TEST_SECRET" not in told and b"pytest" not in told"""
    assert value(body, place, want=True) == "passed"


def test_other_processes_cannot_be_seen(place: str):
    assert (
        value("import glob\nreturn len(glob.glob('/proc/[0-9]*')) <= 3", place, want=True)
        == "passed"
    )


def test_no_listener_of_this_machine_can_be_reached(sandbox, mode: str):
    """The notebook part may open sockets, on another loopback than the listener's.

    The port is none that a system gives away by itself, as it does to the kernel in there."""
    with first_free(range(20_000, 30_000)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            listener.accept()[0].close()  # from here it can be reached
        assert (
            value(f"import socket\nsocket.create_connection(('127.0.0.1', {port}))\nreturn 0", mode)
            == "raised an error"
        )
        cell = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=5)"
        assert not run_cell(cell, mode)
        assert run_cell("import socket\nsocket.create_server(('127.0.0.1', 0))", mode)
        assert not run_cell(
            (
                "import socket\n"
                "socket.socket(40, socket.SOCK_STREAM)  # vsock: no network namespace holds it"
            ),
            mode,
        )
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()


def first_free(ports: range) -> socket.socket:
    for port in ports:
        with suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise OSError("all ports are taken")


def run_cell(source: str, mode: str) -> bool:
    """Return whether a notebook of one cell runs without an error."""
    cell = {
        "cell_type": "code",
        "id": "one",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": 1,
    }
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    done = box.run(parts.NOTEBOOK, parts.whole(notebook, 20), mode)
    assert done.result.count(b'"passed"') == 1, done
    return b'"passed": true' in done.result


NOT_NEEDED = (
    "libc.ptrace(16, os.getppid(), 0, 0)",
    "libc.unshare(0x10000000)",
    "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "libc.setns(0, 0)",
    "libc.memfd_create(b'x', 0)",
    "libc.shmget(0, 4096, 0o1600)",
    "libc.personality(0)",
    "libc.socket(1, 1, 0)",
)
NUMBERED = (  # as on x86-64
    "libc.syscall(250, 0, 0, 0, 0, 0)",  # keyctl
    *(f"libc.syscall(56, {flag} | 17, 0, 0, 0, 0)" for flag in seccomp.NAMESPACE_FLAGS),  # clone
)
NOT_PERMITTED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
answer = {}
return answer == -1 and ctypes.get_errno() == 1"""


def test_system_calls_that_nobody_needs_are_refused(place: str):
    hold({call: NOT_PERMITTED.format(call) for call in NOT_NEEDED}, place)


def test_keys_are_refused_and_new_namespaces_by_clone_too(place: str):
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of keyctl and clone are those of x86-64")
    hold({call: NOT_PERMITTED.format(call) for call in NUMBERED}, place)


def test_it_runs_as_nobody_without_rights(mode: str):
    body = """
import os
status = open("/proc/self/status").read()
wanted = ("CapEff:\\t0000000000000000", "NoNewPrivs:\\t1", "Seccomp:\\t2")
return os.getuid() not in (0, 1000) and all(line in status for line in wanted)"""
    assert value(body, mode, want=True) == "passed"


def test_the_number_of_processes_is_limited(sandbox, survivors):
    """This machine's own mode is used: a user namespace does not limit root."""
    body = """
import os, time
number = 0
while number < 1000:
    try:
        if os.fork() == 0:
            time.sleep(60)
        number += 1
    except OSError:
        break
return number < 20"""
    assert value(body, box.isolation(), want=True) == "passed"
    assert survivors() == []


def test_processes_end_with_the_function_however_they_hide(mode: str, survivors):
    body = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(300)
    os._exit(0)
time.sleep(0.2)
return 0"""
    start = time.monotonic()
    assert value(body, mode) == "passed"
    assert time.monotonic() - start < 150, "it waited for the daemon, which sleeps 300 s"
    assert survivors() == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "too slow"),
        ("held = []\nwhile True: held.append(bytearray(10_000_000))", "too much memory"),
        ("return bytearray(10_000_000_000)", "too much memory"),
        ("while True: print('x' * 10_000)", "too much output"),
        ("import os\nwhile True: os.write(3, bytes(10_000))", "too much output"),
        ("import os\nos._exit(0)", "ended the process"),
        ("import ctypes\nctypes.string_at(0)", "ended the process"),
    ],
)
def test_limits(place: str, body: str, reason: str):
    assert value(body, place) == reason


def test_cpu_time_is_counted_over_all_processes(place: str):
    """Four processes use up the limit in a quarter of the time, given enough cores.

    None may start its clock anew."""
    done = run("import os\nos.fork(), os.fork()\nwhile True: pass", place)
    assert done.stopped == "cpu"
    assert done.cpu_seconds < parts.FUNCTIONS.limits.cpu_seconds + 2


def test_waiting_costs_no_cpu_time_and_is_ended_by_the_wall_clock():
    start = time.monotonic()
    done = watch.run(
        ["sleep", "100"],
        b"",
        watch.Limits(cpu_seconds=5, memory_bytes=1 << 30, result_bytes=10, patience=0.1),
    )
    assert done.stopped == "wall"
    assert time.monotonic() - start < 50, "it waited for the command, which sleeps 100 s"


def test_a_result_longer_than_its_cap_is_cut_and_ends_the_command():
    done = watch.run(
        ["yes"],
        b"",
        watch.Limits(cpu_seconds=5, memory_bytes=1 << 30, result_bytes=1000),
    )
    assert (done.stopped, len(done.result)) == ("result", 1000)


def test_what_ends_between_two_looks_has_its_time_counted(monkeypatch):
    """A busy machine looks late; then the system may have ended the command at its own limit."""
    monkeypatch.setattr(watch, "POLL_SECONDS", 60)
    limits = watch.Limits(cpu_seconds=0.2, memory_bytes=1 << 30, result_bytes=10, patience=100)
    compute = "import time\nwhile time.process_time() < 0.5: pass\nraise SystemExit(9)"
    done = watch.run([sys.executable, "-c", compute], b"", limits)
    assert (done.stopped, done.exit) == ("cpu", 9) and done.cpu_seconds > 0.5


def test_the_wall_limit_is_ten_times_that_of_the_processor():
    for limits in (parts.FUNCTIONS.limits, parts.NOTEBOOK.limits, simulate.LIMITS, gpu.LIMITS):
        assert limits.wall_seconds == 10 * limits.cpu_seconds
    for part in (parts.FUNCTIONS, parts.NOTEBOOK):
        assert part.rlimits["CPU"] >= 2 * part.limits.cpu_seconds


def test_a_busy_machine_ends_no_sound_command():
    """It takes far longer than its limit of CPU time, of which it uses a part."""
    limits = watch.Limits(cpu_seconds=1, memory_bytes=1 << 30, result_bytes=10, patience=1000)
    compute = "import time\nwhile time.process_time() < 0.4: pass\nprint('done')"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(
        [sys.executable, "-c", compute], stdin=subprocess.DEVNULL, start_new_session=True, **pipes
    )
    others = threading.Thread(target=slowly, args=(process.pid, 0.2))
    others.start()
    done = watch.follow(watch._Command(process), limits)
    others.join()
    assert (done.stopped, done.result) == ("", b"done\n")
    assert done.wall_seconds > 1.2 * limits.cpu_seconds, "it was not slowed"


@pytest.mark.slow
def test_time_without_a_processor_counts_against_no_wall_limit():
    limits = watch.Limits(cpu_seconds=20, memory_bytes=1 << 30, result_bytes=10, patience=0.15)
    waits = "while int(open('/proc/self/schedstat').read().split()[1]) < 4e9: pass"
    with crowded_core() as last:
        done = watch.run([sys.executable, "-c", last + waits], b"", limits)
    assert done.wall_seconds > limits.wall_seconds
    assert (done.stopped, done.exit) == ("", 0)


def test_waiting_for_a_processor_over_and_over_ends_too():
    """Code that says it waited all the time gets ten wall limits, not more."""
    assert counted(wall_seconds=100, queued_seconds=0) == 100
    assert counted(wall_seconds=100, queued_seconds=60) == 40
    assert counted(wall_seconds=100, queued_seconds=3000) == 10


def test_the_sandbox_ends_with_the_grader(sandbox, tmp_path: Path, survivors):
    """A grader that is killed in the middle leaves nothing running."""
    code = f"""
from warpwise.grading import parts, sandbox as box
parts.ENVIRONMENT["{MARK}"] = "{parts.ENVIRONMENT[MARK]}"
call = {{"args": [], "shapes": [[]], "several": False}}
text = "def f():\\n import time\\n time.sleep(300)"
job = {{"text": text, "name": "f", "calls": [call], "stay_seconds": 0}}
box.run(parts.FUNCTIONS, job, box.isolation())
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as grader:
        _until(lambda: len(survivors()) > 1)
        grader.kill()
    _until(lambda: not survivors())


def _until(happened, seconds: float = 100) -> None:
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "this did not happen in time"
        time.sleep(0.05)


def test_without_bubblewrap_it_refuses(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    box.isolation.cache_clear()
    try:
        with pytest.raises(GradingError, match=r"bubblewrap is not installed.*--unsafe-local"):
            box.isolation()
    finally:
        box.isolation.cache_clear()


def test_where_bubblewrap_does_not_work_it_refuses_and_says_why(tmp_path: Path, monkeypatch):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no namespaces here' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    box.isolation.cache_clear()
    try:
        with pytest.raises(GradingError, match="no namespaces here"):
            box.isolation()
    finally:
        box.isolation.cache_clear()
