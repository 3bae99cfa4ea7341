"""Run student code in bubblewrap: a fresh read-only root, every namespace its own, no network.

Neither part that runs here (``parts``) sees hidden tests, solutions, other submissions or the
environment's variables.

Run by an ordinary user, bubblewrap makes a user namespace. Run by root, it mounts as root and the
first program inside gives up root for a user number that nobody else has: limits on processes do
not hold for root, in whatever namespace."""

from __future__ import annotations

import base64
import json
import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from warpwise.errors import GradingError
from warpwise.grading import container, parts, scratch, seccomp, watch
from warpwise.grading.parts import Job, Part, integer_frame, one_call
from warpwise.grading.warm import Warm

PACKAGE = Path(__file__).resolve().parents[1]
ROOM_WAITS = 2  #: processes of a room that only wait: those of ``inside/room.py``
FEWEST_UIDS = 1000  #: with fewer, root cannot become somebody else
#: ways to isolate student code; NONE is --unsafe-local
ROOT, USER, CONTAINER, NONE = "root", "user", "container", "none"


def run(part: Part, job: Job, mode: str, limits: watch.Limits | None = None) -> watch.Finished:
    """Play a part on a job, isolated in this mode (see ``isolation``); trust nothing it returns.

    ``limits`` take the place of the part's own."""
    given, limits = json.dumps(job).encode(), limits or part.limits
    if mode == NONE:
        with scratch.folder() as folder:
            env = parts.ENVIRONMENT | {"HOME": str(folder)}
            return watch.run(_inside(part, mode, limits), given, limits, env=env, cwd=str(folder))
    if mode == CONTAINER:
        return container.run(part, given, limits)
    with watch.as_file(seccomp.program(part.sockets)) as rules:
        filtered = ["--seccomp", str(rules.fileno()), "--", *_inside(part, mode, limits)]
        command = [*_bubblewrap(part, mode), *filtered]
        env = parts.ENVIRONMENT | {"HOME": "/tmp"}
        return watch.run(command, given, limits, env=env, fds=(rules.fileno(),))


def play(
    part: Part, job: Job, mode: str, warm: Warm | None, limits: watch.Limits | None = None
) -> watch.Finished:
    """Play a part on a job in a room of a warm sandbox, or without one as ``run`` does."""
    if warm is None:
        return run(part, job, mode, limits)
    limits = limits or part.limits
    return warm.run(json.dumps(job).encode(), limits, {"memory_bytes": limits.memory_bytes})


def warm(part: Part, mode: str) -> Warm:
    """Start a sandbox that has imported what the part needs, and gives each job its own room.

    For rooms see ``inside/room.py``. Raises GradingError if it does not start here; then ``run``
    has to do."""
    kept = [str(target) for _, target in _mounts(part) if Path("/tmp") in target.parents]
    rules = base64.b64encode(seccomp.program(part.sockets)).decode()
    room = {"tmp_bytes": part.tmp_bytes, "kept": kept, "seccomp": rules}
    # any other user would get a namespace that cannot mount
    outside = _bubblewrap(part, mode, user=0)
    for right in ("CAP_SYS_ADMIN", "CAP_NET_ADMIN"):
        outside += ["--cap-add", right]
    inside = _inside(part, mode, part.limits, room)
    user = _own_user if mode == ROOT else dict
    env = parts.ENVIRONMENT | {"HOME": "/tmp"}
    return Warm([*outside, "--", *inside], env, user, waiting=ROOM_WAITS)


def check_hidden(paths: Mapping[str, Path]) -> None:
    """Raise GradingError for a path, by what it is, that student code could read in a sandbox.

    A virtual environment in a course's folder is none's business: only it is in the sandbox."""
    inside = {
        source.resolve()
        for part in (parts.FUNCTIONS, parts.NOTEBOOK)
        for source, _ in _mounts(part)
    }
    for what, path in paths.items():
        there = path.resolve()
        if seen := inside.intersection((there, *there.parents)):
            raise GradingError(
                f"{what} {path} lies in {max(seen)}, which student code can read: "
                "move it to a folder of its own, such as one in your home folder"
            )


@lru_cache(maxsize=1)
def isolation() -> str:
    """Return ROOT or USER, whichever works here, found by trying.

    Raises GradingError with the reason where neither does."""
    tried = "bubblewrap is not installed (apt-get install bubblewrap)"
    if shutil.which("bwrap"):
        as_root = os.geteuid() == 0 and container.uids()[1] > FEWEST_UIDS
        for mode in (ROOT, USER) if as_root else (USER,):
            done = run(parts.FUNCTIONS, one_call("def one(): return 1", "one"), mode)
            if done.result == integer_frame(1):
                return mode
            tried = (done.chatter.strip().splitlines() or [f"it ended with status {done.exit}"])[-1]
    raise GradingError(
        f"this machine cannot isolate student code: {tried}. "
        "Grade on a machine that can, or pass --unsafe-local to run submissions with your rights"
    )


