"""Commands for the folder of a run: ``gradebook``, ``feedback``, ``report``, ``forget``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warpwise.cli.example import command
from warpwise.cli.grade import GRADED, ROSTER, TIMES, finished
from warpwise.cli.table import print_table


class Format(StrEnum):
    """The formats of a gradebook."""

    csv = "csv"
    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"
    nbgrader = "nbgrader"


class Platform(StrEnum):
    """The platforms that take feedback back in an archive."""

    canvas = "canvas"
    moodle = "moodle"


def add(app: typer.Typer) -> None:
    """Put these commands into the command line."""
    command(app, gradebook, "gradebook graded --format canvas --roster class.csv --out grades.csv")
    command(app, feedback, "feedback graded --zip canvas --lab 8 --out feedback.zip")
    command(app, report, "report graded")
    command(app, forget, "forget graded ada")


def gradebook(
    folder: Annotated[Path, GRADED],
    format: Annotated[
        Format, typer.Option(help="Who will read it; csv is one table with everything.")
    ] = Format.csv,
    out: Annotated[Path | None, typer.Option(help="File to write; printed by default.")] = None,
    lab: Annotated[
        list[str] | None,
        typer.Option(help="Only this lab, such as 8, 08_coalescing or coal; may be repeated."),
    ] = None,
    roster: Annotated[Path | None, ROSTER] = None,
    times: Annotated[list[str] | None, TIMES] = None,
    course: Annotated[
        Path | None, typer.Option(help="A course.toml, or the folder that contains it.")
    ] = None,
    due: Annotated[
        str | None,
        typer.Option(
            help="Due time of every lab, such as 2026-12-01T23:59+01:00; extensions still apply."
        ),
    ] = None,
    late_policy: Annotated[
        str | None,
        typer.Option(
            help="Late policy of every lab, such as percent_per_day=10,days=3,grace_minutes=15."
        ),
    ] = None,
    unfinished: Annotated[
        bool,
        typer.Option("--unfinished", help="Write a platform's format of an unfinished run too."),
    ] = False,
) -> None:
    """Write a gradebook for Canvas, Moodle, Gradescope, nbgrader or a spreadsheet.

    Canvas and Moodle import their files as they are if --roster is what they export: Canvas's
    gradebook, or the grading worksheet of Moodle's assignment. What has no place there, such as
    the score of somebody they do not know, is in a second file beside --out, OUT-unknown.csv, with
    the reason.

    Points, weights, due times, late policy and extensions come from course.toml; options given
    here, or earlier to `warpwise grade`, override it. When work was handed in is said by the
    platform's download, by --times, and above all by DIR/times.csv (student,lab,submitted).
    DIR/overrides.csv
    (student,lab,exercise,points,reason) overrides everything. A late submission loses a percentage
    of its points for each day that has begun. Everyone on the roster appears, and so does, with a
    note, anyone who handed something in but is not on it. Labs that nobody handed in are left
    out; one that was not assigned is blank for all but those who did, and in no total.

    While submissions are still to be graded, their cells are blank and the csv format begins with a
    row UNFINISHED; a platform's format is written only with --unfinished. The exit status is then
    1."""
    from warpwise.cli.meant import labs_meant
    from warpwise.errors import GradingError
    from warpwise.grading import store
    from warpwise.grading.scoring import folder as graded
    from warpwise.grading.scoring import sheet
    from warpwise.grading.scoring.export import table

    run = store.load(folder)
    only = labs_meant(graded.labs_of(run), lab, graded.NOTHING_OF) if lab else ()
    made = graded.of_run(run, course, roster, due, late_policy, times or (), only)
    if made.unfinished and format != Format.csv and not unfinished:
        without = "--unfinished writes the file without them"
        raise GradingError(f"{made.unfinished}; {without}")
    found = table(made.scores, format.value, made.labs, made.course, made.roster)
    text = sheet.marked(found.text, made.unfinished) if format == Format.csv else found.text
    if out is None:
        typer.echo(text, nl=False)
    else:
        graded.save(out, text)
        typer.echo(f"{len({score.student for score in made.scores})} students: see {out}")
    for line in (*made.warnings, *found.remarks, *graded.save_left_out(out, found)):
        typer.echo(f"warpwise: {line}", err=True)
    if not finished(folder):
        raise typer.Exit(1)


def feedback(
    folder: Annotated[Path, GRADED],
    student: Annotated[
        str | None,
        typer.Argument(help="The student's id, e-mail address or name.", metavar="STUDENT"),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Print the page as plain text instead of its path.")
    ] = False,
    zip: Annotated[
        Platform | None, typer.Option(help="Pack the pages of a lab for this platform.")
    ] = None,
    lab: Annotated[
        str | None,
        typer.Option(help="The lab to pack, such as 8, if there are several.", metavar="LAB"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The archive to write.", metavar="FILE.zip")
    ] = None,
) -> None:
    """Print the path of a student's feedback page, or its text, or pack all pages for a platform.

    Canvas takes the archive with "Upload Submissions", Moodle with "Upload multiple feedback files
    in a zip": `warpwise feedback graded --zip canvas --lab 08_coalescing --out feedback.zip`. The
    submissions must have been graded as the platform gave them to download, since it finds a
    student by the numbers in their names.

    Exits with status 1 while submissions are still to be graded."""
    from warpwise.errors import GradingError
    from warpwise.grading.engine import write
    from warpwise.grading.scoring.folder import pages

    if zip is not None and student is None and out is not None and not text:
        write(folder)  # as the gradebook is now, by overrides, times and course.toml
        _pack(folder, zip, out, lab)
    elif student is None or zip is not None or lab is not None or out is not None:
        raise GradingError(
            "name a STUDENT to see a page, or pack all: --zip canvas or moodle, --out FILE.zip"
        )
    else:
        for page in pages(folder, student, ".txt" if text else ".html"):
            typer.echo(_printable(page.read_text("utf-8")) if text else str(page), nl=not text)
    if not finished(folder):
        raise typer.Exit(1)


def report(
    folder: Annotated[Path, GRADED],
    out: Annotated[
        Path | None,
        typer.Option(help="Page to write; DIR/report.html by default.", metavar="FILE.html"),
    ] = None,
    text: Annotated[
        bool,
        typer.Option("--text", help="Print the whole report; write a page only with --out."),
    ] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Also write DIR/exercises.csv and DIR/similar.csv.")
    ] = False,
    course: Annotated[
        Path | None,
        typer.Option(help="Folder with solutions/, from which code handed out is recognised."),
    ] = None,
) -> None:
    """Report how a class did.

    Writes a page and prints a summary. For each exercise it shows how many pass, which counters are
    over budget and by how much, and when hidden tests fail; then which submissions have much of a
    program in common, with both texts side by side. Similar does not mean copied. The page names
    students: it is for instructors only. Exits with status 1 while submissions are still to be
    graded, and says so on the page."""
    from warpwise.grading.class_report import text as class_text
    from warpwise.grading.class_report.build import class_report, write

    found = class_report(folder, course)
    page = out or (None if text else folder / "report.html")
    written = write(found, page, folder if csv else None)
    tables = class_text.whole if text else class_text.summary
    for table in tables(found.labs, found.pairs):
        typer.echo(table.title)
        if table.rows:
            print_table(table.heads, table.rows)
            typer.echo()
    if not found.labs:
        typer.echo("no submissions have been graded here yet")
    for path in written:
        typer.echo(f"see {path}")
    if not finished(folder):
        raise typer.Exit(1)


def _pack(folder: Path, platform: Platform, out: Path, lab: str | None) -> None:
    from warpwise.cli.meant import labs_meant
    from warpwise.grading import store
    from warpwise.grading.feedback_zip import AS_UPLOADED, pack
    from warpwise.grading.scoring.folder import NOTHING_OF, labs_of

    if lab is not None:
        [lab] = labs_meant(labs_of(store.load(folder)), [lab], NOTHING_OF)
    packed = pack(folder, platform.value, out, lab or "")
    pages = "1 page" if len(packed.names) == 1 else f"{len(packed.names)} pages"
    typer.echo(f"{pages}: see {out}")
    if platform is Platform.canvas:
        typer.echo(f"warpwise: {AS_UPLOADED}", err=True)
    for file, why in packed.left_out:
        typer.echo(f"warpwise: not packed: {file!r}: {why}", err=True)


def forget(
    folder: Annotated[Path, GRADED],
    student: Annotated[
        str, typer.Argument(help="The student's id, e-mail address or name.", metavar="STUDENT")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
) -> None:
    """Delete a student from a graded folder.

    Deletes the student's records and feedback pages, their rows in every CSV file of the folder,
    overrides and times included, and the report on the class, which names students and can be made
    again. Shows all that before it asks. Then it says what is left to you: the submissions, the
    roster, and what you have copied elsewhere. Broken off, it goes on when the same command is
    given again. Not to be used while the folder is being graded.

    warpwise forget graded ada@example.edu"""
    from warpwise.grading import forget as deletion

    found = deletion.find(folder, student)
    typer.echo(f"This deletes {found.student.id!r} from {folder}:")
    for table in found.tables:
        count = "1 row" if table.rows == 1 else f"{table.rows} rows"
        typer.echo(f"  {count} of {table.path.relative_to(folder)}")
    for path in (*found.files, *found.records):
        typer.echo(f"  {path.relative_to(folder)}")
    if not (found.tables or found.files or found.records):
        typer.echo("  nothing: it holds no record and no row of theirs")
    elif not yes and not typer.confirm("Delete?"):
        typer.echo("Nothing was deleted.")
        raise typer.Exit(1)
    for _ in deletion.forget(found):
        pass
    typer.echo("Not reached, and yours to see to:")
    for line in _left_over(*deletion.still_named(found), found.handed_in, found.outside):
        typer.echo(f"  - {line}")


def _left_over(
    named: Sequence[Path],
    unread: Sequence[Path],
    handed_in: Sequence[str],
    outside: Sequence[Path],
) -> Iterator[str]:
    """Yield what ``forget`` cannot delete."""
    files = f": {', '.join(map(repr, handed_in))}" if handed_in else ""
    yield f"their submissions, which would bring them back when they are graded again{files}"
    yield from (f"{path}, if it names them" for path in outside)
    yield "the roster: whoever is still on it stays in the gradebook, with no submission"
    yield from (f"{path}, which has the same id, name or address in it" for path in named)
    yield from (f"{path}, which cannot be searched: delete it and make it anew" for path in unread)
    yield "extensions in course.toml, backups, and what was sent, uploaded or exported elsewhere"


def _printable(text: str) -> str:
    """Return a text without control characters, which a student's code may have written."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
