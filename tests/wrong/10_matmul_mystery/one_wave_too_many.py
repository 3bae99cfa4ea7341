# expect: waves: wrong result
# A full wave is followed by an empty one.


def waves(blocks, sms, blocks_per_sm):
    return blocks // (sms * blocks_per_sm) + 1
