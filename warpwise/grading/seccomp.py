"""The system calls that a sandboxed process may not make, as a BPF program that bubblewrap loads before it starts the process.

Namespaces already hide files, processes and the network. The filter takes away what is left of the kernel's surface: tracing other
processes, new namespaces and mounts, keys, io_uring, BPF, and memory that no resource limit counts (memfd, shared mappings, System V
shared memory). It is written with libseccomp (through pyseccomp), which knows the numbers of each architecture and also ends processes
that call through a foreign one. A refused call gives EPERM, so that ordinary programs fail with a message, not a signal.
"""

from __future__ import annotations

import errno
import os
from functools import lru_cache

from warpwise.errors import GradingError

REFUSED = (
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "perf_event_open", "bpf", "userfaultfd",
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "mount_setattr", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "swapon", "swapoff", "open_by_handle_at", "name_to_handle_at", "fanotify_init", "quotactl", "acct",
    "keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "memfd_create", "memfd_secret", "shmget", "shmat", "msgget", "semget", "mq_open",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog", "personality",
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "vhangup", "nfsservctl", "lookup_dcookie",
)  # fmt: skip

# Each flag asks clone(2) for a new namespace: user, mount, pid, network, ipc, uts, cgroup (linux/sched.h).
NAMESPACE_FLAGS = (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000)

# Of mmap(2): MAP_SHARED, memory that stays after no process counts it as its own any more, and MAP_HUGETLB, which none counts at all.
MAPPING_FLAGS = (0x01, 0x40000)

# Address families of linux/socket.h that a notebook's kernel needs inside its own network namespace: unix, inet, inet6, netlink.
# vsock (40), which no network namespace holds, is what must not get through.
LOCAL_FAMILIES = (1, 2, 10, 16)


@lru_cache(maxsize=2)
def program(sockets: bool) -> bytes:
    """The filter as BPF. ``sockets`` lets local sockets be opened (a Jupyter kernel talks over the sandbox's own loopback)."""
    try:
        import pyseccomp as sc
    except (ImportError, OSError, RuntimeError) as error:
        raise GradingError(f"the sandbox needs pyseccomp and the system library libseccomp ({error}): pip install pyseccomp") from error
    rules = sc.SyscallFilter(sc.ALLOW)
    refuse = sc.ERRNO(errno.EPERM)
    for name in REFUSED:
        _add(rules, refuse, name)
    for flag in NAMESPACE_FLAGS:
        _add(rules, refuse, "clone", sc.Arg(0, sc.MASKED_EQ, flag, flag))
    for flag in MAPPING_FLAGS:
        _add(rules, refuse, "mmap", sc.Arg(3, sc.MASKED_EQ, flag, flag))
    _add(rules, sc.ERRNO(errno.ENOSYS), "clone3")  # its flags lie in memory, out of a filter's sight; the C library falls back to clone
    if sockets:
        for family in (f for f in range(LOCAL_FAMILIES[-1]) if f not in LOCAL_FAMILIES):
            _add(rules, refuse, "socket", sc.Arg(0, sc.EQ, family))
        _add(rules, refuse, "socket", sc.Arg(0, sc.GT, LOCAL_FAMILIES[-1]))
    else:
        _add(rules, refuse, "socket")
        _add(rules, refuse, "socketpair")
    return _export(rules)


def _add(rules, action, name: str, *conditions) -> None:
    """A rule for one call; those that this architecture does not have are left out."""
    import pyseccomp as sc

    try:
        number = sc.resolve_syscall(sc.Arch.NATIVE, name)
    except (OSError, ValueError):
        return
    if number >= 0:
        rules.add_rule(action, number, *conditions)


def _export(rules) -> bytes:
    with open(os.memfd_create("seccomp"), "w+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
