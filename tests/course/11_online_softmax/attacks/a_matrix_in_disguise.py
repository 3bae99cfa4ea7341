# expect: merge: ended the process
# A subclass of NumPy's array whose every operation writes to the pipe of the results.
import numpy as np


def merge(m_a, d_a, m_b, d_b):
    import os


    class Loud(np.ndarray):
        def __array_finalize__(self, other):
            try:
                os.write(3, b"x" + bytes(8))
            except OSError:
                pass

        def __array_ufunc__(self, *args, **kwargs):
            return NotImplemented

        @property
        def dtype(self):
            return np.dtype("float64")


    return (np.zeros(m_a.shape, "U7").view(Loud),) * 2
