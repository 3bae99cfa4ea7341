"""Launch a kernel: check the limits, bind the arguments, run the blocks in batches, count."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from warpwise.devices import H100, Device
from warpwise.errors import BarrierError, KernelError, LaunchError
from warpwise.messages import Datum, Lengths, Limit, Name, Size, Words, message
from warpwise.metrics import Metrics
from warpwise.samples import Sample
from warpwise.simt.arguments import bind, type_of
from warpwise.simt.compiler.function_compiler import compile_function
from warpwise.simt.compiler.notes import about_float64
from warpwise.simt.compiler.program import Program
from warpwise.simt.frontend.called import functions_of
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import as_kernel
from warpwise.simt.gathered import FIRST_BLOCK, made
from warpwise.simt.gathered import recorded as to_record
from warpwise.simt.lanes.lane_group import Shape
from warpwise.simt.machine.array_views import arrays_of
from warpwise.simt.machine.batches import run
from warpwise.simt.machine.launch_state import LaunchState
from warpwise.simt.machine.observer import Launch, Observer, hooks_of
from warpwise.simt.machine.placement import Copies
from warpwise.simt.machine.undefined import Attempt, settled
from warpwise.simt.observers.busiest import LOADED, STORED, Busiest
from warpwise.simt.observers.counters import Counters
from warpwise.simt.observers.recorder import Recorder
from warpwise.simt.observers.stored_at_once import StoredAtOnce
from warpwise.simt.sampling import sampler_for
from warpwise.simt.sanitizer.sanitizer import Sanitizer
from warpwise.traces import Note, Records, Trace

# of a batch: ten seconds or more, and many times what a kernel of the course needs
MAX_STEPS = 1_000_000
MAX_RECORDS = 20_000


def trace(
    kernel: object,
    blocks: object,
    threads: object,
    *args: Any,
    record: Iterable[int] = FIRST_BLOCK,
    max_records: int = MAX_RECORDS,
    max_steps: int = MAX_STEPS,
    device: Device = H100,
    shared_bytes: int = 0,
    sanitize: bool = True,
    progress: bool | None = None,
    observers: Observer | Iterable[Observer] = (),
    whole_barriers: bool = False,
    blocks_traced: int | None = None,
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
    ``observers``: what else watches the launch, an ``Observer`` or several. ``whole_barriers``: a
    barrier of a block also waits for warps that end without it: they are an error, not a note.
    ``blocks_traced``: for a large grid, run only so many blocks, or a few more to compare them, and
    scale counters to the grid, see ``Trace.sample``; results are then partial, and the block in the
    middle is recorded.

    An array of the host counts as a copy in device memory, which comes back after the launch; two
    that overlap are two copies. Device arrays are used where they lie.

    Raises LaunchError for a launch that a GPU would refuse, KernelError for a mistake in the
    kernel, and TraceError if blocks_traced differ too much to stand for all. Races do not raise:
    they are in ``Trace.races``. A kernel whose shuffles read from lanes that do not take part runs
    again, to find out if it uses the values."""
    found = as_kernel(kernel)
    program, first, copies = _prepared(found, blocks, threads, args, device, shared_bytes)
    given, watching = to_record(tuple(record)), _observers(observers)
    whole = bool(program.waits or program.grid_syncs)
    notes = program.notes if about_float64(tuple(map(type_of, first.arguments))) else ()
    notes += tuple(_copied(found, *pair) for pair in copies.overlapping.items())

    def attempted(attempt: Attempt) -> Trace:
        """Run the launch; later runs bind the arguments anew, unseen by the caller's observers."""
        launch = replace(first, arguments=bind(found, args, copies)) if attempt.number else first
        own_block = None if record is FIRST_BLOCK else given
        sampler = sampler_for(launch.grid, blocks_traced, own_block, whole)
        recorded = sampler.recorded if sampler else given
        counters, busiest = sampler.counters if sampler else Counters(), Busiest()
        sanitizer = Sanitizer() if sanitize else None
        recorder = Recorder(recorded, launch.threads, max_records) if recorded else None
        at_once = StoredAtOnce() if program.array_bytes("shared") or shared_bytes else None
        watched = (counters, busiest, at_once, recorder, sanitizer)
        own = [one for one in watched if one is not None]
        hooks = hooks_of([*own, *(() if attempt.number else watching)])
        state = LaunchState(launch, device, max_steps, attempt, hooks)
        with np.errstate(all="ignore"):
            _run(program, state, progress, sampler.blocks() if sampler else None)
        harmful = sanitizer is not None and any(not race.same for race in sanitizer.races)
        if state.missed and (whole_barriers or harmful):
            raise next(iter(state.missed.values()))
        if state.left and whole_barriers:
            raise next(iter(state.left.values()))
        counted = sampler.counted() if sampler else (*counters.metrics(), None)
        stored = at_once.count if at_once else 0
        return _trace(state, counted, busiest, stored, recorder, sanitizer, notes)

    if program.shuffles:
        written = [root.raw for root in first.written if root.raw.flags.writeable]
        trace = settled(attempted, written)
    else:
        trace = attempted(Attempt())
    copies.back()
    return made(trace)


def run_unwatched(
    kernel: object, blocks: object, threads: object, *args: Any, max_steps: int = MAX_STEPS
) -> None:
    """Run a kernel for its results alone, which takes less than half as long as a trace.

    Arrays in ``args`` are updated in place. Nothing is counted, recorded or searched for, and a
    value that a shuffle reads from a lane which does not take part is garbage. Raises what
    ``trace`` raises."""
    program, launch, copies = _prepared(as_kernel(kernel), blocks, threads, args)
    state = LaunchState(launch, H100, max_steps, Attempt(), hooks_of([]))
    with np.errstate(all="ignore"):
        _run(program, state, progress=False)
    copies.back()


