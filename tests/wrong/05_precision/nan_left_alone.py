# expect: rounded_bits: wrong result
# A NaN stays as it is, with bits that the format does not have.
import numpy as np


def rounded_bits(bits, drop):
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > 0x7F800000
    odd = (bits >> np.uint32(drop)) & np.uint32(1)
    number = (bits + np.uint32((1 << (drop - 1)) - 1) + odd) & np.uint32(0xFFFFFFFF >> drop << drop)
    return np.where(is_nan, bits, number)
