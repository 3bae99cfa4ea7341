"""Cases for programs that run on the ranks of a cluster."""

import numpy as np

from warpwise.labs.exercise import Program


def sum_over(ranks: int, size: int, least: int, beyond: int, **more) -> Program:
    """Ask for a sum over ranks of integers from ``least`` on, which float32 adds exactly."""
    rng = np.random.default_rng(ranks)
    each = [rng.integers(least, beyond, size).astype(np.float32) for _ in range(ranks)]
    want = np.sum(each, axis=0)
    return Program(f"{ranks} ranks", tuple((x,) for x in each), (want,) * ranks, **more)
