"""``time``: a trace's kernel compiled, walked and run on a modelled SM."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf
from operator import index
from typing import Any

from warpwise.cuda.numba_backend import INSTALL
from warpwise.errors import LaunchError, ToolchainError
from warpwise.simt import as_kernel
from warpwise.stopwatch.cards import Card, known
from warpwise.stopwatch.estimate import Estimate
from warpwise.stopwatch.least import least
from warpwise.traces import Trace

Grid = tuple[int, int, int]
GRIDS = "a grid is one to three positive integers"
NO_COMPILER = "a bound from counters alone, for the kernel was not compiled: {}"


def time(trace: Trace, device: Any, grid: Any = None, longer: float = 1.0) -> Estimate:
    """Return the predicted time of a launch on a device, a name or one of ``devices`` or CARDS.

    ``grid``: blocks of the launch in question, if the trace ran another number of the same blocks.
    ``longer``: trips of its longest loop over those of the traced one, as for a deeper product.
    Raises LaunchError for an unknown device, for a grid that is none, or if no block fits."""
    card = known(device)
    blocks = trace.grid if grid is None else _grid(grid)
    try:
        found = _timed(trace, card, blocks, longer)
    except ImportError as error:
        lost = (error.name or str(error)).partition(".")[0]
        why = f"its compiler is not installed (no {lost}): {INSTALL}"
        found = _bound(trace, card, blocks, why)
    except ToolchainError as error:
        found = _bound(trace, card, blocks, str(error))
    return replace(found, notes=(*found.notes, str(trace.sample))) if trace.sample else found


def _timed(trace: Trace, card: Card, grid: Grid, longer: float) -> Estimate:
    # Numba, SciPy and the compiler's wheels are in the extra "toolchain"
    from warpwise.stopwatch.predict import predicted
    from warpwise.stopwatch.report import estimate
    from warpwise.stopwatch.sharing import typical_first
    from warpwise.toolchain.figures import figures

    if trace.launched is None:
        raise ToolchainError("a trace read from a file has no kernel: trace it here")
    kernel, types = trace.launched
    trace = typical_first(trace)
    code = _compiled(kernel, types, card.code_cc)
    trace, program = _explained(trace, code, longer)
    run = predicted(trace, program, card, grid)
    found = estimate(trace, program, card, grid, run)
    made = figures(code, as_kernel(kernel))
    return replace(
        found,
        registers=made.registers_per_thread,
        spill_bytes=made.spilled_bytes,
        stack_bytes=made.local_memory_bytes,
        flops_per_issue_slot=made.flops_per_issue_slot,
    )


def _explained(trace: Trace, code: Any, longer: float) -> tuple[Trace, Any]:
    """Return a trace as a compiler sees its kernel, and the program that explains it.

    Loads that the source repeats count once, unless the machine code repeats them, too."""
    from warpwise.stopwatch.evidence import named_lines
    from warpwise.stopwatch.inlined import inlined
    from warpwise.stopwatch.program import program_of
    from warpwise.stopwatch.repeated import without_repeats
    from warpwise.stopwatch.sass import read

    ops = [read(instruction) for instruction in code.machine_code]
    shared = max(code.shared_bytes, trace.shared_bytes_per_block)
    whole = inlined(trace, named_lines(trace, ops))
    once = without_repeats(whole)
    program = program_of(once, ops, code.registers, shared, longer=longer)
    if once is not whole and program.missed:
        other = program_of(whole, ops, code.registers, shared, longer=longer)
        if other.missed < program.missed:
            return whole, other
    return once, program


@lru_cache(maxsize=64)
def _compiled(kernel: Any, types: tuple[Any, ...], cc: tuple[int, int]) -> Any:
    from warpwise.toolchain import compile_kernel, numba_types

    return compile_kernel(kernel, numba_types(types), cc)


def _bound(trace: Trace, card: Card, grid: Grid, why: str) -> Estimate:
    """Return the bound from counters."""
    seconds, binds = least(trace, card.device, grid)
    note = NO_COMPILER.format(why)
    return Estimate(trace.kernel, card.name, grid, seconds, seconds, inf, binds, notes=(note,))


def _grid(given: Any) -> Grid:
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    try:
        sizes = [0 if isinstance(n, bool) else index(n) for n in parts]
    except TypeError:  # no integers
        sizes = []
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise LaunchError(f"{GRIDS}, not {given!r}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
