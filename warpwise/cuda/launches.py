"""A kernel with a launch configuration: ``kernel[blocks, threads]`` and ``kernel.forall(n)``."""

from __future__ import annotations

import numbers
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from warpwise.cuda.layouts import need_copyable, prepared
from warpwise.cuda.options import bounds_of
from warpwise.cuda.redirected import Asked, taken
from warpwise.errors import LaunchError, LaunchTypeError, UnsupportedError
from warpwise.simt.arguments import signature_of
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.launch import trace

FORALL_THREADS = 256  # of a block, where forall may choose
Shape = tuple[int, int, int]


class RaceWarning(UserWarning):
    """Two unordered accesses to one element by two threads, at least one of them a write."""


@dataclass(frozen=True)
class Configured:
    """A kernel, ready to launch: ``launch(*args)``.

    ``griddim`` and ``blockdim`` have three axes; ``sharedmem`` is in bytes of a block."""

    dispatcher: Kernel
    griddim: Shape
    blockdim: Shape
    stream: object = 0
    sharedmem: int = 0
    pre_launch_callbacks: list[Callable[[Kernel, Configured], object]] = field(default_factory=list)

    def __call__(self, *args: Any, **named: Any) -> None:
        """Launch the kernel. Raises what ``warpwise.trace`` raises; warns of races."""
        kernel = self.dispatcher
        if kernel.device:
            what = f"{kernel.name} is a device function, and only kernels are launched"
            try_this = "@cuda.jit without device=True makes it a kernel"
            raise UnsupportedError(what, kernel.where(kernel.tree), try_this)
        if named:
            names = ", ".join(f"{name}=" for name in named)
            raise LaunchError(
                f"{kernel.name}: a launch passes arguments by position: "
                f"leave {names} out, and keep the order"
            )
        self._check_bounds()
        for callback in self.pre_launch_callbacks:
            callback(kernel, self)
        grid, block = self.griddim, self.blockdim
        args, after = prepared(getattr(kernel, "extensions", ()), args, self.stream, self._kind)
        need_copyable(kernel.name, kernel.parameters, args)
        if taken(Asked(kernel, grid, block, args, self.sharedmem)):
            return
        t = trace(kernel, grid, block, *args, record=(), shared_bytes=self.sharedmem)
        for back in after:
            back()
        for race in t.races:
            warnings.warn(f"{kernel.name}: {race}", RaceWarning, stacklevel=2)

    def _kind(self, value: object) -> object:
        """Return an argument's type; for what no kernel takes the type that it names, if any."""
        try:
            return signature_of(self.dispatcher, value)
        except LaunchError:
            return getattr(value, "_numba_type_", None)

    def __getstate__(self) -> dict[str, object]:
        if self.pre_launch_callbacks:
            what = "Cannot pickle configured launches with pre-launch callbacks"
            raise pickle.PicklingError(what)
        return vars(self)

    def _check_bounds(self) -> None:
        bounds = bounds_of(self.dispatcher.options)
        x, y, z = self.blockdim
        if bounds and x * y * z > bounds[0]:
            raise LaunchError(
                f"{self.dispatcher.name}: a block of {x * y * z:,} threads, and "
                f"launch_bounds={bounds} lets a block have {bounds[0]:,}"
            )


def configured(
    kernel: Kernel, griddim: object, blockdim: object, stream: object = 0, sharedmem: int = 0
) -> Configured:
    """Return a kernel with a launch configuration.

    Raises LaunchError for one of more than three axes, LaunchTypeError for one that is not of
    integers: Numba raises ValueError and TypeError, also before there are arguments."""
    if griddim is None or blockdim is None:
        raise LaunchError(missing(kernel))
    grid, block = _axes(griddim, "griddim"), _axes(blockdim, "blockdim")
    return Configured(kernel, grid, block, stream, sharedmem)


def missing(kernel: Kernel) -> str:
    """Return what is wrong with a kernel that is used without a launch configuration."""
    return (
        f"{kernel.name} is a kernel, and its launch configuration was not specified: "
        f"{kernel.name}[blocks, threads](...) launches it. "
        "If it is meant to be plain Python, take the decorator away"
    )


def _axes(value: object, what: str) -> Shape:
    parts: list[Any] = list(value) if isinstance(value, (tuple, list)) else [value]
    if not 1 <= len(parts) <= 3:
        raise LaunchError(f"{what} must be a sequence of 1, 2 or 3 integers, got {parts}")
    if not all(type(part) is int or isinstance(part, numbers.Integral) for part in parts):
        raise LaunchTypeError(f"{what} must be a sequence of integers, got {parts}")
    x, y, z = (int(part) for part in (*parts, 1, 1)[:3])
    return x, y, z


@dataclass(frozen=True)
class ForAll:
    """A one-dimensional launch of at least ``ntasks`` threads, in blocks of ``tpb``.

    Raises LaunchError for a negative number of tasks; without tasks nothing is launched."""

    dispatcher: Kernel
    ntasks: int
    tpb: int = 0
    stream: object = 0
    sharedmem: int = 0

    def __post_init__(self) -> None:
        if self.ntasks < 0:
            raise LaunchError(f"Can't create ForAll with negative task count: {self.ntasks}")

    def __call__(self, *args: Any) -> None:
        if self.ntasks:
            bounds = bounds_of(self.dispatcher.options)
            threads = self.tpb or min((FORALL_THREADS, *bounds[:1]))
            blocks = -(-self.ntasks // threads)
            configured(self.dispatcher, blocks, threads, self.stream, self.sharedmem)(*args)
