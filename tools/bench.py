"""Measure the speed of simulator, lab, grader, book and widgets, each beside its target.

    PYTHONPATH=tests python tools/bench.py [--json FILE] [simulator] [attention] [sanitizer]
        [memory] [divergence] [programs] [lab] [grader] [workers] [others] [class] [book]
        [widgets] [pages]

A row that cannot be measured on this machine says why. The exit status is 1 if a figure misses its
target."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from bench_grading import a_class, grader, workers
from bench_kernels import divergence, flash_attention, memory, sanitizer, simulator
from bench_others import others
from bench_pages import pages
from bench_programs import programs
from bench_row import Row, seconds
from bench_widgets import widgets

ROOT = Path(__file__).parent.parent
FIRST_HALF = 8  # labs


def lab(say: Callable[[str], None]) -> Iterator[Row]:
    from warpwise.labs.run import run_notebook
    from warpwise.labs.source import load_lab, solved_notebook

    total, stems = 0.0, sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))
    for stem in stems:
        say(f"the solved lab {stem}, top to bottom ...")
        notebook = solved_notebook(load_lab(stem))
        taken = seconds(lambda notebook=notebook: run_notebook(notebook, ROOT / "labs"))
        total += taken
        yield Row(
            f"lab {int(stem[:2])}, top to bottom",
            taken,
            "s",
            10 if int(stem[:2]) <= FIRST_HALF else 15,
            at_most=True,
        )
    yield Row(f"all {len(stems)} labs", total, "s", 60, at_most=True)


def book(say: Callable[[str], None]) -> Iterator[Row]:
    say("a clean book build (up to a minute) ...")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(Path(sys.executable).parent / "jupyter-book"),
            "build",
            str(ROOT),
            "--path-output",
            folder,
            "-W",
            "--keep-going",
        ]
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        taken = time.perf_counter() - start
    failed = f"the build failed: {done.stdout.strip().splitlines()[-1]}" if done.returncode else ""
    yield Row("clean book build", None if failed else taken, "s", 60, at_most=True, note=failed)


PARTS = {
    "simulator": simulator,
    "attention": flash_attention,
    "sanitizer": sanitizer,
    "memory": memory,
    "divergence": divergence,
    "programs": programs,
    "lab": lab,
    "grader": grader,
    "workers": workers,
    "others": others,
    "class": a_class,
    "book": book,
    "widgets": widgets,
    "pages": pages,
}


def measured(names: list[str], say: Callable[[str], None]) -> Iterator[Row]:
    for name in names:
        try:
            yield from PARTS[name](say)
        except ImportError as error:
            yield Row(name, None, "", note=f"needs {error.name}: pip install -e '.[dev]'")


# --- printing ---


def figure(value: float) -> str:
    """Three digits, in the form that reads best at this size."""
    return (
        f"{value:,.0f}"
        if 100 <= value < 1e5
        else f"{value:.2e}"
        if value >= 1e5
        else f"{value:.3g}"
    )


def table(rows: list[Row]):
    from rich.table import Table

    out = Table(
        title=(
            f"Warpwise, measured on {os.cpu_count()} cores, Python {sys.version.split()[0]}, "
            f"NumPy {np.__version__}"
        )
    )
    for column, justify in [
        ("what", "left"),
        ("measured", "right"),
        ("asked for", "right"),
        ("", "left"),
        ("note", "left"),
    ]:
        out.add_column(column, justify=justify)
    colours = {"ok": "green", "short": "red", "not measured": "yellow"}
    for row in rows:
        asked = (
            ""
            if row.need is None
            else f"{'at most' if row.at_most else 'at least'} {figure(row.need)} {row.unit}"
        )
        value = "-" if row.value is None else f"{figure(row.value)} {row.unit}"
        colour = colours.get(row.verdict, "")
        out.add_row(
            row.what, value, asked, f"[{colour}]{row.verdict}[/]" if colour else "", row.note
        )
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", help=f"what to measure: {', '.join(PARTS)}; all of them unless named"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the figures to a file as well"
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160)
    with Console(stderr=True).status("starting ...") as status:
        rows = list(measured(options.parts or list(PARTS), status.update))
    console.print(table(rows))
    if options.json:
        options.json.write_text(
            json.dumps([asdict(row) | {"verdict": row.verdict} for row in rows], indent=1) + "\n"
        )
    return int(any(row.verdict == "short" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