def _prepared(
    kernel: Kernel,
    blocks: object,
    threads: object,
    args: tuple[Any, ...],
    device: Device = H100,
    shared_bytes: int = 0,
) -> tuple[Program, Launch, Copies]:
    """Check a launch, compile its kernel and bind its arguments."""
    grid, block = dimensions(blocks, "blocks"), dimensions(threads, "threads")
    _check_limits(grid, block, shared_bytes, device)
    copies = Copies()
    with np.errstate(all="ignore"):  # np.float32(1e39) is inf, as on a GPU
        first = Launch(kernel, grid, block, bind(kernel, args, copies), shared_bytes)
        program = compile_function(kernel, tuple(type_of(value) for value in first.arguments))
        if program.captured:  # these have addresses now, which arguments can share
            arguments = bind(kernel, args, copies)
            first = replace(first, arguments=arguments, captured=program.captured)
    return program, first, copies


def _run(
    program: Program,
    state: LaunchState,
    progress: bool | None,
    chosen: Iterable[int] | None = None,
) -> None:
    """Run a kernel; a mistake after a barrier that some threads were missing from is that one's."""
    try:
        run(program, state, progress, chosen)
    except KernelError as error:
        if not state.missed:
            raise
        raise next(iter(state.missed.values())) from error


def _copied(kernel: Kernel, name: str, other: str) -> Note:
    """Return the note on two arguments that are one on the host, and two on the device."""
    line = kernel.tree.lineno
    what = (
        f"{other} and {name} share memory on the host: the kernel has a copy of each, "
        f"and that of {name} comes back last"
    )
    try_this = "pass the same cuda.to_device(...) array, or slices of it, for both"
    return Note(line, kernel.lines.get(line, "").strip(), what, try_this)


def _observers(given: Observer | Iterable[Observer]) -> tuple[Observer, ...]:
    found = (given,) if isinstance(given, Observer) else tuple(given)
    for one in found:
        if not isinstance(one, Observer):
            wrong = Words(repr(one))
            what = message("observers are instances of Observer, and {wrong} is none", wrong=wrong)
            raise LaunchError(what)
    return found


def dimensions(value: object, what: str) -> Shape:
    """Return blocks or threads as (x, y, z).

    Raises LaunchError for anything but one to three positive integers."""
    parts = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    whole = all(
        type(p) is int or (isinstance(p, numbers.Integral) and not isinstance(p, bool))
        for p in parts
    )
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
    x, y, z = (int(part) for part in (*parts, 1, 1)[:3])
    return x, y, z


def _check_limits(grid: Shape, block: Shape, shared_bytes: int, device: Device) -> None:
    threads, most = block[0] * block[1] * block[2], device.threads_per_block
    if threads > most:
        what = message(
            "a block [[of {block} has {threads:,} threads|has too many threads]]; "
            "a block can have at most {most:,}",
            block=Lengths(block),
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


def _trace(
    state: LaunchState,
    counted: tuple[Metrics, dict[int, Metrics], Sample | None],
    busiest: Busiest,
    stored_at_once: int,
    recorder: Recorder | None,
    sanitizer: Sanitizer | None,
    notes: tuple[Note, ...],
) -> Trace:
    """Return the trace of a launch that has run. ``notes``: those of the compiler."""
    launch, kernel = state.launch, state.launch.kernel
    metrics, by_line, sample = counted
    recorded = recorder.arrays if recorder else []
    # events refer to arrays by their index here
    infos = dict.fromkeys([*recorded, *(array.info for array in arrays_of(launch.arguments))])
    return Trace(
        kernel=kernel.name,
        file=kernel.file,
        source=source_of(kernel),
        grid=launch.grid,
        block=launch.block,
        arrays=tuple(infos),
        metrics=metrics,
        by_line=by_line,
        races=sanitizer.races if sanitizer else (),
        notes=(
            *map(_on_missed, [*state.missed.values(), *state.left.values()]),
            *state.wraps.notes.values(),
            *notes,
        ),
        functions=functions_of(kernel),
        shared_bytes_per_block=state.shared_bytes,
        local_bytes_per_thread=state.local_bytes,
        most_bytes_loaded_by_a_warp=int(busiest.most[LOADED]),
        most_bytes_stored_by_a_warp=int(busiest.most[STORED]),
        loads_stored_at_once=stored_at_once,
        truncated=recorder is not None and recorder.truncated,
        sample=sample,
        launched=(kernel, tuple(map(type_of, launch.arguments))),
        records=recorder.records() if recorder else Records.empty(launch.threads),
    )


def _on_missed(error: BarrierError) -> Note:
    """Return the note on a barrier that the missing threads ended without."""
    line, text = (error.where.line, error.where.text) if error.where else (0, "")
    ends = "it ends, and threads that have ended count as arrived, so a GPU would go on"
    return Note(line, text, f"{error.what}: {ends}", error.try_this)


def source_of(kernel: Kernel, callers: tuple[Kernel, ...] = ()) -> dict[int, str]:
    """Return the text of the kernel and of the device functions that it calls, by line."""
    tree = kernel.tree
    numbers_of = range(tree.lineno, (tree.end_lineno or tree.lineno) + 1)
    lines = {n: kernel.lines[n] for n in numbers_of if n in kernel.lines}
    for other in kernel.calls.keys() - {*callers}:
        lines.update(source_of(other, (*callers, kernel)))
    return dict(sorted(lines.items()))
