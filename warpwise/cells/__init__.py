"""A page's cell, run where there is no notebook: after the earlier statements that it needs.

``needed`` finds those statements by the names that they bind, change and read, so a reader who
edits one cell waits for nothing else. ``run`` executes them and the cell, and returns what it shows
as plain data. The page of the book calls it in a browser's worker; the build and the tests call the
same functions.
"""

from __future__ import annotations

from warpwise.cells.needed import Statement, needed, statements
from warpwise.cells.run import Page, Shown

__all__ = ["Page", "Shown", "Statement", "needed", "statements"]
