# expect: place: passed
# Makes as many empty files, folders and links as it can in half a second, wherever that is possible.
import numpy as np


def place(n, threads, i):
    if hasattr(place, "tried"):
        return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
    place.tried = True

    import os
    import time

    end = time.monotonic() + 0.5
    for number in range(10**9):
        for folder in ("/tmp", "/dev/shm", "/dev/mqueue", "/run"):
            try:
                os.mknod(f"{folder}/pwned{number}")
                os.symlink("x" * 4000, f"{folder}/pwned-link{number}")
                os.mkfifo(f"{folder}/pwned-pipe{number}")
            except OSError:
                pass
        if time.monotonic() > end:
            break
    return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
