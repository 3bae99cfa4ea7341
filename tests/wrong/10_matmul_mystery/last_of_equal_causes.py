# expect: explain: wrong result
# With >= the last of causes that help equally is named.
# ruff: noqa: F821
import numpy as np


def explain(sizes, device):
    causes, factors = np.full(len(sizes), -1), np.ones(len(sizes))
    for i, n in enumerate(sizes.tolist()):
        for cause in range(4):
            gain = seconds(n, device, (True,) * 4) / seconds(n, device, [cause != other for other in range(4)])
            if gain > 1 + 1e-9 and gain >= factors[i]:
                causes[i], factors[i] = cause, gain
    return causes, factors
