"""The command that measures on a GPU: ``measure``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

QUICK = typer.Option("--quick", help="Smaller sizes and fewer of them: a few minutes, for a laptop's GPU with 4 GB.")
COMPARE = typer.Option(help="Show times beside those of a recorded device, such as H200.", metavar="DEVICE")
REHEARSE = typer.Option("--rehearse", help="Without a GPU: run every kernel small, in the simulator, and check its result.")


def add(app: typer.Typer) -> None:
    """Put this command into the command line."""
    app.command()(measure)


def measure(
    suites: Annotated[list[str] | None, typer.Argument(help="Which suites; all if none is named.", metavar="SUITE")] = None,
    quick: Annotated[bool, QUICK] = False,
    compare: Annotated[str | None, COMPARE] = None,
    out: Annotated[Path | None, typer.Option(help="Where records go; the checkout's measurements/ if left out.")] = None,
    rehearse: Annotated[bool, REHEARSE] = False,
    show: Annotated[bool, typer.Option("--list", help="Say which suites there are, and measure nothing.")] = False,
) -> None:
    """Measure this machine's GPU.

    Every kernel is checked against float64 first, then timed by CUDA events beside libraries that do the same. Each
    suite writes measurements/<device>/<suite>.json, with all samples, versions and clocks; charts of the book read
    these. What was measured earlier stays until the suite is measured anew.

    Needs an NVIDIA GPU, NumPy, Numba-CUDA and CuPy (the extra gpu-cu13 or gpu-cu12); PyTorch is timed as well where it
    is installed, and counters are compared where Nsight Compute's ncu is. Ends with status 1 if a kernel of ours was
    wrong or a suite did not come to its end.
    """
    from warpwise.measure import report

    names = tuple(suites or ())
    if show:
        report.listed()
        return
    raise typer.Exit(report.measure(names, out, quick, rehearse, compare, sys.argv[1:]))
