# expect: throughput: wrong result
# The two times are added, as if the SMs waited until all has arrived.
from math import ceil


def throughput(n, sms, peak, bandwidth, tile_rows, tile_cols):
    count = ceil(n / tile_rows) * ceil(n / tile_cols)
    computing = ceil(count / sms) * 2 * tile_rows * tile_cols * n * sms / peak
    return 2 * n**3 / (computing + 6 * n * n / bandwidth)
