"""Asynchronous copies and accesses of 16 bytes in the pictures of a trace."""

from __future__ import annotations

import numpy as np

from warpwise import cuda, trace
from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait, mma_tf32
from warpwise.kernels.wide import load4
from warpwise.views import banks, divergence, shared_memory


@cuda.jit
def staged(x, out):
    tile = cuda.shared.array(256, np.float32, alignment=16)
    t, zero = cuda.threadIdx.x, np.float32(0)
    cp_async16(tile, 8 * t, x, 4 * t)
    cp_async_commit()
    cp_async_wait(0)
    a0, a1, a2, a3 = load4(tile, 8 * t)
    c = mma_tf32(a0, a1, a2, a3, zero, zero, zero, zero, zero, zero)
    out[t] = c[0]


def traced():
    return trace(staged, 1, 32, np.ones(128, np.float32), np.zeros(32, np.float32))


def step(number: int) -> str:
    return shared_memory.of_trace(traced(), step=number).sentence


def test_shared_memory_is_written_when_a_copy_arrives_and_not_when_it_begins():
    assert "starts a copy to tile" in step(1) and "0 of 256 elements are written" in step(1)
    assert "ends the copy to tile" in step(2) and "128 of 256 elements are written" in step(2)


def test_a_lane_names_all_four_elements_of_16_bytes():
    assert "names 128 elements, from lane 0 tile[0] and from lane 31 tile[248]" in step(3)


def test_a_warp_over_time_says_what_happens_to_its_copies_and_fragments():
    t = traced()
    for text, words in (
        ("cp_async16(", "copy to shared tile started by 32 lanes"),
        ("cp_async_wait(", "copy to shared tile arrives for 32 lanes"),
        ("mma_tf32(", "product on tensor cores by 32 lanes"),
    ):
        (line,) = (number for number, source in t.source.items() if text in source)
        assert words in divergence.of_trace(t, line=line).sentence


def test_the_banks_of_a_copy_are_those_of_its_store():
    t = traced()
    (line,) = (number for number, source in t.source.items() if "cp_async16(" in source)
    sentence = banks.of_trace(t, line=line).sentence
    assert "warp 0 of block (0, 0, 0) writes tile" in sentence
    assert "takes 8 wavefronts: 4 bank conflicts" in sentence
