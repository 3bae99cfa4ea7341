# expect: choose_launch: too slow
# Computes in children that end before they are asked, and whose time is added to nobody's.
import numpy as np


def choose_launch(n, sms):
    import os
    import signal
    import sys
    import time

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    end = time.monotonic() + (60 if "ipykernel" not in sys.modules else 0)
    while time.monotonic() < end:
        try:
            child = os.fork()
        except OSError:  # as many as there may be are at work
            child = 1
        if child == 0:
            while time.process_time() < 0.3:
                pass
            os._exit(0)
        time.sleep(0.3)
    threads = next((t for t in (1024, 512, 256, 128, 64, 32) if -(-n // t) >= sms), 32)
    return np.array([-(-n // threads), threads])
