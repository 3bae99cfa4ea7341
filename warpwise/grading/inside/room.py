"""Give one submission its own room in a sandbox shared by many.

A room has fresh namespaces, an empty /tmp, a user of its own if root grades, and no rights. The
sandbox itself, with its read-only root and no network, is bubblewrap's. Submissions in it are
separated here, since a program that bubblewrap starts cannot have imported its modules before."""

from __future__ import annotations

import base64
import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from serve import die_with_parent
from start import confine, stay_first

# clone(2)
NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_PIDS, NEW_NETWORK = (1 << bit for bit in (17, 26, 27, 29, 30))
NEW = NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NETWORK
# mount(2)
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8
BIND, PRIVATE, RECURSIVE = 1 << 12, 1 << 18, 1 << 14
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1  # netdevice(7), SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
# prctl(2)
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER, AMBIENT, CLEAR_ALL, DROP_BOUNDING = 38, 22, 2, 47, 4, 24
CAPABILITIES_3 = 0x20080522  # capset(2), _LINUX_CAPABILITY_VERSION_3
libc = ctypes.CDLL(None, use_errno=True)


def enter(limits: dict[str, Any]) -> None:
    """Return as a process that has a room and no rights.

    Raises OSError if the room cannot be made: then no student code runs."""
    _checked(libc.unshare(NEW))
    _raise_loopback()
    child = os.fork()
    if child:
        os._exit(_ended(child))
    die_with_parent()
    _checked(libc.mount(None, b"/", None, PRIVATE | RECURSIVE, None))
    with _kept(limits["kept"]):
        flags, options = NO_SUID | NO_DEVICES, b"mode=1777,size=%d" % limits["tmp_bytes"]
        for folder in (b"/tmp", b"/dev/shm"):
            _checked(libc.mount(b"tmpfs", folder, b"tmpfs", flags, options))
    flags = READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC
    _checked(libc.mount(b"proc", b"/proc", b"proc", flags, None))
    os.chdir("/tmp")
    confine(limits)
    _drop_capabilities()
    die_with_parent()  # the change of user took it back
    refuse_calls(base64.b64decode(limits["seccomp"]))
    stay_first(limits)


def _raise_loopback() -> None:
    """Start the loopback of a new network namespace: the notebook's kernel is talked to over it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any:
        request = fcntl.ioctl(any, GET_FLAGS, struct.pack("16sh14x", b"lo", 0))
        name, flags = struct.unpack("16sh14x", request)
        fcntl.ioctl(any, SET_FLAGS, struct.pack("16sh14x", name, flags | UP))


@contextmanager
def _kept(paths: list[str]) -> Iterator[None]:
    """Restore mounts below /tmp, where Python itself may lie, after the block."""
    files = {path: os.open(path, os.O_PATH) for path in paths}
    yield
    for path, file in files.items():
        os.makedirs(path, exist_ok=True)
        _checked(libc.mount(b"/proc/self/fd/%d" % file, path.encode(), None, BIND, None))
        os.close(file)


def _ended(child: int) -> int:
    """Wait for the room's first process; with it the kernel ends all others of the room."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF


def _drop_capabilities() -> None:
    _checked(libc.prctl(AMBIENT, CLEAR_ALL, 0, 0, 0))
    capability = 0
    while libc.prctl(DROP_BOUNDING, capability, 0, 0, 0) == 0:
        capability += 1
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_3, 0)
    _checked(libc.capset(header, (ctypes.c_uint32 * 6)()))


def refuse_calls(rules: bytes) -> None:
    """Filter the system calls of this process and its children, which gain no rights either."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_char_p))

    program = Program(len(rules) // 8, rules)
    _checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0))


def _checked(result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
