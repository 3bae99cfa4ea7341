"""An index outside its array is explained by the loop around it, where the text shows the cause."""

import numpy as np
import pytest

from warpwise import trace
from warpwise.errors import OutOfBoundsError, UnwrittenReadError
from warpwise.simt import kernels_in

HEAD = "from numba import cuda, float32\n@cuda.jit\ndef k(a, out):\n"


def advice(body: str, error: type = OutOfBoundsError, blocks=1, shape=(64,)) -> str:
    """Return what is advised on a kernel of an array ``a`` and an output, with 8 threads."""
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(error) as caught:
        trace(kernels_in(text)["k"], blocks, 8, np.ones(shape, np.float32), np.zeros(64))
    return caught.value.try_this


AHEAD = {
    "for s in range(8):\n    out[8 * s] = a[8 * s + 8 + cuda.threadIdx.x]": "8 * s + 8 + cuda",
    "for s in range(a.size // 8):\n    k0 = 8 * (s + 1)\n    out[8 * s] = a[k0]": "k0",
    "for s in range(0, a.size, 8):\n    out[s] = a[s + 8]": "s + 8",
    "t = cuda.threadIdx.x\nfor s in range(8):\n    for i in range(1):\n"
    "        out[s] = a[8 * (s + 1) + i + t]": "8 * (s + 1) + i + t",
}


@pytest.mark.parametrize("body", AHEAD)
def test_a_loop_that_fetches_for_its_next_trip_has_none_in_its_last(body):
    told = advice(body)
    assert told.startswith("in the last trip of `for s in range(")
    assert f"there is no next one, and {AHEAD[body]}" in told
    assert "should that trip load at all? If that is not it: guard" in told


@pytest.mark.parametrize(
    "body",
    [
        "for s in range(-1, 8):\n    out[0] = a[8 * (s + 1) + cuda.threadIdx.x]",  # from 0 on
        "for s in range(9):\n    out[0] = a[8 * s + cuda.threadIdx.x]",
        "n = 8\nfor s in range(9):\n    out[0] = a[n * s + cuda.threadIdx.x]\n    n += 0",
    ],
)
def test_a_loop_that_does_not_read_ahead_is_not_said_to(body):
    assert "next one" not in advice(body)


def test_a_step_that_is_multiplied_once_more_is_asked_about():
    body = "for first in range(0, a.size, 8):\n    out[0] = a[8 * first + cuda.threadIdx.x]"
    assert advice(body).startswith(
        "first already goes up by 8 in each trip of `for first in range(0, a.size, 8)` on line 4: "
        "should 8 * first be first?"
    )
    other = body.replace("8 * first", "16 * first")
    assert "already goes up" not in advice(other)


def test_blocks_of_the_other_axis_are_asked_about():
    body = "left = 8 * cuda.blockIdx.{}\ntop = cuda.blockIdx.{}\nout[top] = a[top, left + 7]"
    told = advice(body.format("y", "x"), blocks=(2, 4), shape=(4, 16))
    assert told.startswith(
        "are blockIdx.x and blockIdx.y exchanged? Axis 1 of a has 16, 8 for each block along x, "
        "and its index goes by blockIdx.y"
    )
    others = advice(body.format("x", "y"), blocks=(2, 4), shape=(4, 8))
    assert "exchanged" not in others  # the array is too small either way


def test_sums_that_begin_with_nothing_are_told_apart_from_other_reads():
    body = "sums = cuda.local.array(4, float32)\nfor i in range(4):\n    {}"
    told = advice(body.format("sums[i] += a[i]"), UnwrittenReadError)
    assert told.startswith("sums holds no numbers at first, and += reads the element")
    assert "set each element of sums, to 0" in told
    other = advice(body.format("out[i] = sums[i]"), UnwrittenReadError)
    assert other.startswith("local memory is each thread's own")
