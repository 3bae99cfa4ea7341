"""Simulated kernels on the host's side: ``@cuda.jit``, launches and ``forall``."""

from __future__ import annotations

import difflib
import functools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from warpwise.cuda.layouts import need_copyable, prepared
from warpwise.devices import H100
from warpwise.errors import LaunchError, UnsupportedError
from warpwise.model.occupancy import occupancy
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import from_function
from warpwise.simt.launch import dimensions, trace

#: Options of ``numba.cuda.jit``. They mean something to a compiler only.
OPTIONS = (
    "inline forceinline link debug opt lineinfo cache launch_bounds lto shared_memory_carveout "
    "fastmath max_registers boundscheck nopython extensions chip"
).split()
PLAIN = "If it is meant to be plain Python, take the decorator away"
FORALL_THREADS = 256  # of a block, where forall may choose


class RaceWarning(UserWarning):
    """Two unordered accesses to one element by two threads, at least one of them a write."""


class SimulatedKernel(Kernel):
    """A kernel for the simulator: ``kernel[blocks, threads](*args)``."""

    def __getitem__(self, config: object) -> Callable[..., None]:
        config = config if isinstance(config, tuple) else (config,)
        if not 2 <= len(config) <= 4:
            raise LaunchError(
                f"{self.name}[blocks, threads], [blocks, threads, stream] or [blocks, threads, "
                "stream, shared_bytes] is the launch configuration; "
                f"{len(config)} parts were given"
            )
        return self.configure(*config)

    def configure(
        self, griddim: object, blockdim: object, stream: object = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        """Return the launch for a configuration.

        ``sharedmem``: bytes of dynamic shared memory of each block."""
        if self.device:
            what = f"{self.name} is a device function, and only kernels are launched"
            raise UnsupportedError(
                what, self.where(self.tree), "@cuda.jit without device=True makes it a kernel"
            )

        def launch(*args: Any, **named: Any) -> None:
            if named:
                names = ", ".join(f"{name}=" for name in named)
                raise LaunchError(
                    f"{self.name}: a launch passes arguments by position: "
                    f"leave {names} out, and keep the order"
                )
            args, after = prepared(self.extensions, args, stream)
            need_copyable(self.name, self.parameters, args)
            t = trace(self, griddim, blockdim, *args, record=(), shared_bytes=sharedmem)
            for back in after:
                back()
            for race in t.races:
                warnings.warn(f"{self.name}: {race}", RaceWarning, stacklevel=2)

        return launch

    def forall(
        self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        """Return a one-dimensional launch of at least ``ntasks`` threads, in blocks of ``tpb``.

        Without tasks nothing is launched."""
        if ntasks < 0:
            raise LaunchError(f"forall() needs 0 tasks or more, not {ntasks}")
        if not ntasks:
            return lambda *args: None
        threads = tpb or FORALL_THREADS
        return self.configure(-(-ntasks // threads), threads, stream, sharedmem)

    @functools.cached_property
    def extensions(self) -> list[Any]:
        """Objects whose ``prepare_args`` replaces arguments before a launch, as with Numba."""
        return []

    @property
    def overloads(self) -> Overloads:
        """Compiled kernels by signature: here one answer for all."""
        return Overloads(self)

    def __call__(self, *args: Any) -> None:
        if self.device:
            what = f"{self.name} is a device function: only a kernel can call it"
            raise UnsupportedError(what, self.where(self.tree), PLAIN)
        launched = f"{self.name}[blocks, threads](...) launches it. {PLAIN}"
        raise UnsupportedError(
            f"{self.name} is a kernel, and Python cannot call it", self.where(self.tree), launched
        )


@dataclass(frozen=True)
class Overload:
    """A compiled kernel, as far as there is one without a compiler."""

    kernel: SimulatedKernel

    def max_cooperative_grid_blocks(self, blockdim: object, dynsmemsize: int = 0) -> int:
        """Return the most blocks that can sync the grid, if a thread needs few registers.

        Those that the device holds at once."""
        threads = math.prod(dimensions(blockdim, "threads"))
        return occupancy(H100, threads, shared_bytes=dynsmemsize).blocks * H100.sms


@dataclass(frozen=True)
class Overloads:
    """``kernel.overloads[signature]``, and ``kernel.overloads.values()``."""

    kernel: SimulatedKernel

    def __getitem__(self, signature: object) -> Overload:
        return Overload(self.kernel)

    def __iter__(self) -> Iterator[object]:
        return iter(self.kernel.signatures)

    def __len__(self) -> int:
        return len(self.kernel.signatures)

    def values(self) -> tuple[Overload, ...]:
        return (Overload(self.kernel),)


def jit(func_or_sig: Any = None, *, device: bool = False, **options: Any) -> Any:
    """Make a kernel, or with ``device=True`` a device function.

    Raises LaunchError for an option that Numba does not have."""
    for name in options:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name[:40], ("device", *OPTIONS), n=1)
            meant = f"did you mean {near[0]}?" if near else f"it has {', '.join(OPTIONS)}"
            raise LaunchError(f"cuda.jit has no option {name!r}; {meant}")

    def make(function: Any) -> Kernel:
        return from_function(function, device, SimulatedKernel)

    is_function = callable(func_or_sig) and hasattr(func_or_sig, "__code__")
    return make(func_or_sig) if is_function else make


HOST: dict[str, object] = {"jit": jit}
