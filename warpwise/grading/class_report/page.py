"""The report on a class as one self-contained HTML page for the instructor.

Its template is ``class_report.html.j2``. Everything from outside is escaped, what cannot be seen in
it is shown as a mark, and the page forbids itself scripts and other files. Pictures are inline SVG,
each with its numbers as text; wide tables scroll in their own box, so that the page fits a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from markupsafe import Markup

from warpwise.grading.class_report import similar, wording
from warpwise.grading.class_report.overview import ExerciseOverview, LabOverview
from warpwise.grading.class_report.side_by_side import DIFFERENT, RENAMED, SAME, Row, rows
from warpwise.grading.class_report.similar import Pair
from warpwise.grading.templates import environment
from warpwise.labs.budgets import bound, figure

BARS = 10  # of the histogram at most
MOST_PAIRS, MOST_SHOWN = 100, 20  # pairs that are listed, and of which the texts are shown
#: Of a row of two texts its class, its mark, and the mark in words.
MARKS = {
    SAME: ("", "", ""),
    RENAMED: ("renamed", "≈", "names, layout or comments differ"),
    DIFFERENT: ("different", "≠", "differs"),
}


@dataclass(frozen=True)
class Bar:
    """Submissions with ``low`` to ``high`` points. Lengths are in the drawing's units."""

    low: float
    high: float
    count: int
    left: float
    width: float
    height: float


def page(
    labs: Sequence[LabOverview],
    pairs: Sequence[Pair],
    unknown: Sequence[str] = (),
    unfinished: str = "",
) -> str:
    """Return the whole page.

    ``unknown`` are labs whose source was not found, so that what they hand out is not known;
    ``unfinished`` says that not everything is graded yet."""
    return TEMPLATES.get_template("class_report.html.j2").render(
        labs=labs, pairs=pairs, unknown=unknown, unfinished=unfinished
    )


def histogram(lab: LabOverview) -> list[Bar]:
    """Count submissions by points, in up to BARS steps of equal width; the last has full points."""
    whole = 0 < lab.possible <= BARS and lab.possible == int(lab.possible)
    count = int(lab.possible) if whole else BARS
    step = lab.possible / count or 1.0
    counts = [0] * count
    for points in lab.points:
        counts[min(count - 1, int(points / step))] += 1
    width = 480 / count
    return [
        Bar(i * step, (i + 1) * step, n, 20 + i * width, width, 120 * n / max(counts))
        for i, n in enumerate(counts)
    ]


def shares(e: ExerciseOverview) -> list[tuple[str, float, float]]:
    """Cut a bar 100 wide into those who passed, failed and did not try: class, left end, width."""
    counts = (("passed", e.passed), ("failed", e.failed), ("left", e.not_tried))
    cut, at = [], 0.0
    for kind, count in counts:
        width = 100 * count / max(1, e.graded)
        cut.append((kind, round(at, 2), round(width, 2)))
        at += width
    return cut


def texts(pair: Pair) -> list[tuple[str, tuple[Row, ...]]]:
    """Put the two texts of each similar exercise side by side; no rows where none was kept."""
    of_a, of_b = ({r.exercise: r.text for r in record.results} for record in (pair.a, pair.b))
    return [(exercise, rows(of_a[exercise], of_b[exercise])) for exercise in pair.exercises]


def times(pair: Pair) -> list[str]:
    """Say when each of the two was handed in, if known."""
    return [
        f"{wording.who(record)} handed in {record.submitted.replace('T', ' ')}"
        for record in (pair.a, pair.b)
        if record.submitted
    ]


def _shown(value: object) -> object:
    """Mark what cannot be seen in a text before a template shows it."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return wording.printable(value)
    return value


TEMPLATES = environment(Path(__file__).parent)
TEMPLATES.finalize = _shown
TEMPLATES.globals |= {
    "MARKS": MARKS,
    "MOST_PAIRS": MOST_PAIRS,
    "MOST_SHOWN": MOST_SHOWN,
    "LEAST_CLASS": similar.LEAST_CLASS,
    "LEAST_SIMILARITY": similar.LEAST_SIMILARITY,
    "share": wording.share,
    "plural": wording.plural,
}
TEMPLATES.filters |= {
    "bound": bound,
    "figure": figure,
    "histogram": histogram,
    "how_far": wording.how_far,
    "median": median,
    "names": wording.names,
    "percent": lambda share: f"{share:.0%}",
    "sentence": wording.sentence,
    "shares": shares,
    "texts": texts,
    "times": times,
    "thousands": lambda number: f"{number:,}",
    "who": wording.who,
}
