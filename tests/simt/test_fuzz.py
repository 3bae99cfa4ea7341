"""Random kernels of the simulator's language give, bit by bit, what Numba's simulator gives,
and none has a race.

The programs are the same at every run. ``python tools/fuzz.py 20000 7`` draws others.
"""

import os

import numpy as np
import pytest
from fuzz import NumbasSimulator, Program, compare, compare_many
from support.share import THOROUGH

pytestmark = pytest.mark.slow

#: `make thorough` takes 800, `make seeds` 2,000
EXAMPLES = int(os.environ.get("WARPWISE_KERNELS", 800 if THOROUGH else 200))
PARTS = 4


@pytest.fixture(scope="module")
def numba():
    simulator = NumbasSimulator()
    yield simulator
    simulator.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_random_kernels_give_what_numbas_simulator_gives(part, numba):
    compare_many(EXAMPLES // PARTS, part, numba)


TEXT = """
import numpy as np
from numba import cuda

@cuda.jit
def kernel(x, out):
    out[0] = {value}
"""


def test_a_difference_is_found(numba):
    """Compiled code adds two int8 in 64 bits, NumPy in 8: that is why drawn programs cast each
    value where it is made."""

    def program(value: str) -> Program:
        return Program(
            TEXT.format(value=value), 1, 1, (np.array([100], np.int8), np.zeros(1, np.int64))
        )

    with pytest.raises(AssertionError, match="array 1 of"):
        compare(program("x[0] + x[0]"), numba)
    compare(program("np.int8(x[0] + x[0])"), numba)
