"""Jinja environments for the pages that the grader writes.

Everything that a template shows is escaped, unless its type says that it is markup. A misspelled
name raises an error."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def environment(folder: Path) -> Environment:
    """Return an environment for the templates in a folder, in which no text is taken for markup."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
