"""Sentences on the outcome of an exercise that a student's page and Gradescope's share."""

from __future__ import annotations

from warpwise.grading.behaviour import EVERY, UNCLEAR
from warpwise.grading.record import Finding, Result


def hidden_cases(finding: Finding) -> str:
    """Count the hidden cases that were right, and say what sets the others apart."""
    if not finding.tried:
        return ""
    if finding.passed:
        return f"all {finding.cases} right"
    right = finding.right
    if finding.tried < finding.cases:
        others = finding.cases - finding.tried
        left = f"{others} more was" if others == 1 else f"{others} more were"
        before = f"{right} before it right, " if finding.tried > 1 else ""
        return f"stopped at case {finding.tried} of {finding.cases}; {before}{left} not tried"
    counts = f"{right or 'none'} of {finding.cases} right"
    if finding.behaviour == UNCLEAR:
        return f"{counts}; what sets the others apart is not clear"
    if finding.behaviour in ("", EVERY):
        return counts
    return f"{counts}: it {finding.behaviour}"


def partly(over_budget: float, result: Result) -> str:
    """Return the sentence on a right result over budget that earns this percentage."""
    return f"Right in all cases, over budget: {over_budget:g} % of {result.possible:g} points."
