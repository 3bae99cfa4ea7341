# expect: sectors_for: wrong result
# Right for every aligned array.
def sectors_for(stride, offset, itemsize):
    return len({itemsize * stride * lane // 32 for lane in range(32)})
