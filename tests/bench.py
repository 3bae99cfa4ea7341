"""How fast it is: the simulator beside Numba's own, the lab, the grader and the book, each beside what is asked of it.

    python tests/bench.py [--json FILE] [simulator] [lab] [grader] [book]

Numba's simulator runs once, as it takes seconds; ours runs several times, of which the best counts. A row that cannot be measured
on this machine says why. The exit status is 1 if a figure falls short.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numba import cuda

ROOT = Path(__file__).parent.parent
STEM = "08_coalescing"
TILE = 16
THREADS = 16_384


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = total


def saxpy_launch():
    """Kernel, blocks, threads and arguments."""
    return saxpy, THREADS // 128, 128, (np.float32(2), np.ones(THREADS, np.float32), np.ones(THREADS, np.float32))


def matmul_launch(n: int):
    a, b = np.random.default_rng(n).standard_normal((2, n, n)).astype(np.float32)
    return matmul_tiled, (n // TILE, n // TILE), (TILE, TILE), (a, b, np.zeros((n, n), np.float32))


# --- measuring ---


@dataclass(frozen=True)
class Row:
    """One figure. ``need`` is the least, or with ``at_most`` the most, that is asked for."""

    what: str
    value: float | None
    unit: str
    need: float | None = None
    at_most: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.need is None:
            return ""
        return "ok" if (self.value <= self.need if self.at_most else self.value >= self.need) else "short"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(work: Callable[[], object], times: int = 9) -> float:
    """The shortest of several runs, after one that does not count: it compiles the kernel."""
    work()
    return min(seconds(work) for _ in range(times))


def here(launch) -> float:
    """Seconds of one launch in our simulator: counters and sanitizer on, no events kept."""
    from warpwise import trace

    kernel, blocks, threads, args = launch
    return best(lambda: trace(kernel, blocks, threads, *args, record=()))


def in_numbas_simulator(name: str) -> float:
    """Seconds of one launch in Numba's simulator, in a process of its own: Numba decides when it is imported which ``cuda`` it has."""
    command = [sys.executable, __file__, "--numba", name]
    done = subprocess.run(command, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, check=True, capture_output=True, text=True)
    return float(done.stdout)


LAUNCHES = {"saxpy": saxpy_launch, "matmul": lambda: matmul_launch(64)}


def numba_seconds(name: str) -> float:
    kernel, blocks, threads, args = LAUNCHES[name]()
    return seconds(lambda: kernel[blocks, threads](*args))


# --- what is measured ---


def simulator(say: Callable[[str], None]) -> Iterator[Row]:
    for name, title, need in [("saxpy", f"saxpy, {THREADS:,} threads", 2000), ("matmul", "tiled matmul 64^3, 16x16 tiles", 1000)]:
        say(f"{title}, in Numba's simulator (seconds) ...")
        theirs = in_numbas_simulator(name)
        say(f"{title}, here ...")
        ours = here(LAUNCHES[name]())
        yield Row(f"{title}: Numba's simulator", theirs, "s")
        yield Row(f"{title}: here", ours, "s")
        yield Row(f"{title}: times faster", theirs / ours, "x", need)
    say("tiled matmul 256^3 ...")
    yield Row("tiled matmul 256^3", 256**3 / here(matmul_launch(256)), "FMA/s", 5e7)


def lab(say: Callable[[str], None]) -> Iterator[Row]:
    from warpwise.labs.run import run_notebook
    from warpwise.labs.source import load_lab, solved_notebook

    say("the solved lab, top to bottom ...")
    notebook = solved_notebook(load_lab(STEM))
    yield Row("lab 8, top to bottom", seconds(lambda: run_notebook(notebook, ROOT / "labs")), "s", 10, at_most=True)


def grader(say: Callable[[str], None]) -> Iterator[Row]:
    import nbformat

    from warpwise.errors import GradingError
    from warpwise.grading import grade
    from warpwise.labs.source import load_lab, solved_notebook

    say("the grader, three submissions on one core ...")
    with tempfile.TemporaryDirectory() as folder, one_core() as note:
        submissions = Path(folder, "submissions")
        submissions.mkdir()
        for student in ("ada", "grace", "mary"):
            nbformat.write(solved_notebook(load_lab(STEM)), submissions / f"{student}.ipynb")
        try:
            records = grade(submissions, Path(folder, "grades"), lab=STEM, course=ROOT)
        except GradingError as error:
            yield Row("grader, a submission", None, "s", 5, at_most=True, note=str(error))
            return
    assert all(result.points for record in records for result in record.results), "the solution should earn its points"
    yield Row("grader, a submission", max(record.seconds for record in records), "s", 5, at_most=True, note=note)


@contextmanager
def one_core() -> Iterator[str]:
    """Keep this process and those it starts on one core, where the system can; says so."""
    if not hasattr(os, "sched_setaffinity"):
        yield "on all cores"
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield "on one core, the nbval re-run included; the slowest of three"
    finally:
        os.sched_setaffinity(0, cores)


def book(say: Callable[[str], None]) -> Iterator[Row]:
    say("a clean book build (up to a minute) ...")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(ROOT), "--path-output", folder, "-W", "--keep-going"]
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        taken = time.perf_counter() - start
    failed = f"the build failed: {done.stdout.strip().splitlines()[-1]}" if done.returncode else ""
    yield Row("clean book build", None if failed else taken, "s", 60, at_most=True, note=failed)


PARTS = {"simulator": simulator, "lab": lab, "grader": grader, "book": book}


def measured(names: list[str], say: Callable[[str], None]) -> Iterator[Row]:
    for name in names:
        try:
            yield from PARTS[name](say)
        except ImportError as error:
            yield Row(name, None, "", note=f"needs {error.name}: pip install -e '.[dev]'")


# --- printing ---


def figure(value: float) -> str:
    """Three digits, in the form that reads best at this size."""
    return f"{value:,.0f}" if 100 <= value < 1e5 else f"{value:.2e}" if value >= 1e5 else f"{value:.3g}"


def table(rows: list[Row]):
    from rich.table import Table

    out = Table(title=f"Warpwise, measured on {os.cpu_count()} cores, Python {sys.version.split()[0]}, NumPy {np.__version__}")
    for column, justify in [("what", "left"), ("measured", "right"), ("asked for", "right"), ("", "left"), ("note", "left")]:
        out.add_column(column, justify=justify)
    colours = {"ok": "green", "short": "red", "not measured": "yellow"}
    for row in rows:
        asked = "" if row.need is None else f"{'at most' if row.at_most else 'at least'} {figure(row.need)} {row.unit}"
        value = "-" if row.value is None else f"{figure(row.value)} {row.unit}"
        colour = colours.get(row.verdict, "")
        out.add_row(row.what, value, asked, f"[{colour}]{row.verdict}[/]" if colour else "", row.note)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"what to measure: {', '.join(PARTS)}; all of them unless named")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    parser.add_argument("--numba", choices=LAUNCHES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.numba:
        print(numba_seconds(options.numba))
        return 0
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160)
    with Console(stderr=True).status("starting ...") as status:
        rows = list(measured(options.parts or list(PARTS), status.update))
    console.print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) | {"verdict": row.verdict} for row in rows], indent=1) + "\n")
    return int(any(row.verdict == "short" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
