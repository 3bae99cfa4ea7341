# expect: rounded_bits: wrong type
# The rounded numbers are returned as floats, not as their bits.
import numpy as np


def rounded_bits(bits, drop):
    odd = (bits >> np.uint32(drop)) & np.uint32(1)
    rounded = (bits + np.uint32((1 << (drop - 1)) - 1) + odd) & np.uint32(0xFFFFFFFF >> drop << drop)
    return rounded.view(np.float32)
