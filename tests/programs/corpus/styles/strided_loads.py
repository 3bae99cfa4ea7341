"""Sectors by stride, and the report."""

import numpy as np

from warpwise import cuda, trace


@cuda.jit
def stride(x, y, s):
    i = cuda.grid(1)
    y[i] = x[i * s]


def check():
    for s, sec in ((1, 4), (2, 8), (8, 32), (32, 32)):
        x = np.zeros(64 * s, np.float32)
        y = np.zeros(64, np.float32)
        t = trace(stride, 1, 64, x, y, s)
        assert t.metrics.sectors_per_request_load == sec, (s, t.metrics)
        assert t.metrics.global_load_requests == 2, (s, t.metrics)
    from warpwise.report import report

    assert "stride" in str(report(t))
