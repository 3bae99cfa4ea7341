"""Sentences for what can come of an exercise and of a file: what a reason means, and what to do about a problem."""

from __future__ import annotations

import re

from warpwise.grading import record as reasons
from warpwise.grading.record import Finding
from warpwise.labs.exercise import Reason

EXPLAINED = {
    Reason.PASSED: "Right in every hidden case.",
    Reason.NOT_DONE: "The exercise is still as it was handed out.",
    Reason.WRONG_RESULT: "The result differs from what the exercise asks for.",
    Reason.WRONG_TYPE: "The function returned something else than what the exercise asks for.",
    Reason.NOT_WRITTEN: "Some elements of the output were never written.",
    Reason.INPUT_CHANGED: "An input was changed.",
    Reason.RACE: "Two threads use one element without a barrier between them, so the result depends on who comes first.",
    Reason.TOO_MUCH_MEMORY: "The function held more in memory at once than the exercise allows.",
    Reason.RAISED: "The code ended with an error.",
    "out of bounds": "A thread named an element outside its array.",
    "unwritten read": "A thread read shared or local memory where nothing had been written.",
    "barrier missed": "Only a part of a block reached a barrier; on a GPU the block would hang.",
    "misaligned access": "An element lies at an address that is no multiple of its size; a GPU stops there.",
    "lane missing from a warp's operation": "A shuffle, vote or syncwarp names lanes that do not take part.",
    "assertion failed": "An assert of the kernel does not hold in some thread.",
    "name not defined": "The kernel uses a name that nothing defines, most often a misspelling.",
    "not a kernel feature": "The kernel uses something that kernels cannot use.",
    "types do not fit": "An operation was given types that do not go together.",
    "division by zero": "An integer was divided by zero.",
    "launch refused": "A GPU would refuse this launch.",
    reasons.MISSING: "The notebook has no answer to this exercise.",
    reasons.NOT_PYTHON: "The code of the exercise cannot be read.",
    reasons.NOT_GRADED: "Nothing was graded, because of the problem named above.",
    reasons.ENDED: "The code ended the process that ran it.",
    reasons.TOO_LONG: "The code did not come to an end.",
    reasons.TOO_SLOW: "The code waited without computing until its time was over.",
    reasons.TOO_MUCH_MEMORY: "The code asked for more memory than there is for one exercise.",
    reasons.TOO_MUCH_OUTPUT: "The code printed without end.",
}
OVER_BUDGET = "The result is right, but it costs more than the budget allows."

SAVE_AGAIN = "Open the notebook in JupyterLab, run it from top to bottom, save it, and hand in that file."
FRESH = "Take a fresh copy of the lab, paste your answers into its exercise cells, save it, and hand in that file."
#: What is said of a file that could not be graded, as a pattern, and what to do then. The first that fits counts.
REMEDIES = (
    (r"JSON breaks off", "The file was cut off, most often while it was saved or uploaded. " + SAVE_AGAIN),
    (r"is empty", "The upload was cut off, or an empty file was chosen. Look at its size on your machine, and hand it in again."),
    (r"not UTF-8", "Something other than a notebook was handed in under its name, or it was changed by an editor. " + SAVE_AGAIN),
    (r"nested too deeply|no list of cells|JSON, but not a notebook", "The file is not what JupyterLab saves. " + FRESH),
    (r"has format", "The notebook was saved by an old program. " + SAVE_AGAIN),
    (r"more than \d+ MB", "Choose Clear Outputs of All Cells in JupyterLab, save the notebook, and hand it in again."),
    (r"more than \d+ notebooks", "Hand in one notebook for each lab, and nothing else."),
    (r"\blink\b", "A link leads to a file on your machine, which the grader does not have. Hand in the notebook itself."),
    (r"regular file|cannot be opened", "What was handed in is no file that can be read. Hand in the notebook itself."),
    (r"no notebook", "Only files whose names end in .ipynb are graded. Look whether the notebook was in the folder, and hand it in again."),
    (
        r"second (notebook|submission)|two (notebooks|submissions)|another (notebook|submission)",
        "One notebook is graded for each lab. If it was the wrong one, delete it, or tell your instructor which one should count.",
    ),
    (r"which lab", "Name the file after the lab, as it was when you got it. " + FRESH),
    (r"version", "The notebook belongs to another term or to another edition of the lab. " + FRESH),
    (r"grader failed", "This is a fault of the grader, not yours. Tell your instructor; there is nothing that you need to do."),
)


def explained(finding: Finding) -> str:
    """What the reason of a finding means."""
    return EXPLAINED.get(finding.reason, OVER_BUDGET if finding.reason.startswith(Reason.OVER_BUDGET) else "")


def remedy(problem: str) -> str:
    """What a student should do about a file that could not be graded."""
    return next((what for pattern, what in REMEDIES if re.search(pattern, problem)), SAVE_AGAIN)
