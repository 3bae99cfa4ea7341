"""What is done with runs that are there: parts of one are joined, records are graded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.engine import Progress, Where, grade, write, writing
from warpwise.grading.record import Record
from warpwise.grading.store import Kept, Run


def merge(out: str | Path, parts: Sequence[str | Path]) -> tuple[Record, ...]:
    """Join runs of parts of the same submissions in ``out``, which may be one of them or new.

    Raises GradingError, before anything is written, if their seeds or versions differ, or one submission has two different records.
    """
    out = Path(out)
    runs = [store.load(part) for part in dict.fromkeys([*map(Path, parts), *([out] if (out / "run.json").exists() else [])])]
    kept = _joined(runs)
    about = dict(runs[0].about)
    for name in ("labs", "sources", "settings"):
        about[name] = {key: value for run in reversed(runs) for key, value in run.about[name].items()}
    with writing(out):
        (out / "records").mkdir(parents=True, exist_ok=True)
        store.write_about(out, about)
        for one in kept:
            store.keep(out, one)
        write(out)
    return tuple(one.record for one in kept)


def regrade(
    out: str | Path, wanted: Callable[[Record], bool], where: Where | None = None, progress: Progress = False
) -> list[tuple[Record, Record]]:
    """Grade the kept records that are wanted again, from the same submissions and seed; each as it was and as it is now.

    Raises GradingError if none is wanted, or the submissions are no longer where they were.
    """
    run = store.load(out)
    before = {(record.file, record.lab): record for record in run.records if wanted(record)}
    if not before:
        raise GradingError(f"{out} has no such record")
    where = replace(where or Where(), gpu=any(result.gpu for record in before.values() for result in record.results))
    unsafe, course, after = not run.about["isolated"], run.about["settings"]["course"], []
    for lab, folder in run.about["sources"].items():
        if not lab or lab in {stem for _, stem in before}:
            after += grade(folder, out, lab or None, unsafe_local=unsafe, progress=progress, course=course, where=where, again=wanted)
    return [(before[r.file, r.lab], r) for r in after if (r.file, r.lab) in before]


def _joined(runs: Sequence[Run]) -> list[Kept]:
    kept: dict[Path, Kept] = {}
    for run in runs:
        _check_alike(run, runs[0])
        for one in store.all_kept(run.folder):
            same = kept.setdefault(store.path(Path(), one.record.file, one.record.lab), one)
            if same.key != one.key:
                raise GradingError(f"{run.folder} and another part have different records of {one.record.file!r}; grade both anew")
    return list(kept.values())


def _check_alike(run: Run, first: Run) -> None:
    different = [what for what in ("seed", "warpwise") if run.about[what] != first.about[what]]
    labs, others = run.about["labs"], first.about["labs"]
    different += [f"lab {stem}" for stem in labs.keys() & others.keys() if labs[stem] != others[stem]]
    if different:
        what = {"seed": "another seed", "warpwise": "another version of warpwise"}.get(different[0], f"another version of {different[0]}")
        raise GradingError(f"{run.folder} was graded with {what} than {first.folder}")
