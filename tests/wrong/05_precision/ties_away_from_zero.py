# expect: rounded_bits: wrong result
# Half a step is added everywhere, so ties go up and not to the even neighbour.
import numpy as np


def rounded_bits(bits, drop):
    kept = np.uint32(0xFFFFFFFF >> drop << drop)
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > 0x7F800000
    number = (bits + np.uint32(1 << (drop - 1))) & kept
    return np.where(is_nan, bits & kept | np.uint32(0x00400000), number)
