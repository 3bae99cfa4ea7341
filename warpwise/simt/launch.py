"""Launch a kernel: check the limits, bind the arguments, run the blocks in batches, count."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from warpwise.devices import H100, Device
from warpwise.errors import LaunchError
from warpwise.messages import Datum, Limit, Name, Shape, Size, Words, message
from warpwise.metrics import Metrics
from warpwise.simt.arguments import bind, type_of
from warpwise.simt.compiler.function_compiler import compile_function
from warpwise.simt.compiler.notes import about_float64
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import as_kernel
from warpwise.simt.frontend.written import has_fence, written_parameters
from warpwise.simt.lanes.recorder import Recorder
from warpwise.simt.lanes.touched import distinct, overlapping
from warpwise.simt.machine.array_views import arrays_of
from warpwise.simt.machine.batch import Launch
from warpwise.simt.machine.batches import run
from warpwise.simt.machine.memory import GlobalArray
from warpwise.simt.machine.undefined import Attempt, settled
from warpwise.simt.sanitizer.fences import Fences
from warpwise.simt.sanitizer.global_shadow import shadows_of
from warpwise.traces import Trace

# of a batch: ten seconds or more, and many times what a kernel of the course needs
MAX_STEPS = 1_000_000
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
    """Run a kernel in the simulator and return its trace. Arrays in ``args`` are updated in place.

    ``kernel``: made by ``warpwise.cuda.jit`` or ``numba.cuda.jit``, or a plain function.
    ``blocks``, ``threads``: an integer or a tuple of up to three. ``record``: linear numbers of the
    blocks whose events are kept. ``max_records``: the most records to keep, each of one line of one
    block; a trace that would need more has counters only. ``max_steps``: loop trips and calls of a
    batch of blocks after which a kernel counts as endless. ``device``: the GPU whose launch limits
    apply. ``shared_bytes``: dynamic shared memory of each block. ``sanitize=False`` skips the
    search for races and for reads of uninitialized memory. ``progress``: a bar that counts blocks;
    None shows it on a terminal or in a live notebook, once the launch has taken a second.

    Raises LaunchError for a launch that a GPU would refuse and KernelError for a mistake in the
    kernel. Races do not raise: they are in ``Trace.races``. A kernel whose shuffles read from lanes
    that do not take part runs again, to find out if it uses the values."""
    kernel = as_kernel(kernel)
    grid, block = dimensions(blocks, "blocks"), dimensions(threads, "threads")
    _check_limits(grid, block, shared_bytes, device)
    recorded, bound = tuple(record), bind(kernel, args)
    argument_types = tuple(type_of(value) for value in bound)
    program = compile_function(kernel, argument_types)

    def attempted(attempt: Attempt) -> Trace:
        """Run the launch; all but the first run bind the arguments anew, to count nothing twice."""
        arguments = bind(kernel, args) if attempt.number else bound
        recorder = Recorder(recorded, block[0] * block[1] * block[2], max_records)
        launch = Launch(
            grid,
            block,
            recorder,
            max_steps,
            device.shared_bytes_per_block,
            shared_bytes,
            sanitize,
            block_shared_limit=device.sm.shared_bytes_per_block,
            attempt=attempt,
        )
        if sanitize:
            _watch(kernel, launch, arguments)
        with np.errstate(all="ignore"):
            run(program, launch, arguments, device, progress)
        return _trace(kernel, launch, arrays_of(arguments))

    if program.shuffles:
        written = [root.raw for root in _written(kernel, bound) if root.raw.flags.writeable]
        made = settled(attempted, written)
    else:
        made = attempted(Attempt())
    return replace(made, notes=program.notes if about_float64(argument_types) else ())


def _written(kernel: Kernel, bound: tuple) -> list[GlobalArray]:
    """Return the memory that the kernel may write."""
    names, arguments = written_parameters(kernel), zip(kernel.parameters, bound, strict=True)
    return [array.root for name, value in arguments if name in names for array in arrays_of(value)]


def _watch(kernel: Kernel, launch: Launch, bound: tuple) -> None:
    """Prepare the sanitizer for the arrays that the kernel may write, and for its fences."""
    launch.shadows = shadows_of([array.root for array in arrays_of(bound)], _written(kernel, bound))
    if has_fence(kernel):
        launch.fences = Fences(math.prod(launch.grid), launch.threads)


def dimensions(value, what: str) -> tuple[int, int, int]:
    """Return blocks or threads as (x, y, z).

    Raises LaunchError for anything but one to three positive integers."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    whole = all(isinstance(p, numbers.Integral) and not isinstance(p, bool) for p in parts)
    if not (whole and 1 <= len(parts) <= 3):
        wrong = message(
            "{what} must be an integer or a tuple of one to three integers[[, not {given}]]",
            what=Words(what),
            given=Datum(repr(value)),
        )
        raise LaunchError(wrong)
    if min(parts) < 1:
        wrong = message(
            "{what} must be at least 1 in every dimension[[, not {given}]]",
            what=Words(what),
            given=Datum(repr(value)),
        )
        raise LaunchError(wrong)
    return tuple(int(p) for p in (*parts, 1, 1)[:3])


