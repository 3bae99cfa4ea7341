"""The playground's examples: reference kernels in pairs of steps, and mistakes with their fixes.

They are made from the repository's own programs when the book is built, as one file of data, which
a page loads when a reader asks for it. A test runs each of them.
"""

from __future__ import annotations

import ast
import json
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from warpwise.book.markup import one_line
from warpwise.book.mistakes import FOLDER, kernel_lines
from warpwise.book.playground.launches import as_launch
from warpwise.cells import needed, statements
from warpwise.labs.mistake_pairs import description, pair
from warpwise.playground.program import written

LIST, TITLES = (Path(__file__).with_name(f"{name}.toml") for name in ("kernels", "titles"))
#: Folders of mistakes, and their topics in the order of the list.
TOPICS = {
    "shared_races": "Races in shared memory",
    "warp_races": "Races within a warp",
    "global_races": "Races in global memory",
    "grid_races": "Races between blocks",
    "barriers": "Barriers",
    "warp_masks": "Masks of warps",
    "bounds": "Outside an array",
    "unwritten": "Read before it is written",
    "misaligned": "Misaligned",
    "async_copies": "Asynchronous copies",
    "fragments": "Tensor cores",
    "fragment_orders": "Tensor cores: fragments in another order",
    "hopper": "Hopper's asynchronous units, where Python has threads",
    "endless": "Endless loops",
    "arithmetic": "Arithmetic",
    "assertions": "Assertions",
    "launches": "Launches",
    "wild": "Found in the wild",
}
OURS = "from warpwise import cuda"
NO_THREADS = "It needs a Python with threads, and that of a page has none: run it in JupyterLab."


@dataclass(frozen=True)
class Example:
    """A program by topic and title; ``told`` describes it, ``other`` is a kernel to compare."""

    topic: str
    title: str
    told: str
    kernel: str
    launch: str
    other: str = ""


def examples() -> list[Example]:
    """Return all examples, topic by topic."""
    listed = tomllib.loads(LIST.read_text("utf-8"))["example"]
    folders = [(FOLDER / kind, topic) for kind, topic in TOPICS.items()]
    mistakes = [(path, topic) for f, topic in folders for path in sorted(f.glob("*_faulty.py"))]
    return [*map(_reference, listed), *(_mistake(path, topic) for path, topic in mistakes)]


def as_json() -> str:
    """Return the examples as the page reads them."""
    return json.dumps([asdict(one) for one in examples()], ensure_ascii=False, indent=0)


def _reference(listed: dict[str, Any]) -> Example:
    *folders, module = listed["module"].split(".")
    path = files("warpwise.kernels").joinpath(*folders, f"{module}.py")
    source, launch = path.read_text("utf-8"), listed["launch"].lstrip()
    names = [listed[key] for key in ("kernel", "other") if key in listed]
    kernel, *other = (_sliced(source, name, launch) for name in names)
    told = "Reference kernels of this course, as warpwise.kernels has them."
    return Example("Reference kernels", listed["title"], told, kernel, launch, "".join(other))


def _sliced(source: str, name: str, launch: str) -> str:
    """Return what a kernel and its launch need of a module; the kernel is also named ``kernel``."""
    named = f"kernel = {name}\n"
    parts = needed(statements([source]), statements([f"np, cuda\n{named}{launch}"]))
    return f"{written(parts, [source])}\n\n{named}".replace(OURS, f"{OURS}, trace", 1)


def _mistake(path: Path, topic: str) -> Example:
    """Return a mistake; beside it stands the fix, if that leaves the launch as it is."""
    name = path.stem.removesuffix("_faulty")
    of = pair(path.parent, name)
    texts = [one.read_text("utf-8") for one in (of.faulty, of.correct)]
    what, fix = one_line(description(texts[0])), one_line(of.reason)
    launches = [as_launch(text, texts[1]) for text in texts]
    other = _kernel(texts[1]) if launches[0] == launches[1] else ""
    beside = f"The fix is beside it: {fix}" if other else f"The fix is in the launch: {fix}"
    kind = path.parent.name
    told = " ".join([what, beside, *[NO_THREADS] * (kind == "hopper")])
    return Example(topic, title(kind, name), told, _kernel(texts[0]), launches[0], other)


def title(kind: str, name: str) -> str:
    """Return the title of a mistake: the program's name, or what is better understood alone."""
    return titles().get(kind, {}).get(name, name.replace("_", " ").capitalize())


@cache
def titles() -> dict[str, dict[str, str]]:
    """Return the titles of mistakes whose names do not say enough, by folder and name."""
    return tomllib.loads(TITLES.read_text("utf-8"))


def _kernel(text: str) -> str:
    """Return a program's text up to its launch, with the imports that a reader's own would have."""
    _, lines = kernel_lines(text)
    math = "import math\n\n" if "\nimport math\n" in text else ""
    gap = "\n\n" if lines[0].startswith("@") else "\n"
    return f"{math}import numpy as np\n\n{_of_the_package(text)}{gap}" + "\n".join(lines) + "\n"


def _of_the_package(text: str) -> str:
    """Return what a program imports of this package, and ``cuda`` and ``trace``."""
    found = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in found if node.module == "warpwise" for alias in node.names}
    others = [ast.unparse(node) for node in found if (node.module or "").startswith("warpwise.")]
    first = f"from warpwise import {', '.join(sorted({'cuda', 'trace', *names}))}"
    return "\n".join([first, *others]) + "\n"
