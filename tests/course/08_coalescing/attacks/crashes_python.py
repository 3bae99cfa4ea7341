# expect: sectors_for: ended the process
# Reads memory that is not there.


def sectors_for(stride, offset, itemsize):
    import ctypes

    return ctypes.string_at(0)
