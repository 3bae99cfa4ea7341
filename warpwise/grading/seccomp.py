"""The system calls that the sandbox refuses, as a BPF program that bubblewrap loads.

Namespaces already hide files, processes and the network. The filter closes what is left of the
kernel's surface: tracing other processes, new namespaces and mounts, keys, io_uring, BPF, and
memory that no resource limit counts (memfd, shared mappings, System V shared memory, attributes of
files). Calls newer than this table are unknown there. It is written
with libseccomp (through pyseccomp), which knows the numbers of each architecture and also ends
processes that call through a foreign one. A refused call gives EPERM, so that ordinary programs
fail with a message, not a signal."""

from __future__ import annotations

import errno
import os
from functools import lru_cache
from typing import Any

from warpwise.errors import GradingError

REFUSED = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd perf_event_open bpf userfaultfd
    unshare setns mount umount2 pivot_root chroot mount_setattr open_tree move_mount fsopen
    fsconfig fsmount fspick swapon swapoff open_by_handle_at name_to_handle_at fanotify_init
    quotactl acct keyctl add_key request_key io_uring_setup io_uring_enter io_uring_register
    memfd_create memfd_secret shmget shmat msgget semget mq_open init_module finit_module
    delete_module kexec_load kexec_file_load reboot syslog personality settimeofday clock_settime
    clock_adjtime adjtimex sethostname setdomainname vhangup nfsservctl lookup_dcookie
    io_setup setxattr lsetxattr fsetxattr
""".split()

# Of a host function: events queue up without limit, with the names of files.
REFUSED_TO_FUNCTIONS = "inotify_init inotify_init1 vmsplice".split()

# Where a host function has no file system of its own: all that makes a file.
MAKES_FILES = "creat mkdir mkdirat mknod mknodat link linkat symlink symlinkat".split()

# The numbers of calls are the same on all architectures from 424 on; those of Linux 6.5 and later
# are not examined here yet.
UNKNOWN = range(451, 512)

# Of clone(2), a new namespace: user, mount, pid, network, ipc, uts, cgroup (linux/sched.h).
NAMESPACE_FLAGS = tuple(1 << bit for bit in (28, 17, 29, 30, 27, 26, 25))

# Of mmap(2): MAP_SHARED, memory that may outlive every process that it counts for, and
# MAP_HUGETLB, which counts for none.
MAPPING_FLAGS = (0x01, 0x40000)

# Address families of linux/socket.h that a notebook's kernel needs inside its own network
# namespace: unix, inet, inet6, netlink. vsock (40), which no network namespace holds, must not get
# through.
LOCAL_FAMILIES = (1, 2, 10, 16)

SET_PIPE_SIZE = 1031  # fcntl(2), F_SETPIPE_SZ


@lru_cache(maxsize=4)
def program(sockets: bool, files: bool = True) -> bytes:
    """Compile the filter to BPF.

    ``sockets`` allows local sockets: a Jupyter kernel talks over the sandbox's own loopback.
    Without ``files``, no file can be made."""
    try:
        import pyseccomp as sc
    except (ImportError, OSError, RuntimeError) as error:
        need = "the sandbox needs pyseccomp and the system library libseccomp"
        raise GradingError(f"{need} ({error}): pip install pyseccomp") from error
    rules = sc.SyscallFilter(sc.ALLOW)
    refuse = sc.ERRNO(errno.EPERM)
    for name in REFUSED:
        _add(rules, refuse, name)
    for flag in NAMESPACE_FLAGS:
        _add(rules, refuse, "clone", sc.Arg(0, sc.MASKED_EQ, flag, flag))
    for flag in MAPPING_FLAGS:
        _add(rules, refuse, "mmap", sc.Arg(3, sc.MASKED_EQ, flag, flag))
    unknown = sc.ERRNO(errno.ENOSYS)
    # its flags lie in memory, out of a filter's sight; the C library falls back to clone
    _add(rules, unknown, "clone3")
    for number in UNKNOWN:
        rules.add_rule(unknown, number)
    if sockets:
        for family in (f for f in range(LOCAL_FAMILIES[-1]) if f not in LOCAL_FAMILIES):
            _add(rules, refuse, "socket", sc.Arg(0, sc.EQ, family))
        _add(rules, refuse, "socket", sc.Arg(0, sc.GT, LOCAL_FAMILIES[-1]))
    else:
        for name in ("socket", "socketpair", *REFUSED_TO_FUNCTIONS):
            _add(rules, refuse, name)
        _add(rules, refuse, "fcntl", sc.Arg(1, sc.EQ, SET_PIPE_SIZE))
    if not files:
        _refuse_files(rules)
    return _export(rules)


def _refuse_files(rules: Any) -> None:
    """Refuse calls that make a file: those by name, and the flags of those that open one."""
    import pyseccomp as sc

    refuse = sc.ERRNO(errno.EPERM)
    for name in MAKES_FILES:
        _add(rules, refuse, name)
    for flags in (os.O_CREAT, os.O_TMPFILE):
        _add(rules, refuse, "open", sc.Arg(1, sc.MASKED_EQ, flags, flags))
        _add(rules, refuse, "openat", sc.Arg(2, sc.MASKED_EQ, flags, flags))
    _add(rules, sc.ERRNO(errno.ENOSYS), "openat2")  # its flags lie in memory


def _add(rules: Any, action: Any, name: str, *conditions: Any) -> None:
    """Add a rule for one call, if this architecture has it."""
    import pyseccomp as sc

    try:
        number = sc.resolve_syscall(sc.Arch.NATIVE, name)
    except (OSError, ValueError):
        return
    if number >= 0:
        rules.add_rule(action, number, *conditions)


def _export(rules: Any) -> bytes:
    with open(os.memfd_create("seccomp"), "w+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
