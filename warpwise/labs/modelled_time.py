"""The line about time below a card: how long many blocks of a right kernel take, modelled.

Only somebody who sits before the notebook gets it: not the grader, not ``warpwise check``, not a
program that runs notebooks. It is no part of a verdict, and never graded."""

from __future__ import annotations

from warpwise.person import live_notebook
from warpwise.report.modelled_time import sentence
from warpwise.traces import Trace

DEVICE = "RTX A6000"
NOTE = "modelled, not graded"


def of_interest(trace: Trace) -> str:
    """Return the line where somebody may see it, "" elsewhere."""
    return sentence(trace, DEVICE, NOTE) if live_notebook() else ""
