"""The ``measure`` command: measure a GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from warpwise.cli.example import command


def add(app: typer.Typer) -> None:
    """Put this command into the command line."""
    command(app, measure, "measure --quick")


def measure(
    suites: Annotated[
        list[str] | None, typer.Argument(help="Suites to run; all by default.", metavar="SUITE")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Fewer and smaller sizes: a few minutes on a laptop GPU with 4 GB."
        ),
    ] = False,
    compare: Annotated[
        str | None,
        typer.Option(help="Recorded device to show times beside, such as H200.", metavar="DEVICE"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the records; by default the checkout's measurements/."),
    ] = None,
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse", help="Without a GPU: run every kernel small, simulated, and check it."
        ),
    ] = False,
    predict: Annotated[
        str | None,
        typer.Option(
            help="Without a GPU: predict times on a device, such as H200, and write them down.",
            metavar="DEVICE",
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="List the suites, and measure nothing.")
    ] = False,
) -> None:
    """Measure this machine's GPU.

    Every kernel is checked against float64 first, then timed by CUDA events beside libraries that
    do the same. Each suite writes measurements/<device>/<suite>.json, with all samples, versions
    and clocks, from which the book's charts are drawn. Earlier records stay until their suite is
    measured again.

    GPT-2's step (gpt2) begins from random parameters, or from a file of llm.c's that WARPWISE_GPT2
    names; its products are in float32, TF32 and bfloat16, and memory holds float32 or bfloat16.

    Needs an NVIDIA GPU, NumPy, Numba-CUDA and CuPy (the extra gpu-cu13 or gpu-cu12). PyTorch is
    timed as well where it is installed, and counters are compared where Nsight Compute's ncu is.
    Exits with status 1 if a kernel of the course was wrong or a suite did not finish."""
    from warpwise.measure import console

    names = tuple(suites or ())
    if show:
        console.listed()
        return
    if predict:
        from warpwise.measure.predictions import written

        for line in written(predict, names, out, sys.argv[1:]):
            typer.echo(line)
        return
    raise typer.Exit(console.measure(names, out, quick, rehearse, compare, sys.argv[1:]))
