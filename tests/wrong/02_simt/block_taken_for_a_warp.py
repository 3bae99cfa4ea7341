# expect: branch_efficiency: wrong result
# The formula for one warp, applied to the whole block as if it were one.
def branch_efficiency(taken, n_a, n_b):
    a = int(taken.sum())
    b = len(taken) - a
    return (a * n_a + b * n_b) / (len(taken) * (n_a * (a > 0) + n_b * (b > 0)))
