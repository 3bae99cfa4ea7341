# expect: choose_launch: timed out
# Stops, and so does every process around it; not in a notebook, which would only take longer.
import numpy as np


def choose_launch(n, sms):
    import os
    import signal
    import sys

    for pid in (1, os.getppid(), 0) if "ipykernel" not in sys.modules else ():
        try:
            os.kill(pid, signal.SIGSTOP)
        except OSError:
            pass
    threads = next((t for t in (1024, 512, 256, 128, 64, 32) if -(-n // t) >= sms), 32)
    return np.array([-(-n // threads), threads])
