# expect: sectors_for: too much memory
# Takes memory until there is none.


def sectors_for(stride, offset, itemsize):
    held = []
    while True:
        held.append(bytearray(10_000_000))
