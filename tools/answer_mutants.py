"""Count how many small mistakes in the labs' solutions the hidden cases refuse, in an hour.

Each mutant of a solution (``tests/support/solution_mutants.py``) is refused for a reason, over
budget, listed as equivalent in ``tests/course/<lab>/equivalent.toml``, or a gap: then this ends
with 1. Also counted are those that the lab's own check calls right, though the hidden cases refuse
them. Results are kept line by line, so that a run goes on where it stopped; an exercise whose
solution or cases have changed is judged again. A change of the simulator is not noticed: delete the
file of results then. ``tools/mutants.py`` is about faults in the package instead.

    PYTHONPATH=tests .venv/bin/python tools/answer_mutants.py --lab 08_coalescing
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer
from support.lab_cases import STEMS
from support.paths import ROOT
from support.solution_mutants import (
    Mutant,
    Outcome,
    digest,
    equivalents,
    mistaken,
    mutants,
    outcome,
    stale,
)
from tqdm import tqdm

from warpwise.errors import GradingError
from warpwise.grading import parts, sandbox
from warpwise.grading.warm import Warm

COLUMNS = ("mutants", "refused", "over budget", "equivalent", "gaps", "hidden only")
Tried = list[tuple[Mutant, Outcome]]


class Judge:
    """What one process needs to judge mutants: a warm sandbox, and the results that are known."""

    here: Judge

    def __init__(self, seed: int, known: dict[str, Outcome]):
        self.seed, self.known = seed, known
        self.mode, self.warm = _sandbox()

    @classmethod
    def begin(cls, seed: int, known: dict[str, Outcome]) -> None:
        cls.here = cls(seed, known)

    def judged(self, mutant: Mutant) -> tuple[str, Outcome]:
        name = digest(mutant, self.seed)
        found = self.known.get(name) or outcome(mutant, self.seed, self.mode, self.warm)
        return name, found


def judged(mutant: Mutant) -> tuple[Mutant, str, Outcome]:
    """Judge a mutant in a process that has begun."""
    return mutant, *Judge.here.judged(mutant)


def _sandbox() -> tuple[str, Warm | None]:
    """Return a way to run host functions: in rooms of one sandbox if this machine has any."""
    try:
        mode = sandbox.isolation()
        return mode, sandbox.warm(parts.FUNCTIONS, mode)
    except GradingError:
        return sandbox.NONE, None


def tried(drawn: list[Mutant], seed: int, jobs: int, results: Path) -> Tried:
    """Judge mutants in processes, and keep what is not known yet."""
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    known = {one.pop("digest"): Outcome(**one) for one in map(json.loads, lines)}
    found = []
    with (
        ProcessPoolExecutor(jobs, initializer=Judge.begin, initargs=(seed, known)) as pool,
        results.open("a", encoding="utf-8") as file,
    ):
        running = [pool.submit(judged, mutant) for mutant in drawn]
        for done in tqdm(as_completed(running), total=len(running), desc="mutants"):
            mutant, name, result = done.result()
            found.append((mutant, result))
            if name not in known:
                file.write(json.dumps({"digest": name, **vars(result)}) + "\n")
                file.flush()
    return found


def counts(lab: str, results: Tried) -> tuple[int, ...]:
    """Count a lab's mutants for the table's columns."""
    of_lab = [(mutant, result) for mutant, result in results if mutant.lab == lab]
    passed = [mutant for mutant, result in of_lab if result.survives]
    listed = sum((mutant.exercise, mutant.key) in equivalents(lab) for mutant in passed)
    over = sum(result.over_budget for _, result in of_lab)
    only_hidden = sum(result.only_hidden for _, result in of_lab)
    refused = len(of_lab) - len(passed) - over
    return len(of_lab), refused, over, listed, len(passed) - listed, only_hidden


def table(results: Tried, labs: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table of the labs."""
    yield f"{'':22}" + "".join(f"{name:>13}" for name in COLUMNS)
    rows = [(lab, counts(lab, results)) for lab in labs]
    total = tuple(map(sum, zip(*(row for _, row in rows), strict=True)))
    for lab, row in [*rows, ("all", total)]:
        yield f"{lab:22}" + "".join(f"{number:13,}" for number in row)


def main(
    lab: Annotated[list[str] | None, typer.Option(help="Only these labs, by stem.")] = None,
    exercise: Annotated[str, typer.Option(help="Only this exercise.")] = "",
    seed: Annotated[int, typer.Option(help="Draws the hidden cases.")] = 0,
    jobs: Annotated[int, typer.Option(help="How many are tried at a time.")] = os.cpu_count() or 1,
    out: Annotated[Path, typer.Option(help="Keeps results.")] = ROOT / "_build/answer_mutants",
) -> None:
    """Count how many small mistakes in the labs' solutions the hidden cases refuse."""
    labs = [stem for stem in STEMS if not lab or stem in lab]
    drawn = [one for stem in labs for one in mutants(stem) if exercise in ("", one.exercise)]
    if not drawn:
        raise SystemExit(f"no such lab or exercise; the labs are {', '.join(STEMS)}")
    out.mkdir(parents=True, exist_ok=True)
    results = tried(drawn, seed, jobs, out / "results.jsonl")
    for mutant, result in results:
        if result.only_hidden:
            print(f"{mutant.lab} {mutant.exercise} only the hidden cases refuse: {mutant.key}")
    unknown = [f"{stem} {key}" for stem in labs for key in stale(stem, equivalents(stem))]
    wrong = mistaken(results) + [f"listed, and no mutant: {key}" for key in unknown]
    print(*wrong, sep="\n")
    print(*table(results, labs), sep="\n")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    typer.run(main)
