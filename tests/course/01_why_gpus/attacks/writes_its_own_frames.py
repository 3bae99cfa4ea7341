# expect: choose_launch: wrong result
# Finds the pipe that carries results and writes answers of its own, for all calls, then ends.
import numpy as np


def choose_launch(n, sms):
    import ctypes
    import os

    frame = (b"q" + (1).to_bytes(8, "little") + (32).to_bytes(8, "little")) * 500
    for number in os.listdir("/proc/self/fd"):
        ctypes.CDLL(None).write(int(number), frame, len(frame))
    os._exit(0)
