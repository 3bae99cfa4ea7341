"""A student's feedback as plain text, for a terminal or a mail: all that the page says, in 80 columns and without colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwise.grading.feedback import Notebook, Part

COLUMNS = 80
CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.S)


def page(student: str, notebooks: Sequence[Notebook], footer: str) -> str:
    """The whole text of one student."""
    title = f"Feedback for {student}"
    lines = [*_wrapped(title), "=" * min(len(title), COLUMNS)]
    for notebook in notebooks:
        lines += ["", *_notebook(notebook)]
    return "\n".join(map(_clean, [*lines, "", *_wrapped(footer)])) + "\n"


def _notebook(notebook: Notebook) -> Iterator[str]:
    yield from _wrapped(notebook.title)
    yield "-" * min(len(notebook.title), COLUMNS)
    yield from _wrapped(f"File {notebook.file}")
    yield from _wrapped(notebook.points)
    if notebook.problem:
        yield from _wrapped(f"This notebook could not be graded. {notebook.problem}")
        yield from _wrapped(f"What to do: {notebook.remedy}")
    for note in notebook.notes:
        yield from _wrapped(f"Note: {note}")
    for part in notebook.parts:
        yield ""
        yield from _part(part)
    for title in notebook.left:
        yield from _wrapped(f"{_plain(title)}: not chosen.")


def _part(part: Part) -> Iterator[str]:
    yield from _wrapped(f"{_plain(part.asked.title)}: {part.points}")
    yield from _wrapped(_plain(part.asked.objective), 2)
    yield from _wrapped(f"{'Right' if part.passed else 'Not right'}: {part.result}. {part.explained}", 2)
    yield from _wrapped(f"Hidden tests: {part.hidden}." if part.hidden else "", 2)
    yield from _wrapped(f"Your own check {part.check}.", 2)
    yield from _wrapped(f"On a GPU, {part.gpu}." if part.gpu else "", 2)
    for line in part.detail.split("\n"):
        yield from _wrapped(line.strip(), 6 + len(line) - len(line.lstrip()))
    for bar in part.bars:
        yield from _wrapped(f"{bar.name}: {bar.words}." + (" OVER" if bar.over else ""), 4)
    for caption in CAPTION.findall(part.picture):
        yield from _wrapped(unescape(re.sub(r"<[^>]+>", "", caption)), 2)
    yield from _wrapped(f"Hint: {part.advice}" if part.advice else "", 2)
    if part.asked.hint and not part.passed:
        yield from _wrapped(f'In the lab, below this exercise: "{_plain(part.asked.hint)}".', 2)


def _wrapped(text: str, indent: int = 0) -> list[str]:
    """A text in lines; none if it is empty."""
    indent = min(indent, COLUMNS // 2)
    return wrap(text, COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * indent)


def _plain(text: str) -> str:
    """A line of a lab's Markdown without its marks."""
    return re.sub(r"[`*]", "", text)


def _clean(line: str) -> str:
    """A line without what would move a terminal's cursor or turn its letters round."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
