# expect: rounded_bits: wrong result
# Numbers whose exponent bits are 0 are taken for zero.
import numpy as np


def rounded_bits(bits, drop):
    kept = np.uint32(0xFFFFFFFF >> drop << drop)
    low = bits & np.uint32(0x7FFFFFFF)
    odd = (bits >> np.uint32(drop)) & np.uint32(1)
    number = (bits + np.uint32((1 << (drop - 1)) - 1) + odd) & kept
    number = np.where(low < 0x00800000, bits & np.uint32(0x80000000), number)
    return np.where(low > 0x7F800000, bits & kept | np.uint32(0x00400000), number)
