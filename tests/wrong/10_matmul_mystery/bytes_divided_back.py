# expect: pitch_for: wrong result
# Rounds the bytes up and divides: with elements of 12 bytes the remainder is lost, and rows are not aligned.
from math import ceil


def pitch_for(cols, itemsize, unit):
    return ceil(cols * itemsize / unit) * unit // itemsize
