"""Count how many small faults in the package its tests find: 200, drawn by cosmic-ray.

Faults are spread over the simulator, counters, labs, grader and views, and tried in clones of the
repository, in mixed order: first against the quick tests of their part, then against the slow ones.
Results are kept line by line, so that a run goes on where it stopped. It takes hours.

    .venv/bin/python -m pip install cosmic-ray
    PYTHONPATH=tests .venv/bin/python tools/mutants.py
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import random
import signal
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated

import typer
from support.paths import ROOT
from tqdm import tqdm

# Part of the package: how many faults of 200, and where its tests are.
PARTS = {
    "simt": (80, "simt core cuda course/test_labs.py kernels"),
    "metrics": (20, "core simt report course/test_labs.py"),
    "labs": (30, "labs course cli repository/test_windows.py"),
    "grading": (40, "grading cli course/test_labs.py"),
    "views": (30, "views labs browser"),
}
STAGES = {"quick": "not slow and not system", "slow": "slow or system"}
SECONDS = 1800  # for a stage; a fault that takes longer is found, since something does not end
CONFIG = """[cosmic-ray]
module-path = {}
timeout = 1
excluded-modules = []
test-command = "true"
distributor.name = "local"
"""


@dataclass(frozen=True)
class Mutant:
    """A fault: where it is, what it changes, and its module's text with it."""

    part: str
    path: str
    diff: str
    text: str


def drawn(copy: Path, count: int, seed: int) -> list[Mutant]:
    """Draw faults of all that cosmic-ray knows; those at one place count as one, and those that
    change nothing (in annotations, or of no syntax) not at all."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator
    from cosmic_ray.work_db import WorkDB, use_db

    config, session = copy.with_suffix(".toml"), copy.with_suffix(".sqlite")
    config.write_text(CONFIG.format([f"warpwise/{part}" for part in PARTS]))
    command = Path(sys.executable).parent / "cosmic-ray"
    subprocess.run([command, "init", config, session], cwd=copy, check=True)
    places = defaultdict(list)
    with use_db(session, WorkDB.Mode.open) as database:
        for item in database.work_items:
            fault = item.mutations[0]
            path, kind = Path(fault.module_path), fault.operator_name.partition("_")[0]
            places[path.parts[1], path, fault.start_pos, kind].append(fault)
    chance, found = random.Random(seed), []
    for part, (share, _) in PARTS.items():
        kept: list[Mutant] = []
        of_part = sorted(place for place in places if place[0] == part)
        for place in chance.sample(of_part, len(of_part)):
            if len(kept) == round(share * count / 200):
                break
            fault = chance.choice(sorted(places[place], key=lambda fault: fault.operator_name))
            source = (copy / place[1]).read_text("utf-8")
            text = mutate_code(source, get_operator(fault.operator_name)(), fault.occurrence)
            if matters(source, text, place[2]):
                lines = (source.splitlines(), text.splitlines())
                diff = "\n".join(difflib.unified_diff(*lines, str(place[1]), lineterm="", n=0))
                kept.append(Mutant(part, str(place[1]), diff, text))
        found += kept
    return found


def matters(source: str, text: str | None, place: tuple[int, int]) -> bool:
    """Return whether a changed text is Python, and other Python, outside of annotations."""
    for node in ast.walk(tree := ast.parse(source)):
        for mark in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if mark and (mark.lineno, mark.col_offset) <= place < (
                mark.end_lineno,
                mark.end_col_offset,
            ):
                return False
    try:
        return bool(text) and ast.dump(ast.parse(text)) != ast.dump(tree)
    except SyntaxError:
        return False


def caught(copy: Path, mutant: Mutant, stage: str) -> bool:
    """Return whether a stage of the tests fails, or does not end, on a fault."""
    path = copy / mutant.path
    before = path.read_text("utf-8")
    path.write_text(mutant.text, "utf-8")
    folders = [f"tests/{name}" for name in PARTS[mutant.part][1].split()]
    command = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with open(copy.with_suffix(".txt"), "w") as said:
        run = subprocess.Popen(
            [*command, "-m", STAGES[stage], *folders],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        return run.wait(SECONDS) != 0
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return True
    finally:
        path.write_text(before, "utf-8")


class Clones:
    """Clones of the repository, each for one fault at a time."""

    def __init__(self, folder: Path, count: int):
        self.free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            copy = folder / f"copy{number}"
            if not copy.exists():
                subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
            self.free.put(copy)

    def caught(self, mutant: Mutant, stage: str) -> bool:
        """Return whether a stage of the tests finds a fault."""
        copy = self.free.get()
        try:
            return caught(copy, mutant, stage)
        finally:
            self.free.put(copy)


def main(
    out: Annotated[Path, typer.Option(help="Keeps faults and results.")] = ROOT / "_build/mutants",
    count: Annotated[int, typer.Option(help="How many faults.")] = 200,
    seed: Annotated[int, typer.Option(help="Draws which.")] = 16,
    workers: Annotated[int, typer.Option(help="How many are tried at a time.")] = 2,
    slow: Annotated[bool, typer.Option(help="Try what quick tests miss on slow ones.")] = True,
) -> None:
    """Count how many small faults in the package its tests find."""
    out.mkdir(parents=True, exist_ok=True)
    clones = Clones(out.resolve(), workers)
    kept = out / "faults.json"
    if not kept.exists():
        made = drawn(out.resolve() / "copy0", count, seed)
        kept.write_text(json.dumps([asdict(mutant) for mutant in made]))
    mutants = [Mutant(**about) for about in json.loads(kept.read_text())]
    results = out / "results.jsonl"
    lines = results.read_text().splitlines() if results.exists() else []
    found = {(one["number"], one["stage"]): one["caught"] for one in map(json.loads, lines)}
    for stage in list(STAGES)[: 1 + slow]:
        left = [
            number
            for number in range(len(mutants))
            if (number, stage) not in found and not any(found.get((number, s)) for s in STAGES)
        ]
        with ThreadPoolExecutor(workers) as pool:
            unharmed = (ROOT / "warpwise/errors.py").read_text("utf-8")
            fine = {part: Mutant(part, "warpwise/errors.py", "", unharmed) for part in PARTS}
            begun = {mutants[number].part for number, of in found if of == stage}
            for part in {mutants[number].part for number in left} - begun:
                if clones.caught(fine[part], stage):
                    raise SystemExit(f"{stage} tests of {part} fail without a fault: see {out}")
            random.Random(seed).shuffle(left)
            trying = {pool.submit(clones.caught, mutants[n], stage): n for n in left}
            for done in tqdm(as_completed(trying), desc=stage, total=len(trying)):
                one = {"number": trying[done], "stage": stage, "caught": done.result()}
                found[one["number"], stage] = one["caught"]
                with results.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    missed = [m for i, m in enumerate(mutants) if not any(found.get((i, s)) for s in STAGES)]
    for mutant in missed:
        print(f"\nmissed in {mutant.part}:\n{mutant.diff}")
    for part in PARTS:
        of_part = sum(mutant.part == part for mutant in mutants)
        print(f"{part:12} {of_part - sum(m.part == part for m in missed):4} of {of_part}")
    print(f"{'all':12} {len(mutants) - len(missed):4} of {len(mutants)}")


if __name__ == "__main__":
    typer.run(main)
