"""Parse Python on several threads at once."""

from __future__ import annotations

import ast
import threading

#: CPython's builder of trees counts its depth once for all threads (gh-106905, mended in later
#: versions): two at work make one end with "AST constructor recursion depth mismatch". The lock may
#: be entered again, for a collection of garbage can come in the midst of it.
_ONE = threading.RLock()


def parse(text: str) -> ast.Module:
    """Return Python text as a tree. Raises SyntaxError, as ``ast.parse`` does."""
    with _ONE:
        return ast.parse(text)
