"""Work on existing runs: join the parts of one, or grade records again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from warpwise.errors import GradingError
from warpwise.grading import decisions, material, store, unfinished
from warpwise.grading.changes import Confirm
from warpwise.grading.engine import Progress, grade, write, writing
from warpwise.grading.execution import Execution
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
    plan = unfinished.joined([unfinished.load(run.folder) for run in runs])
    with writing(out):
        (out / "records").mkdir(parents=True, exist_ok=True)
        unfinished.save(out, plan)
        store.write_about(out, about)
        for name, folder in kept.items():
            store.keep(out, store.read(folder / "records" / name))
        unfinished.end(out)
        write(out)
    return Records(out, list(kept))


def regrade(
    out: str | Path,
    wanted: Callable[[Record], bool],
    execution: Execution | None = None,
    progress: Progress = False,
    confirm: Confirm = lambda changes: True,
    why: str = "",
) -> list[tuple[Record, Record]]:
    """Grade the wanted records again, from the same submissions and seed; return before and after.

    All others stay as they are, whatever has changed since. ``confirm`` and ``why`` are as for
    ``grade``. Raises GradingError if there are none, or one's submission is no longer there."""
    run = store.load(out)
    there = unfinished.current(run).records
    before = {(record.file, record.lab): record for record in there if wanted(record)}
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
                only=before,
                confirm=confirm,
                why=why,
            )
    gone = before.keys() - {(record.file, record.lab) for record in after}
    if gone:
        files = ", ".join(sorted(repr(file) for file, _ in gone))
        raise GradingError(f"what was handed in is no longer there, and its grade stays: {files}")
    return [(before[record.file, record.lab], record) for record in after]


def outdated(out: str | Path) -> tuple[int, str]:
    """Count the records that today's tests, labs and grader would grade anew; say what changed."""
    run = store.load(out)
    course = Path(run.about["settings"]["course"])
    stems, reasons = material.stems(course), Counter[str]()
    digests = {stem: material.digests(course, stem) for stem in run.about["labs"] if stem in stems}
    count = 0
    for kept in run.records.kept():
        parts = digests.get(kept.record.lab, {}) | {"grader": material.grader_version()}
        changed = decisions.changed(kept.parts, {**kept.parts, **parts})
        reasons.update(decisions.reason([name], kept.record.lab) for name in changed)
        count += bool(changed)
    return count, "; ".join(reason for reason, _ in reasons.most_common())


def _joined(runs: Sequence[Run]) -> dict[str, Path]:
    """Map the name of each record's file to a folder that has it; of two grades to the later."""
    kept: dict[str, Path] = {}
    keys: dict[str, str] = {}
    earlier: dict[str, set[str]] = {}
    for run in runs:
        _check_alike(run, runs[0])
        if (run.folder / store.PENDING).is_dir():
            again = "run the same `warpwise grade` with --yes there first"
            raise GradingError(f"{run.folder} has new grades that wait in pending: {again}")
        for name in run.records.names:
            one = store.read(run.folder / "records" / name)
            before = {grade.key for grade in one.earlier}
            known = keys.get(name, one.key)
            if known in before or name not in keys:
                kept[name], keys[name], earlier[name] = run.folder, one.key, before
            elif known != one.key and one.key not in earlier[name]:
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
