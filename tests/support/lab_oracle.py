"""The labs' solutions in Numba's own simulator.

Run as a script, with ``NUMBA_ENABLE_CUDASIM=1``, it judges one lab's kernels there.

    python tests/support/lab_oracle.py 08_coalescing FOLDER

The kernels' text goes into a file in FOLDER, unchanged, but there ``cuda`` means ``numba.cuda``. A
line of JSON is printed for each hidden launch that was run: exercise, label, and what is wrong with
the outputs ("" if nothing). Numba's simulator starts a system thread for each thread of a block, so
only small launches run."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np

from warpwise.grading import hidden
from warpwise.labs.compare import compare
from warpwise.labs.exercise import InOut, Launch, Out, fresh
from warpwise.labs.source import Lab, load_lab, role, unmarked
from warpwise.messages import Name

ROOT = Path(__file__).parents[2]
MOST_THREADS = 1500  # in a launch
MOST_LAUNCHES = 2  # for an exercise
# Names that Numba's simulator lacks, or which are inline PTX.
LACKING = re.compile(
    r"\b((shfl|ballot|match|all|any|eq)\w*_sync|activemask|syncwarp|lanemask_lt"
    r"|mma_\w+|ldmatrix_\w+|cp_async\w+|load4|store4|hopper|libdevice)\b"
)


def definitions(lab: Lab) -> Iterator[str]:
    """Yield imports, functions and plain values of the given cells, and exercise cells.

    That is the lab without what it runs and shows."""
    for cell in lab.cells:
        if role(cell) == "given":
            yield "\n".join(
                ast.unparse(node) for node in ast.parse(cell.source).body if _defines(node)
            )
        elif role(cell) == "exercise":
            yield unmarked(cell.source)


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not node.module.startswith("warpwise")
    if isinstance(node, ast.Assign):
        return _is_plain(node.value)
    return isinstance(node, ast.Import | ast.FunctionDef)


def _is_plain(value: ast.expr) -> bool:
    """Return whether a value is a literal, an infinity, such as ``np.float32(2)``, or several."""
    if isinstance(value, ast.Tuple):
        return all(map(_is_plain, value.elts))
    if (
        isinstance(value, ast.Call)
        and ast.unparse(value.func).startswith("np.")
        and len(value.args) == 1
    ):
        value = value.args[0]
    if ast.unparse(value).lstrip("-") in ("math.inf", "np.inf"):
        return True
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def solution(lab: Lab, exercise) -> str:
    """Return the text of an exercise's solution."""
    return next(
        unmarked(c.source)
        for c in lab.cells
        if role(c) == "exercise" and c.metadata["warpwise"]["id"] == exercise.id
    )


def comparable(lab: Lab) -> list:
    """Return the exercises that need nothing which Numba's simulator lacks.

    This holds for the given functions that they call, too."""
    return [
        e
        for e in lab.exercises
        if e.kind == "kernel" and not LACKING.search(with_functions(lab, solution(lab, e)))
    ]


def with_functions(lab: Lab, text: str) -> str:
    """Return a text with the given functions that it mentions."""
    given = [
        node
        for c in lab.cells
        if role(c) == "given"
        for node in ast.parse(c.source).body
        if isinstance(node, ast.FunctionDef)
    ]
    return "\n".join(
        [text, *(ast.unparse(node) for node in given if re.search(rf"\b{node.name}\b", text))]
    )


def threads(launch: Launch) -> int:
    return int(prod(np.atleast_1d(launch.blocks)) * prod(np.atleast_1d(launch.threads)))


def small(cases) -> list[Launch]:
    """Return the smallest launches of an exercise, of different sizes where there are."""
    found = {
        threads(case): case
        for case in sorted(cases, key=threads, reverse=True)
        if threads(case) <= MOST_THREADS
    }
    return sorted(found.values(), key=threads)[:MOST_LAUNCHES]


def wrong(kernel, launch: Launch) -> str:
    """Return what is wrong with the outputs of a launch, or ""."""
    args = [fresh(arg) for arg in launch.args]
    kernel[launch.blocks, launch.threads](*args)
    outs = [
        now for now, given in zip(args, launch.args, strict=True) if isinstance(given, Out | InOut)
    ]
    found = [
        compare(got, want, max(launch.rtol, 1e-6), launch.atol)
        for got, want in zip(outs, launch.want, strict=True)
    ]
    return next((mismatch.say(Name("output")).open() for mismatch in found if mismatch), "")


def main(stem: str, folder: Path) -> None:
    # Here, since tests that import this module must not load Numba's compiler.
    from numba import cuda

    lab, file = load_lab(ROOT / f"solutions/{stem}.md"), folder / f"{stem}.py"
    file.write_text("\n\n".join(definitions(lab)))
    names: dict = {"__name__": "lab", "cuda": cuda}
    exec(compile(file.read_text(), str(file), "exec"), names)
    tests = hidden.load(ROOT, stem)
    for exercise in comparable(lab):
        for launch in small(hidden.cases(tests, exercise.id, seed=1)):
            said = {
                "lab": stem,
                "exercise": exercise.id,
                "label": launch.label,
                "wrong": wrong(names[exercise.name], launch),
            }
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    for stem in sys.argv[2:]:
        main(stem, Path(sys.argv[1]))
