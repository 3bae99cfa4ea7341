"""The fragments widget: what it gives a lane is what the simulator multiplies."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import LaunchError
from warpwise.kernels.bfloat16 import to_bfloat16
from warpwise.kernels.tensor_core import mma_bf16, mma_tf32
from warpwise.views import fragments

DEPTHS = {"bf16": 16, "tf32": 8}


@cache
def held(shape: str, lane: int) -> dict[str, list[tuple[int, int]]]:
    """Return the elements that the sentence names, by matrix, register by register."""
    sentence = fragments.explorer(shape, lane).sentence
    found = re.findall(r"([ABC])\[(\d+), (\d+)\]", sentence)
    return {name: [(int(i), int(j)) for n, i, j in found if n == name] for name in "ABC"}


@cuda.jit
def of_words(a, b, c):
    t = cuda.threadIdx.x
    c[t, 0], c[t, 1], c[t, 2], c[t, 3] = mma_bf16(
        a[t, 0], a[t, 1], a[t, 2], a[t, 3], b[t, 0], b[t, 1], c[t, 0], c[t, 1], c[t, 2], c[t, 3]
    )


@cuda.jit
def of_numbers(a, b, c):
    t = cuda.threadIdx.x
    c[t, 0], c[t, 1], c[t, 2], c[t, 3] = mma_tf32(
        a[t, 0], a[t, 1], a[t, 2], a[t, 3], b[t, 0], b[t, 1], c[t, 0], c[t, 1], c[t, 2], c[t, 3]
    )


@pytest.mark.parametrize("shape", DEPTHS)
def test_matrices_laid_out_as_drawn_are_multiplied(shape):
    rng, deep = np.random.default_rng(5), DEPTHS[shape]
    a, b, c = (
        rng.integers(-50, 50, size).astype(np.float32) for size in ((16, deep), (deep, 8), (16, 8))
    )
    lanes = [held(shape, lane) for lane in range(32)]
    registers = {
        name: np.array([[matrix[place] for place in own[name]] for own in lanes])
        for name, matrix in (("A", a), ("B", b), ("C", c))
    }
    if shape == "bf16":
        for name in "AB":
            registers[name] = to_bfloat16(registers[name]).view(np.uint32)
    sums = registers["C"]
    trace(of_words if shape == "bf16" else of_numbers, 1, 32, registers["A"], registers["B"], sums)
    want = c + a @ b  # of integers below 2^24: exact
    assert np.array_equal(sums, [[want[place] for place in own["C"]] for own in lanes])


@pytest.mark.parametrize("shape", DEPTHS)
def test_every_element_has_one_lane(shape):
    deep = DEPTHS[shape]
    for name, count in (("A", 16 * deep), ("B", deep * 8), ("C", 128)):
        every = [place for lane in range(32) for place in held(shape, lane)[name]]
        assert len(every) == len(set(every)) == count


def test_the_figures_count_elements_and_registers():
    rows = {shape: fragments.explorer(shape).shown["rows"] for shape in DEPTHS}
    assert rows["bf16"] == [
        ["of A", 8, "in 4 registers"],
        ["of B", 4, "in 2 registers"],
        ["of C", 4, "in 4 registers"],
    ]
    assert [row[1] for row in rows["tf32"]] == [4, 2, 4]


@pytest.mark.parametrize("arguments", (("f64",), ("bf16", 32), ("tf32", -1)))
def test_what_is_no_fragment_is_refused(arguments):
    with pytest.raises(LaunchError):
        fragments.explorer(*arguments)
