"""Commands that ask this machine: ``doctor``, and ``compile``, which asks CUDA's compiler."""

from __future__ import annotations

from typing import Annotated

import typer

from warpwise.cli.example import command

DEFAULT_CC = ["9.0"]


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(app, doctor, "doctor")
    command(app, compile_kernel, "compile solutions/08_coalescing.md:transpose --sass", "compile")


def doctor(
    grading: Annotated[
        bool, typer.Option("--grading", help="Test the sandbox with small attacks.")
    ] = False,
) -> None:
    """Report what this machine has and what is missing.

    Looks at Python, the GPU and its driver, the backend in use, Chromium, bubblewrap, and versions
    against the constraints, and says how to fix each thing that is missing. Exits with status 1 if
    the course needs one of them.

    With --grading, runs small attacks in the sandbox that grading would use, and exits with status
    1 if one succeeds or if there is no sandbox."""
    if grading:
        raise typer.Exit(0 if _isolates() else 1)
    from warpwise.doctor import examine, healthy

    findings = examine()
    for finding in findings:
        typer.echo(str(finding))
    raise typer.Exit(0 if healthy(findings) else 1)


def _isolates() -> bool:
    """Run the attacks, print how each came out and what to do if one succeeded."""
    from warpwise.errors import GradingError
    from warpwise.grading import sandbox, selftest

    outcomes = []
    try:
        for outcome in selftest.run(sandbox.isolation()):
            typer.echo(str(outcome))
            outcomes.append(outcome)
    except GradingError as error:
        typer.echo(f"NOT HELD  {error}")
    isolates = bool(outcomes) and all(outcome.held for outcome in outcomes)
    if isolates:
        typer.echo("This machine isolates student code.")
    else:
        typer.echo("This machine does not isolate student code. What to do:")
        for line in selftest.advice():
            typer.echo(f"  - {line}")
    return isolates


def compile_kernel(
    kernel: Annotated[
        str,
        typer.Argument(
            help="A kernel, such as solutions/08_coalescing.md:transpose.", metavar="FILE:KERNEL"
        ),
    ],
    cc: Annotated[
        list[str], typer.Option(help="Compute capability to compile for; may be repeated.")
    ] = DEFAULT_CC,
    types: Annotated[
        str | None,
        typer.Option(help="Types of the arguments, as in float32[:, ::1], float32[::1], int64."),
    ] = None,
    threads: Annotated[
        int, typer.Option(min=1, max=1024, help="Threads per block, for the occupancy.")
    ] = 256,
    ptx: Annotated[bool, typer.Option("--ptx", help="Also print PTX.")] = False,
    sass: Annotated[
        bool, typer.Option("--sass", help="Print the machine instructions under each source line.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compile a kernel with CUDA's own compiler, without a GPU.

    Prints registers, spills, memory, occupancy, and machine instructions by source line. FILE is a
    module, a notebook or a text notebook (.py, .ipynb, .md), and is executed, as by an import.
    Without --types, the types are those of the kernel's signature, or of its first launch in FILE
    (in a lab, the one that its check makes). float32[:, ::1] is a matrix in C order, as NumPy
    makes it; float32[:, :] has any strides, which takes more instructions."""
    from warpwise.toolchain.command import run

    run(kernel, cc, types, threads, ptx=ptx, sass=sass, as_json=as_json)
