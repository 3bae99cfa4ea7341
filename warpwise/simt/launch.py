"""Running a kernel over a grid: check the launch, bind the arguments, go through the blocks in batches, freeze the counters."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from warpwise.devices import H100, Device
from warpwise.errors import LaunchError
from warpwise.metrics import Metrics
from warpwise.simt import types
from warpwise.simt.batch import Batch, Launch
from warpwise.simt.compiler import compile_function
from warpwise.simt.memory import ALIGNMENT, GlobalArray
from warpwise.simt.recorder import Recorder
from warpwise.simt.source import Kernel, as_kernel
from warpwise.simt.touched import distinct, overlapping
from warpwise.simt.types import ArrayType
from warpwise.trace import Trace

BATCH_LANES = 16_384  # sized to a core's cache: larger batches are slower
MOST_BATCH_LANES = 16 * BATCH_LANES  # where few of a batch's warps run for most of its time
BATCH_BLOCKS = 512  # bounds the memory of shared arrays: 48 KB for each block, and their shadows
MAX_STEPS = 1_000_000  # ten seconds or more, and many times what a kernel of the course needs
MAX_RECORDS = 20_000
_FIRST_ADDRESS = 1 << 32


def trace(
    kernel,
    blocks,
    threads,
    *args,
    record: Iterable[int] = (0,),
    max_records: int = MAX_RECORDS,
    max_steps: int = MAX_STEPS,
    device: Device = H100,
    shared_bytes: int = 0,
    sanitize: bool = True,
) -> Trace:
    """Run a kernel in the simulator and say what it did. Arrays in ``args`` are updated in place.

    ``kernel``: made by ``warpwise.cuda.jit`` or ``numba.cuda.jit``, or a plain function. ``blocks``, ``threads``: an integer or a
    tuple of up to three. ``record``: linear numbers of the blocks whose events are kept, at most ``max_records`` of them.
    ``max_steps``: trips of loops and calls after which a kernel counts as endless. ``device``: whose launch limits hold. ``shared_bytes``: dynamic
    shared memory of each block. ``sanitize=False`` spares the search for races and for reads of what nobody wrote.

    Raises LaunchError for a launch that a GPU would refuse and KernelError for a mistake in the kernel. Races do not raise:
    they are in ``Trace.races``.
    """
    kernel = as_kernel(kernel)
    grid, block = dimensions(blocks, "blocks"), dimensions(threads, "threads")
    _check_limits(grid, block, device)
    recorder = Recorder(tuple(record), block[0] * block[1] * block[2], max_records)
    launch = Launch(grid, block, recorder, max_steps, device.shared_bytes_per_block, shared_bytes, sanitize)
    bound = _bind(kernel, args)
    program = compile_function(kernel, tuple(_type_of(value) for value in bound))
    with np.errstate(all="ignore"):
        _run(program, launch, bound)
    arrays = [value for value in bound if isinstance(value, GlobalArray)]
    return _trace(kernel, launch, arrays)


def _run(program, launch: Launch, bound: tuple) -> None:
    """Go through the blocks in batches. Where a batch goes on compacted for most of its trips, the next are larger."""
    blocks = math.prod(launch.grid)
    first, lanes = 0, BATCH_LANES
    while first < blocks:
        count = min(max(1, min(lanes // launch.threads, BATCH_BLOCKS * lanes // BATCH_LANES)), blocks - first)
        batch = Batch(launch, first, count)
        program.run(program.frame(batch, bound, batch.full), batch.full)
        first += count
        if 2 * batch.compacted_steps > batch.steps and not batch.shared:
            lanes = min(2 * lanes, MOST_BATCH_LANES)


def dimensions(value, what: str) -> tuple[int, int, int]:
    """Blocks or threads as (x, y, z). Raises LaunchError if it is not one to three positive integers."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, numbers.Integral) and not isinstance(p, bool) for p in parts):
        raise LaunchError(f"{what} must be an integer or a tuple of one to three integers, not {value!r}")
    if min(parts) < 1:
        raise LaunchError(f"{what} must be at least 1 in every dimension, not {value!r}")
    return tuple(int(p) for p in (*parts, 1, 1)[:3])


def _check_limits(grid, block, device: Device) -> None:
    threads = block[0] * block[1] * block[2]
    if threads > device.threads_per_block:
        raise LaunchError(f"a block of {block} has {threads:,} threads; a block can have at most {device.threads_per_block:,}")
    for name, size, limit in (("block", block, device.block_dim), ("grid", grid, device.grid_dim)):
        if any(n > most for n, most in zip(size, limit, strict=True)):
            raise LaunchError(f"a {name} of {size} is larger than the limit {limit}")


