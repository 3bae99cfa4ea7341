"""Time programs with many small launches or divergent work, here and in Numba's simulator.

Numba's simulator runs each thread by itself, so a launch of few threads costs it little. Here every
line costs the same for one warp as for hundreds. A program is timed from its first launch on, its
compilation included, in a process of its own on both sides that has launched another kernel before.
What Numba's simulator cannot run, or not within LONGEST, is left out, and counted.

    python tools/bench_programs.py --corpus NAME | --small NAME      what ``bench.py`` starts
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
from bench_row import Row, seconds

FOLDER = Path(__file__).parent.parent / "tests/programs/corpus"
SHARE = 0.5  # of Numba's simulator's time, at most
LONGEST = 60  # seconds of one program
LAUNCHES = 100
NUMBAS = {"WARPWISE_BACKEND": "gpu", "NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
OURS = {"WARPWISE_BACKEND": "simulator", "PYTHONWARNINGS": "ignore"}


def programs(say: Callable[[str], None]) -> Iterator[Row]:
    """Yield the share of Numba's simulator's time that small and divergent programs take here."""
    for name in SMALL:
        say(f"{LAUNCHES} launches of {name}, here and in Numba's simulator ...")
        title = f"{LAUNCHES} launches of one warp, {name}: share of Numba's simulator's time"
        yield beside_numba(title, "--small", name)
    title = "clipped polygons in nested device functions: share of Numba's simulator's time"
    say("clipped polygons, here and in Numba's simulator ...")
    yield beside_numba(title, "--corpus", "algorithms/rotated_iou")
    for folder in sorted({path.parent.name for path in FOLDER.glob("*/*.py")}):
        yield corpus(folder, say)


def beside_numba(title: str, *arguments: str) -> Row:
    ours, theirs = timed(OURS, *arguments), timed(NUMBAS, *arguments)
    if ours is None or theirs is None:
        return Row(title, None, "x", SHARE, at_most=True, note="it did not run")
    note = f"{1000 * ours:.0f} and {1000 * theirs:.0f} ms"
    return Row(title, ours / theirs, "x", SHARE, at_most=True, note=note)


def corpus(folder: str, say: Callable[[str], None]) -> Row:
    """Return the share of time of all programs of a folder, with the worst of them in the note."""
    names = sorted(f"{folder}/{path.stem}" for path in (FOLDER / folder).glob("*.py"))
    times = {}
    for i, name in enumerate(names, 1):
        say(f"{name}, here and in Numba's simulator ({i} of {len(names)}) ...")
        ours, theirs = timed(OURS, "--corpus", name), timed(NUMBAS, "--corpus", name)
        if ours is not None and theirs is not None:
            times[name] = ours, theirs
    title = f"programs of {folder}: share of Numba's simulator's time"
    if not times:
        return Row(title, None, "x", SHARE, at_most=True, note="none runs in Numba's simulator")
    ours, theirs = map(sum, zip(*times.values(), strict=True))
    slow = [f"{name.partition('/')[2]} {a / b:.2g}" for name, (a, b) in times.items() if a > b / 2]
    ran = f"{len(times)} of {len(names)} ran"
    note = "; ".join([ran, *([f"above half: {', '.join(slow)}"] if slow else [])])
    return Row(title, ours / theirs, "x", SHARE, at_most=True, note=note)


def timed(environment: dict[str, str], *arguments: str) -> float | None:
    """Return the seconds that a run of this file prints; None if it fails or takes too long."""
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else float(done.stdout)


# --- what the processes run ---


def program(name: str) -> ModuleType:
    """Load a program of the corpus; in Numba's simulator with Numba's ``cuda`` in its place."""
    path, module = FOLDER / f"{name}.py", ModuleType("program")
    text = path.read_text()
    if "NUMBA_ENABLE_CUDASIM" in os.environ:
        text = text.replace("from warpwise", "from numba").replace("warpwise.cuda", "numba.cuda")
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def launches(function: Callable[..., None], count: int) -> Callable[[], None]:
    """Return what launches a kernel of one warp so many times; other functions see its ``cuda``."""
    if "NUMBA_ENABLE_CUDASIM" in os.environ:
        from numba import cuda
    else:
        from warpwise import cuda
    globals()["cuda"] = cuda
    kernel, x, y = cuda.jit(function), np.arange(32, dtype=np.float32), np.zeros(32, np.float32)

    def launch() -> None:
        for _ in range(count):
            kernel[1, 32](x, y)

    return launch


def copied(x, y):
    i = cuda.grid(1)  # noqa: F821
    y[i] = x[i]


def scaled(x, y):
    i = cuda.grid(1)  # noqa: F821
    if i < x.size:
        y[i] = 2 * x[i] + y[i]


def summed(x, y):
    i = cuda.grid(1)  # noqa: F821
    total = x[i]
    for k in range(8):
        total += x[(i + k) % x.size]
    y[i] = total


SMALL = {"one line": scaled, "a loop": summed}


def main(arguments: list[str]) -> int:
    kind, name = arguments
    launches(copied, 1)()
    work = launches(SMALL[name], LAUNCHES) if kind == "--small" else program(name).check
    with contextlib.redirect_stdout(io.StringIO()):
        taken = seconds(work)
    print(taken)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
