# expect: sectors_for: too much output
# Prints for ever.


def sectors_for(stride, offset, itemsize):
    while True:
        print("x" * 10_000)
