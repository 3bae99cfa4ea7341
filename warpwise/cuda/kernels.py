"""Kernels of the simulator on the host's side: ``@cuda.jit``, launch configurations, ``forall`` and ``reduce``."""

from __future__ import annotations

import difflib
import functools
import math
import warnings
from dataclasses import dataclass

import numpy as np

from warpwise import model
from warpwise.devices import H100
from warpwise.errors import LaunchError, UnsupportedError
from warpwise.simt.launch import dimensions, trace
from warpwise.simt.text.source import Kernel, from_function

#: Options of ``numba.cuda.jit``. They mean something to a compiler only.
OPTIONS = (
    "inline", "forceinline", "link", "debug", "opt", "lineinfo", "cache", "launch_bounds", "lto", "shared_memory_carveout", "fastmath",
    "max_registers", "boundscheck", "nopython", "extensions", "chip",
)  # fmt: skip
PLAIN = "If it is meant to be plain Python, take the decorator away"
FORALL_THREADS = 256  # of a block, where forall may choose


class RaceWarning(UserWarning):
    """Two threads used one element, at least one of them to write, with nothing that orders them."""


class SimulatedKernel(Kernel):
    """A kernel for the simulator: ``kernel[blocks, threads](*args)``."""

    def __getitem__(self, config):
        config = config if isinstance(config, tuple) else (config,)
        if not 2 <= len(config) <= 4:
            what = "[blocks, threads], [blocks, threads, stream] or [blocks, threads, stream, shared_bytes]"
            raise LaunchError(f"{self.name}{what} is the launch configuration; {len(config)} parts were given")
        return self.configure(*config)

    def configure(self, griddim, blockdim, stream=0, sharedmem: int = 0):
        """The launch for a configuration; ``sharedmem``: bytes of dynamic shared memory of each block."""

        if self.device:
            what = f"{self.name} is a device function, and only kernels are launched"
            raise UnsupportedError(what, self.where(self.tree), "@cuda.jit without device=True makes it a kernel")

        def launch(*args, **named) -> None:
            if named:
                names = ", ".join(f"{name}=" for name in named)
                raise LaunchError(f"{self.name}: a launch passes arguments by their place: leave {names} out, and keep the order")
            for race in trace(self, griddim, blockdim, *args, record=(), shared_bytes=sharedmem).races:
                warnings.warn(f"{self.name}: {race}", RaceWarning, stacklevel=2)

        return launch

    def forall(self, ntasks: int, tpb: int = 0, stream=0, sharedmem: int = 0):
        """A one-dimensional launch of at least ``ntasks`` threads, in blocks of ``tpb``. Without tasks nothing is launched."""
        if ntasks < 0:
            raise LaunchError(f"forall() needs 0 tasks or more, not {ntasks}")
        threads = tpb or FORALL_THREADS
        return self.configure(-(-ntasks // threads), threads, stream, sharedmem) if ntasks else lambda *args: None

    @property
    def overloads(self) -> Overloads:
        """What was compiled, by signature: here one answer for all."""
        return Overloads(self)

    def __call__(self, *args):
        if self.device:
            what = f"{self.name} is a device function: only a kernel can call it"
            raise UnsupportedError(what, self.where(self.tree), PLAIN)
        launched = f"{self.name}[blocks, threads](...) launches it. {PLAIN}"
        raise UnsupportedError(f"{self.name} is a kernel, and Python cannot call it", self.where(self.tree), launched)


@dataclass(frozen=True)
class Overload:
    """A compiled kernel as far as it means something without a compiler."""

    kernel: SimulatedKernel

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """The most blocks that can sync the grid: those that the device holds at once, if a thread needs few registers."""
        threads = math.prod(dimensions(blockdim, "threads"))
        return model.occupancy(H100, threads, shared_bytes=dynsmemsize).blocks * H100.sms


@dataclass(frozen=True)
class Overloads:
    """``kernel.overloads[signature]``, and ``kernel.overloads.values()``."""

    kernel: SimulatedKernel

    def __getitem__(self, signature) -> Overload:
        return Overload(self.kernel)

    def __iter__(self):
        return iter(self.kernel.signatures)

    def __len__(self) -> int:
        return len(self.kernel.signatures)

    def values(self) -> tuple[Overload, ...]:
        return (Overload(self.kernel),)


def jit(func_or_sig=None, *, device: bool = False, **options):
    """Make a kernel, or with ``device=True`` a device function. Raises LaunchError for an option that Numba does not have."""
    for name in options:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name[:40], ("device", *OPTIONS), n=1)
            meant = f"did you mean {near[0]}?" if near else f"it has {', '.join(OPTIONS)}"
            raise LaunchError(f"cuda.jit has no option {name!r}; {meant}")

    def make(function) -> SimulatedKernel:
        return from_function(function, device, SimulatedKernel)

    is_function = callable(func_or_sig) and hasattr(func_or_sig, "__code__")
    return make(func_or_sig) if is_function else make


class Reduce:
    """``@cuda.reduce``: a function of two numbers, made to reduce an array. Here the host does it, from the first element on."""

    def __init__(self, functor):
        self.functor = getattr(functor, "function", functor)

    def __call__(self, arr, size: int | None = None, res=None, init=0, stream=0):
        values = np.asarray(arr).reshape(-1)[:size]
        result = functools.reduce(self.functor, values, values.dtype.type(init))
        if res is None:
            return result
        res[0] = result
        return None


HOST = {"jit": jit, "reduce": Reduce, "Reduce": Reduce}
