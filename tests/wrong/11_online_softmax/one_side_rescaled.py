# expect: merge: wrong result
# Only the second part's sum is corrected, as if the first always had the larger maximum.
import numpy as np


def merge(m_a, d_a, m_b, d_b):
    m = np.maximum(m_a, m_b)
    base = np.where(m == -np.inf, 0, m)
    return m, d_a + d_b * np.exp(m_b - base)