def _bind(kernel: Kernel, args: tuple) -> tuple:
    """Arguments as the kernel sees them; arrays get addresses like separate allocations."""
    if len(args) != len(kernel.parameters):
        raise LaunchError(_on_count(kernel, args))
    bound, next_address, seen = [], _FIRST_ADDRESS, {}
    for name, value in zip(kernel.parameters, args, strict=True):
        values = _as_array(value)
        if values is None:
            bound.append(_scalar(kernel, name, value))
            continue
        root, offset = _allocation(values)
        if id(root) not in seen:
            seen[id(root)] = next_address
            next_address += -(-max(root.nbytes, 1) // ALIGNMENT) * ALIGNMENT
        bound.append(GlobalArray(name, values, seen[id(root)] + offset))
    return tuple(bound)


def _on_count(kernel: Kernel, args: tuple) -> str:
    count = len(kernel.parameters)
    passed = ", ".join(map(_described, args)) or "nothing"
    return (
        f"{kernel.name}({', '.join(kernel.parameters)}) takes {count} argument{'s' * (count != 1)}, and the launch passes {len(args)}: "
        f"{passed}. Give the kernel one parameter for each, in this order"
    )


def _described(value) -> str:
    values = _as_array(value)
    return f"a {type(value).__name__}" if values is None else f"an array of {values.dtype} with shape {values.shape}"


def _as_array(value) -> np.ndarray | None:
    values = getattr(value, "host_values", value)  # what warpwise.cuda.to_device made
    return values if isinstance(values, np.ndarray) and values.ndim else None


def _allocation(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The array that owns the memory, and where in it ``values`` begins, in bytes: views keep their alignment."""
    root = values
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root, values.__array_interface__["data"][0] - root.__array_interface__["data"][0]


def _scalar(kernel: Kernel, name: str, value):
    if isinstance(value, np.ndarray):
        value = value[()]
    kind = types.of_constant(value)
    if kind is None or not types.is_scalar(kind):
        raise LaunchError(f"{kernel.name}: argument {name} is a {type(value).__name__}; a kernel takes arrays and numbers")
    return types.cast(value, kind)


def _type_of(value):
    if not isinstance(value, GlobalArray):
        return types.of_constant(value)
    if value.dtype not in types.SCALARS:
        raise LaunchError(f"{value.name} is an array of {value.dtype}, which the simulator does not know")
    return ArrayType(value.dtype, value.ndim, value.space)


def _trace(kernel: Kernel, launch: Launch, arrays: list[GlobalArray]) -> Trace:
    for work, lanes in launch.tallies.items():
        launch.counts[work.line].tally(work, lanes)
    groups = overlapping(arrays)
    by_line = {line: launch.counts[line].metrics(**_distinct(groups, line)) for line in sorted(launch.counts)}
    metrics = replace(sum(by_line.values(), Metrics()), **_distinct(groups))
    recorder = launch.recorder
    infos = tuple(dict.fromkeys(recorder.arrays + [a.info for a in arrays]))  # events name arrays by their place here
    return Trace(
        kernel=kernel.name, file=kernel.file, source=_source(kernel), grid=launch.grid, block=launch.block,
        arrays=infos, metrics=metrics, by_line=by_line,
        races=tuple(launch.races), truncated=recorder.truncated, records=recorder.records(),
    )  # fmt: skip


def _distinct(groups: list[list[GlobalArray]], line: int | None = None) -> dict[str, int]:
    """The distinct bytes and sectors of one line, or of all."""
    here = (lambda at: True) if line is None else (lambda at: at == line)
    loads, stores = (distinct(groups, lambda at, of, kind=kind: here(at) and of in (kind, "atomic"))[1] for kind in ("load", "store"))
    moved, _ = distinct(groups, lambda at, _: here(at))
    return {"global_bytes_distinct": moved, "global_load_sectors_distinct": loads, "global_store_sectors_distinct": stores}


def _source(kernel: Kernel) -> dict[int, str]:
    """The text of the kernel and of the device functions that it calls, by line."""
    lines = {n: kernel.lines[n] for n in range(kernel.tree.lineno, kernel.tree.end_lineno + 1) if n in kernel.lines}
    for other in kernel.calls:
        lines.update(_source(other))
    return dict(sorted(lines.items()))
