"""What a kernel prints and asserts."""

import numpy as np

from warpwise import cuda


@cuda.jit
def k(x):
    i = cuda.grid(1)
    assert x.size > 0
    assert not i < 0, "negative"
    if i == 3:
        print("thread", i, "value", x[i], 1.5, True)
        print(x[i])
        print()


def check():
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        k[1, 32](np.arange(32.0))
    assert said.getvalue() == "thread 3 value 3.000000 1.500000 True\n3.000000\n\n"
