"""A student's feedback as plain text for a terminal or an e-mail: the whole page, in 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from warpwise.grading.feedback.code import Listing, caption
from warpwise.grading.feedback.values import FOOTER, Notebook, Notes, Part, named, notebooks
from warpwise.grading.record import Record
from warpwise.grading.scoring.standing import Standings
from warpwise.labs.source import Lab

COLUMNS = 80
MARKED = " (> marks what is named above)"
AS_THEY_ARE: Any = {"drop_whitespace": False, "replace_whitespace": False, "tabsize": 4}


def text(
    student: str,
    records: Sequence[Record],
    labs: Mapping[str, Lab],
    notes: Notes | None = None,
    standings: Standings | None = None,
) -> str:
    """Return all that ``html.page`` says as plain text, 80 columns wide."""
    title = f"Feedback for {named(student, records, standings)}"
    lines = [*_wrapped(title), "=" * min(len(title), COLUMNS)]
    for notebook in notebooks(records, labs, notes, standings):
        lines += ["", *_notebook(notebook)]
    return "\n".join(map(_clean, [*lines, "", *_wrapped(FOOTER)])) + "\n"


def _notebook(notebook: Notebook) -> Iterator[str]:
    yield from _wrapped(notebook.title)
    yield "-" * min(len(notebook.title), COLUMNS)
    yield from _wrapped(f"File {notebook.file}")
    yield from _wrapped(f"{notebook.score} points" if notebook.score else "")
    for name, said in notebook.standing:
        yield from _wrapped(f"{name}: {said}.")
    if notebook.problem:
        yield from _wrapped(f"This notebook could not be graded. {notebook.problem}")
        yield from _wrapped(f"What to do: {notebook.remedy}")
    for note in notebook.notes:
        yield from _wrapped(f"Note: {note}")
    for part in notebook.parts:
        yield ""
        yield from _part(part)
    for title in notebook.not_chosen:
        yield from _wrapped(f"{_plain(title)}: not chosen.")


def _part(part: Part) -> Iterator[str]:
    yield from _wrapped(f"{_plain(part.question.title)}: {part.points}")
    yield from _wrapped(_plain(part.question.objective), 2)
    yield from _wrapped(f"{part.verdict}: {part.result}. {part.explained}", 2)
    yield from _wrapped(f"Hidden tests: {part.hidden}." if part.hidden else "", 2)
    yield from _wrapped(f"Your own check {part.check}.", 2)
    yield from _wrapped(f"On a GPU, {part.gpu}." if part.gpu else "", 2)
    yield from _wrapped(f"Compiler: {part.compiler}" if part.compiler else "", 2)
    for line in part.detail.split("\n"):
        yield from _wrapped(line.strip(), 6 + len(line) - len(line.lstrip()))
    for bar in part.bars:
        yield from _wrapped(f"{bar.name}: {bar.words}.{' OVER' if bar.over else ''}", 4)
    yield from _wrapped(caption(part.picture), 2)
    yield from _wrapped(f"Hint: {part.advice}" if part.advice else "", 2)
    if part.hint:
        yield from _wrapped(f'In the lab, below this exercise: "{_plain(part.hint)}".', 2)
    yield from _code(part.code)


def _code(code: Listing) -> Iterator[str]:
    if code.lines:
        yield from _wrapped(f"Your code{MARKED if code.marked else ''}:", 2)
    if code.before:
        yield f"    ... {code.before} lines before"
    for line in code.lines:
        head = f"  {'>' if line.marked else ' '}{line.number:>4}  "
        pieces = wrap(line.text, COLUMNS - len(head), **AS_THEY_ARE) or [""]
        yield from (f"{head if not i else ' ' * len(head)}{one}" for i, one in enumerate(pieces))
    if code.after:
        yield f"    ... {code.after} more lines"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    """Wrap a text into lines; an empty one has none."""
    indent = min(indent, COLUMNS // 2)
    return wrap(text, COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * indent)


def _plain(text: str) -> str:
    """Take the marks off a line of a lab's Markdown."""
    return re.sub(r"[`*]", "", text)


def _clean(line: str) -> str:
    """Replace what would move a terminal's cursor or reverse the direction of writing."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )
