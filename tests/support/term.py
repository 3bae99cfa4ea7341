"""A made-up term: a course of three tiny labs, a class made from a seed, and what it hands in.

``plan`` says who hands in what; ``support.downloads`` writes it as a platform gives it to download.
What a student should get is in the plan, so that no test has to ask the grader."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from support import tiny_course
from warpwise.labs.build import build
from warpwise.labs.source import CHECKOUT, load_lab, solved_notebook, student_notebook
from warpwise.labs.versions import stamp

LABS = ("01_twice", "02_thrice", "03_fourfold")
FACTORS = dict(zip(LABS, (2, 3, 4), strict=True))
KERNEL_POINTS, HOST_POINTS = 3, 2
DUE = {
    lab: datetime.fromisoformat(f"2026-03-{10 + 7 * k}T23:59:00+01:00")
    for k, lab in enumerate(LABS)
}
COURSE = """title = "A term"
timezone = "Europe/Zurich"

[late]
percent_per_day = 10
days = 3

[partial]
over_budget = 50
"""
FIRST = (
    "Ada Ben Chloé Đorđe Elif Fátima Grzegorz Hélène İbrahim Jürgen Kwame Łucja Mei Ngozi Óscar"
).split()
LAST = (
    "Müller O'Brien García d'Angelo Nowak Şahin Nguyễn Åkesson Smith-Jones Ó'Súilleabháin".split()
)
NAMESAKES = ("Ada", "Müller")


@dataclass(frozen=True)
class Person:
    """A student: a number for Canvas, an id for the other platforms."""

    number: int
    id: str
    first: str
    last: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        return f"{self.id}@example.edu"


@dataclass(frozen=True)
class Work:
    """What one student hands in for one lab: files by name, when, and how often before.

    No files: nothing."""

    person: Person
    lab: str
    kind: str
    files: Mapping[str, bytes]
    submitted: datetime
    attempt: int = 0

    @property
    def late(self) -> bool:
        return self.submitted > DUE[self.lab]


def class_of(count: int, seed: int = 20) -> tuple[Person, ...]:
    """Draw a class. Surnames repeat; the first two are namesakes."""
    drawn = random.Random(seed)
    names = [(first, last) for first in FIRST for last in LAST if (first, last) != NAMESAKES]
    chosen = [NAMESAKES, NAMESAKES, *drawn.sample(names, count - 2)]
    numbers = drawn.sample(range(1000, 9999), count)
    return tuple(
        Person(number, f"s{number:05}", first, last)
        for number, (first, last) in zip(numbers, chosen, strict=True)
    )


# The course.


def course(folder: Path) -> Path:
    """Write the course. The hidden test of lab 2 has a mistake, which ``mend`` takes out.

    The kernel of lab 3 has a budget."""
    for lab in LABS:
        k, named = FACTORS[lab], lab.partition("_")[2]
        source = tiny_course.SOURCE.replace("Lab 1: Tiny", f"Lab {k - 1}: {named.title()}")
        hidden = tiny_course.HIDDEN
        for old, new in (
            ("double", named),
            ("half", f"part{k}"),
            ("2 * x", f"{k} * x"),
            ("/ 2", f"/ {k}"),
        ):
            source, hidden = source.replace(old, new), hidden.replace(old, new)
        source = source.replace("(3,), 1.5", f"(3,), 3 / {k}")
        if lab == LABS[2]:
            source = source.replace("(4 * x,)", "(4 * x,), budget={LOADS: 2}").replace(
                "x = np.arange", 'LOADS = "global_load_requests"\nx = np.arange'
            )
            hidden = hidden.replace("(4 * x,)", "(4 * x,), budget={LOADS: -(-n // 32)}")
            hidden += '\n\nLOADS = "global_load_requests"\n'
        if lab == LABS[1]:
            hidden = hidden.replace(f"/ {k})", f"// {k})")
        for name, text in (
            (f"solutions/{lab}.md", source),
            (f"tests/course/{lab}/hidden.py", hidden),
        ):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    build(folder / "solutions", folder / "labs")
    settings(folder)
    return folder


def settings(folder: Path, more: str = "", weights: Mapping[str, float] | None = None) -> None:
    """Write ``course.toml``: 10 points a lab, due times, and ``more``, such as extensions."""
    text = COURSE
    for lab, due in DUE.items():
        weight = (weights or {}).get(lab, 1)
        text += f"\n[labs.{lab}]\npoints = 10\nweight = {weight:g}\ndue = {due.isoformat()}\n"
    (folder / "course.toml").write_text(text + more, "utf-8")


def mend(folder: Path) -> None:
    """Mend the hidden test of lab 2."""
    path = folder / f"tests/course/{LABS[1]}/hidden.py"
    path.write_text(path.read_text("utf-8").replace("// 3", "/ 3"), "utf-8")


def renew(folder: Path) -> None:
    """Check more in the host exercise of lab 3, so that it is another exercise."""
    host, source = f"part{FACTORS[LABS[2]]}", folder / f"solutions/{LABS[2]}.md"
    more = f'check({host}, [Call("0", (0,), 0.0), '
    source.write_text(source.read_text("utf-8").replace(f"check({host}, [", more), "utf-8")
    build(folder / "solutions", folder / "labs")


def publish(folder: Path) -> None:
    """Add what a handout has beside the labs: the package, and a book of one page."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHECKOUT / "warpwise", folder / "warpwise", ignore=ignore)
    for name in ("_config.yml", "pyproject.toml", "README.md", "LICENSE", "LICENSE-text"):
        shutil.copyfile(CHECKOUT / name, folder / name)
    (folder / "chapters").mkdir()
    (folder / "chapters/index.md").write_text("# A term\n\nA thread is `i = cuda.grid(1)`.\n")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: chapters/index\n")


