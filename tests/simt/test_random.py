"""Random programs: all lanes at once against Python, one thread after the other.

Python is the judge here, as it is quick: the kernel's text runs once for each thread, with a
``cuda`` that says which thread it is. Numbers stay far below 64 bits, so that Python's integers are
those of a GPU."""

import types

import numpy as np
import pytest
from support.random_kernels import Writer

from warpwise import trace
from warpwise.simt import kernels_in

SHAPES = [(1, 1), (2, 8), (3, 40), (1, 37), (5, 1)]


class Rows:
    """An array of Python's integers, for a thread to write to."""

    def __init__(self, values: np.ndarray):
        self.values, self.shape = values.tolist(), values.shape

    def __getitem__(self, place):
        return self.values[place[0]][place[1]]

    def __setitem__(self, place, value) -> None:
        self.values[place[0]][place[1]] = int(value)


def one_thread_after_the_other(
    text: str, threads: int, a: np.ndarray, n: int, out: np.ndarray
) -> np.ndarray:
    current = [0]
    cuda = types.SimpleNamespace(
        jit=lambda f=None, **_: f or (lambda g: g),
        grid=lambda _: current[0],
        local=types.SimpleNamespace(array=lambda size, _: [0] * size),
    )
    names = {"cuda": cuda}
    exec(text.replace("from numba import cuda", ""), names)
    rows = Rows(out)
    for current[0] in range(threads):
        names["kernel"](a.tolist(), n, rows)
    return np.array(rows.values)


@pytest.mark.parametrize("seed", range(100))
def test_a_random_program(seed):
    rng = np.random.default_rng(seed)
    text = Writer(rng).program()
    blocks, threads = SHAPES[seed % len(SHAPES)]
    a, n = rng.integers(-9, 20, 16), int(rng.integers(0, 9))
    out = np.full((max(1, blocks * threads - seed % 3), 4), -7)
    want = one_thread_after_the_other(text, blocks * threads, a, n, out)
    trace(kernels_in(text)["kernel"], blocks, threads, a, n, out)
    np.testing.assert_array_equal(out, want, err_msg=text)
