# expect: rounded_bits: wrong result
# Nothing is said of NaN, and some of them become infinity or zero.
import numpy as np


def rounded_bits(bits, drop):
    odd = (bits >> np.uint32(drop)) & np.uint32(1)
    return (bits + np.uint32((1 << (drop - 1)) - 1) + odd) & np.uint32(0xFFFFFFFF >> drop << drop)
