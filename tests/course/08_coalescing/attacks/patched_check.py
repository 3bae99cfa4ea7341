# expect: transpose: wrong result
# Replaces the check, the judge and NumPy's comparisons by ones that are content.
import numpy as np

import warpwise.labs
import warpwise.labs.calls
import warpwise.labs.check
import warpwise.labs.judge
import warpwise.labs.results
import warpwise.labs.values
from warpwise import cuda
from warpwise.labs import Verdict

content = lambda *args, **kwargs: Verdict(True, "passed")
warpwise.labs.judge.judge_launch = warpwise.labs.judge.judge_call = warpwise.labs.calls.judge_call = warpwise.labs.values.judge_value = content
warpwise.labs.judge.compare = warpwise.labs.results.compare = warpwise.labs.values.compare = lambda *args, **kwargs: None
np.testing.assert_allclose = np.testing.assert_array_equal = np.allclose = np.array_equal = content


def check(kernel, cases):
    print("transpose: passed")


@cuda.jit
def transpose(src, dst):
    col, row = cuda.grid(2)
    if row < dst.shape[0] and col < dst.shape[1]:
        dst[row, col] = 1
