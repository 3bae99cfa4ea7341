# expect: place: passed
# Looks for what another submission left: files, shared memory, queues, sockets, variables.
import numpy as np


def place(n, threads, i):
    if n > 1:
        return np.array([-(-n // threads), -n % threads, i // threads, i % threads])

    import ctypes
    import os

    libc = ctypes.CDLL(None)
    left = [f"{folder}/pwned" for folder in ("/tmp", "/dev/shm", "/dev/mqueue", "/run", "/var/tmp", ".", "/site", "/inside")]
    left = [path for path in left if os.path.exists(path)]
    left += [name for name in ("shm", "sem", "msg") if os.path.exists(f"/proc/sysvipc/{name}") and len(open(f"/proc/sysvipc/{name}").readlines()) > 1]
    left += [line for line in (open("/proc/net/unix") if os.path.exists("/proc/net/unix") else ()) if "pwned" in line]
    left += ["environment"] if "PWNED" in os.environ else []
    left += [call for call in ("shmget", "semget") if getattr(libc, call)(0x50574E44, 1, 0) != -1]
    if left:
        raise SystemError(left)
    return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
