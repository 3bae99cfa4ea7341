# expect: merge: wrong result
# The maxima are put back before adding, and exp overflows.
import numpy as np


def merge(m_a, d_a, m_b, d_b):
    m = np.maximum(m_a, m_b)
    base = np.where(m == -np.inf, 0, m)
    with np.errstate(all="ignore"):
        return m, (d_a * np.exp(m_a) + d_b * np.exp(m_b)) / np.exp(base)
