"""States of random numbers: xoroshiro128+, with the same numbers as ``numba.cuda.random``.

The generator is David Blackman's and Sebastiano Vigna's
(https://prng.di.unimi.it/xoroshiro128plus.c, constants 55, 14, 36, in the public domain). Thread
``i`` gets the subsequence that begins ``i * 2**64`` steps on. A jump that far is linear in the 128
bits of a state over the field of two elements, so that states are made by doubling: all the states
so far make 2**k jumps at once."""

from __future__ import annotations

from typing import Any

import numpy as np

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # the polynomial of 2**64 steps
_WORD = 2**64

State = np.ndarray  #: uint64, (2, states): s0 and s1


def init_xoroshiro128p_states_cpu(
    states: np.ndarray, seed: int, subsequence_start: int = 0
) -> None:
    """Fill an array of states, each a jump after the one before.

    The first is ``subsequence_start`` jumps after the state of ``seed``."""
    count = len(states)
    if count == 0:
        return
    made = np.empty((2, count), np.uint64)
    start = np.full((2, 1), _splitmix64(int(seed)), np.uint64)
    made[:, :1] = _power(_jump_map(), int(subsequence_start), start)
    have, by = 1, _jump_map()  # ``by`` is ``have`` jumps
    while have < count:
        more = min(have, count - have)
        made[:, have : have + more] = _applied(by, made[:, :more])
        have, by = have + more, _applied(by, by)
    states["s0"], states["s1"] = made


def init_xoroshiro128p_states(
    states: Any, seed: int, subsequence_start: int = 0, stream: object = 0
) -> None:
    """Fill an array of states in (simulated) device memory."""
    init_xoroshiro128p_states_cpu(getattr(states, "host_values", states), seed, subsequence_start)


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: object = 0
) -> np.ndarray:
    """Return states for ``n`` threads."""
    states = np.empty(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(states, seed, subsequence_start)
    return states


def _splitmix64(seed: int) -> int:
    """Turn any seed into a state's word: https://prng.di.unimi.it/splitmix64.c."""
    z = (seed + 0x9E3779B97F4A7C15) % _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % _WORD
    return z ^ z >> 31


def _rotated(x: np.ndarray, bits: int) -> np.ndarray:
    return x << np.uint64(bits) | x >> np.uint64(64 - bits)


def _stepped(state: State) -> State:
    s0, mixed = state[0], state[0] ^ state[1]
    return np.stack([_rotated(s0, 55) ^ mixed ^ mixed << np.uint64(14), _rotated(mixed, 36)])


def _jump_map() -> State:
    """Return the jump as its images of the 128 states that have one bit set: ``(2, 128)``."""
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    zero = np.zeros(64, np.uint64)
    state = np.stack([np.concatenate([bits, zero]), np.concatenate([zero, bits])])
    total = np.zeros_like(state)
    for word in _JUMP:
        for bit in range(64):
            if word >> bit & 1:
                total ^= state
            state = _stepped(state)
    return total


def _applied(by: State, states: State) -> State:
    """Apply a linear map, given as in ``_jump_map``, to each state: add the images of set bits."""
    out = np.zeros_like(states)
    for word in range(2):
        for bit in range(64):
            # 0, or all bits
            chosen = -(states[word] >> np.uint64(bit) & np.uint64(1)).view(np.int64)
            out ^= by[:, 64 * word + bit, None] & chosen.view(np.uint64)
    return out


def _power(by: State, times: int, states: State) -> State:
    """Apply a map ``times`` times."""
    while times > 0:
        if times & 1:
            states = _applied(by, states)
        by, times = _applied(by, by), times >> 1
    return states
