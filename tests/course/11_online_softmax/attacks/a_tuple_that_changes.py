# expect: merge: wrong type
# A tuple that says it has two items and has none, and arrays that say they have another shape.
import numpy as np


def merge(m_a, d_a, m_b, d_b):
    class Two(tuple):
        def __len__(self):
            return 2

        def __iter__(self):
            while True:
                yield 0


    return Two()
