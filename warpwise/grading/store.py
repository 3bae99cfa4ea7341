"""The files that a run keeps: ``run.json``, and one JSON file per submission in ``records/``.

Each is whole or not there, and a run that is killed goes on from these. Everything else in the
folder is made from them and can be made again, but for ``expected.json`` (``unfinished``) and the
new grades in ``pending/`` that nobody has agreed to yet (``changes``). Earlier grades of a
submission are in its record's own file, so the two always agree."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, overload

from warpwise.errors import GradingError
from warpwise.grading.record import Counter, Finding, OnGpu, Record, Result, Visible
from warpwise.labs.whole import whole

RECORDS, PENDING = "records", "pending"
MOST_NAME_CHARACTERS, DIGEST_CHARACTERS = 50, 24
OWN_NAME = re.compile(
    r"(?!(con|prn|aux|nul|com\d|lpt\d)(\.|$))[a-z0-9_][a-z0-9._-]{0,48}[a-z0-9_-]|[a-z0-9_]"
)
DIGESTED = re.compile(r"-[0-9a-f]{8,}$")  # 8 characters in folders that earlier versions wrote


@dataclass(frozen=True)
class Run:
    """A finished, or interrupted, run of the grader.

    ``about`` is ``run.json``, which holds the seed: it is not for students."""

    folder: Path
    about: dict[str, Any]
    records: Records  #: by student and lab, those with a problem last


def load(folder: str | Path) -> Run:
    """Load a folder that ``grade`` wrote. Raises GradingError if it is none, or is damaged."""
    folder = Path(folder)
    said = about(folder)
    if not said:
        raise GradingError(f"{folder} holds no run of the grader: {folder / 'run.json'} is missing")
    return Run(folder, said, Records(folder, sorted(names(folder), key=partial(_order, folder))))


def names(folder: Path) -> list[str]:
    """List the names of the files of all kept records."""
    return sorted(path.name for path in (folder / RECORDS).glob("*.json"))


def order(record: Record) -> tuple[str, str, bool, str]:
    """Return what records are sorted by: student and lab, those with a problem last."""
    return record.student, record.lab, record.problem != "", record.file


def _order(folder: Path, name: str) -> tuple[str, str, bool, str]:
    return order(read(folder / RECORDS / name).record)


class Records(Sequence[Record]):
    """Kept records, each read from its file whenever it is asked for.

    A record can hold pictures and texts of 100 kB, and a class has thousands."""

    def __init__(self, folder: Path, names: Sequence[str]):
        self.folder, self.names = folder, tuple(names)

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Records: ...
    def __getitem__(self, at: int | slice) -> Record | Records:
        if isinstance(at, slice):
            return Records(self.folder, self.names[at])
        return read(self.folder / RECORDS / self.names[at]).record

    def kept(self) -> Iterator[Kept]:
        """Yield them with all that is kept beside them."""
        return (read(self.folder / RECORDS / name) for name in self.names)


@dataclass(frozen=True)
class Earlier:
    """A grade that another took the place of: when, in UTC, why, and what the instructor said.

    ``exercises`` are id, points, possible points and reason of each."""

    key: str
    points: float
    possible: float
    problem: str
    exercises: tuple[tuple[str, float, float, str], ...]
    when: str
    why: str
    said: str = ""


@dataclass(frozen=True)
class Kept:
    """A record as it is kept, with a digest of all that decided it and the number of tries.

    ``parts`` are digests of what decided it, by name (``decisions``); ``earlier`` are its grades
    before this one, the oldest first."""

    key: str
    tries: int
    record: Record
    parts: Mapping[str, str] = field(default_factory=dict)
    earlier: tuple[Earlier, ...] = ()


def path(folder: Path, file: str, lab: str, place: str = RECORDS) -> Path:
    """Return the path of a submission's record, which its file and its lab decide."""
    digest = hashlib.sha256(json.dumps([file, lab]).encode()).hexdigest()
    return folder / place / f"{digest[:24]}.json"


def read(path: Path) -> Kept:
    """Read one kept record. Raises GradingError if the file is damaged."""
    try:
        found = json.loads(path.read_text("utf-8"))
        earlier = tuple(map(_earlier, found.get("earlier", ())))
        parts = found.get("parts", {})
        return Kept(found["key"], found["tries"], record(found["record"]), parts, earlier)
    except (OSError, ValueError, TypeError, KeyError) as error:
        again = "delete it and grade again, the others are kept"
        raise GradingError(f"{path} is damaged ({error}); {again}") from error


def keep(folder: Path, kept: Kept, place: str = RECORDS) -> None:
    """Write a record where it belongs. Raises OSError."""
    target = path(folder, kept.record.file, kept.record.lab, place)
    whole(target, json.dumps(asdict(kept)), private=True)


def about(folder: Path) -> dict[str, Any]:
    """Read ``run.json``; nothing where there is none. Raises GradingError if it is damaged."""
    try:
        found: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
        return found | {"seed": int(found["seed"]), "labs": dict(found["labs"])}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        damaged = f"{folder / 'run.json'} is damaged ({error})"
        raise GradingError(f"{damaged}; grade into a new folder") from error


def write_about(folder: Path, about: dict[str, Any]) -> None:
    """Write ``run.json``, which holds the seed. Raises OSError."""
    whole(folder / "run.json", json.dumps(about, indent=2) + "\n", private=True)


def outline(record: Record) -> Record:
    """Return a record with its points and reasons alone: what a gradebook is made from."""
    results = tuple(
        _outline(r.exercise, r.possible, _bare(r.finding), r.choice) for r in record.results
    )
    return replace(record, results=results)


def _bare(finding: Finding) -> Finding:
    return Finding(finding.passed, finding.reason, tried=finding.tried, cases=finding.cases)


@lru_cache(maxsize=4096)  # most students have one of few outcomes
def _outline(exercise: str, possible: float, finding: Finding, choice: str) -> Result:
    return Result(exercise, possible, finding, choice=choice)


def _earlier(fields: dict[str, Any]) -> Earlier:
    return Earlier(**fields | {"exercises": tuple(map(tuple, fields["exercises"]))})


def record(fields: dict[str, Any]) -> Record:
    """Make a record from its JSON form."""
    return Record(**fields | {"results": tuple(result(r) for r in fields["results"])})


def result(fields: dict[str, Any]) -> Result:
    """Make a result from its JSON form."""
    own = {"finding": finding(fields["finding"]), "visible": Visible(**fields["visible"])}
    gpu = OnGpu(**fields["gpu"]) if fields.get("gpu") else None
    return Result(**fields | own | {"prints": tuple(fields["prints"]), "gpu": gpu})


def finding(fields: dict[str, Any]) -> Finding:
    """Make a finding from its JSON form."""
    counters = tuple(Counter(**c) for c in fields["counters"])
    return Finding(**fields | {"counters": counters, "failed": tuple(fields.get("failed", ()))})


def file_name(student: str) -> str:
    """Return a plain file name for a student's page, different for different students.

    It is the student's own name if that is one on every system: in lower case, since some take
    ``ADA`` for ``ada``, and no device of Windows. Any other name, and any that ends like it, ends
    with a digest."""
    if OWN_NAME.fullmatch(student) and not DIGESTED.search(student):
        return student
    plain = re.sub(r"^-|[^A-Za-z0-9_-]", "_", student)[:MOST_NAME_CHARACTERS] or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{plain}-{digest[:DIGEST_CHARACTERS]}"
