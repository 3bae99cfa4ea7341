"""Work on existing runs: join the parts of one, or grade records again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import store
from warpwise.grading.engine import Execution, Progress, grade, write, writing
from warpwise.grading.record import Record
from warpwise.grading.store import Records, Run


def merge(out: str | Path, parts: Sequence[str | Path]) -> Records:
    """Join runs of parts of the same submissions in ``out``, which may be one of them or new.

    Raises GradingError, before anything is written, if their seeds or versions differ, or if a
    submission has two different records."""
    out = Path(out)
    folders = [*map(Path, parts), *([out] if (out / "run.json").exists() else [])]
    runs = [store.load(folder) for folder in dict.fromkeys(folders)]
    kept = _joined(runs)
    about = dict(runs[0].about)
    for name in ("labs", "sources", "layouts", "settings", "assigned", "unexpected"):
        of_runs = (run.about.get(name, {}) for run in reversed(runs))
        about[name] = {key: value for one in of_runs for key, value in one.items()}
    with writing(out):
        (out / "records").mkdir(parents=True, exist_ok=True)
        store.write_about(out, about)
        for name, folder in kept.items():
            store.keep(out, store.read(folder / "records" / name))
        write(out)
    return Records(out, list(kept))


def regrade(
    out: str | Path,
    wanted: Callable[[Record], bool],
    execution: Execution | None = None,
    progress: Progress = False,
) -> list[tuple[Record, Record]]:
    """Grade the wanted records again, from the same submissions and seed; return before and after.

    Raises GradingError if there are none, or the submissions are no longer where they were."""
    run = store.load(out)
    before = {(record.file, record.lab): record for record in run.records if wanted(record)}
    if not before:
        raise GradingError(f"{out} has no such record")
    on_gpu = any(result.gpu for record in before.values() for result in record.results)
    execution = replace(execution or Execution(), gpu=on_gpu)
    unsafe, course = not run.about["isolated"], run.about["settings"]["course"]
    after: list[Record] = []
    for lab, folder in run.about["sources"].items():
        if not lab or lab in {stem for _, stem in before}:
            after += grade(
                folder,
                out,
                lab or None,
                unsafe_local=unsafe,
                progress=progress,
                course=course,
                execution=execution,
                again=wanted,
            )
    return [(before[r.file, r.lab], r) for r in after if (r.file, r.lab) in before]


def _joined(runs: Sequence[Run]) -> dict[str, Path]:
    """Map the name of each record's file to a folder that has it."""
    kept: dict[str, Path] = {}
    keys: dict[str, str] = {}
    for run in runs:
        _check_alike(run, runs[0])
        for name in run.records.names:
            one = store.read(run.folder / "records" / name)
            kept.setdefault(name, run.folder)
            if keys.setdefault(name, one.key) != one.key:
                raise GradingError(
                    f"{run.folder} and another part have different records of "
                    f"{one.record.file!r}; grade both again"
                )
    return kept


def _check_alike(run: Run, first: Run) -> None:
    different = [what for what in ("seed", "warpwise") if run.about[what] != first.about[what]]
    labs, others = run.about["labs"], first.about["labs"]
    different += [
        f"lab {stem}" for stem in labs.keys() & others.keys() if labs[stem] != others[stem]
    ]
    if different:
        what = "seed" if different[0] == "seed" else f"version of {different[0]}"
        raise GradingError(f"{run.folder} was graded with a different {what} than {first.folder}")
