"""Times from a few blocks of a grid: those of the whole one."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import trace
from warpwise.kernels.sgemm import simple
from warpwise.toolchain import missing
from warpwise.traces import Trace

pytestmark = pytest.mark.skipif(
    bool(missing()), reason=f"no {', '.join(missing())}: python -m pip install -e '.[toolchain]'"
)
N = 192


def product(**options) -> Trace:
    sizes, matrices = (np.uint32(N),) * 3, [np.ones(N * N, np.float32) for _ in range(3)]
    launch = simple.sgemm_3_shared, (N // 32, N // 32), (32, 32), *sizes, *matrices
    return trace(*launch, sanitize=False, **options)


def test_a_few_blocks_take_the_time_of_the_whole_grid():
    whole, few = (product(**o).time("RTX A6000") for o in ({}, {"blocks_traced": 4}))
    assert few.seconds == pytest.approx(whole.seconds, rel=0.03)
    assert few.flops == whole.flops == 2 * N**3
    assert few.dram_bytes == pytest.approx(whole.dram_bytes, rel=0.03)
    assert any("5 of 36 blocks ran" in note for note in few.notes)
    assert not any("blocks ran" in note for note in whole.notes)
