"""The ``warpwise`` command: thin commands over the package.

Each imports what it needs when it runs. Mistakes in the input are printed as one line on stderr,
with exit status 2. A command whose answer is "no" (an exercise does not pass, the machine lacks
something needed) exits with status 1."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Context
from typer.core import TyperGroup

import warpwise
from warpwise.cli import (
    again,
    check,
    course,
    first,
    grade,
    labs,
    machine,
    measure,
    release,
    results,
    time,
)
from warpwise.errors import WarpwiseError

INSTRUCTORS = (
    *("grade", "merge", "regrade", "history", "gradebook", "feedback", "report", "forget"),
    *("release", "bundle", "course"),
)
EXTRAS = dict.fromkeys(INSTRUCTORS, "grading") | {
    "check": "labs",
    "compile": "toolchain",
    "labs": "labs",
    "measure": "gpu-cu13",
    "time": "toolchain",
}


class OneLineErrors(TyperGroup):
    """Report the package's own errors, and a missing extra, as one line and an exit status."""

    # Typer's base class of Context, which the override would have to name, is private.
    def invoke(self, ctx: Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except WarpwiseError as error:
            message = str(error)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] == "warpwise":
                raise
            from warpwise.doctor.finding import install

            extra = EXTRAS.get(ctx.invoked_subcommand or "", "dev")
            message = f"this command needs {error.name}: {install(extra)}"
        typer.echo(f"warpwise: {message}", err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=OneLineErrors,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def main(
    ctx: Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """GPUs without the magic: check a machine, check a lab, grade submissions, measure a GPU.

    Without a command, says what to do first on this machine."""
    if version:
        typer.echo(f"warpwise {warpwise.__version__}")
    elif ctx.invoked_subcommand is None:
        for line in first.steps():
            typer.echo(line)


for commands in (labs, check, machine, time, measure, release, course, grade, again, results):
    commands.add(app)
