"""The ``time`` command: how long a kernel takes on GPUs that are not here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwise.cli.bar import bar
from warpwise.cli.example import command


def add(app: typer.Typer) -> None:
    """Put this command into the command line."""
    command(app, time, "time solutions/08_coalescing.md:transpose --device A100 --device H100")


def time(
    kernel: Annotated[
        str,
        typer.Argument(
            help="A file and a kernel that it launches, such as "
            "solutions/08_coalescing.md:transpose.",
            metavar="FILE:KERNEL",
        ),
    ],
    devices: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            help="A GPU, such as A100 or 'RTX A6000'; may be repeated, and all are all. "
            "By default H100 SXM.",
            metavar="NAME",
        ),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(help="Blocks of a larger launch, as in 4096 or 64x64.", metavar="BLOCKS"),
    ] = None,
    show: Annotated[
        bool,
        typer.Option("--show", "--lines", help="Also say what is busy, by which lines, and why."),
    ] = False,
    constants: Annotated[
        Path | None,
        typer.Option(
            help="What warpwise measure constants wrote, in place of published figures: of the "
            "one device that is named, or of the file's own.",
            metavar="FILE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Predict a kernel's time on a GPU, without one.

    FILE is a module, a notebook or a text notebook (.py, .ipynb, .md), and is executed, as by an
    import, on the simulator. What it launches is timed, whether by trace(KERNEL, ...) or by an
    ordinary launch, in a lab by its checks; of equal launches one. KERNEL may be left out where
    only one is launched. A few blocks are enough: --grid asks for the time of more blocks of the
    same kind.

    Times are modelled from what the simulator counted and from the machine code of CUDA's own
    compiler, which needs no GPU. The range held four in five times, of those published and of
    those measured for the course, of kernels that the same resource limits. Without the compiler
    there is only a lower bound. A name that several GPUs share stands for all of them."""
    from warpwise.stopwatch.command import run

    with bar(kernel) as tick:
        said = run(kernel, devices or (), grid, tick, constants)
    for note in said.warnings:
        typer.echo(f"warpwise: {note}", err=True)
    typer.echo(said.json() if as_json else said.text(show))
