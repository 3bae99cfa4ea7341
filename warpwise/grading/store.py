"""What a run of the grader keeps: ``run.json`` and one JSON file per submission in ``records/``, each whole or not there.

A run that is killed goes on from these. Everything else in the folder is made from them and can be made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading.record import Counter, Finding, OnGpu, Record, Result, Visible


@dataclass(frozen=True)
class Run:
    """A finished, or interrupted, run of the grader. ``about`` is ``run.json``, which tells the seed: it is not for students."""

    folder: Path
    about: dict
    records: tuple[Record, ...]  #: by student and lab, those with a problem last


def load(folder: str | Path) -> Run:
    """What is kept in a folder that ``grade`` wrote. Raises GradingError if it is none, or a file of it is damaged."""
    folder = Path(folder)
    said = about(folder)
    if not said:
        raise GradingError(f"{folder} holds no run of the grader: {folder / 'run.json'} is missing")
    return Run(folder, said, tuple(kept.record for kept in all_kept(folder)))


def all_kept(folder: Path) -> list[Kept]:
    """Every kept record, by student and lab, those with a problem last."""
    found = [read(path) for path in (folder / "records").glob("*.json")]
    return sorted(found, key=lambda kept: (kept.record.student, kept.record.lab, kept.record.problem != "", kept.record.file))


@dataclass(frozen=True)
class Kept:
    """A record as it is kept: with the key of what decided it, and how often it was graded."""

    key: str
    tries: int
    record: Record


def path(folder: Path, file: str, lab: str) -> Path:
    """Where a submission's record is kept, which its file and its lab decide."""
    return folder / "records" / f"{hashlib.sha256(json.dumps([file, lab]).encode()).hexdigest()[:24]}.json"


def read(path: Path) -> Kept:
    """One kept record. Raises GradingError if the file is damaged."""
    try:
        found = json.loads(path.read_text("utf-8"))
        return Kept(found["key"], found["tries"], record(found["record"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise GradingError(f"{path} is damaged ({error}); delete it and grade again, the others are kept") from error


def keep(folder: Path, kept: Kept) -> None:
    """Write a record where it belongs. Raises OSError."""
    target = path(folder, kept.record.file, kept.record.lab)
    whole(target, json.dumps({"key": kept.key, "tries": kept.tries, "record": asdict(kept.record)}), private=True)


def about(folder: Path) -> dict:
    """What ``run.json`` says; nothing where there is none. Raises GradingError if it is damaged."""
    try:
        found = json.loads((folder / "run.json").read_text("utf-8"))
        return found | {"seed": int(found["seed"]), "labs": dict(found["labs"])}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise GradingError(f"{folder / 'run.json'} is damaged ({error}); grade into a new folder") from error


def write_about(folder: Path, about: dict) -> None:
    """Write ``run.json``, which tells the seed. Raises OSError."""
    whole(folder / "run.json", json.dumps(about, indent=2) + "\n", private=True)


def whole(path: Path, text: str, private: bool = False) -> None:
    """Write a file so that a reader, or a crash, meets the old one or the new one. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, 0o600 if private else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def record(fields: dict) -> Record:
    """A record from its JSON form."""
    return Record(**fields | {"results": tuple(result(r) for r in fields["results"])})


def result(fields: dict) -> Result:
    kept = {"finding": finding(fields["finding"]), "visible": Visible(**fields["visible"]), "prints": tuple(fields["prints"])}
    return Result(**fields | kept | {"gpu": OnGpu(**fields["gpu"]) if fields.get("gpu") else None})


def finding(fields: dict) -> Finding:
    return Finding(**fields | {"counters": tuple(Counter(**c) for c in fields["counters"])})
