"""The command that checks a lab: ``check``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from warpwise.cli.bar import bar
from warpwise.cli.example import command
from warpwise.errors import WarpwiseError

if TYPE_CHECKING:
    from warpwise.labs.run import Result

GREEN, AMBER, RED = typer.colors.GREEN, typer.colors.YELLOW, typer.colors.RED


def add(app: typer.Typer) -> None:
    """Put this command into the command line."""
    command(app, check, "check 8 transpose")


def _labs_here() -> list[str]:
    from warpwise.labs.get import notebooks

    return [path.stem for path in notebooks()]


def _exercises_of(context: typer.Context) -> list[str]:
    from warpwise.labs.chosen import notebook
    from warpwise.labs.run import exercises_in

    try:
        return list(exercises_in(notebook(context.params["notebook"])[0]))
    except WarpwiseError:  # a notebook that is not there has nothing to complete
        return []


def check(
    notebook: Annotated[
        str,
        typer.Argument(
            help="A lab: labs/08_coalescing.ipynb, or 8, or coalescing.",
            metavar="NOTEBOOK",
            autocompletion=_labs_here,
        ),
    ],
    exercises: Annotated[
        list[str] | None,
        typer.Argument(
            help="Exercises to check; all by default.",
            metavar="EXERCISE",
            autocompletion=_exercises_of,
        ),
    ] = None,
) -> None:
    """Check which exercises of a lab pass, as in `warpwise check 8`.

    Runs the notebook as it was saved, in a fresh kernel, and prints a line for each exercise, what
    to mend below it, and what comes next. The file is not changed. A lab may be named by its
    number or topic, and misspelled; it is looked for in this folder and in labs/. Exits with
    status 1 if an exercise does not pass; where exercises are a choice, one has to."""
    from warpwise.labs.chosen import notebook as find
    from warpwise.labs.run import check_notebook, complete

    path, misspelled = find(notebook)
    if misspelled:
        typer.echo(f"no lab is called {notebook!r}: checking {path}", err=True)
    with bar(str(path)) as tick:
        results = check_notebook(path, tuple(exercises or ()), tick)
    _say(str(path))
    for line in _lines(results):
        _say(line)
    for line in _summary(results, complete(results), exercises or ()):
        _say(line)
    raise typer.Exit(0 if complete(results) else 1)


def _say(line: str) -> None:
    """Print a line, in colour where it goes to a terminal whose user has not set NO_COLOR."""
    typer.echo(line, color=False if os.environ.get("NO_COLOR") else None)


def _lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield a line for each exercise, and below one that fails what is wrong and what to try."""
    from warpwise.model.arguments import quantity

    width = max(len(result.exercise) for result in results)
    points = [quantity(result.points, "point") for result in results]
    column = max(map(len, points))
    for result, worth in zip(results, points, strict=True):
        said = typer.style(result.reason, fg=_colour(result), bold=result.passed or None)
        yield f"  {result.exercise:{width}}  {worth:>{column}}  {said}"
        for text in (result.detail, result.more):
            yield from (f"      {line}" for line in text.split("\n") if text)


def _colour(result: Result) -> str | None:
    from warpwise.labs.exercise import Reason
    from warpwise.labs.run import NOT_CHOSEN

    if result.passed:
        return GREEN
    if result.reason in (Reason.NOT_DONE, NOT_CHOSEN):
        return None
    return AMBER if result.reason.startswith(Reason.OVER_BUDGET) else RED


def _summary(results: Sequence[Result], complete: bool, asked: Sequence[str]) -> Iterator[str]:
    """Yield the total and the next step: mend what is wrong, then do what is not done."""
    from warpwise.labs.exercise import Reason
    from warpwise.labs.run import NOT_CHOSEN

    passed = [result for result in results if result.passed]
    counted = [result for result in results if result.reason != NOT_CHOSEN]
    points, most = (sum(result.points for result in some) for some in (passed, counted))
    total = f"{len(passed)} of {len(counted)} exercises pass, with {points} of {most} points."
    yield typer.style(total, bold=True)
    wrong = [r for r in counted if not r.passed and r.reason != Reason.NOT_DONE]
    if wrong:
        yield f"Next: mend {wrong[0].exercise}, save the notebook, and check again."
    elif not complete:
        open_ones = [result for result in counted if not result.passed]
        yield f"Next: {open_ones[0].exercise}"
    elif not asked:
        yield "Every exercise passes: the notebook is ready to be handed in."
