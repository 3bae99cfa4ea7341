"""Commands for whole labs: ``labs get``, ``labs start``, ``labs update``, ``labs build``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwise.cli.example import command

labs = typer.Typer(help="Get labs, open them, or bring yours up to date.", no_args_is_help=True)

FOLDER = typer.Argument(
    help="Folder for the labs; by default the one that has some, or else warpwise-labs.",
    metavar="FOLDER",
)


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(labs, get, "labs get my-labs")
    command(labs, start, "labs start")
    command(labs, update, "labs update ../old-handout")
    command(labs, build, "labs build 08_coalescing")
    app.add_typer(labs, name="labs")


def get(folder: Annotated[Path | None, FOLDER] = None) -> None:
    """Lay the labs' notebooks into a folder.

    They are those of the installed package. A notebook that is there already is kept as it is."""
    from warpwise.labs.get import get as lay
    from warpwise.labs.get import here

    for line in lay(here(folder)):
        typer.echo(line)


def start(folder: Annotated[Path | None, FOLDER] = None) -> None:
    """Open the labs in JupyterLab, and lay them into a folder first where there are none.

    JupyterLab runs until you end it with Ctrl-C."""
    from warpwise.labs.get import get as lay
    from warpwise.labs.get import here, open_lab

    where = here(folder)
    for line in lay(where):
        typer.echo(line)
    raise typer.Exit(open_lab(where))


def build(
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
    from warpwise.labs.build import build as build_all

    for line in build_all(check=check, only=labs or ()):
        typer.echo(line)


def update(
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
    from warpwise.labs.update import update as update_all

    failed = False
    for updated in update_all(old, new, out):
        failed |= updated.failed
        for line in updated.lines:
            typer.echo(line, err=updated.failed)
    raise typer.Exit(2 if failed else 0)
