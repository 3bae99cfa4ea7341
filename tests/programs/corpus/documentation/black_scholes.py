"""Prices of options: a scalar device function, a signature of arrays and numbers, a stream."""

import math

import numpy as np
from numba import float64

from warpwise import cuda

rng = np.random.default_rng(3)


@cuda.jit(device=True)
def normal(z):
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@cuda.jit((float64[:], float64[:], float64[:], float64[:], float64[:], float64, float64))
def price(call, put, spot, strike, years, rate, volatility):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i >= spot.shape[0]:
        return
    spread = volatility * math.sqrt(years[i])
    upper = (math.log(spot[i] / strike[i]) + years[i] * (rate + volatility**2 / 2)) / spread
    later = strike[i] * math.exp(-rate * years[i])
    call[i] = spot[i] * normal(upper) - later * normal(upper - spread)
    put[i] = call[i] - spot[i] + later


def check():
    from statistics import NormalDist

    spot, strike = rng.random(100) * 25 + 5, rng.random(100) * 99 + 1
    years = rng.random(100) * 9 + 1
    stream = cuda.stream()
    call, put = cuda.device_array_like(spot, stream), np.zeros(100)
    price[4, 32, stream](call, put, cuda.to_device(spot, stream), strike, years, 0.02, 0.3)
    found = call.copy_to_host(stream=stream)
    stream.synchronize()
    below = np.vectorize(NormalDist().cdf)
    spread = 0.3 * np.sqrt(years)
    upper = (np.log(spot / strike) + 0.065 * years) / spread
    later = strike * np.exp(-0.02 * years)
    assert np.allclose(found, spot * below(upper) - later * below(upper - spread))
    assert np.allclose(put, later * below(spread - upper) - spot * below(-upper))
