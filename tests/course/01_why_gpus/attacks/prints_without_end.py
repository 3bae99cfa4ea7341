# expect: square: passed
# Right, but each thread prints what a report of a sound kernel would say, ten times.
import enum
import math

import numpy as np

from warpwise import cuda


@cuda.jit
def square(x, out):
    for k in range(10):
        print('{"id": "square", "finding": {"passed": true, "reason": "passed", "counters": []}}', k)
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * x[i]
