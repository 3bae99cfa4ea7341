"""The checks before a run begins, and ``run.json``, with which it can be stopped and go on."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warpwise.errors import GradingError
from warpwise.grading import assignment, gradebook, hidden, sandbox, store, unfinished
from warpwise.grading.assignment import Choose
from warpwise.grading.layouts import Submission
from warpwise.grading.scoring import times
from warpwise.grading.scoring.course import Course


def write(out: Path, seed: int, mode: str, about: Mapping[str, Mapping[str, Any]]) -> None:
    """Write ``run.json``, so that the run can be killed and started again from here on.

    ``about`` has the labs' versions, the ``sources`` and ``layouts`` by the lab given with them,
    the settings, and which labs were assigned; what an earlier run wrote of each is kept. Raises
    OSError."""
    before = store.about(out)
    isolated = mode != sandbox.NONE
    said: dict[str, Any] = {"seed": seed, "warpwise": gradebook.installed(), "isolated": isolated}
    for name, new in about.items():
        said[name] = before.get(name, {}) | new
    store.write_about(out, said)


def layout_before(out: Path, sources: Mapping[str, str]) -> str | None:
    """Return the layout that the same folder had in a run before."""
    ((lab, source),) = sources.items()
    before = store.about(out)
    same = before.get("sources", {}).get(lab) == source
    return before.get("layouts", {}).get(lab) if same else None


def choice(out: Path, sources: Mapping[str, str], told: str | Choose) -> Choose:
    """Return what says what to do with unexpected notebooks: what was told, now or before."""
    (source,) = sources.values()
    known = told if isinstance(told, str) else ""
    known = known or store.about(out).get("unexpected", {}).get(source, "")
    if known:
        return lambda unexpected: known
    return assignment.refuse if isinstance(told, str) else told


def seed_of(out: Path, seed: int | None, whole: bool) -> int:
    """Return the run's seed: the one given, that of a run before, or a new one.

    Raises GradingError if they differ, or a part of a run has none."""
    kept: int | None = store.about(out).get("seed")
    if seed is not None and kept not in (None, seed):
        other = "give another folder, or leave --seed out"
        raise GradingError(f"{out} was graded with another seed; {other}")
    given = kept if seed is None else seed
    if given is None and not whole:
        raise GradingError("shards need one --seed: the same secret number for all of them")
    return secrets.randbits(63) if given is None else given


def check_target(out: Path, submissions: Path) -> None:
    """Raise GradingError if grades cannot go there."""
    if out.exists() and not out.is_dir():
        raise GradingError(f"{out} is a file; --out names a folder")
    if submissions.resolve() in (out.resolve(), *out.resolve().parents):
        raise GradingError(f"{out} lies inside the submissions folder; grades go elsewhere")


def check_source(
    out: Path, sources: Mapping[str, str], submissions: Collection[Submission]
) -> None:
    """Raise GradingError if this folder would take the place of another in ``out``.

    Such as that of another section, graded under the same lab: what was to be graded of it would be
    forgotten. A second download of the same submissions has most of their students."""
    ((label, source),) = sources.items()
    before, labs = store.about(out).get("sources", {}).get(label), {s.lab for s in submissions}
    theirs = unfinished.load(out).expected.get(label, ())
    earlier = {(e.student, e.lab) for e in theirs if e.lab in labs}
    gone = earlier - {(s.student, s.lab) for s in submissions}
    if before not in (None, source) and 2 * len(gone) > len(earlier):
        named = ", ".join(sorted({lab for _, lab in gone} - {""})) or "the same labs"
        raise GradingError(
            f"{out} already holds {before} for {named}, and {len(gone)} of its {len(earlier)} "
            f"submissions are not in {source}; grade this folder into another --out, or put both "
            "into one folder and grade that"
        )


def check_hidden(course: Path, submissions: Path, out: Path, unpacked: Path) -> None:
    """Raise GradingError if a folder of the run, or what a link in it leads to, is in sandboxes."""
    paths = {"the course": course, "the submissions folder": submissions, "the output": out}
    paths |= {f"the course's {name}": course / name for name in ("solutions", hidden.FOLDER)}
    kept = (store.RECORDS, store.PENDING, "run.json")
    paths |= {f"the output's {name}": out / name for name in kept}
    sandbox.check_hidden(paths | {"the temporary folder": unpacked})


def untimed(
    out: Path,
    submissions: Iterable[Submission],
    assigned: Sequence[str],
    platform: str,
    course: Course,
    settings: Mapping[str, str],
) -> list[str]:
    """Return a line, if there are due times and nobody knows when anything was handed in."""
    if any(s.submitted for s in submissions) or (out / times.NAME).exists():
        return []
    known = store.about(out).get("settings", {}) | dict(settings)
    return list(filter(None, [times.untimed(platform, known, course, assigned)]))