def _inside(
    part: Part, mode: str, use: watch.Limits, more: Mapping[str, Any] = MappingProxyType({})
) -> list[str]:
    """Make the command that runs inside, with ``more`` limits.

    ``-I -S``: no environment, no user folder, no .pth files."""
    # outside a sandbox it would count the user's own
    rlimits = {k: v for k, v in part.rlimits.items() if mode != NONE or k != "NPROC"}
    limits = parts.confinement(rlimits, use) | {"path": _search_path(part, mode), **more}
    limits |= _own_user() if mode == ROOT else {}
    here = parts.INSIDE if mode == NONE else "/inside"
    resolve = os.path.realpath if part is parts.FUNCTIONS else os.path.abspath
    return [resolve(sys.executable), "-I", "-S", f"{here}/start.py", part.name, json.dumps(limits)]


def _own_user() -> dict[str, int]:
    """Make what a job that root runs has to know of its user."""
    return {"uid": container.fresh_uid()}


def _search_path(part: Part, mode: str) -> list[str]:
    if mode == NONE:
        return [str(PACKAGE.parent), *_site_folders()]
    return ["/site"] if part is parts.FUNCTIONS else ["/site", *_site_folders()]


def _site_folders() -> list[str]:
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    folders += site.getsitepackages()
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def _bubblewrap(part: Part, mode: str, user: int = 65534) -> list[str]:
    bwrap = shutil.which("bwrap") or "bwrap"
    command = [bwrap, "--die-with-parent", "--new-session", "--as-pid-1"]
    command += [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try")]
    if mode == ROOT:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", str(user), "--gid", str(user)]
    for option in _root_filesystem(part):
        command += option
    return command


def _root_filesystem(part: Part) -> Iterator[list[str]]:
    """Yield bubblewrap's mounts in order; at the end the root becomes read-only.

    A small /tmp comes first, since Python itself may lie below it, then the system's libraries,
    Python and what the part needs."""
    seen = {Path("/"), Path("/tmp")}
    yield ["--perms", "1777", "--size", str(part.tmp_bytes), "--tmpfs", "/tmp"]
    for source, target in _mounts(part):
        for parent in reversed(target.parents):
            if parent in seen or Path("/usr") in (parent, *parent.parents):
                continue
            seen.add(parent)
            # otherwise as closed as the source's parents: /root is 0700
            yield ["--perms", "0755", "--dir", str(parent)]
        yield ["--ro-bind", str(source), str(target)]
    for name in ("bin", "lib", "lib64", "lib32", "sbin"):
        if os.path.islink(f"/{name}"):
            yield ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
    yield ["--proc", "/proc"]
    yield ["--dev", "/dev"]
    # terminals would hold bytes that nobody counts
    hidden = [*_other_packages(), "/dev/pts"] if part is parts.FUNCTIONS else []
    for folder in hidden:
        yield ["--size", "4096", "--tmpfs", folder, "--remount-ro", folder]
    # files in /proc reset what the kernel counted of a process
    yield ["--remount-ro", "/proc", "--remount-ro", "/dev"]
    yield ["--perms", "1777", "--size", str(part.tmp_bytes), "--tmpfs", "/dev/shm"]
    yield ["--remount-ro", "/"]
    yield ["--chdir", "/tmp"]


def _mounts(part: Part) -> list[tuple[Path, Path]]:
    """Pair each path outside with its place in the sandbox."""
    named = ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/bin", "/lib", "/lib64")
    python = [sys.base_prefix] if part is parts.FUNCTIONS else [sys.base_prefix, sys.prefix]
    paths = [Path(path) for path in dict.fromkeys([*named, *python])]
    paths = [p for p in paths if p.exists() and not p.is_symlink()]
    kept = [(p, p) for p in paths if Path("/usr") not in p.parents]
    ours = [PACKAGE]
    if part is parts.FUNCTIONS:
        numpy = Path(np.__file__).parent
        ours = [path for path in (numpy, numpy.with_name("numpy.libs")) if path.is_dir()]
    packages = [(path, Path("/site") / path.name) for path in ours]
    return [*kept, (parts.INSIDE, Path("/inside")), *packages]


def _other_packages() -> list[str]:
    """List folders of installed packages in the mounts, to be covered.

    A host function has Python and NumPy, nothing else."""
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [sysconfig.get_path("purelib", vars=base), sysconfig.get_path("platlib", vars=base)]
    folders += [
        "/usr/lib/python3/dist-packages",
        f"/usr/local/lib/{version}/dist-packages",
        f"/usr/local/lib/{version}/site-packages",
    ]
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]
