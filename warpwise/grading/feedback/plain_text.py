"""A student's feedback as plain text for a terminal or an e-mail: the whole page, in 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from textwrap import wrap

from warpwise.grading.feedback.values import FOOTER, Notebook, Notes, Part, notebooks
from warpwise.grading.record import Record
from warpwise.labs.source import Lab

COLUMNS = 80
CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.S)


def text(
    student: str, records: Sequence[Record], labs: Mapping[str, Lab], notes: Notes | None = None
) -> str:
    """Return all that ``html.page`` says as plain text, 80 columns wide."""
    title = f"Feedback for {student}"
    lines = [*_wrapped(title), "=" * min(len(title), COLUMNS)]
    for notebook in notebooks(records, labs, notes):
        lines += ["", *_notebook(notebook)]
    return "\n".join(map(_clean, [*lines, "", *_wrapped(FOOTER)])) + "\n"


def _notebook(notebook: Notebook) -> Iterator[str]:
    yield from _wrapped(notebook.title)
    yield "-" * min(len(notebook.title), COLUMNS)
    yield from _wrapped(f"File {notebook.file}")
    yield from _wrapped(f"{notebook.score} points" if notebook.score else "")
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
    verdict = "Right" if part.passed else "Not right"
    yield from _wrapped(f"{verdict}: {part.result}. {part.explained}", 2)
    yield from _wrapped(f"Hidden tests: {part.hidden}." if part.hidden else "", 2)
    yield from _wrapped(f"Your own check {part.check}.", 2)
    yield from _wrapped(f"On a GPU, {part.gpu}." if part.gpu else "", 2)
    for line in part.detail.split("\n"):
        yield from _wrapped(line.strip(), 6 + len(line) - len(line.lstrip()))
    for bar in part.bars:
        yield from _wrapped(f"{bar.name}: {bar.words}.{' OVER' if bar.over else ''}", 4)
    for caption in CAPTION.findall(part.picture):
        yield from _wrapped(unescape(re.sub(r"<[^>]+>", "", caption)), 2)
    yield from _wrapped(f"Hint: {part.advice}" if part.advice else "", 2)
    if part.question.hint and not part.passed:
        yield from _wrapped(f'In the lab, below this exercise: "{_plain(part.question.hint)}".', 2)


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
