"""The ``warpwise`` command: thin commands over the package.

Each imports what it needs when it runs. Mistakes in the input are printed as one line on stderr,
with exit status 2. A command whose answer is "no" (an exercise does not pass, the machine lacks
something needed) exits with status 1."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Context
from typer.core import TyperGroup

from warpwise.cli import again, check, course, grade, measure, release, results
from warpwise.errors import WarpwiseError

INSTRUCTORS = (
    *("grade", "merge", "regrade", "history", "gradebook", "feedback", "report", "forget"),
    *("release", "bundle", "course"),
)
DEFAULT_CC = ["9.0"]
EXTRAS = dict.fromkeys(INSTRUCTORS, "grading") | {
    "check": "labs",
    "compile": "toolchain",
    "labs": "labs",
    "measure": "gpu-cu13",
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
            extra = EXTRAS.get(ctx.invoked_subcommand or "", "dev")
            message = f"this command needs {error.name}: python -m pip install -e '.[{extra}]'"
        typer.echo(f"warpwise: {message}", err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=OneLineErrors,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="GPUs without the magic: check a machine, check a lab, grade submissions, measure a GPU.",
)
labs_app = typer.Typer(help="Build labs, or bring yours up to date.", no_args_is_help=True)
app.add_typer(labs_app, name="labs")


@app.command()
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


@app.command("compile")
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


@labs_app.command("build")
def labs_build(
    labs: Annotated[
        list[str] | None,
        typer.Argument(help="Labs to build, such as 08_coalescing; all by default.", metavar="LAB"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a lab differs from its source.")
    ] = False,
) -> None:
    """Build the notebooks in labs/ from the sources in solutions/.

    Run it at the root of the repository. The outputs that checks are compared with come from a run
    of the solved notebook."""
    from warpwise.labs.build import build

    for line in build(check=check, only=labs or ()):
        typer.echo(line)


@labs_app.command("update")
def labs_update(
    old: Annotated[
        Path, typer.Argument(help="Your notebook, or your whole older handout.", metavar="OLD")
    ],
    new: Annotated[
        Path | None,
        typer.Option(
            "--from", help="The new handout, if it is not the current folder.", metavar="NEW"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Notebook to write, or folder for those of a handout.")
    ] = None,
) -> None:
    """Move your answers into the new version of a lab.

    Run it in the new handout: `warpwise labs update ../old-handout` moves the answers of all labs
    there into the labs here, and `warpwise labs update ../old-handout/labs/08_coalescing.ipynb`
    those of one. OLD stays as it is. With --from NEW it is OLD that is brought up to date, and NEW
    that stays.

    An answer moves if its exercise is the same in both versions. One to an exercise that has
    changed, or that you have answered in both, stands below the exercise, as a comment. Your own
    cells go to the end. A notebook in which somebody has worked is kept beside the new one, with
    .before-update after its name."""
    from warpwise.labs.update import update

    failed = False
    for updated in update(old, new, out):
        failed |= updated.failed
        for line in updated.lines:
            typer.echo(line, err=updated.failed)
    raise typer.Exit(2 if failed else 0)


for commands in (check, grade, again, results, release, course, measure):
    commands.add(app)
