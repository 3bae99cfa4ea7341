"""Everything that decides a record, as digests by name: which of it changed, and how to say so.

A kept record is graded again where its key is not today's. The parts say why, and whether that is
the student's doing: then nobody needs to be asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path

WORK, FILE = "work", "file"
#: Part -> what is said where it changed. FILE is not in the key: a notebook that was only saved
#: again decides nothing.
CHANGED = {
    WORK: "what was handed in changed",
    "tests": "the hidden tests of {lab} changed",
    "lab": "the lab {lab} changed",
    "grader": "the grader's version changed",
    "mode": "student code is isolated in another way",
    "seed": "the seed changed",
    "compiler": "another version of NVIDIA's compiler, or none, is on the machine that grades",
    "gpu": "kernels run on another GPU, or no longer on one",
}
BY_HAND = "an instructor asked for it"
ABOUT_TODAY = ("tests", "lab", "grader")  #: parts that are known without the submission

Parts = Mapping[str, str]


def digest(value: object) -> str:
    """Return a short digest of a value that JSON can write."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def of_file(path: Path) -> str:
    """Return a digest of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def key(parts: Parts) -> str:
    """Return the digest of all parts, under which a record is kept."""
    return digest({name: parts[name] for name in sorted(parts) if name != FILE})


def changed(before: Parts, now: Parts) -> tuple[str, ...]:
    """Name the parts that differ; of a record whose parts were not kept, the grader's version."""
    if not before:
        return ("grader",)
    return tuple(name for name in CHANGED if before.get(name, "") != now.get(name, ""))


def of_the_student(before: Parts, now: Parts) -> bool:
    """True where a change is the student's own: another file, or another one that counts."""
    return bool(before) and (before.get(FILE) != now.get(FILE) or changed(before, now) == (WORK,))


def reason(names: Collection[str], lab: str) -> str:
    """Say which parts changed; that somebody asked, where none did."""
    return "; ".join(CHANGED[name].format(lab=lab) for name in names) or BY_HAND
