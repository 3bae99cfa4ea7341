"""Clocks of a request, against microbenchmarks and NVIDIA's rules."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise.stopwatch.accesses import atomic_clocks, clocks, partly_stored, sectors
from warpwise.stopwatch.cards import find
from warpwise.stopwatch.l1 import misses

A100, A40 = find("A100 80 GB SXM").core, find("A40").core
LANES = np.arange(32)


# te42kyfo/gpu-benches, gpu-strides/a100.txt: clocks of a load of L1, by the stride of its elements.
@pytest.mark.parametrize(
    ("width", "stride", "expected"),
    [
        (4, 0, 1), (4, 1, 1), (4, 2, 2), (4, 4, 4), (4, 8, 8), (4, 16, 16), (4, 32, 32),
        (8, 0, 2), (8, 1, 2), (8, 2, 4), (8, 4, 8), (8, 8, 16),
    ],
)  # fmt: skip
def test_strides_of_l1_take_what_was_measured(width: int, stride: int, expected: int):
    assert clocks(LANES * stride * width, width, "global", A100) == expected


@pytest.mark.parametrize(("stride", "expected"), [(0, 2), (1, 2), (2, 2), (4, 4), (32, 32)])
def test_l1_of_an_a40_is_half_as_wide(stride: int, expected: int):
    assert clocks(LANES * stride * 4, 4, "global", A40) == expected


# NVIDIA's developer forum, "Unexpected shared memory bank conflict": 4 passes, or 2 where
# neighbours, or lanes two apart, have one address.
@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (LANES * 16, 4),
        (LANES * 0, 2),
        (LANES // 2 * 16, 2),
        ((LANES // 4 * 2 + LANES % 2) * 16, 2),
        (LANES // 4 * 16, 2),
        (LANES * 32, 8),
    ],
)
def test_wide_loads_of_shared_memory(addresses: np.ndarray, expected: int):
    assert clocks(addresses, 16, "shared", A100) == expected


def test_banks_and_lanes_of_shared_memory():
    assert clocks(LANES * 4, 4, "shared", A100) == 1
    assert clocks(LANES * 4, 4, "shared", A40) == 2  # 16 addresses in a clock
    assert clocks(LANES * 128, 4, "shared", A100) == 32
    assert clocks(LANES * 132, 4, "shared", A100) == 1
    assert clocks([-1] * 31 + [0], 4, "shared", A100) == 1


def test_atomics_of_one_address_take_turns():
    assert atomic_clocks(LANES * 4) == 1
    assert atomic_clocks(LANES * 0) == 32
    assert atomic_clocks(LANES % 4 * 4) == 8


def test_sectors():
    assert len(sectors(LANES * 4, 4)) == 4
    assert len(sectors(LANES * 4 + 16, 4)) == 5
    assert len(sectors(LANES * 16, 16)) == 16


def test_sectors_of_which_a_request_stores_a_part():
    assert partly_stored(LANES * 4, 4) == 0
    assert partly_stored(LANES * 4 + 16, 4) == 2  # half a sector at either end
    assert partly_stored(LANES * 128, 4) == 32
    assert partly_stored(LANES * 16, 16) == 0
    assert partly_stored([-1] * 31 + [0], 8) == 1


def test_l1_forgets_the_line_that_was_used_longest_ago():
    lines = np.array([0, 1, 0, 2, 1, 0])
    masks = np.array([0b1111, 0b0001, 0b1111, 0b0011, 0b0001, 0b1111])
    assert misses(lines, masks, 1, 2).tolist() == [4, 1, 0, 2, 1, 4]
    assert misses(lines, masks, 1, 4).tolist() == [4, 1, 0, 2, 0, 0]


def test_l1_keeps_sectors_and_not_whole_lines():
    assert misses(np.array([5, 5]), np.array([0b0001, 0b0011]), 4, 4).tolist() == [1, 1]
