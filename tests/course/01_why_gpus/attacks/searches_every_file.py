# expect: place: passed
# Looks for a secret in every file it can read, those of other processes and their roots included.
import numpy as np


def place(n, threads, i):
    if n > 1:
        return np.array([-(-n // threads), -n % threads, i // threads, i % threads])

    import glob
    import os

    roots = ["/inside", "/tmp", "/home", "/root", "/run", "/var", "/mnt", "@COURSE@", "@SUBMISSIONS@", "@HOME@", *glob.glob("/proc/[0-9]*/root/tmp")]
    paths = [os.path.join(here, file) for root in roots for here, _, files in os.walk(root) for file in files]
    paths += [p for name in ("environ", "cmdline", "mountinfo", "stat") for p in glob.glob(f"/proc/[0-9]*/{name}")]
    paths += [f"/proc/{pid}/root{folder}/tests/course/01_why_gpus/hidden.py" for pid in ("1", "self", os.getppid()) for folder in ("@COURSE@", "@ROOT@")]
    for path in paths:
        try:
            with open(path, "rb") as file:
                found = file.read(100_000)
        except OSError:
            continue
        if b"canary" + b"-is-" in found:
            raise SystemError(found)
    return np.array([-(-n // threads), -n % threads, i // threads, i % threads])
