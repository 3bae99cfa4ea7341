# expect: branch_efficiency: wrong result
# Charges both sides to every warp, also where all its threads agree.
def branch_efficiency(taken, n_a, n_b):
    a = int(taken.sum())
    b = len(taken) - a
    warps = -(-len(taken) // 32)
    return (a * n_a + b * n_b) / (32 * warps * (n_a + n_b))
