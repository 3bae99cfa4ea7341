"""``time``: a trace's kernel compiled, walked and run on a modelled SM."""

from __future__ import annotations

from functools import lru_cache
from math import inf, prod
from typing import Any

from warpwise.errors import LaunchError, ToolchainError
from warpwise.model import bound
from warpwise.stopwatch.cards import Card, known
from warpwise.stopwatch.estimate import Estimate
from warpwise.traces import Trace

Grid = tuple[int, int, int]
NO_COMPILER = "a bound from counters alone, for the kernel was not compiled: {}"


def time(trace: Trace, device: Any, grid: Any = None) -> Estimate:
    """Return the predicted time of a launch on a device, a name or one of ``devices`` or CARDS.

    ``grid``: blocks of the launch in question, if the trace ran another number of the same blocks.
    Raises LaunchError for an unknown device, for a grid that is none, or if no block fits."""
    card = known(device)
    blocks = trace.grid if grid is None else _grid(grid)
    try:
        return _timed(trace, card, blocks)
    except (ImportError, ToolchainError) as error:
        return _bound(trace, card, blocks, str(error))


def _timed(trace: Trace, card: Card, grid: Grid) -> Estimate:
    # Numba, SciPy and the compiler's wheels are in the extra "toolchain"
    from warpwise.stopwatch.predict import predicted
    from warpwise.stopwatch.program import program_of
    from warpwise.stopwatch.report import estimate

    if trace.launched is None:
        raise ToolchainError("a trace read from a file has no kernel: trace it here")
    code = _compiled(*trace.launched, card.code_cc)
    shared = max(code.shared_bytes, trace.shared_bytes_per_block)
    program = program_of(trace, code.machine_code, code.registers, shared)
    return estimate(trace, program, card, grid, predicted(trace, program, card, grid))


@lru_cache(maxsize=64)
def _compiled(kernel: Any, types: tuple[Any, ...], cc: tuple[int, int]) -> Any:
    from warpwise.toolchain import compile_kernel, numba_types

    return compile_kernel(kernel, numba_types(types), cc)


def _bound(trace: Trace, card: Card, grid: Grid, why: str) -> Estimate:
    """Return the bound of ``model``, for as many more blocks as the grid has."""
    found = bound(trace, card.device)
    seconds = found.seconds * prod(grid) / prod(trace.grid)
    note = NO_COMPILER.format(why)
    return Estimate(
        trace.kernel, card.name, grid, seconds, seconds, inf, found.limiter or "nothing",
        notes=(note,),
    )  # fmt: skip


def _grid(given: Any) -> Grid:
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(n, int) and n > 0 for n in parts):
        raise LaunchError(f"a grid is one to three positive integers, not {given!r}")
    x, y, z = (*parts, 1, 1)[:3]
    return x, y, z
