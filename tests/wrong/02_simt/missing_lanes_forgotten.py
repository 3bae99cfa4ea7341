# expect: branch_efficiency: wrong result
# Divides by the threads that the last warp has, and not by 32 lanes.
def branch_efficiency(taken, n_a, n_b):
    active = slots = 0
    for first in range(0, len(taken), 32):
        warp = taken[first : first + 32]
        a = int(warp.sum())
        b = len(warp) - a
        active += a * n_a + b * n_b
        slots += len(warp) * (n_a * (a > 0) + n_b * (b > 0))
    return active / slots
