"""Labs without Jupyter's packages: cells, solved kernels, and every launch asked of them.

So a bare GPU machine can read them. Cells that draw or print are passed over. A check cell runs
with a ``check`` that only writes down the cases; the hidden tests' are added."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from warpwise.grading import hidden
from warpwise.labs.exercise import Launch

ROOT = Path(__file__).resolve().parents[2]
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
OPTIONS = re.compile(r"\A((?::[\w-]+:[^\n]*\n)+)")
MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")
# Statements of given cells that define names.
RUN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
SEED = 1  # for the hidden tests


@dataclass(frozen=True)
class Cell:
    """A code cell; its ``role`` is given, exercise, check or explore."""

    role: str
    source: str
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Solved:
    """A solved exercise and its launches; a host function has neither a ``kernel`` nor those."""

    id: str
    name: str
    kernel: Any
    launches: tuple[Launch, ...]


def stems() -> list[str]:
    return sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))


def cells(text: str) -> Iterator[Cell]:
    """Yield the code cells of a MyST notebook.

    Their metadata stand first, as a block of YAML or as lines like ``:tags: [given]``."""
    for body in CELL.findall(text):
        block, options = BLOCK.match(body), OPTIONS.match(body)
        about = {}
        if block:
            about, body = yaml.safe_load(block[1]), body[block.end() :]
        elif options:
            lines = (line[1:].partition(":") for line in options[1].splitlines())
            about, body = (
                {name: yaml.safe_load(value) for name, _, value in lines},
                body[options.end() :],
            )
        yield Cell((about.get("tags") or [""])[0], body.strip("\n"), about.get("warpwise") or {})


def solved(stem: str, folder: Path, cuda: Any = None) -> Iterator[Solved]:
    """Return every exercise of a lab. One without kernels is not run.

    The lab's text goes to a file in ``folder``, as a compiler and the simulator read kernels from
    files.

    ``cuda``: what that name means there; without it, what the lab imports."""
    found = [
        cell
        for cell in cells((ROOT / f"solutions/{stem}.md").read_text("utf-8"))
        if cell.role in ("given", "exercise", "check")
    ]
    exercises = [cell.about for cell in found if cell.role == "exercise"]
    names: dict[str, Any] = {}
    asked: dict[str, list] = {}
    ours = {"check": lambda target, cases, *_, **__: asked.setdefault(target, []).extend(cases)} | (
        {"cuda": cuda} if cuda else {}
    )
    if any(about["kind"] == "kernel" for about in exercises):
        names = _run(found, folder / f"lab_{stem}.py", ours)
    tests = hidden.load(ROOT, stem)
    for about in exercises:
        identity, name = about["id"], about["name"]
        if about["kind"] == "kernel":
            cases = [*asked.get(name, ()), *hidden.cases(tests, identity, SEED)]
            launches = tuple(case for case in cases if isinstance(case, Launch))
            yield Solved(identity, name, names[name], launches)
        else:
            yield Solved(identity, name, None, ())


def _run(found: list[Cell], file: Path, ours: dict[str, Any]) -> dict[str, Any]:
    """Return the names that the cells define, except ``ours``.

    The file has all cells, one below the other."""
    texts = [
        "\n".join(line for line in cell.source.splitlines() if line.strip() not in MARKS)
        for cell in found
    ]
    file.write_text("\n\n".join(texts) + "\n", "utf-8")
    names: dict[str, Any] = {"__name__": file.stem, "__file__": str(file)}
    above = 0
    for cell, text in zip(found, texts, strict=True):
        tree = ast.increment_lineno(ast.parse(text), above)
        above += text.count("\n") + 2
        for node in tree.body:
            if cell.role == "given" and not isinstance(node, RUN):
                continue
            try:
                exec(compile(ast.Module([node], []), str(file), "exec"), names)
            except ImportError:  # from code that draws; a case that needs it misses a name below
                continue
            names |= ours
    return names
