"""Where student code that must be executed runs: bubblewrap, a fresh read-only root, every namespace its own, no network.

Two parts run here (the folder ``inside`` is all the sandbox holds of the grader): host functions, which see Python, NumPy and
nothing else, and the nbval re-run of a notebook, which sees the Python environment and the ``warpwise`` package. Neither sees
hidden tests, solutions, other submissions or the environment's variables.

Run by an ordinary user, bubblewrap makes a user namespace. Run by root, it mounts as root and the first thing inside gives up root
for a user number that nobody else has: limits on processes do not hold for root, in whatever namespace.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from warpwise.errors import GradingError
from warpwise.grading import seccomp, watch
from warpwise.grading.warm import Warm

MB = 1 << 20
INSIDE = Path(__file__).resolve().parent / "inside"
PACKAGE = Path(__file__).resolve().parents[1]
FEWEST_UIDS = 1000  #: with fewer, root cannot become somebody else
ROOT, USER, CONTAINER, NONE = "root", "user", "container", "none"  #: how student code is kept apart; NONE is --unsafe-local

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "USER": "student", "LANG": "C.UTF-8", "WARPWISE_BACKEND": "simulator", "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """What one part may use and see. ``rlimits`` hold for each process, ``limits`` for all of them together."""

    name: str
    limits: watch.Limits
    rlimits: dict[str, int]
    tmp_bytes: int
    sockets: bool


def _part(name: str, limits: watch.Limits, address_space: int, processes: int, files: int, sockets: bool) -> Part:
    sizes = {"AS": address_space, "FSIZE": 16 * MB, "CORE": 0, "MSGQUEUE": 0}
    counts = {"CPU": round(limits.cpu_seconds) + 1, "NPROC": processes, "NOFILE": files}
    return Part(name, limits, sizes | counts, 32 * MB, sockets)


FUNCTIONS = _part("functions", watch.Limits(3, 20, 512 * MB, result_bytes=4 * MB), 2048 * MB, processes=16, files=64, sockets=False)
NOTEBOOK = _part("notebook", watch.Limits(20, 60, 1536 * MB, result_bytes=1 * MB), 8192 * MB, processes=64, files=512, sockets=True)


def run(part: Part, job: dict, mode: str, limits: watch.Limits | None = None) -> watch.Finished:
    """Play a part on a job, kept apart the way ``mode`` says (see ``isolation``). Nothing in the answer can be trusted.

    ``limits`` take the place of the part's own.
    """
    given, limits = json.dumps(job).encode(), limits or part.limits
    if mode == NONE:
        with tempfile.TemporaryDirectory(prefix="warpwise-") as folder:
            return watch.run(_inside(part, mode), given, limits, env=ENVIRONMENT | {"HOME": folder}, cwd=folder)
    if mode == CONTAINER:
        from warpwise.grading import container

        return container.run(part, given, limits, _fresh_uid())
    with watch.as_file(seccomp.program(part.sockets)) as rules:
        command = [*_bubblewrap(part, mode), "--seccomp", str(rules.fileno()), "--", *_inside(part, mode)]
        return watch.run(command, given, limits, env=ENVIRONMENT | {"HOME": "/tmp"}, fds=(rules.fileno(),))


def warm(part: Part, mode: str) -> Warm:
    """A sandbox that has imported what the part needs, and gives each job a room of its own: see ``inside/room.py``.

    Raises GradingError if it does not start here; then ``run`` has to do.
    """
    kept = [str(target) for _, target in _mounts(part) if Path("/tmp") in target.parents]
    room = {"tmp_bytes": part.tmp_bytes, "kept": kept, "seccomp": base64.b64encode(seccomp.program(part.sockets)).decode()}
    outside = [*_bubblewrap(part, mode, user=0), "--cap-add", "CAP_SYS_ADMIN"]  # any other user would get a namespace that cannot mount
    return Warm([*outside, "--", *_inside(part, mode, room)], ENVIRONMENT | {"HOME": "/tmp"})


@lru_cache(maxsize=1)
def isolation() -> str:
    """ROOT or USER, whichever works here, found by trying. Raises GradingError, which says why, where neither does."""
    tried = "bubblewrap is not installed (apt-get install bubblewrap)"
    if shutil.which("bwrap"):
        for mode in (ROOT, USER) if os.geteuid() == 0 and _uids()[1] > FEWEST_UIDS else (USER,):
            call = {"args": [], "shapes": [[]], "several": False}
            done = run(FUNCTIONS, {"text": "def one(): return 1", "name": "one", "calls": [call], "stay_seconds": 0}, mode)
            if done.result == b"q" + (1).to_bytes(8, sys.byteorder):
                return mode
            tried = (done.chatter.strip().splitlines() or [f"it ended with status {done.exit}"])[-1]
    raise GradingError(
        f"this machine cannot keep student code apart: {tried}. "
        "Grade on a machine that can, or pass --unsafe-local to run submissions with your own rights"
    )


def _inside(part: Part, mode: str, more: Mapping[str, Any] = MappingProxyType({})) -> list[str]:
    """The command that runs inside, with ``more`` limits. ``-I -S``: no environment, no user folder, no .pth files."""
    rlimits = {k: v for k, v in part.rlimits.items() if mode != NONE or k != "NPROC"}  # outside a sandbox it would count the user's own
    limits = {"rlimits": rlimits, "path": _search_path(part, mode), **more} | ({"uid": _fresh_uid()} if mode == ROOT else {})
    here = INSIDE if mode == NONE else "/inside"
    python = os.path.realpath(sys.executable) if part is FUNCTIONS else os.path.abspath(sys.executable)
    return [python, "-I", "-S", f"{here}/start.py", part.name, json.dumps(limits)]


def _search_path(part: Part, mode: str) -> list[str]:
    if mode == NONE:
        return [str(PACKAGE.parent), *_site_folders()]
    return ["/site"] if part is FUNCTIONS else ["/site", *_site_folders()]


def _site_folders() -> list[str]:
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def _fresh_uid() -> int:
    """A user number from the upper half of those that exist here, so that no account and no other sandbox has it."""
    first, count = _uids()
    return first + count // 2 + secrets.randbelow(count // 4)


def _uids() -> tuple[int, int]:
    """The first and the number of user numbers that there are here: all but one, or a range of them inside a container."""
    ranges = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, _, count = max(ranges, key=lambda r: r[2])
    return first, count


def _bubblewrap(part: Part, mode: str, user: int = 65534) -> list[str]:
    command = [shutil.which("bwrap"), "--die-with-parent", "--new-session", "--as-pid-1"]
    command += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if mode == ROOT:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", str(user), "--gid", str(user)]
    for option in _root_filesystem(part):
        command += option
    return command


def _root_filesystem(part: Part) -> Iterator[list[str]]:
    """Mounts in order: a small /tmp, the system's libraries, Python, what the part needs; then the root becomes read-only.

    /tmp comes first, since Python itself may lie below it.
    """
    seen: set[Path] = {Path("/tmp")}
    yield ["--perms", "1777", "--size", str(part.tmp_bytes), "--tmpfs", "/tmp"]
    for source, target in _mounts(part):
        for parent in [p for p in reversed(target.parents) if p != Path("/") and p not in seen and Path("/usr") not in (p, *p.parents)]:
            seen.add(parent)
            yield ["--perms", "0755", "--dir", str(parent)]  # otherwise as closed as the source's parents: /root is 0700
        yield ["--ro-bind", str(source), str(target)]
    for name in ("bin", "lib", "lib64", "lib32", "sbin"):
        if os.path.islink(f"/{name}"):
            yield ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
    if part is FUNCTIONS:
        yield from (["--tmpfs", folder] for folder in _other_packages())
    yield ["--proc", "/proc"]
    yield ["--dev", "/dev"]
    yield ["--remount-ro", "/dev"]
    yield ["--perms", "1777", "--size", str(part.tmp_bytes), "--tmpfs", "/dev/shm"]
    yield ["--remount-ro", "/"]
    yield ["--chdir", "/tmp"]


def _mounts(part: Part) -> list[tuple[Path, Path]]:
    system = [Path(p) for p in ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/bin", "/lib", "/lib64")]
    python = [Path(sys.base_prefix)] if part is FUNCTIONS else [Path(sys.base_prefix), Path(sys.prefix)]
    kept = [p for p in dict.fromkeys(system + python) if p.exists() and not p.is_symlink() and Path("/usr") not in p.parents]
    numpy = Path(np.__file__).parent
    numpy_libs = numpy.with_name("numpy.libs")
    ours = [numpy, *([numpy_libs] if numpy_libs.is_dir() else [])] if part is FUNCTIONS else [PACKAGE]
    return [(p, p) for p in kept] + [(INSIDE, Path("/inside"))] + [(p, Path("/site") / p.name) for p in ours]


def _other_packages() -> list[str]:
    """Folders of installed packages inside what is mounted, to be covered: a host function has Python and NumPy, nothing else."""
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [sysconfig.get_path("purelib", vars=base), sysconfig.get_path("platlib", vars=base)]
    folders += ["/usr/lib/python3/dist-packages", f"/usr/local/lib/{version}/dist-packages", f"/usr/local/lib/{version}/site-packages"]
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]
