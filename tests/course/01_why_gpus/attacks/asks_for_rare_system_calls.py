# expect: choose_launch: passed
# Tracing, other processes' memory, mounts, namespaces, keys, io_uring, memfd, System V and POSIX queues.
import numpy as np


def choose_launch(n, sms):
    if choose_launch.__dict__.setdefault('tried', 0):
        threads = next((t for t in (1024, 512, 256, 128, 64, 32) if -(-n // t) >= sms), 32)
        return np.array([-(-n // threads), threads])
    choose_launch.tried = 1
    import ctypes
    import os

    libc = ctypes.CDLL(None, use_errno=True)
    numbers = {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "unshare": 272, "setns": 308, "mount": 165, "pivot_root": 155,
        "chroot": 161, "keyctl": 250, "add_key": 248, "io_uring_setup": 425, "io_uring_enter": 426, "bpf": 321, "perf_event_open": 298,
        "userfaultfd": 323, "memfd_create": 319, "memfd_secret": 447, "clone3": 435, "open_by_handle_at": 304, "name_to_handle_at": 303,
        "kexec_load": 246, "personality": 135, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "pidfd_getfd": 438,
        "open_tree": 428, "fsopen": 430, "mount_setattr": 442, "swapon": 167, "reboot": 169, "sethostname": 170, "init_module": 175,
    }
    for name, number in numbers.items() if os.uname().machine == "x86_64" else ():
        if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (1, 38):  # EPERM, ENOSYS
            raise SystemError(name)
    if os.uname().machine == "x86_64" and libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) != -1:  # clone with CLONE_NEWUSER
        raise SystemError("clone")
    threads = next((t for t in (1024, 512, 256, 128, 64, 32) if -(-n // t) >= sms), 32)
    return np.array([-(-n // threads), threads])
