"""Notice where a function divides by zero without an error, as NumPy's numbers do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

ASKED = "line {line} divides by 0 here: what should the result be there?"


@contextmanager
def divisions_by_zero(file: str) -> Iterator[list[int]]:
    """Give a list that holds, after the block, the lines of ``file`` that divided by zero.

    All warnings are shown after the block as they would have been."""
    lines: list[int] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        try:
            yield lines
        finally:
            divided = (w for w in caught if w.filename == file and "divide" in str(w.message))
            lines.extend(sorted({w.lineno for w in divided}))
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
