"""A course of one small lab, and many submissions to it that all differ."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat

from warpwise.labs.build import build
from warpwise.labs.source import load_lab, solved_notebook

STEM = "01_tiny"
SOURCE = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# Lab 1: Tiny

```{code-cell} ipython3
:tags: [given]

import numpy as np
from warpwise import cuda
from warpwise.labs import Call, Launch, Out, check
```

## 1. Double

**Objective.** Double each element.

<details><summary>Hint</summary>Two times.</details>
<details><summary>Hint</summary>A guard.</details>

```{code-cell} ipython3
---
tags: [exercise]
warpwise: {id: double, points: 3, kind: kernel, name: double}
---
@cuda.jit
def double(x, y):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]
    ### END SOLUTION
```

```{code-cell} ipython3
---
tags: [check]
warpwise: {check: double}
---
x = np.arange(40, dtype=np.float32)
check(double, [Launch("40", 2, 32, (x, Out(40)), (2 * x,))])
```

## 2. Half

**Objective.** Half of a number.

<details><summary>Hint</summary>Divide.</details> <details><summary>Hint</summary>By two.</details>

```{code-cell} ipython3
---
tags: [exercise]
warpwise: {id: half, points: 2, kind: host, name: half}
---
def half(n):
    ### BEGIN SOLUTION
    return n / 2
    ### END SOLUTION
```

```{code-cell} ipython3
---
tags: [check]
warpwise: {check: half}
---
check(half, [Call("3", (3,), 1.5)])
```
"""
HIDDEN = '''"""Hidden tests of the tiny lab."""

import numpy as np

from warpwise.labs import Call, Launch, Out


def double(rng):
    for n in (1, 32, int(rng.integers(33, 90))):
        x = rng.normal(size=n).astype(np.float32)
        yield Launch(f"{n}", 3, 32, (x, Out(n)), (2 * x,))


def half(rng):
    for n in rng.integers(0, 99, 3):
        yield Call(f"{n}", (int(n),), int(n) / 2)
'''
DOUBLE = (
    "@cuda.jit\n"
    "def double(x, y):\n"
    "    i = cuda.grid(1)\n"
    "    if i < x.size:\n"
    "        y[i] = {} * x[i]\n"
)
HALF = "def half(n):\n    return n / {}\n"


def course(folder: Path) -> Path:
    """Write the course, its reference notebook included."""
    for name, text in (
        (f"solutions/{STEM}.md", SOURCE),
        (f"tests/course/{STEM}/hidden.py", HIDDEN),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    build(folder / "solutions", folder / "labs")
    return folder


def submissions(course: Path, folder: Path, count: int) -> Path:
    """Write so many notebooks, no two the same; return their folder.

    By turns they are right, wrong in one exercise, wrong in the other, broken off, and one that
    ends Python."""
    solved = solved_notebook(load_lab(course / f"solutions/{STEM}.md"))
    folder.mkdir()
    for number in range(count):
        kernel, host = (
            DOUBLE.format(3 if number % 5 == 1 else 2),
            HALF.format(3 if number % 5 == 2 else 2),
        )
        host = "import os\n\n\ndef half(n):\n    os._exit(0)\n" if number % 5 == 4 else host
        for cell in solved.cells:
            text = {"double": kernel, "half": host}.get(cell.metadata.get("warpwise", {}).get("id"))
            cell.source = f"# the answer of student {number}\n{text}" if text else cell.source
        whole = json.dumps(solved)
        (folder / f"student{number:03}.ipynb").write_text(
            whole[: len(whole) // 2] if number % 5 == 3 else whole
        )
    return folder


POINTS = (5, 2, 3, 0, 3)  #: for each student in turn


def handed_in(course: Path, folder: Path, **kernels: str) -> Path:
    """Write a notebook for each student, with their kernel in the place of the solution."""
    submissions(course, folder, 1)
    notebook = nbformat.read(folder / "student000.ipynb", 4)
    (folder / "student000.ipynb").unlink()
    for student, text in kernels.items():
        for cell in notebook.cells:
            if cell.metadata.get("warpwise", {}).get("id") == "double":
                cell.source = text
        (folder / f"{student}.ipynb").write_text(json.dumps(notebook))
    return folder
