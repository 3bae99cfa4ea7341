# expect: place: passed
# The kernel's switches, devices, the terminal, and the memory of the machine.
import numpy as np


def place(n, threads, i):
    if n > 1:
        return np.array([-(-n // threads), -n % threads, i // threads, i % threads])

    import fcntl
    import os

    for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/fuse"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        raise SystemError(path)
    for path in ("/dev/tty", "/dev/console", "/dev/ptmx", "/dev/fd/0", "/dev/fd/2"):
        try:
            with open(path, "r+b", buffering=0) as file:
                fcntl.ioctl(file, 0x5412, b"\n")  # TIOCSTI: type a character
        except OSError:
            continue
        raise SystemError(path)
    return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
