# expect: blocks_per_sm: wrong result
# The registers are rounded, but taken from the SM as a whole: its four parts are forgotten.
from math import ceil


def blocks_per_sm(threads, registers, shared_bytes, sm):
    warps = ceil(threads / 32)
    per_warp = ceil(registers * 32 / sm[3]) * sm[3]
    taken = ceil((shared_bytes + sm[6]) / sm[7]) * sm[7]
    return int(min(sm[0] // warps, sm[1], sm[2] // (per_warp * warps), sm[5] // taken if taken else sm[1]))
