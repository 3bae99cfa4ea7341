"""A function compiled for the CPU by numba.njit is called by a kernel too."""

import math

import numba
import numpy as np

from warpwise import cuda


@numba.njit
def score(price, weight, distance):
    return price / 2 - 3 * weight + math.pi * distance


@cuda.jit
def scores(result, prices, weights, distances):
    i = cuda.grid(1)
    if i < len(prices):
        result[i] = score(prices[i], weights[i], distances[i])


def check():
    columns = [8, 1, 40], [2, 2, 17], [5, 21, 300]
    result = cuda.to_device([0.0, 0.0, 0.0])
    scores.forall(3)(result, *map(cuda.to_device, columns))
    assert np.allclose(result.copy_to_host(), [score(*row) for row in zip(*columns, strict=True)])
