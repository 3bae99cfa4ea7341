"""Check that this machine isolates student code: run small attacks in the grader's sandbox.

The attacks are ``trials``; their effects outside are looked for from outside."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent
from typing import Any

from warpwise.errors import GradingError
from warpwise.grading import parts, sandbox, watch
from warpwise.grading.grader import Served
from warpwise.grading.trials import CELLS, Bait, Trial, trials
from warpwise.grading.warm import Broken, Warm

GONE_SECONDS = 10  #: in which processes that were killed are gone, on a busy machine too
# in the sandbox's environment, to know its processes by; in ours, to be looked for
MARK, SECRET = "WARPWISE_SELFTEST", "WARPWISE_SECRET"
#: in /proc/sys: a switch, the setting that refuses sandboxes, and the command that changes it
SWITCHES = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
)
INSTALL = "apt-get install bubblewrap, or dnf install bubblewrap"
ELSEWHERE = "Linux on a computer of your own, or a virtual one, is enough"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial; ``why`` is what was seen if the sandbox did not hold."""

    name: str
    held: bool
    seconds: float
    why: str = ""

    def __str__(self) -> str:
        why = f"\n{'':10}{self.why}" if self.why else ""
        return f"{'held' if self.held else 'NOT HELD':10}{self.name:58}{self.seconds:5.1f} s{why}"


def run(mode: str) -> Iterator[Outcome]:
    """Run every trial in the mode that ``sandbox.isolation`` gave.

    Raises GradingError without isolation: the attacks are real."""
    if mode == sandbox.NONE:
        raise GradingError("the grader's trials run in a sandbox only")
    secret, mark = secrets.token_hex(8), secrets.token_hex(8)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="warpwise-selftest-")))
        sandbox.check_hidden({"the temporary folder": folder})
        (folder / "notes.txt").write_text(secret)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)
        process = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(process.kill)
        os.environ[SECRET], parts.ENVIRONMENT[MARK] = secret, mark
        stack.callback(os.environ.pop, SECRET)
        stack.callback(parts.ENVIRONMENT.pop, MARK)
        bait = Bait(listener.getsockname()[1], folder, secret, process, f"warpwise-{mark}")
        functions = Served(partial(sandbox.warm, parts.FUNCTIONS, mode))
        with closing(functions), ThreadPoolExecutor(1) as workers:
            notebooks = workers.submit(_try_notebooks, mode, bait.port)
            for trial in trials(bait):
                yield _try(trial, mode, functions.get())
            yield notebooks.result()
        start = time.monotonic()
        seen, name = "; ".join(_traces(bait, listener, mark)), "no traces and no damage outside"
        yield Outcome(name, not seen, time.monotonic() - start, seen)


def advice() -> tuple[str, ...]:
    """Advise on a machine where no sandbox starts, as far as its settings show why."""
    if not _has_bubblewrap():
        return (f"install bubblewrap: {INSTALL}; then run this again",)
    found = []
    for name, wrong, command in SWITCHES:
        with suppress(OSError):
            if (Path("/proc/sys") / name).read_text().strip() == wrong:
                found.append(f"allow user namespaces, as root: {command}")
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        options = ("seccomp", "apparmor", "systempaths")
        flags = " ".join(f"--security-opt {option}=unconfined" for option in options)
        rights = "--cap-add SYS_ADMIN --cap-add NET_ADMIN"
        found.append(f"this is a container: start it with {rights} {flags}")
    return (*found, f"or grade on another machine: {ELSEWHERE}")


def _has_bubblewrap() -> bool:
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any(os.access(os.path.join(folder, "bwrap"), os.X_OK) for folder in folders)


def _try(trial: Trial, mode: str, warm: Warm | None) -> Outcome:
    job = parts.one_call(f"def f():\n{indent(trial.body.strip(), ' ' * 4)}\n", "f")
    start, seen = time.monotonic(), ""
    for room in (None, warm) if warm else (None,):  # in a sandbox of its own, and in a room
        done = sandbox.play(parts.FUNCTIONS, job, mode, room, trial.limits)
        refused = done.result == parts.integer_frame(0)
        if not (done.stopped == trial.stopped if trial.stopped else refused):
            ended = f"status {done.exit}, {done.result[:20]!r}"
            seen = done.stopped or done.chatter.strip()[-100:] or ended
    why = f"it succeeded, or did not end as it should: {seen}" if seen else ""
    return Outcome(trial.name, not seen, time.monotonic() - start, why)


def _try_notebooks(mode: str, port: int) -> Outcome:
    """Run notebooks, which have sockets, in the warm process that serves one after another."""
    start = time.monotonic()
    warm: Warm | None = None
    with suppress(Broken):
        warm = sandbox.warm(parts.NOTEBOOK, mode)
    try:
        ran = [_cell(source.strip().replace("{port}", str(port)), mode, warm) for source in CELLS]
    finally:
        if warm:
            warm.close()
    which = "second" if ran[0] else "first"
    failed = f"the {which} of two notebooks ended with an error, or not at all"
    why, name = "" if all(ran) else failed, "notebooks: the network, and traces of another one"
    return Outcome(name, not why, time.monotonic() - start, why)


def _cell(source: str, mode: str, warm: Warm | None) -> bool:
    """True if a notebook of one cell runs without an error."""
    cell: dict[str, Any] = {"cell_type": "code", "id": "one", "metadata": {}, "source": source}
    cell |= {"outputs": [], "execution_count": 1}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    job, part = parts.whole(notebook, 10), parts.NOTEBOOK
    done = sandbox.play(part, job, mode, warm)
    return b'"passed": true' in done.result


def _traces(bait: Bait, listener: socket.socket, mark: str) -> Iterator[str]:
    with suppress(BlockingIOError):
        listener.accept()[0].close()
        yield "a connection came out"
    if any(os.path.exists(os.path.join(folder, bait.name)) for folder in bait.folders):
        yield "a file was written outside"
    if bait.process.poll() is not None:
        yield "a process outside was killed"
    until = time.monotonic() + GONE_SECONDS
    while (left := list(_marked(mark))) and time.monotonic() < until:
        time.sleep(watch.POLL_SECONDS)
    if left:
        yield f"processes are left: {', '.join(map(str, left))}"


def _marked(mark: str) -> Iterator[int]:
    """Find processes of this run's sandboxes, by a variable of their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                yield int(folder.name)
