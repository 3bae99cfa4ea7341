"""Run a command as an ordinary user, for tests that root runs: another number, and no rights.

A program of root's, even one without rights in a namespace of its own, passes some checks of the
kernel that an ordinary user's does not. Python may lie where nobody but root can look: so the
command sees it through a mount that only it has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

NUMBER = 54321  # nobody's
AGAIN = "WARPWISE_TESTED_AS_ROOT"  # set for a command whose tests root runs too
KEPT = ("PATH", "PYTHONPATH", "LANG", "CI", "WARPWISE_THOROUGH")
# $1 is a folder for a mount, $2 Python's, $3 its first closed parent; the rest is the command
OPENED = """
set -e
here=$1 python=$2 closed=$3
shift 3
if [ -n "$closed" ]; then
    mount --bind "$python" "$here"
    mount -t tmpfs -o mode=755 tmpfs "$closed"
    mkdir -p "$python"
    mount --bind "$here" "$python"
fi
exec setpriv --reuid=NUMBER --regid=NUMBER --clear-groups --bounding-set=-all "$@"
""".replace("NUMBER", str(NUMBER))


def again() -> bool:
    """True in a run of tests as an ordinary user that root runs too."""
    return AGAIN in os.environ


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder of the user's own, and return what it said.

    The folder is none of pytest's, whose runs close theirs to others again and again."""
    with TemporaryDirectory(prefix="warpwise-user-", ignore_cleanup_errors=True) as folder:
        return _run(command, Path(folder))


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    mount, home = folder / "mount", folder / "home"
    for made in (mount, home):
        made.mkdir()
    for path in (home, folder):
        os.chown(path, NUMBER, NUMBER)
    closed = [p for p in Path(sys.base_prefix).parents if not p.stat().st_mode & 0o1]
    outer = ["unshare", "--mount", "--propagation", "private", "sh", "-c", OPENED, "sh"]
    given = [str(mount), sys.base_prefix, str(closed[-1]) if closed else ""]
    kept = {k: v for k, v in os.environ.items() if k in KEPT} | {AGAIN: "1"}
    return subprocess.run(
        [*outer, *given, *command],
        cwd=home,
        env=kept | {"HOME": str(home), "TMPDIR": str(home), "USER": "ordinary"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
