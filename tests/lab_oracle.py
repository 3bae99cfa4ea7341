"""The labs' solutions in Numba's own simulator. Run as a script, with ``NUMBA_ENABLE_CUDASIM=1``, it judges one lab's kernels there.

    python tests/lab_oracle.py 08_coalescing FOLDER

The kernels' text goes into a file in FOLDER, and not a word of it is changed: only the name ``cuda`` means ``numba.cuda``.
It prints a line of JSON for each hidden launch that was run: exercise, label, and what is wrong with the outputs ("" if nothing).
Numba's simulator has a thread of the system for each of a block's, so only small launches run.
"""

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
from warpwise.labs.exercise import InOut, Launch, Out
from warpwise.labs.judge import fresh
from warpwise.labs.source import Lab, load_lab, role, unmarked

ROOT = Path(__file__).parents[1]
MOST_THREADS = 1500  # of a launch
MOST_LAUNCHES = 3  # of an exercise
WARP_LEVEL = re.compile(r"\b((shfl|ballot|match|all|any|eq)\w*_sync|activemask|syncwarp|lanemask_lt)\b")  # what Numba's simulator lacks


def definitions(lab: Lab) -> Iterator[str]:
    """Imports, functions and plain values of the given cells, and the exercise cells: the lab without what it runs and shows."""
    for cell in lab.cells:
        if role(cell) == "given":
            yield "\n".join(ast.unparse(node) for node in ast.parse(cell.source).body if _defines(node))
        elif role(cell) == "exercise":
            yield unmarked(cell.source)


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not node.module.startswith("warpwise")
    if isinstance(node, ast.Assign):
        return _is_plain(node.value)
    return isinstance(node, ast.Import | ast.FunctionDef)


def _is_plain(value: ast.expr) -> bool:
    """A literal or an infinity, or a number of NumPy's made from one, such as ``np.float32(2)``."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).startswith("np.") and len(value.args) == 1:
        value = value.args[0]
    if ast.unparse(value).lstrip("-") in ("math.inf", "np.inf"):
        return True
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def solution(lab: Lab, exercise) -> str:
    """The text of an exercise's solution."""
    return next(unmarked(c.source) for c in lab.cells if role(c) == "exercise" and c.metadata["warpwise"]["id"] == exercise.id)


def comparable(lab: Lab) -> list:
    """The exercises whose kernels use nothing that Numba's simulator lacks, nor do the given functions that they call."""
    return [e for e in lab.exercises if e.kind == "kernel" and not WARP_LEVEL.search(with_functions(lab, solution(lab, e)))]


def with_functions(lab: Lab, text: str) -> str:
    """A text and the given functions that it mentions."""
    given = [node for c in lab.cells if role(c) == "given" for node in ast.parse(c.source).body if isinstance(node, ast.FunctionDef)]
    return "\n".join([text, *(ast.unparse(node) for node in given if re.search(rf"\b{node.name}\b", text))])


def threads(launch: Launch) -> int:
    return int(prod(np.atleast_1d(launch.blocks)) * prod(np.atleast_1d(launch.threads)))


def small(cases) -> list[Launch]:
    """The smallest launches of an exercise, of different sizes where there are."""
    found = {threads(case): case for case in sorted(cases, key=threads, reverse=True) if threads(case) <= MOST_THREADS}
    return sorted(found.values(), key=threads)[:MOST_LAUNCHES]


def wrong(kernel, launch: Launch) -> str:
    """What is wrong with the outputs of a launch, or ""."""
    args = [fresh(arg) for arg in launch.args]
    kernel[launch.blocks, launch.threads](*args)
    outs = [now for now, given in zip(args, launch.args, strict=True) if isinstance(given, Out | InOut)]
    found = [compare(got, want, max(launch.rtol, 1e-6), launch.atol) for got, want in zip(outs, launch.want, strict=True)]
    return next((mismatch.say("output") for mismatch in found if mismatch), "")


def main(stem: str, folder: Path) -> None:
    from numba import cuda  # here: the tests that import this module must not load Numba's compiler for it

    lab, file = load_lab(ROOT / f"solutions/{stem}.md"), folder / f"{stem}.py"
    file.write_text("\n\n".join(definitions(lab)))
    names: dict = {"__name__": "lab", "cuda": cuda}
    exec(compile(file.read_text(), str(file), "exec"), names)
    tests = hidden.load(ROOT, stem)
    for exercise in comparable(lab):
        for launch in small(hidden.cases(tests, exercise.id, seed=1)):
            said = {"exercise": exercise.id, "label": launch.label, "wrong": wrong(names[exercise.name], launch)}
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
