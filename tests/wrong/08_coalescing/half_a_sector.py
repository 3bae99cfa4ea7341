# expect: sectors_for: wrong type
# A ratio of bytes, right for stride 1 only, and a float.
def sectors_for(stride, offset, itemsize):
    return 32 * itemsize * max(stride, 1) / 32
