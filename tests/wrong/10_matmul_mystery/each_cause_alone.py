# expect: explain: wrong result
# Asks what each cause costs alone, and not what it helps to take it from the four.
# ruff: noqa: F821
import numpy as np


def explain(sizes, device):
    causes, factors = [], []
    for n in sizes.tolist():
        costs = [seconds(n, device, [cause == other for other in range(4)]) for cause in range(4)]
        ideal = seconds(n, device, (False,) * 4)
        causes.append(int(np.argmax(costs)))
        factors.append(max(costs) / ideal)
    return np.array(causes), np.array(factors)
