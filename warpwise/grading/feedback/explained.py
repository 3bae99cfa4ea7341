"""Sentences that explain the outcome of an exercise, and advice for files that cannot be graded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warpwise.grading import record as reasons
from warpwise.grading.record import Finding
from warpwise.labs.exercise import Reason

EXPLAINED = {
    Reason.PASSED: "Right in every hidden case.",
    Reason.NOT_DONE: "The exercise is still as it was handed out.",
    Reason.WRONG_RESULT: "The result differs from what the exercise asks for.",
    Reason.WRONG_TYPE: "The function returned something other than what the exercise asks for.",
    Reason.NOT_WRITTEN: "Some elements of the output were never written.",
    Reason.INPUT_CHANGED: "An input was changed.",
    Reason.RACE: "Two threads use the same element with no barrier between them, so the result "
    "depends on which comes first.",
    Reason.TOO_MUCH_MEMORY: "The function held more memory at once than the exercise allows.",
    Reason.RAISED: "The code ended with an error.",
    Reason.REFUSED: "The kernel is right in the simulator, but NVIDIA's compiler refuses it.",
    Reason.DEADLOCK: "Ranks wait for what no rank does any more; on a cluster the job would hang.",
    Reason.MISMATCH: "Two ranks' parts of one transfer differ in shape, type, root or reduction.",
    Reason.IN_USE: "A rank used an array while a transfer of it was going on.",
    Reason.RANKS: "A rank called something that does not fit with the others.",
    "out of bounds": "A thread used an element outside its array.",
    "unwritten read": "A thread read shared or local memory that had never been written.",
    "copy not waited for": "Shared memory was used before the wait for the asynchronous copy that "
    "fills it.",
    "barrier missed": "Only part of a block reached a barrier; on a GPU the block would hang.",
    "misaligned access": "An element lies at an address that is not a multiple of its size; "
    "a GPU stops there.",
    "lane missing from a warp's operation": "A shuffle, vote or syncwarp names lanes that do not "
    "take part.",
    "assertion failed": "An assert in the kernel does not hold in some thread.",
    "exception raised": "The kernel raised an exception in some thread.",
    "name not defined": "A name that is used, or asked for, is not defined anywhere; most often it "
    "is misspelled.",
    "not a kernel feature": "The kernel uses something that kernels do not support.",
    "types do not fit": "An operation was given types that do not go together.",
    "division by zero": "An integer was divided by zero.",
    "launch refused": "A GPU would refuse this launch.",
    reasons.MISSING: "The notebook has no answer to this exercise.",
    reasons.NOT_PYTHON: "The code of the exercise is not valid Python.",
    reasons.OLDER: "This exercise has changed since the notebook was handed out.",
    reasons.NOT_GRADED: "Nothing was graded, because of the problem named above.",
    reasons.ENDED: "The code ended the process that ran it.",
    Reason.ENDLESS: "The code has a loop that can never end.",
    Reason.TOO_SLOW: "The code was stopped because it had used more processor time, or more steps, "
    "than right answers need.",
    Reason.TIMED_OUT: "The code gave no answer until its time was up: it waited for something, or "
    "the machine was too busy.",
    reasons.TOO_MUCH_MEMORY: "The code asked for more memory than there is for one exercise.",
    reasons.TOO_MUCH_OUTPUT: "The code printed without end.",
}
OVER_BUDGET = "The result is right, but it costs more than the budget allows."

SAVE_AGAIN = (
    "Open the notebook in JupyterLab, run it from top to bottom, save it, and hand in that file."
)
FRESH = (
    "Take a fresh copy of the lab, paste your answers into its exercise cells, save it, and hand "
    "in that file."
)
#: The problem of a file that could not be graded, as a pattern, and what to do about it. The first
#: that fits counts.
REMEDIES = (
    # first, since it quotes names that students chose
    (
        r"^handed in (nothing:|.*, no notebook$)",
        "Only notebooks, whose names end in .ipynb, are graded. Save yours in JupyterLab, and hand "
        "that file in.",
    ),
    (
        r"^this is the notebook of",
        "Hand in the notebook of the lab that was asked for, and this one where its own lab is "
        "collected.",
    ),
    (
        r"JSON breaks off",
        "The file was cut off, most often while it was saved or uploaded. " + SAVE_AGAIN,
    ),
    (
        r"is empty",
        "The upload was cut off, or an empty file was chosen. Check the size of the file on "
        "your machine, and hand it in again.",
    ),
    (
        r"not UTF-8",
        "Something other than a notebook was handed in under its name, or an editor changed it. "
        + SAVE_AGAIN,
    ),
    (
        r"nested too deeply|no list of cells|JSON, but not a notebook",
        "The file is not what JupyterLab saves. " + FRESH,
    ),
    (r"has format", "The notebook was saved by an old program. " + SAVE_AGAIN),
    (
        r"more than \d+ MB",
        "Choose Clear Outputs of All Cells in JupyterLab, save the notebook, and hand it in again.",
    ),
    (r"more than \d+ notebooks", "Hand in one notebook for each lab, and nothing else."),
    (
        r"\blink\b",
        "A link leads to a file on your machine, which the grader does not have. Hand in the "
        "notebook itself.",
    ),
    (
        r"regular file|cannot be opened",
        "What was handed in is not a file that can be read. Hand in the notebook itself.",
    ),
    (
        r"second (notebook|submission)|two (notebooks|submissions)|another (notebook|submission)",
        "One notebook is graded for each lab. If it was the wrong one, delete it, or tell your "
        "instructor which one should count.",
    ),
    (r"which lab", "Name the file after the lab, as it was when you got it. " + FRESH),
    (r"version", "The notebook belongs to another term or another edition of the lab. " + FRESH),
    (
        r"grader failed",
        "This is the grader's fault, not yours. Tell your instructor; there is nothing you need "
        "to do.",
    ),
)


#: A topic as the reason, the message or the advice of a finding has it, and as the title of a lab's
#: hint has it. The first topic that both have decides.
TOPICS = (
    (r"bank", r"bank"),
    (r"barrier|race|syncthreads", r"barrier|between two"),
    (r"neighbour", r"neighbour"),
    (r"request_store|store_", r"\bstor"),
    (r"request_load|load_", r"\bload"),
    (r"divergent|branches|warp_efficiency", r"branch"),
    (r"lane missing", r"every lane"),
    (r"out of bounds|guard|not a multiple of|larger than the number of threads", r"edge|ends?$"),
    (r"fp64", r"float32"),
)


def fitting(finding: Finding, hints: Sequence[str]) -> str:
    """Return the title of the hint that is about a finding's mistake; "" if none says so."""
    said = " ".join((finding.reason, finding.detail, finding.advice, finding.behaviour))
    for topic, title in () if finding.passed else TOPICS:
        if re.search(topic, said):
            return next((hint for hint in hints if re.search(title, hint)), "")
    return ""


def explained(finding: Finding) -> str:
    """Return the sentence that explains the reason of a finding."""
    over_budget = OVER_BUDGET if finding.reason.startswith(Reason.OVER_BUDGET) else ""
    return EXPLAINED.get(finding.reason, over_budget)


def remedy(problem: str) -> str:
    """Return the advice to a student whose file could not be graded."""
    return next((what for pattern, what in REMEDIES if re.search(pattern, problem)), SAVE_AGAIN)
