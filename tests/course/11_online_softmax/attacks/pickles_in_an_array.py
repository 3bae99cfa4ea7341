# expect: running_state: wrong type
# An array of objects whose unpickling runs a command.
import numpy as np


def running_state(row):
    class Payload:
        def __reduce__(self):
            import os

            return os.system, ("touch @ROOT@/pwned",)


    return np.array([Payload()] * row.size, dtype=object), np.array([Payload()] * row.size, dtype=object)
