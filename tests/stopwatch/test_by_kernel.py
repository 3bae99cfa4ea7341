"""Launches summed up by kernel: sums and shares by hand, and what is said of the times."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from warpwise import trace
from warpwise.kernels.copy import STEPS as COPIES
from warpwise.kernels.gelu import gelu_1_plain
from warpwise.stopwatch import by_kernel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def launches():
    """Two launches of one kernel that are alike, one that is larger, and one of another."""
    x, y, found = np.ones(4096, "f4"), np.zeros(4096, "f4"), []
    for n in (1024, 1024, 4096):
        found.append(trace(gelu_1_plain, n // 256, 256, x, y, np.uint32(n), record=(0,)))
    copy = COPIES[0].built[0].kernel
    return [*found, trace(copy, 4, 256, x, y, np.uint32(1024), record=(0,))]


def test_a_kernel_has_a_row_with_its_sums(launches):
    seen = []
    estimates = by_kernel.timed(launches, "H100 SXM", lambda: seen.append(1))
    assert len(estimates) == len(seen) == 4
    assert estimates[0] is estimates[1] and estimates[0] is not estimates[2]
    first, second = by_kernel.rows(launches, estimates)
    assert (first.kernel, first.launches, second.launches) == ("gelu_1_plain", 3, 1)
    assert first.bytes_moved == 8 * (1024 + 1024 + 4096) and second.bytes_moved == 8 * 1024
    assert first.bytes_asked == first.bytes_moved  # each sector once
    assert first.flops == 6 * launches[0].metrics.flops and second.flops == 0
    assert first.seconds == pytest.approx(sum(e.seconds for e in estimates[:3]))
    head, *lines, last = (line.split() for line in by_kernel.table([first, second]))
    assert head[:2] == ["kernel", "launches"]
    assert lines[0][:5] == ["gelu_1_plain", "3", "49.2", "85.7", "49.2"]
    assert lines[0][6] == "100.0"
    assert lines[1][3] == "14.3" and lines[1][6] == "0.0"
    assert last[:5] == ["all", "4", "57.3", "100.0", "57.3"]
    assert "stopwatch, each" in by_kernel.how(estimates)
    unlike = [replace(estimates[0], high=inf), *estimates]
    assert by_kernel.how(unlike).endswith("(at least, for gelu_1_plain, whose blocks differ)")
    bounds = [replace(estimates[0], high=inf, registers=0), *estimates]
    assert by_kernel.how(bounds).startswith("bounds from counters alone")


def test_no_launches_are_a_table_without_rows():
    assert [line.split()[0] for line in by_kernel.table([])] == ["kernel", "all"]
