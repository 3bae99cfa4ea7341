# expect: pitch_for: wrong result
# Returns the bytes of a row, not its elements.
from math import ceil


def pitch_for(cols, itemsize, unit):
    return ceil(cols * itemsize / unit) * unit
