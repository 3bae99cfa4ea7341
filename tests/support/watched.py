"""The timeline of a product with a producer and consumers, on one block."""

from __future__ import annotations

from functools import cache

import numpy as np

from warpwise import hopper, trace
from warpwise.kernels.producer_consumer import (
    COLUMNS,
    DEPTH,
    ROWS,
    SWIZZLE,
    THREADS,
    producer_consumer,
)


def operands(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    return a, b, np.full((m, n), np.nan, np.float32)


@cache
def watched(trips: int) -> hopper.Timeline:
    a, b, c = operands(ROWS, COLUMNS, trips * DEPTH)
    maps = (
        hopper.tensor_map(a, (ROWS, DEPTH), SWIZZLE),
        hopper.tensor_map(b, (COLUMNS, DEPTH), SWIZZLE),
        hopper.tensor_map(c, (ROWS, COLUMNS)),
    )
    timeline = hopper.Timeline()
    t = trace(producer_consumer, 1, THREADS, *maps, trips, observers=[timeline])
    assert t.races == ()
    return timeline
