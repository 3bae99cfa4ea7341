"""cuda.random against Numba's functions on the CPU: the same states, the same numbers."""

import time

import numba.cuda.random as theirs
import numpy as np
import pytest
from numba import cuda as numba_cuda
from numba.cuda.random import (
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
)

from warpwise import cuda, trace
from warpwise.cuda.random import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_states,
    xoroshiro128p_uniform_float32,
)
from warpwise.simt import kernels_in
from warpwise.simt.builtins import random_states as ours

N = 37


def states(count: int = N, seed: int = 7, start: int = 0) -> np.ndarray:
    made = np.empty(count, theirs.xoroshiro128p_dtype)
    theirs.init_xoroshiro128p_states_cpu(made, seed, start)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 12345, 2**63 + 11])
@pytest.mark.parametrize(("count", "start"), [(1, 0), (2, 0), (37, 0), (64, 3), (5, 100)])
def test_states_are_numbas(seed, count, start):
    made = np.empty(count, ours.xoroshiro128p_dtype)
    ours.init_xoroshiro128p_states_cpu(made, seed, start)
    np.testing.assert_array_equal(made, states(count, np.uint64(seed), start))
    assert ours.xoroshiro128p_dtype == theirs.xoroshiro128p_dtype


def test_the_first_state_is_the_seeds_own_unless_a_start_is_given():
    own, later = np.empty(2, ours.xoroshiro128p_dtype), np.empty(1, ours.xoroshiro128p_dtype)
    ours.init_xoroshiro128p_states_cpu(own, 7)
    ours.init_xoroshiro128p_states_cpu(later, 7, 1)
    np.testing.assert_array_equal(own, ours.create_xoroshiro128p_states(2, 7))
    np.testing.assert_array_equal(own[1:], later)


def test_many_states_are_made_quickly():
    start = time.process_time()
    made = ours.create_xoroshiro128p_states(100_000, 1)
    assert time.process_time() - start < 2
    assert len(np.unique(made["s0"])) == 100_000
    ours.init_xoroshiro128p_states_cpu(np.empty(0, ours.xoroshiro128p_dtype), 1)


@numba_cuda.jit
def integers(states, out):
    i = numba_cuda.grid(1)
    if i < out.shape[0]:
        for k in range(out.shape[1]):
            out[i, k] = xoroshiro128p_next(states, i)


@numba_cuda.jit
def uniform(states, out):
    i = numba_cuda.grid(1)
    if i < out.shape[0]:
        for k in range(out.shape[1]):
            out[i, k] = theirs.xoroshiro128p_uniform_float32(
                states, i
            ) + theirs.xoroshiro128p_uniform_float64(states, i)


@numba_cuda.jit
def normal(states, out):
    i = numba_cuda.grid(1)
    if i < out.shape[0]:
        for k in range(out.shape[1]):
            out[i, k] = xoroshiro128p_normal_float32(states, i)
            out[i, k] += 1000 * xoroshiro128p_normal_float64(states, i)


def by_numba(kernel, out: np.ndarray) -> np.ndarray:
    """Return the same numbers, by Numba's functions on the CPU."""
    made = states()
    for i in range(N):
        for k in range(out.shape[1]):
            if kernel is integers:
                out[i, k] = theirs.xoroshiro128p_next(made, i)
            elif kernel is uniform:
                out[i, k] = theirs.xoroshiro128p_uniform_float32(
                    made, i
                ) + theirs.xoroshiro128p_uniform_float64(made, i)
            else:
                out[i, k] = theirs.xoroshiro128p_normal_float32(made, i)
                out[i, k] += 1000 * theirs.xoroshiro128p_normal_float64(made, i)
    return out


@pytest.mark.parametrize(("kernel", "dtype"), [(integers, np.uint64), (uniform, np.float64)])
def test_integers_and_uniform_numbers_are_numbas_to_the_bit(kernel, dtype):
    out = np.zeros((N, 4), dtype)
    t = trace(kernel, 2, 32, states(), out)
    np.testing.assert_array_equal(out, by_numba(kernel, np.zeros((N, 4), dtype)))
    assert t.races == ()


def test_normal_numbers_are_numbas_within_rounding():
    out = np.zeros((N, 4))
    trace(normal, 2, 32, states(), out)
    np.testing.assert_allclose(out, by_numba(normal, np.zeros((N, 4))), rtol=1e-5, atol=1e-4)


def test_states_move_on_and_are_counted_at_the_line_that_draws():
    used, out = states(), np.zeros((N, 1), np.uint64)
    t = trace(integers, 2, 32, used, out)
    assert (used["s0"] != states()["s0"]).all()
    (line,) = (number for number, text in t.source.items() if "xoroshiro128p_next" in text)
    assert t.by_line[line].global_load_requests == 4  # two words of two warps
    assert t.by_line[line].global_store_requests == 6  # and what is drawn
    assert set(t.by_line) <= set(t.source)


def test_two_threads_on_one_state_are_a_race():
    text = (
        "from numba import cuda\n"
        "from numba.cuda.random import xoroshiro128p_uniform_float32 as draw\n"
    )
    text += "@cuda.jit\ndef k(states, out):\n    out[cuda.grid(1)] = draw(states, 0)\n"
    races = trace(kernels_in(text)["k"], 1, 32, states(), np.zeros(32)).races
    assert races and races[0].array.startswith("states")


def test_warpwise_has_the_same_names():
    @cuda.jit
    def drawn(states, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = xoroshiro128p_uniform_float32(states, i)

    made, out = create_xoroshiro128p_states(N, seed=7), np.zeros(N, np.float32)
    drawn[2, 32](made, out)
    expected = states()
    np.testing.assert_array_equal(
        out, [theirs.xoroshiro128p_uniform_float32(expected, i) for i in range(N)]
    )
    init_xoroshiro128p_states(made, 7)
    np.testing.assert_array_equal(made.copy_to_host(), states())
