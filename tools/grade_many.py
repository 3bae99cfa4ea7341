"""Grade one large batch, and write down how the grader's memory goes.

    PYTHONPATH=tests python tools/grade_many.py 10000 [--jobs 2] [--lab 08_coalescing]
        [--hostile 10] [--out FOLDER]

Students are made up; their notebooks are right and wrong answers by turns, and every tenth, unless
told otherwise, attacks the grader. FOLDER keeps the graded run, ``memory.csv`` and ``memory.svg``:
megabytes that are resident in the grader's own process, and in all processes that it started, by
the number of submissions. A second call with the same FOLDER goes on where the first one ended.
The exit status is 1 if the grader's process holds 1.3 times as much at the end as after a tenth."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench_grading import ROOT, SEED, STEM, Memory, notebooks

from warpwise.grading import grade
from warpwise.grading.class_report.build import class_report

POINTS = 100  #: of the curve
MOST_GROWTH = 1.3


@dataclass(frozen=True)
class Seen:
    """One point of the curve. Memory is in megabytes."""

    graded: int
    seconds: float
    grader: float
    all: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lab", default=STEM, help="the stem of a lab")
    parser.add_argument("--hostile", type=int, default=10, help="one in so many attacks; 0: none")
    parser.add_argument("--out", type=Path, help="a folder to keep; by default a temporary one")
    given = parser.parse_args()
    if given.out:
        return batch(given, given.out)
    with tempfile.TemporaryDirectory() as folder:
        return batch(given, Path(folder))


def batch(given: argparse.Namespace, folder: Path) -> int:
    submissions = folder / "submissions"
    submissions.mkdir(parents=True, exist_ok=True)
    for name, text in notebooks(given.count, given.hostile, given.lab):
        (submissions / f"{name}.ipynb").write_text(text)
    start, curve = time.perf_counter(), []

    def look(graded: int) -> None:
        taken = time.perf_counter() - start
        curve.append(Seen(graded, taken, Memory.now() / 1e6, Memory.of_all() / 1e6))
        print(row(curve[-1]), flush=True)

    def told(graded: int, of: int, record: object) -> None:
        if graded % max(1, of // POINTS) == 0:
            look(graded)

    print(f"{'graded':>8} {'minutes':>8} {'grader MB':>10} {'all MB':>8}")
    how = {"jobs": given.jobs, "seed": SEED, "course": ROOT, "progress": told}
    records = grade(submissions, folder / "graded", lab=given.lab, **how)
    look(len(records))
    report = class_report(folder / "graded", ROOT)
    print(f"{sum(len(lab.records) for lab in report.labs)} in the class report:")
    look(len(records))
    (folder / "memory.csv").write_text(
        "graded,seconds,grader_mb,all_mb\n"
        + "".join(f"{s.graded},{s.seconds:.0f},{s.grader:.1f},{s.all:.1f}\n" for s in curve)
    )
    (folder / "memory.svg").write_text(plot(curve[:-1]))
    grading = curve[:-2] or curve
    early, late = grading[len(grading) // 10].grader, grading[-1].grader
    each = curve[-3 if len(curve) > 2 else 0].seconds / given.count
    print(f"{each:.2f} s each; the grader's {early:.0f} MB after a tenth, {late:.0f} MB at the end")
    return int(late > MOST_GROWTH * early)


def row(seen: Seen) -> str:
    return f"{seen.graded:8} {seen.seconds / 60:8.1f} {seen.grader:10.1f} {seen.all:8.1f}"


def plot(curve: list[Seen], width: float = 620, height: float = 260) -> str:
    """Draw both columns over the number of submissions, from zero."""
    most, top = curve[-1].graded, 1.1 * max(seen.all for seen in curve)

    def line(name: str, colour: str) -> str:
        across, up = (width - 60) / most, (height - 35) / top
        points = (
            f"{50 + across * seen.graded:.1f},{height - 25 - up * getattr(seen, name):.1f}"
            for seen in curve
        )
        return f'<polyline fill="none" stroke="{colour}" points="{" ".join(points)}"/>'

    texts = (
        f'<text x="4" y="14">{top:.0f} MB</text><text x="4" y="{height - 25}">0</text>'
        f'<text x="50" y="{height - 8}">0</text>'
        f'<text x="{width - 4}" y="{height - 8}" text-anchor="end">{most} submissions</text>'
        f'<text x="60" y="14" fill="#06c">the grader</text>'
        f'<text x="150" y="14" fill="#c60">with all that it started</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12">{texts}'
        f"{line('grader', '#06c')}{line('all', '#c60')}</svg>\n"
    )


if __name__ == "__main__":  # workers import this file
    sys.exit(main())
