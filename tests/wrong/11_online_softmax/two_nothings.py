# expect: merge: wrong result
# Where both parts are empty, minus infinity is subtracted from itself.
import numpy as np


def merge(m_a, d_a, m_b, d_b):
    m = np.maximum(m_a, m_b)
    with np.errstate(invalid="ignore"):
        return m, d_a * np.exp(m_a - m) + d_b * np.exp(m_b - m)
