"""The playground's Python: a kernel and its launch as text, run where there is no notebook.

``play`` traces the launch, of one kernel or of two beside each other, and returns plain data: what
each shows, the lines to mark, how their counters differ, and whether the result is the one that the
launch expects. ``program`` takes a program out of a page's cells. A browser's worker calls both;
what draws them is the page's script.
"""

from __future__ import annotations

from warpwise.playground.play import play
from warpwise.playground.program import program

__all__ = ["play", "program"]
