"""The hierarchy widget: grid, blocks, warps and lanes of a launch, and one thread's numbers.

The numbers are those of ``cuda.grid``, ``cuda.threadIdx`` and ``cuda.laneid``, and tests hold them
against traced kernels. Modelled: which SM a block goes to. CUDA leaves that open; here blocks are
dealt to the SMs in turn, as many as their occupancy allows, and the next ones when all of these
have ended. Clusters are left out."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from warpwise import devices, model
from warpwise.devices import DEVICES, H100, Device
from warpwise.errors import LaunchError
from warpwise.metrics import WARP_SIZE
from warpwise.model.arguments import whole
from warpwise.traces import Trace, linear
from warpwise.views.controls import Control, Slider, device_choice
from warpwise.views.frame import Frame
from warpwise.views.view import View

AXES = "xyz"
MOST_BLOCKS = 2**20  #: of a grid: a slider with more has no use
GRID_SLIDERS = (64, 16, 8)  #: the ends of those for the grid, unless a launch has more
KEY = (
    ("two", "this one"),
    ("one", "its warp"),
    ("faint", "alternate warps"),
    ("hatched", "blocks on its SM"),
    ("grey", "SMs with a block"),
)
Shape = int | tuple[int, ...]
ASKS = Frame(
    "Grid, block, warp, thread.",
    "Which elements has one block, and which has one of its warps?",
    ("block", "thread"),
)


def explorer(
    grid: Shape = (12, 4),
    block: Shape = (16, 6),
    device: Device | str = H100,
    registers: int = 32,
    shared_bytes: int = 0,
    block_index: Shape = (5, 1),
    thread_index: Shape = (3, 2),
) -> View:
    """Show a launch of ``grid`` blocks of ``block`` threads, opened on one thread of one block.

    Both are a number or up to three. The block, ``registers`` of a thread and ``shared_bytes`` of a
    block decide how many blocks an SM holds. An index past the end is taken as the last one. Raises
    LaunchError for a shape that no launch can have, more than ``MOST_BLOCKS`` blocks, a block that
    fits no SM of the device, and a device that is not in the table."""
    device = devices.known(device)
    grid = _shape("grid", grid, device.grid_dim, MOST_BLOCKS)
    block = _shape("block", block, device.block_dim, device.threads_per_block)
    fits = model.occupancy(device, prod(block), registers, shared_bytes)
    if not fits.blocks:
        raise LaunchError(str(fits))
    held = {one.name: _held(one, registers, shared_bytes) for one in DEVICES}
    held = {name: counts for name, counts in held.items() if counts[(prod(block) - 1) // WARP_SIZE]}
    most = [max(n, usual) for n, usual in zip(grid, GRID_SLIDERS, strict=True)]
    at_block = _place("block_index", block_index, grid)
    at_thread = _place("thread_index", thread_index, block)
    controls: tuple[Control, ...] = (
        *_sliders("grid", grid, most),
        *_sliders("block", block, device.block_dim),
        Slider("block", "this block", 0, prod(grid) - 1, at_block),
        Slider("thread", "this thread", 0, prod(block) - 1, at_thread),
        device_choice(held, device.name),
    )
    data = {
        "held": held,
        "sms": {name: devices.find(name).sms for name in held},
        "most": [most, list(device.block_dim)],
        "all": [MOST_BLOCKS, device.threads_per_block],
        "key": KEY,
        "warp": WARP_SIZE,
    }
    return View("hierarchy", data, controls, frame=ASKS)


def of_trace(
    trace: Trace,
    device: Device | str = H100,
    registers: int = 32,
    block_index: Shape = 0,
    thread_index: Shape = 0,
) -> View:
    """Show the same for a traced launch's shape and shared memory.

    Its registers are an assumption, unless they come from a compiler."""
    launch = (trace.grid, trace.block, device, registers, trace.shared_bytes_per_block)
    return explorer(*launch, block_index, thread_index)


def _sliders(what: str, shape: tuple[int, ...], most: Sequence[int]) -> list[Slider]:
    """Make one slider for each axis, named gx, gy and gz, or bx, by and bz."""
    return [
        Slider(f"{what[0]}{axis}", f"{what}, {axis}", 1, limit, n)
        for axis, n, limit in zip(AXES, shape, most, strict=True)
    ]


def _held(device: Device, registers: int, shared_bytes: int) -> list[int]:
    """Return how many blocks an SM holds, for blocks of 1, 2, 3, ... warps."""
    sizes = range(WARP_SIZE, device.threads_per_block + 1, WARP_SIZE)
    return [model.occupancy(device, threads, registers, shared_bytes).blocks for threads in sizes]


def _shape(
    name: str, shape: Shape, most: tuple[int, ...], most_together: int
) -> tuple[int, int, int]:
    """Check a shape and return three numbers, with 1 for those not given."""
    given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not 1 <= len(given) <= 3:
        raise LaunchError(f"{name} has {len(given)} numbers; it can have 1 to 3")
    full = (*given, *(1,) * (3 - len(given)))
    axes = zip(AXES, full, most, strict=True)
    x, y, z = (whole(f"{name}, {axis}", n, 1, limit) for axis, n, limit in axes)
    whole(f"{name}, multiplied out,", x * y * z, 1, most_together)
    return x, y, z


def _place(name: str, index: Shape, shape: tuple[int, int, int]) -> int:
    """Return an index as one number, counted along x, then y, then z."""
    given = (*index, 0, 0)[:3] if isinstance(index, (tuple, list)) else (index, 0, 0)
    x, y, z = (min(whole(name, i, 0), n - 1) for i, n in zip(given, shape, strict=True))
    return linear((x, y, z), shape)