def _check_limits(grid, block, shared_bytes: int, device: Device) -> None:
    threads, most = block[0] * block[1] * block[2], device.threads_per_block
    if threads > most:
        what = message(
            "a block [[of {block} has {threads:,} threads|has too many threads]]; "
            "a block can have at most {most:,}",
            block=Shape(block),
            threads=Size(threads),
            most=Limit(most),
        )
        raise LaunchError(what)
    for name, size, limit in (("block", block, device.block_dim), ("grid", grid, device.grid_dim)):
        if any(n > most for n, most in zip(size, limit, strict=True)):
            what = message(
                "[[a {name} of {size}|the {name}]] is larger than the limit {limit}",
                name=Words(name),
                size=Datum(size),
                limit=Limit(limit),
            )
            raise LaunchError(what)
    if not isinstance(shared_bytes, numbers.Integral) or shared_bytes < 0:
        given = Datum(repr(shared_bytes))
        what = message("dynamic shared memory is a number of bytes[[, not {given}]]", given=given)
        raise LaunchError(what)
    most = device.sm.shared_bytes_per_block
    if shared_bytes > most:
        what = message(
            "[[{asked:,} bytes of|too much]] dynamic shared memory; "
            "a block can have {most:,} on {device}",
            asked=Size(shared_bytes),
            most=Limit(most),
            device=Name(device.name),
        )
        raise LaunchError(what)


def _trace(kernel: Kernel, launch: Launch, arrays: tuple) -> Trace:
    for work, lanes in launch.tallies.items():
        launch.counts[work.line].tally(work, lanes)
    groups = overlapping([memory for array in arrays for memory in array.root.memories])
    counted = sorted(launch.counts.items())
    by_line = {line: counts.metrics(**_distinct(groups, line)) for line, counts in counted}
    metrics = replace(sum(by_line.values(), Metrics()), **_distinct(groups))
    recorder = launch.recorder
    # events refer to arrays by their index here
    infos = tuple(dict.fromkeys(recorder.arrays + [a.info for a in arrays]))
    return Trace(
        kernel=kernel.name,
        file=kernel.file,
        source=_source(kernel),
        grid=launch.grid,
        block=launch.block,
        arrays=infos,
        metrics=metrics,
        by_line=by_line,
        races=tuple(launch.races),
        shared_bytes_per_block=launch.shared_bytes,
        local_bytes_per_thread=launch.local_bytes,
        truncated=recorder.truncated,
        records=recorder.records(),
    )


def _distinct(groups: list[list[GlobalArray]], line: int | None = None) -> dict[str, int]:
    """Count the distinct bytes and sectors of one line, or of all."""
    here = (lambda at: True) if line is None else (lambda at: at == line)
    loads, stores = (
        distinct(groups, lambda at, of, kind=kind: here(at) and of in (kind, "atomic"))[1]
        for kind in ("load", "store")
    )
    moved, _ = distinct(groups, lambda at, _: here(at))
    return {
        "global_bytes_distinct": moved,
        "global_load_sectors_distinct": loads,
        "global_store_sectors_distinct": stores,
    }


def _source(kernel: Kernel) -> dict[int, str]:
    """Return the text of the kernel and of the device functions that it calls, by line."""
    numbers_of = range(kernel.tree.lineno, kernel.tree.end_lineno + 1)
    lines = {n: kernel.lines[n] for n in numbers_of if n in kernel.lines}
    for other in kernel.calls:
        lines.update(_source(other))
    return dict(sorted(lines.items()))
