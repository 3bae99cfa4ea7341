# expect: sectors_for: raised an error
# SystemExit with status 0, which a test runner could take for success.


def sectors_for(stride, offset, itemsize):
    raise SystemExit(0)
