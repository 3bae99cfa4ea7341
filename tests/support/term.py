"""A made-up term: a course of three tiny labs, a class made from a seed, and what it hands in.

``plan`` says who hands in what; ``hand_over`` writes a lab's work as a platform gives it to
download. What a student should get is in the plan, so that no test has to ask the grader."""

from __future__ import annotations

import json
import random
import re
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from support import tiny_course
from warpwise.labs.build import build
from warpwise.labs.source import load_lab, solved_notebook, student_notebook

LABS = ("01_twice", "02_thrice", "03_fourfold")
FACTORS = dict(zip(LABS, (2, 3, 4), strict=True))
KERNEL_POINTS, HOST_POINTS = 3, 2
DUE = {
    lab: datetime.fromisoformat(f"2027-03-{10 + 7 * k}T23:59:00+01:00")
    for k, lab in enumerate(LABS)
}
COURSE = """title = "A term"
timezone = "Europe/Zurich"

[late]
percent_per_day = 10
days = 3
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
    """What one student hands in for one lab: files by name, and when. No files: nothing."""

    person: Person
    lab: str
    kind: str
    files: Mapping[str, bytes]
    submitted: datetime

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


def roster(people: Sequence[Person], path: Path) -> Path:
    """Write a class list as Canvas exports it, with a column for each lab's assignment."""
    labs = [f"{lab} (90{k})" for k, lab in enumerate(LABS)]
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *labs]]
    rows += [["    Points Possible", "", "", "", "", *("10" for _ in labs)]]
    for p in people:
        rows.append(
            [f"{p.last}, {p.first}", str(p.number), p.id, p.email, "A", *("" for _ in labs)]
        )
    path.write_text("".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows), "utf-8")
    return path


# The course.


def course(folder: Path) -> Path:
    """Write the course. The hidden test of lab 2 has a mistake, which ``mend`` takes out."""
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


# Answers.


@cache
def _notebook(course: Path, lab: str, kind: str) -> bytes:
    """Return a notebook with the answers of this kind."""
    source = load_lab(course / f"solutions/{lab}.md")
    made = student_notebook(source) if kind == "untouched" else solved_notebook(source)
    host = f"part{FACTORS[lab]}"
    for cell in made.cells:
        if kind == "half" and "@cuda.jit" in cell.source:
            cell.source = cell.source.replace(f"{FACTORS[lab]} * x[i]", "x[i]")
        if kind == "hostile" and f"def {host}" in cell.source:
            cell.source = f"def {host}(n):\n    import os\n    while True:\n        os.fork()\n"
    return json.dumps(made).encode()


def work(course: Path, person: Person, lab: str, kind: str, hours_late: float = -5) -> Work:
    """Make what a student hands in.

    ``kind`` is solved, half, untouched, hostile, pdf, nothing, or the stem of another lab, whose
    solved notebook it then is under this lab's name."""
    submitted = DUE[lab] + timedelta(hours=hours_late)
    if kind == "nothing":
        return Work(person, lab, kind, {}, submitted)
    if kind == "pdf":
        return Work(person, lab, kind, {"answers.pdf": b"%PDF-1.7 my answers"}, submitted)
    name = f"{kind if kind in LABS else lab}.ipynb"
    text = _notebook(course, kind, "solved") if kind in LABS else _notebook(course, lab, kind)
    return Work(person, lab, kind, {name: text}, submitted)


#: The share of a lab's points that each kind of work earns, once the hidden tests are right.
EARNS = {"solved": 1.0, "half": 0.4, "hostile": 0.6}


def earned(one: Work, possible: float = 10) -> float:
    """Return the points of a piece of work before anything is taken off."""
    return possible * EARNS.get(one.kind, 0.0)


# As a platform gives it to download.


def _plain(name: str) -> str:
    """Return a name as Canvas puts it into file names: lower case, letters and digits only."""
    return re.sub(r"[^\w]|_", "", unicodedata.normalize("NFC", name).lower())


def _canvas(works: Sequence[Work]) -> dict[str, bytes]:
    return {
        f"{_plain(w.person.last + w.person.first)}_{'LATE_' * w.late}{w.person.number}_"
        f"{70_000 + n}_{name}": data
        for n, w in enumerate(works)
        for name, data in w.files.items()
    }


def _moodle(works: Sequence[Work]) -> dict[str, bytes]:
    return {
        f"{w.person.name}_{50_000 + n}_assignsubmission_file_/{name}": data
        for n, w in enumerate(works)
        for name, data in w.files.items()
    }


def _gradescope(works: Sequence[Work]) -> dict[str, bytes]:
    files, said = dict[str, bytes](), ""
    for n, w in enumerate(w for w in works if w.files):
        folder = f"submission_{8_000 + n}"
        said += f"{folder}:\n  :submitters:\n  - :name: {w.person.name}\n    :sid: {w.person.id}\n"
        said += f"    :email: {w.person.email}\n  :created_at: {w.submitted.isoformat(' ')}\n"
        files |= {f"{folder}/{name}": data for name, data in w.files.items()}
    return {f"assignment_1_export/{name}": data for name, data in files.items()} | {
        "assignment_1_export/submission_metadata.yml": said.encode()
    }


def _nbgrader(works: Sequence[Work]) -> dict[str, bytes]:
    files = dict[str, bytes]()
    for w in works:
        folder = f"submitted/{w.person.id}/{w.lab}"
        files |= {f"{folder}/{name}": data for name, data in w.files.items()}
        if w.files:
            files[f"{folder}/timestamp.txt"] = f"{w.submitted.isoformat(' ')}\n".encode()
    return files


def _folders(works: Sequence[Work]) -> dict[str, bytes]:
    return {f"{w.person.id}/{name}": data for w in works for name, data in w.files.items()}


SHAPES: dict[str, Callable[[Sequence[Work]], dict[str, bytes]]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "nbgrader": _nbgrader,
    "plain": _folders,
}
PACKED = ("canvas", "moodle", "gradescope")


def hand_over(works: Sequence[Work], place: Path, platform: str) -> Path:
    """Write a lab's work as a platform's download, a zip where it is one; return its path."""
    files = SHAPES[platform](works)
    if platform in PACKED:
        with zipfile.ZipFile(place.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in files.items():
                packed.writestr(name, data)
        return place.with_suffix(".zip")
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


# The term.

#: Who does something else than hand in a solved or a half-solved notebook: by place in the class.
LATE, EXTENDED, OVERRIDDEN, PDF, HOSTILE, WRONG_LAB, JOINS, LEAVES = range(2, 10)
EVENTS: Mapping[tuple[int, str], tuple[str, float]] = {
    (LATE, LABS[1]): ("solved", 20),
    (EXTENDED, LABS[1]): ("solved", 30),
    (OVERRIDDEN, LABS[1]): ("half", -5),
    (PDF, LABS[1]): ("pdf", -5),
    (HOSTILE, LABS[0]): ("hostile", -5),
    (WRONG_LAB, LABS[1]): (LABS[0], -5),
    (JOINS, LABS[0]): ("nothing", -5),
    (LEAVES, LABS[1]): ("nothing", -5),
    (LEAVES, LABS[2]): ("nothing", -5),
}


def plan(course: Path, people: Sequence[Person], lab: str) -> tuple[Work, ...]:
    """Return what a class hands in for a lab: mostly solved, every third half-solved."""
    usual = {0: "half", 1: "solved", 2: "solved"}
    made = []
    for at, person in enumerate(people):
        kind, hours = EVENTS.get((at, lab), (usual[(at + LABS.index(lab)) % 3], -5))
        made.append(work(course, person, lab, kind, hours))
    return tuple(made)
