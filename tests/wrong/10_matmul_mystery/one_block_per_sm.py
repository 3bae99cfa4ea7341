# expect: waves: wrong result
# Each SM is taken to hold one block.
from math import ceil


def waves(blocks, sms, blocks_per_sm):
    return ceil(blocks / sms)
