# expect: sectors_for: wrong type
# NaN, which no comparison finds smaller or larger.


def sectors_for(stride, offset, itemsize):
    return float("nan")
