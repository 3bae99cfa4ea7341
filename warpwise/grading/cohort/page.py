"""What a run of the grader shows about a class, as one self-contained HTML page for the instructor.

Everything that came from outside is escaped, and the page forbids itself scripts and other files. Pictures are inline SVG, each with its
numbers as text; wide tables scroll in their own box, so that the page fits a phone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from statistics import median

from warpwise.grading.cohort import pairs as class_pairs
from warpwise.grading.cohort.overview import ExerciseOverview, Group, LabOverview
from warpwise.grading.cohort.parts import STYLE, counted, figure, how_far, names, safe, sentence, share, table, who
from warpwise.grading.cohort.similar import Pair
from warpwise.labs.exercise import bound

BARS = 10
PRIVATE = "This page names students and their mistakes. It is for those who teach the class, not for students."


def page(labs: Sequence[LabOverview], pairs: Sequence[Pair], unknown: Sequence[str] = ()) -> str:
    """The whole page. ``unknown`` are labs whose source was not found, so that what they hand out is not known."""
    body = "".join(part for lab in labs for part in _lab(lab)) or "<p>No submissions have been graded here yet.</p>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="robots" content="noindex">\n'
        f"<title>Report on a class</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>Report on a class</h1>\n<p class="note"><strong>Not for students.</strong> {PRIVATE}</p>\n'
        f"{body}{''.join(class_pairs.section(pairs, unknown)) if labs else ''}</main>\n</body>\n</html>\n"
    )


def _lab(lab: LabOverview) -> Iterator[str]:
    graded = len(lab.points)
    yield f"<h2>{safe(lab.title)}</h2>\n"
    if lab.not_isolated:
        yield (
            f'<p class="note"><strong>Not isolated.</strong> {counted(lab.not_isolated, "submission")} of this lab ran without a sandbox: '
            "those points can have been forged, and need a second look.</p>\n"
        )
    facts = [("Submissions", f"{len(lab.records):,}, of which {len(lab.records) - graded:,} could not be graded")]
    if late := sum(record.late for record in lab.records):
        facts.append(("Late", f"{late:,}"))
    if graded:
        facts.append(("Points", f"median {median(lab.points):g} of {lab.possible:g}, from {lab.points[0]:g} to {lab.points[-1]:g}"))
    yield "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts) + "</dl>\n"
    if lab.problems:
        yield _groups("Why notebooks could not be graded", "problem", lab.problems)
    if graded:
        yield f"<h3>Points</h3>\n{_histogram(lab)}"
        yield f"<h3>Exercises</h3>\n{_exercises(lab.exercises)}"
        yield from (part for exercise in lab.exercises if exercise.failed or exercise.alike for part in _exercise(exercise))
    yield from _time(lab)


def _histogram(lab: LabOverview) -> str:
    """How many submissions have how many points, in up to BARS steps of equal width; the last has full points too."""
    bars = int(lab.possible) if 0 < lab.possible <= BARS and lab.possible == int(lab.possible) else BARS
    step = lab.possible / bars or 1.0
    heights = [0] * bars
    for points in lab.points:
        heights[min(bars - 1, int(points / step))] += 1
    width, tallest = 480 / bars, max(heights)
    drawn, said = [], []
    for i, height in enumerate(heights):
        tall = 120 * height / tallest
        said.append(f"{i * step:g} to {(i + 1) * step:g} points: {height}")
        drawn.append(f'<rect class="bar" x="{i * width + 22:.1f}" y="{140 - tall:.1f}" width="{width - 4:.1f}" height="{tall:.1f}"/>')
        if height:
            drawn.append(f'<text x="{(i + 0.5) * width + 20:.1f}" y="{135 - tall:.1f}" text-anchor="middle">{height}</text>')
    ticks = [f'<text x="{i * width + 20:.1f}" y="156" text-anchor="middle">{i * step:g}</text>' for i in range(bars + 1)]
    said = f"How many submissions have how many points. {'; '.join(said)}."
    return (
        f'<svg role="img" viewBox="0 0 520 162" width="520" height="162" aria-label="{escape(said)}">{"".join(drawn)}'
        f'<line x1="20" x2="500" y1="140.5" y2="140.5"/>{"".join(ticks)}</svg>\n'
    )


def _exercises(exercises: Sequence[ExerciseOverview]) -> str:
    body = "".join(
        f'<tr><th scope="row">{safe(e.title)}</th><td>{_parts(e)}</td>'
        f'<td class="number">{e.passed:,} ({share(e.passed, e.graded)})</td><td class="number">{e.failed:,}</td>'
        f'<td class="number">{e.not_tried:,}</td></tr>'
        for e in exercises
    )
    key = (
        '<p class="soft" aria-hidden="true"><span class="key passed"></span>pass<span class="key failed"></span>fail'
        '<span class="key left"></span>not tried</p>\n'
    )
    heads = (("Exercise", ""), ("Share", ""), ("Pass", "number"), ("Fail", "number"), ("Not tried", "number"))
    return key + table("Exercises: how many pass, fail and did not try", heads, body)


def _parts(e: ExerciseOverview) -> str:
    """One bar in three parts; the numbers stand beside it."""
    drawn, at = [], 0.0
    for part, number in (("passed", e.passed), ("failed", e.failed), ("left", e.not_tried)):
        wide = 100 * number / max(1, e.graded)
        drawn.append(f'<rect class="{part}" x="{at:.2f}" width="{wide:.2f}" height="8"/>')
        at += wide
    return f'<svg class="parts" aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none">{"".join(drawn)}</svg>'


def _exercise(e: ExerciseOverview) -> Iterator[str]:
    yield f"<h3>{safe(e.title)}</h3>\n"
    if e.reasons:
        yield _groups(f"Why {e.failed:,} of {e.graded:,} fail", "reason", e.reasons, e.failed)
    if e.exceeded:
        yield _over(e)
    if e.behaviours:
        yield _groups("What the hidden tests saw", "what was seen", e.behaviours, e.failed)
    if e.only_shown:
        yield (
            f"<p><strong>Passes its own check, fails hidden tests: {len(e.only_shown):,} of {e.failed:,}</strong> "
            f"({escape(names(e.only_shown))}). Where these are many, students share a misconception, "
            "or the check in the notebook tests too little.</p>\n"
        )
    if e.alike:
        yield (
            f"<p>The same answer, but for names, layout and comments: {len(e.alike):,} of {e.passed + e.failed:,} "
            f"({escape(names(e.alike))}). In a short exercise that is to be expected; in a long one it is worth a look.</p>\n"
        )


def _over(e: ExerciseOverview) -> str:
    body = "".join(
        f'<tr><th scope="row">{safe(x.counter.replace("_", " "))}</th><td class="number">{len(x.records):,}</td>'
        f'<td class="number">{figure(x.value)}</td><td class="number">{bound(x.counter)} {figure(x.limit)}</td>'
        f'<td class="number">{how_far(x)}</td><td class="names">{escape(names(x.records))}</td></tr>'
        for x in e.exceeded
    )
    heads = (
        ("Counter", ""), ("Submissions", "number"), ("Median value", "number"), ("Median budget", "number"),
        ("Median excess", "number"), ("Students", ""),
    )  # fmt: skip
    return table("Counters over budget, in the worst hidden case of each", heads, body)


def _time(lab: LabOverview) -> Iterator[str]:
    yield (
        f"<h3>Time on the grader</h3>\n<p>A submission takes {lab.median_seconds:.1f} s (median); 95 of 100 take at most "
        f"{lab.most_seconds:.1f} s.</p>\n"
    )
    body = "".join(
        f'<tr><th scope="row">{escape(who(r))}</th><td class="names">{safe(r.file)}</td><td class="number">{r.seconds:.1f} s</td></tr>'
        for r in lab.slowest
    )
    yield table("The slowest", (("Student", ""), ("File", ""), ("Time", "number")), body)


def _groups(caption: str, what: str, groups: Sequence[Group], of: int = 0) -> str:
    body = "".join(
        f'<tr><th scope="row">{safe(sentence(group.what))}</th><td class="number">{len(group.records):,}'
        f"{f' ({share(len(group.records), of)})' if of else ''}</td>"
        f'<td class="names">{escape(names(group.records))}</td></tr>'
        for group in groups
    )
    return table(caption, ((sentence(what), ""), ("Submissions", "number"), ("Students", "")), body)
