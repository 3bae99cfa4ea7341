"""The ``warpwise`` command: thin commands over the package, each importing what it needs when it runs.

Mistakes in the input are printed as one line on stderr, with exit status 2. A command whose answer is "no" (an
exercise does not pass, the machine lacks something needed) ends with status 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from warpwise.cli import grade, gradebook, measure, release, report
from warpwise.errors import WarpwiseError

INSTRUCTORS = ("grade", "merge", "regrade", "gradebook", "feedback", "report", "release", "bundle")
EXTRAS = {"check": "labs", "compile": "toolchain", "labs": "labs", "measure": "gpu-cu13"} | dict.fromkeys(INSTRUCTORS, "grading")


class OneLineErrors(TyperGroup):
    """Turns the package's own errors, and an extra that is not installed, into one line and an exit status."""

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except WarpwiseError as error:
            message = str(error)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] == "warpwise":
                raise
            extra = EXTRAS.get(ctx.invoked_subcommand, "dev")
            message = f"this command needs {error.name}: python -m pip install -e '.[{extra}]'"
        typer.echo(f"warpwise: {message}", err=True)
        raise typer.Exit(2)


SETTINGS = {"no_args_is_help": True, "pretty_exceptions_enable": False, "rich_markup_mode": None}
HELP = "GPUs without the magic: look at this machine, check a lab, grade submissions, measure a GPU."
app = typer.Typer(cls=OneLineErrors, add_completion=False, help=HELP, **SETTINGS)
labs_app = typer.Typer(help="Make the labs from their sources.", **SETTINGS)
app.add_typer(labs_app, name="labs")


@app.command()
def doctor(
    grading: Annotated[bool, typer.Option("--grading", help="Attack the sandbox: does it keep student code apart?")] = False,
) -> None:
    """Say what this machine has and what it lacks.

    Looks at Python, GPU and driver, the backend in use, Chromium, bubblewrap, and versions against the constraints,
    and says what to do about each thing that is missing. Ends with status 1 if the course needs one of them.

    With --grading it runs small attacks in the sandbox that grading would use, and ends with status 1 if one succeeds
    or if there is no sandbox.
    """
    if grading:
        raise typer.Exit(0 if _isolates() else 1)
    from warpwise.doctor import examine, healthy

    findings = examine()
    for finding in findings:
        typer.echo(str(finding))
    raise typer.Exit(0 if healthy(findings) else 1)


def _isolates() -> bool:
    """Print how each attack came out, and what to do where one did not hold."""
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
        typer.echo("This machine keeps student code apart.")
    else:
        typer.echo("This machine does not keep student code apart. What to do:")
        for line in selftest.advice():
            typer.echo(f"  - {line}")
    return isolates


@app.command()
def check(
    notebook: Annotated[Path, typer.Argument(help="A lab, such as labs/08_coalescing.ipynb.", metavar="NOTEBOOK")],
    exercises: Annotated[list[str] | None, typer.Argument(help="Which exercises; all if none is named.", metavar="EXERCISE")] = None,
) -> None:
    """Say which exercises of a lab pass.

    Runs the notebook as it stands in the file, in a fresh kernel, and prints what each check says. The file is not
    changed. Ends with status 1 if an exercise does not pass; of those to choose from, one has to.
    """
    from warpwise.labs.run import check_notebook, complete

    results = check_notebook(notebook, tuple(exercises or ()))
    rows = [(r.exercise, r.points, r.reason, "\n".join(text for text in (r.detail, r.more) if text)) for r in results]
    print_table(("exercise", "points", "result", "what was seen"), rows)
    raise typer.Exit(0 if complete(results) else 1)


@app.command("compile")
def compile_kernel(
    kernel: Annotated[str, typer.Argument(help="A kernel, such as solutions/08_coalescing.md:transpose.", metavar="FILE:KERNEL")],
    cc: Annotated[list[str], typer.Option(help="The compute capability to compile for; may be given again.")] = ("9.0",),
    types: Annotated[str | None, typer.Option(help="The types of the arguments, as in float32[:, ::1], float32[::1], int64.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="How many threads a block has, for occupancy.")] = 256,
    ptx: Annotated[bool, typer.Option("--ptx", help="Print PTX too.")] = False,
    sass: Annotated[bool, typer.Option("--sass", help="Print the machine instructions under each source line.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compile a kernel with CUDA's own compiler, without a GPU.

    Prints registers, spills, memory, occupancy, and machine instructions by source line. FILE is a module, a notebook or
    a text notebook (.py, .ipynb, .md). It is executed, as an import would. Types that are not given are those of the
    kernel's signature, or of its first launch in FILE, which in a lab its check makes. Of the types, float32[:, ::1] is
    a matrix in C order, as a NumPy array is; float32[:, :] has any strides, which takes more instructions.
    """
    from warpwise.toolchain.command import run

    run(kernel, cc, types, threads, ptx=ptx, sass=sass, as_json=as_json)


@labs_app.command("build")
def labs_build(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a lab differs from its source.")] = False,
) -> None:
    """Make the notebooks in labs/ from the sources in solutions/.

    Run it at the root of the repository. The outputs that checks are compared with come from a run of the solved
    notebook.
    """
    from warpwise.labs.build import build

    for line in build(check=check):
        typer.echo(line)


def print_table(heads: tuple[str, ...], rows: Iterable[tuple]) -> None:
    """Columns of text, each as wide as its widest cell. A cell may have several lines."""
    cells = [[str(cell).split("\n") for cell in row] for row in (heads, *rows)]
    lines = [line for row in cells for line in zip_longest(*row, fillvalue="")]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    for line in lines:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


for commands in (grade, gradebook, report, release, measure):
    commands.add(app)
