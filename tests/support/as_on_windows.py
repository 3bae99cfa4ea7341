"""Run a program on a package without what Windows lacks: ``as_on_windows.py warpwise doctor``.

Only the package's own imports get modules without those names; other libraries know the system they
run on."""

from __future__ import annotations

import builtins
import importlib
import runpy
import sys
from types import ModuleType

# https://docs.python.org/3/library: each says "Availability: Unix", or "not Windows".
MODULES = "curses fcntl grp posix pty pwd readline resource syslog termios tty".split()
NAMES = {
    "os": "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_PATH WIFEXITED WIFSIGNALED chown chroot "
    "fork forkpty getegid geteuid getgid getloadavg getpgid getsid getuid killpg lchown "
    "memfd_create mkfifo mknod nice openpty pread pwrite sched_getaffinity sched_setaffinity "
    "setpgid setsid statvfs sync sysconf uname wait3 wait4 waitid".split(),
    "signal": "ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGSTOP SIGUSR1 SIGUSR2 alarm pause "
    "pthread_sigmask setitimer sigwait".split(),
    "socket": "AF_UNIX SCM_RIGHTS recv_fds send_fds".split(),
    "select": "epoll poll".split(),
    "time": "tzset".split(),
}


def lacking(name: str) -> ModuleType:
    """Return a copy of a module without the names that Windows lacks."""
    copy = ModuleType(name)
    vars(copy).update(
        {key: value for key, value in vars(sys.modules[name]).items() if key not in NAMES[name]}
    )
    return copy


def main() -> None:
    """Run the program named first, an installed one or a file, with the arguments that follow."""
    copies = {name: lacking(name) for name in NAMES if importlib.import_module(name)}
    real = builtins.__import__

    def import_as_on_windows(name, globals=None, locals=None, fromlist=(), level=0):
        top = name.partition(".")[0]
        if level == 0 and str((globals or {}).get("__name__")).partition(".")[0] == "warpwise":
            if top in MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in copies:
                return copies[name]
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = import_as_on_windows
    sys.argv = sys.argv[1:]
    if sys.argv[0] == "warpwise":
        sys.exit(importlib.import_module("warpwise.cli").app())
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
