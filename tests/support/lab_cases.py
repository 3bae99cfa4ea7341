"""A lab's text and its cases: those that its check cells show, and the hidden ones of a seed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import linecache
import re
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from nbformat import NotebookNode

from support.paths import ROOT
from warpwise.labs.exercise import Case, Launch, needs_the_simulator
from warpwise.labs.source import Exercise, Lab, load_lab, role, solved_notebook

STEMS = sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))
WITHOUT_KERNELS = {"18_many_gpus"}  # programs on ranks, and plans: nothing of it is compiled


@cache
def hidden(stem: str) -> ModuleType:
    """Return the module of a lab's hidden tests."""
    spec = importlib.util.spec_from_file_location(
        f"hidden_{stem}", ROOT / f"tests/course/{stem}/hidden.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hidden_cases(stem: str, id: str, seed: int = 0) -> list[Case]:
    """Return the hidden cases of an exercise: drawn once for many answers, as the grader does."""
    return list(_kept(stem, id, seed))


@lru_cache(maxsize=512)  # those of all labs of one seed are 20 MB
def _kept(stem: str, id: str, seed: int) -> tuple[Case, ...]:
    return tuple(drawn(stem, id, seed))


def drawn(stem: str, id: str, seed: int = 0) -> list[Case]:
    """Draw the hidden cases of an exercise anew."""
    return list(getattr(hidden(stem), id)(np.random.default_rng(seed)))


def kernels_for_a_gpu(stem: str) -> list[Exercise]:
    """Return the exercises of a lab whose kernels a GPU can run, which a model's it cannot."""
    kernels = (e for e in lab(stem).exercises if e.kind == "kernel")
    return [e for e in kernels if not any(map(of_the_model, hidden_cases(stem, e.id)))]


def of_the_model(case: Case) -> bool:
    return isinstance(case, Launch) and needs_the_simulator(case)


@cache
def lab(stem: str) -> Lab:
    """A lab of the course, read once: ``load_lab`` looks for its file each time."""
    return load_lab(stem)


@cache
def solved_cells(stem: str) -> tuple[NotebookNode, ...]:
    """The cells of a solved lab, made once for all who only read them."""
    return tuple(solved_notebook(lab(stem)).cells)


@cache
def cells(stem: str, part: str) -> tuple[str, ...]:
    """The text of a solved lab's cells that play a part."""
    return tuple(c.source for c in solved_cells(stem) if role(c) == part)


def module_text(stem: str, exercise: Exercise, submission: str = "") -> str:
    """A module with an exercise's function and those of other exercises that it mentions: the
    submission's where it has them, else the solution's."""
    names = {
        e.name: cell
        for e, cell in zip(lab(stem).exercises, cells(stem, "exercise"), strict=True)
        if f"def {e.name}(" not in submission
    }
    text = names.pop(exercise.name, "") + submission
    kept = [source for name, source in names.items() if re.search(rf"\b{name}\b", text)]
    return "\n\n".join(["import numpy as np\nfrom warpwise import cuda", *kept, text])


def visible_cases(stem: str) -> dict[str, tuple[Case, ...]]:
    """Exercise -> the cases that its check cell builds in the solved lab."""
    found = run(stem)[0]
    return {e.id: found[e.name] for e in lab(stem).exercises}


def names_of(stem: str) -> dict[str, Any]:
    """Return the names that a solved lab has defined when all its checks have run."""
    return run(stem)[1]


@cache
def run(stem: str) -> tuple[dict[str, tuple[Case, ...]], dict[str, Any]]:
    """Run a solved lab; return the cases of each check, by its target, and the lab's names."""
    found: dict[str, tuple[Case, ...]] = {}
    names: dict[str, Any] = {"__name__": "lab"}
    for cell in solved_cells(stem):
        if role(cell) in ("given", "exercise", "check"):
            source = (
                cell.source.replace("check(", "_keep(") if role(cell) == "check" else cell.source
            )
            names["_keep"] = lambda target, cases, **_: found.setdefault(target, tuple(cases))
            with contextlib.redirect_stdout(io.StringIO()):
                execute(source, f"<{stem} {cell.id}>", names)
    return found, names


def execute(source: str, file: str, names: dict[str, Any]) -> None:
    """Execute a cell as a file of its own, where kernels find their text."""
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
