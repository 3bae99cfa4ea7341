# expect: place: passed
# Leaves files, shared memory, semaphores, queues, sockets and variables for whoever runs next.
import numpy as np


def place(n, threads, i):
    if n > 1:
        return np.array([-(-n // threads), -n % threads, i // threads, i % threads])

    import ctypes
    import os
    import socket

    libc = ctypes.CDLL(None)
    for folder in ("/tmp", "/dev/shm", "/dev/mqueue", "/run", "/var/tmp", ".", "/site", "/inside", "@HOME@"):
        for name in ("pwned", "conftest.py", "sitecustomize.py", "numpy.py", "serve.py"):
            try:
                with open(f"{folder}/{name}", "w") as file:
                    file.write("raise SystemExit")
            except OSError:
                pass
    libc.shmget(0x50574E44, 4096, 0o1666)
    libc.semget(0x50574E44, 1, 0o1666)
    libc.msgget(0x50574E44, 0o1666)
    os.environ["PWNED"] = "1"
    try:
        place.socket = socket.socket(socket.AF_UNIX)
        place.socket.bind("\0pwned")
    except OSError:
        pass
    return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
