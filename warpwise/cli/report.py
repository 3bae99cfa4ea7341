"""``report``: what a run of the grader shows about a class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    app.command()(report)


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that grade wrote.", metavar="DIR")],
    out: Annotated[Path | None, typer.Option(help="The page to write; DIR/report.html if left out.", metavar="FILE.html")] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the whole report; a page is written only with --out.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Also write DIR/exercises.csv and DIR/similar.csv.")] = False,
    course: Annotated[Path | None, typer.Option(help="The folder with solutions/, which tell what a lab hands out.")] = None,
) -> None:
    """Say how a class did: what passes, what fails and why, what took long, and which submissions are similar.

    Writes a page and prints a summary. Per exercise it says how many pass, which counters are over budget and by how much,
    and when hidden tests fail; then which submissions have much of a program in common, with both texts. Similar does
    not mean copied. The page names students: it is for those who teach.
    """
    from warpwise.cli import print_table
    from warpwise.grading.cohort import text as class_text
    from warpwise.grading.cohort.report import class_report, write

    found = class_report(folder, course)
    written = write(found, out or (None if text else folder / "report.html"), folder if csv else None)
    for table in class_text.whole(found.labs, found.pairs) if text else class_text.summary(found.labs, found.pairs):
        typer.echo(table.title)
        if table.rows:
            print_table(table.heads, table.rows)
            typer.echo()
    if not found.labs:
        typer.echo("no submissions have been graded here yet")
    for path in written:
        typer.echo(f"see {path}")
