# expect: blocks_per_sm: wrong result
# Units and sub-partitions are typed in; of the real GPUs all have these registers, and most of them this shared memory.


def blocks_per_sm(threads, registers, shared_bytes, sm):
    warps = -(-threads // 32)
    per_warp = -(-registers // 8) * 256
    taken = -(-shared_bytes // 128) * 128 + int(sm[6])
    return int(min(sm[0] // warps, sm[1], 4 * (16384 // per_warp) // warps, sm[5] // taken if taken else sm[1]))
