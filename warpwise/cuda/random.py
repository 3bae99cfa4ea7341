"""``cuda.random``: states and functions of xoroshiro128+, Numba's where there is a GPU."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warpwise.cuda.arrays import DeviceArray
from warpwise.cuda.numba_backend import backend
from warpwise.simt.builtins import random_states as simulated
from warpwise.simt.builtins.random_functions import RANDOM
from warpwise.simt.frontend.names import CudaName
from warpwise.simt.machine.device_memory import held

NAMES = (
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "init_xoroshiro128p_states_cpu",
    "xoroshiro128p_dtype",
    *RANDOM,
)


def _create(n: int, seed: int, subsequence_start: int = 0, stream: object = 0) -> DeviceArray:
    """Return a device array of states for ``n`` threads."""
    states = simulated.create_xoroshiro128p_states(n, seed, subsequence_start, stream)
    return DeviceArray.over(held(states), stream)


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"cuda.random has no {name!r}; it has {', '.join(NAMES)}")
    if backend() == "gpu":
        return getattr(import_module("numba.cuda.random"), name)
    if name in RANDOM:
        return CudaName(f"random.{name}")
    return _create if name == "create_xoroshiro128p_states" else getattr(simulated, name)


def __dir__() -> list[str]:
    return list(NAMES)
