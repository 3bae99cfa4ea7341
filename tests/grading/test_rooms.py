"""Sandboxes as their mounts show them, and what one notebook leaves to the next in the same one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from textwrap import indent

import pytest
from support import rooms
from support.rooms import MODES

from warpwise.grading import parts, watch
from warpwise.grading import sandbox as box
from warpwise.grading.warm import Warm

pytestmark = pytest.mark.usefixtures("closed_rooms")

# Looks at every mount, and tries to write in each that is a folder.
MOUNTS = """
import os
lines = open("/proc/self/mountinfo").read().splitlines()
last = {line.split()[4]: line.split()[5].split(",") for line in lines}  # the others are covered
folders = [place for place in last if os.path.isdir(place)]
sizes, open_to_writing = {}, {place for place in folders if "ro" not in last[place]}
for place in folders:
    try:
        with open(os.path.join(place, "written"), "w") as file:
            file.write("x")
        os.remove(os.path.join(place, "written"))
        about = os.statvfs(place)
        sizes[place] = about.f_blocks * about.f_frsize
    except OSError:
        pass
"""
LEAVES_NAMES = """
import os, socket
held = socket.socket(socket.AF_UNIX)
held.bind("\\0left")
open("/tmp/left", "w").close()
open("/dev/shm/left", "w").close()
if os.fork() == 0:
    os.setsid()
    os.execlp("sleep", "sleep", "602")
"""
FINDS_NAMES = """
import glob, os, socket
socket.socket(socket.AF_UNIX).bind("\\0left")
assert not os.path.exists("/tmp/left") and not os.path.exists("/dev/shm/left")
commands = [open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline")]
assert not any(b"sleep\\x00602" in command for command in commands)
"""


@pytest.fixture(params=MODES)
def mode(request, sandbox) -> str:
    return request.param


@pytest.fixture(scope="module")
def started() -> Iterator[dict[str, Warm]]:
    """The sandbox of each mode that all tests use."""
    found: dict[str, Warm] = {}
    yield found
    for warm in found.values():
        warm.close()


@pytest.fixture
def warm(mode: str, started: dict[str, Warm]) -> Warm:
    if mode in started and started[mode].broken:
        started.pop(mode).close()
    if mode not in started:
        started[mode] = box.warm(parts.NOTEBOOK, mode)
    return started[mode]


def passes(source: str, warm: Warm | None, mode: str) -> bool:
    """Run a notebook of one cell, and return whether it ends without an error."""
    done = ran([source], warm, mode, cell_seconds=60)
    assert done.result.count(b'"passed"') == 1, done
    return b'"passed": true' in done.result


def ran(sources: list[str], warm: Warm | None, mode: str, cell_seconds: float) -> watch.Finished:
    """Run a notebook of some cells."""
    cells = [
        {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "source": source}
        | {"outputs": [], "execution_count": 1}
        for number, source in enumerate(sources)
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    return box.play(parts.NOTEBOOK, parts.whole(notebook, cell_seconds), mode, warm)


@pytest.mark.parametrize(
    "place",
    ["a function", "a function among others", "a notebook", "a notebook among others"],
)
def test_only_two_small_folders_can_be_written(mode: str, place: str, request):
    """Terminals stay for notebooks, which may run a shell's commands in one."""
    part = parts.FUNCTIONS if place.startswith("a function") else parts.NOTEBOOK
    small = dict.fromkeys(["/tmp", "/dev/shm"], part.tmp_bytes)
    text = f"{MOUNTS}\nassert sizes == {small}, sizes\n"
    if part is parts.NOTEBOOK:
        warm = request.getfixturevalue("warm") if place.endswith("others") else None
        assert passes(f"{text}assert open_to_writing <= {{*sizes, '/dev/pts'}}", warm, mode)
    else:
        body = indent(f"{text}assert open_to_writing == {{*sizes}}\nreturn 1", "    ")
        where = mode + rooms.ROOM if place.endswith("others") else mode
        done = rooms.play(parts.one_call(f"def f():\n{body}\n", "f"), where)
        assert done.result == parts.integer_frame(1), done


def test_what_a_notebook_leaves_the_next_ones_do_not_find(mode: str, warm: Warm):
    for source in (LEAVES_NAMES, FINDS_NAMES, "2"):
        assert passes(source, warm, mode), source


def test_each_notebook_has_namespaces_of_its_own(mode: str, warm: Warm):
    """So one can use up no ports of another, no names of sockets and no System V numbers."""
    kinds = ("net", "ipc", "pid", "mnt", "uts")
    used = [f"/proc/{pid}/ns/{kind}" for pid in watch.tree(warm.process.pid) for kind in kinds]
    outside = {os.readlink(path) for path in used}
    found = f"{{os.readlink('/proc/self/ns/' + kind) for kind in {kinds}}}"
    assert passes(f"import os\nassert not {found} & {outside}", warm, mode)


def test_each_notebook_has_a_user_of_its_own_where_root_grades(mode: str, warm: Warm):
    """An ordinary user has one number to give."""
    own = "os.getuid() >= 1000 and" if mode == box.ROOT else "os.getuid() == 0 and"
    assert passes(f"import os\nassert {own} os.getuid() == os.getgid()", warm, mode)
    assert len({warm.header().get("uid", number) for number in range(8)}) == 8


def test_a_notebook_has_no_rights_and_gains_none(mode: str, warm: Warm):
    lines = [*(f"Cap{kind}:\t{0:016}" for kind in ("Eff", "Prm", "Amb")), "NoNewPrivs:\t1"]
    read = 'status = open("/proc/self/status").read()'
    text = f"{read}\nassert all(line in status for line in {lines})"
    assert passes(text, warm, mode)


@pytest.mark.slow
def test_a_cell_over_its_limit_ends_alone_if_it_can_be_interrupted(mode: str, warm: Warm):
    done = ran(["while True: pass", "2"], warm, mode, cell_seconds=0.5)
    _, second = done.result.splitlines()
    assert b'"passed": true' in second
    assert (done.stopped, done.exit) == ("", 0)


@pytest.mark.slow
def test_a_cell_that_cannot_be_interrupted_ends_the_notebook(mode: str, warm: Warm):
    """It does not use up what the whole notebook may."""
    ignores = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    done = ran(["1", ignores, "2"], warm, mode, cell_seconds=0.5)
    first, *others = done.result.splitlines()
    assert b'"passed": true' in first
    assert others and all(b"it used more than 0.5 s" in line for line in others)
    assert done.stopped == "cpu" and done.cpu_seconds < parts.NOTEBOOK.limits.cpu_seconds