# Answers.


@cache
def _notebook(course: Path, lab: str, kind: str) -> bytes:
    """Return a notebook with the answers of this kind."""
    source = load_lab(course / f"solutions/{lab}.md")
    made = student_notebook(source) if kind == "untouched" else solved_notebook(source)
    stamp(made, source)
    host = f"part{FACTORS[lab]}"
    for cell in made.cells:
        if kind == "half" and "@cuda.jit" in cell.source:
            cell.source = cell.source.replace(f"{FACTORS[lab]} * x[i]", "x[i]")
        if kind == "hostile" and f"def {host}" in cell.source:
            cell.source = f"def {host}(n):\n    import os\n    while True:\n        os.fork()\n"
        if kind == "over" and "@cuda.jit" in cell.source:
            cell.source = cell.source.replace("4 * x[i]", "2 * x[i] + 2 * x[i]")
        if kind == "older" and f"def {host}" in cell.source:
            cell.source = f"def {host}(n):\n    return n\n"
    return json.dumps(made).encode()


def work(course: Path, person: Person, lab: str, kind: str, hours_late: float = -5) -> Work:
    """Make what a student hands in.

    ``kind`` is solved, half, over (the budget of lab 3), older (with a wrong host function),
    untouched, hostile, pdf, nothing, or the stem of another lab, whose solved notebook it then
    is."""
    submitted = DUE[lab] + timedelta(hours=hours_late)
    if kind == "nothing":
        return Work(person, lab, kind, {}, submitted)
    if kind == "pdf":
        return Work(person, lab, kind, {"answers.pdf": b"%PDF-1.7 my answers"}, submitted)
    name = f"{kind if kind in LABS else lab}.ipynb"
    text = _notebook(course, kind, "solved") if kind in LABS else _notebook(course, lab, kind)
    return Work(person, lab, kind, {name: text}, submitted)


#: The share of a lab's points that each kind of work earns, once the hidden tests are right.
EARNS = {"solved": 1.0, "half": 0.4, "hostile": 0.6, "over": 0.7, "older": 0.6}


def earned(one: Work, possible: float = 10) -> float:
    """Return the points of a piece of work before anything is taken off."""
    return possible * EARNS.get(one.kind, 0.0)


# The term.

#: Who does something else than hand in a solved or a half-solved notebook: by place in the class.
LATE, EXTENDED, OVERRIDDEN, PDF, HOSTILE, WRONG_LAB, JOINS, LEAVES, OVER, OLDER = range(2, 12)
EVENTS: Mapping[tuple[int, str], tuple[str, float]] = {
    (LATE, LABS[1]): ("solved", 20),
    (EXTENDED, LABS[1]): ("solved", 30),
    (OVERRIDDEN, LABS[1]): ("half", -5),
    (PDF, LABS[1]): ("pdf", -5),
    (HOSTILE, LABS[0]): ("hostile", -5),
    (WRONG_LAB, LABS[1]): (LABS[0], -5),
    (JOINS, LABS[0]): ("nothing", -5),
    (LEAVES, LABS[2]): ("nothing", -5),
    (OVER, LABS[2]): ("over", -5),
}


def plan(course: Path, people: Sequence[Person], lab: str) -> tuple[Work, ...]:
    """Return what a class hands in for a lab: mostly solved, every third half-solved."""
    usual = {0: "half", 1: "solved", 2: "solved"}
    made = []
    for at, person in enumerate(people):
        kind, hours = EVENTS.get((at, lab), (usual[(at + LABS.index(lab)) % 3], -5))
        made.append(work(course, person, lab, kind, hours))
    return tuple(made)
