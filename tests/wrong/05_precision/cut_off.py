# expect: rounded_bits: wrong result
# It clears the lowest bits: numbers are cut off, not rounded.
import numpy as np


def rounded_bits(bits, drop):
    kept = np.uint32(0xFFFFFFFF >> drop << drop)
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > 0x7F800000
    return np.where(is_nan, bits & kept | np.uint32(0x00400000), bits & kept)
