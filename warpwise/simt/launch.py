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
from warpwise.simt.arguments import bind, type_of
from warpwise.simt.lanes.recorder import Recorder
from warpwise.simt.lanes.touched import distinct, overlapping
from warpwise.simt.language.compiler import compile_function
from warpwise.simt.language.notes import about_float64
from warpwise.simt.machine.batch import Launch
from warpwise.simt.machine.batches import run
from warpwise.simt.machine.memory import GlobalArray
from warpwise.simt.machine.undefined import Attempt, settled
from warpwise.simt.machine.views import arrays_of
from warpwise.simt.sanitizer.fences import Fences
from warpwise.simt.sanitizer.global_shadow import shadows_of
from warpwise.simt.text.source import Kernel, as_kernel
from warpwise.simt.text.written import has_fence, written_parameters
from warpwise.trace import Trace

MAX_STEPS = 1_000_000  # of a batch: ten seconds or more, and many times what a kernel of the course needs
MAX_RECORDS = 20_000


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
    progress: bool | None = None,
) -> Trace:
    """Run a kernel in the simulator and say what it did. Arrays in ``args`` are updated in place.

    ``kernel``: made by ``warpwise.cuda.jit`` or ``numba.cuda.jit``, or a plain function. ``blocks``, ``threads``: an integer or a
    tuple of up to three. ``record``: linear numbers of the blocks whose events are kept. ``max_records``: the most records, each of one
    line of one block, that are kept; a trace that would need more has counters only.
    ``max_steps``: trips of loops and calls of a batch of blocks, after which a kernel counts as endless. ``device``: whose launch limits
    hold. ``shared_bytes``: dynamic shared memory of each block. ``sanitize=False`` spares the search for races and for reads of what
    nobody wrote. ``progress``: a bar that counts blocks; None shows it on a terminal or in a notebook, once the launch has taken a second.

    Raises LaunchError for a launch that a GPU would refuse and KernelError for a mistake in the kernel. Races do not raise:
    they are in ``Trace.races``. A kernel whose shuffles read from lanes that do not take part runs again, to see if it uses the values.
    """
    kernel = as_kernel(kernel)
    grid, block = dimensions(blocks, "blocks"), dimensions(threads, "threads")
    _check_limits(grid, block, shared_bytes, device)
    recorded, bound = tuple(record), bind(kernel, args)
    argument_types = tuple(type_of(value) for value in bound)
    program = compile_function(kernel, argument_types)

    def attempted(attempt: Attempt) -> Trace:
        """One run of the launch; all but the first bind the arguments anew, so that nothing is counted twice."""
        arguments = bind(kernel, args) if attempt.number else bound
        recorder = Recorder(recorded, block[0] * block[1] * block[2], max_records)
        launch = Launch(grid, block, recorder, max_steps, device.shared_bytes_per_block, shared_bytes, sanitize,
                        block_shared_limit=device.sm.shared_bytes_per_block, attempt=attempt)  # fmt: skip
        if sanitize:
            _watch(kernel, launch, arguments)
        with np.errstate(all="ignore"):
            run(program, launch, arguments, device, progress)
        return _trace(kernel, launch, arrays_of(arguments))

    if program.shuffles:
        made = settled(attempted, [root.raw for root in _written(kernel, bound) if root.raw.flags.writeable])
    else:
        made = attempted(Attempt())
    return replace(made, notes=program.notes if about_float64(argument_types) else ())


def _written(kernel: Kernel, bound: tuple) -> list[GlobalArray]:
    """The memory that the kernel may write."""
    written, arguments = written_parameters(kernel), zip(kernel.parameters, bound, strict=True)
    return [array.root for name, value in arguments if name in written for array in arrays_of(value)]


def _watch(kernel: Kernel, launch: Launch, bound: tuple) -> None:
    """Prepare the sanitizer for what the kernel may write, and for its fences."""
    launch.shadows = shadows_of([array.root for array in arrays_of(bound)], _written(kernel, bound))
    if has_fence(kernel):
        launch.fences = Fences(math.prod(launch.grid), launch.threads)


def dimensions(value, what: str) -> tuple[int, int, int]:
    """Blocks or threads as (x, y, z). Raises LaunchError if it is not one to three positive integers."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, numbers.Integral) and not isinstance(p, bool) for p in parts):
        raise LaunchError(f"{what} must be an integer or a tuple of one to three integers, not {value!r}")
    if min(parts) < 1:
        raise LaunchError(f"{what} must be at least 1 in every dimension, not {value!r}")
    return tuple(int(p) for p in (*parts, 1, 1)[:3])


def _check_limits(grid, block, shared_bytes: int, device: Device) -> None:
    threads = block[0] * block[1] * block[2]
    if threads > device.threads_per_block:
        raise LaunchError(f"a block of {block} has {threads:,} threads; a block can have at most {device.threads_per_block:,}")
    for name, size, limit in (("block", block, device.block_dim), ("grid", grid, device.grid_dim)):
        if any(n > most for n, most in zip(size, limit, strict=True)):
            raise LaunchError(f"a {name} of {size} is larger than the limit {limit}")
    if not isinstance(shared_bytes, numbers.Integral) or shared_bytes < 0:
        raise LaunchError(f"dynamic shared memory is a number of bytes, not {shared_bytes!r}")
    if shared_bytes > device.sm.shared_bytes_per_block:
        most = device.sm.shared_bytes_per_block
        raise LaunchError(f"{shared_bytes:,} bytes of dynamic shared memory; a block can have {most:,} on {device.name}")


def _trace(kernel: Kernel, launch: Launch, arrays: tuple) -> Trace:
    for work, lanes in launch.tallies.items():
        launch.counts[work.line].tally(work, lanes)
    groups = overlapping([memory for array in arrays for memory in array.root.memories])
    by_line = {line: launch.counts[line].metrics(**_distinct(groups, line)) for line in sorted(launch.counts)}
    metrics = replace(sum(by_line.values(), Metrics()), **_distinct(groups))
    recorder = launch.recorder
    infos = tuple(dict.fromkeys(recorder.arrays + [a.info for a in arrays]))  # events name arrays by their place here
    return Trace(
        kernel=kernel.name, file=kernel.file, source=_source(kernel), grid=launch.grid, block=launch.block,
        arrays=infos, metrics=metrics, by_line=by_line,
        races=tuple(launch.races), shared_bytes_per_block=launch.shared_bytes, local_bytes_per_thread=launch.local_bytes,
        truncated=recorder.truncated, records=recorder.records(),
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
