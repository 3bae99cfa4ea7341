# expect: branch_efficiency: wrong result
# The mean of the warps' own efficiencies: warps that diverge issue more and should weigh more.
def branch_efficiency(taken, n_a, n_b):
    shares = []
    for first in range(0, len(taken), 32):
        warp = taken[first : first + 32]
        a = int(warp.sum())
        b = len(warp) - a
        shares.append((a * n_a + b * n_b) / (32 * (n_a * (a > 0) + n_b * (b > 0))))
    return sum(shares) / len(shares)
