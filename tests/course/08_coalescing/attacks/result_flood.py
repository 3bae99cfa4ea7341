# expect: sectors_for: wrong result
# Writes to every open file, so also to the pipe that carries results.


def sectors_for(stride, offset, itemsize):
    import os

    for number in range(3, 64):
        try:
            os.write(number, b"q\x04" + bytes(7) + b"garbage" * 1000)
        except OSError:
            pass
    return 0
