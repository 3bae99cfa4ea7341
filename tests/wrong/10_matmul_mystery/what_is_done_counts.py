# expect: throughput: wrong result
# Counts the operations of whole tiles as speed, so that waste looks fast.
from math import ceil


def throughput(n, sms, peak, bandwidth, tile_rows, tile_cols):
    count = ceil(n / tile_rows) * ceil(n / tile_cols)
    computing = ceil(count / sms) * 2 * tile_rows * tile_cols * n * sms / peak
    return 2 * count * tile_rows * tile_cols * n / max(computing, 6 * n * n / bandwidth)
