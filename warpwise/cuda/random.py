"""``cuda.random``: states and functions of xoroshiro128+; those of ``numba.cuda.random`` where there is a GPU."""

from __future__ import annotations

from warpwise.cuda import backend
from warpwise.cuda.arrays import DeviceArray
from warpwise.simt.language import random as simulated

NAMES = (
    "create_xoroshiro128p_states", "init_xoroshiro128p_states", "init_xoroshiro128p_states_cpu", "xoroshiro128p_dtype",
    "xoroshiro128p_next", "xoroshiro128p_uniform_float32", "xoroshiro128p_uniform_float64", "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
)  # fmt: skip


def _create(n: int, seed: int, subsequence_start: int = 0, stream=0) -> DeviceArray:
    """A device array of states for ``n`` threads."""
    return DeviceArray(simulated.create_xoroshiro128p_states(n, seed, subsequence_start, stream))


def __getattr__(name: str):
    if name not in NAMES:
        raise AttributeError(f"cuda.random has no {name!r}; it has {', '.join(NAMES)}")
    if backend() == "gpu":
        from numba.cuda import random

        return getattr(random, name)
    return _create if name == "create_xoroshiro128p_states" else getattr(simulated, name)


def __dir__() -> list[str]:
    return list(NAMES)
