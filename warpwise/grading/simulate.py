"""The simulation's process: a student's kernels, interpreted on the hidden cases, under limits of steps, CPU time and memory.

    python -P -m warpwise.grading.simulate < job      one line of JSON per exercise on standard output
    python -P -m warpwise.grading.simulate SOCKET     serve many jobs, each in a fork (``inside/serve.py``)

Everything that runs here is ours: kernels are text that is interpreted. So its verdicts can be believed; the process is its own
because a kernel may still ask for more steps or memory than there should be. It also cuts out the text of host functions, since
that takes a parser; they run elsewhere, in the sandbox.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from warpwise.errors import GradingError, WarpwiseError
from warpwise.grading import extract, hidden, store, watch
from warpwise.grading.behaviour import behaviour
from warpwise.grading.notebook import Answer
from warpwise.grading.prints import fingerprint
from warpwise.grading.record import NOT_PYTHON, STOPPED, Counter, Finding
from warpwise.grading.told import public, shapes_blanked
from warpwise.grading.warm import Warm
from warpwise.labs import still
from warpwise.labs.exercise import Case, Launch, Reason, Verdict, counted
from warpwise.labs.judge import judge

LIMITS = watch.Limits(cpu_seconds=20, wall_seconds=120, memory_bytes=2 << 30, result_bytes=1 << 20)
RLIMITS = {"CPU": 30, "AS": 6 << 30, "FSIZE": 0, "NOFILE": 64, "CORE": 0}
PACKAGES = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-P", "-m", "warpwise.grading.simulate")


@dataclass(frozen=True)
class Simulated:
    """What the simulation says of one exercise: a finding, or None and the text of a host function, which is to run in the sandbox."""

    finding: Finding | None
    text: str = ""
    prints: tuple[int, ...] = ()  #: of the student's whole cell


def simulate(
    course: Path, stem: str, seed: int, answers: Sequence[Answer], given: Sequence[str], warm: Warm | None = None,
    limits: watch.Limits = LIMITS,
) -> dict[str, Simulated]:
    """What is said of each answer, by exercise id.

    An exercise that takes the process with it is found wrong for that reason, and the others are judged in a new one. ``warm`` is a
    process that was started for many submissions: see ``serving``.
    """
    found: dict[str, Simulated] = {}
    waiting = list(answers)
    about = {"course": str(course), "stem": stem, "seed": seed}
    kernels = [answer.id for answer in answers if answer.kind != "host"]
    while waiting:
        job = json.dumps(about | {"given": list(given), "answers": [asdict(a) for a in waiting]}).encode()
        done = warm.run(job, limits, about | {"kernels": kernels}) if warm else watch.run(COMMAND, job, limits, env=environment())
        lines = [json.loads(line) for line in done.result.splitlines() if line.endswith(b"}")]
        found |= {line["id"]: _simulated(line) for line in lines}
        waiting = waiting[len(lines) :]
        if waiting:
            found[waiting.pop(0).id] = Simulated(Finding(False, STOPPED[done.stopped], "the simulation was ended"))
    return found


def serving() -> Warm:
    """A process that has drawn the hidden cases of each lab it meets, and forks for each submission."""
    return Warm(COMMAND, environment())


def environment(backend: str = "simulator") -> dict[str, str]:
    """The variables of a process that runs this package on one core, with kernels in the simulator or on the GPU."""
    ours = {"WARPWISE_BACKEND": backend, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return os.environ | ours | {"PYTHONPATH": os.pathsep.join([str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])])}


def _simulated(line: dict) -> Simulated:
    found = store.finding(line["finding"]) if "finding" in line else None
    return Simulated(found, line.get("text", ""), tuple(line["prints"]))


# From here on: what runs in the process.


def main() -> None:
    if sys.argv[1:]:
        from warpwise.grading.inside.serve import serve

        still.warm()
        serve(int(sys.argv[1]), _draw, _play)
    else:
        _play()


def _draw(about: dict) -> None:
    """Draw a lab's cases, once for all submissions."""
    tests = _tests(about["course"], about["stem"])
    for exercise in about["kernels"]:
        hidden.cases(tests, exercise, about["seed"])


@lru_cache(maxsize=32)
def _tests(course: str, stem: str) -> ModuleType:
    return hidden.load(Path(course), stem)


def _play() -> None:
    from warpwise.grading.inside.start import confine

    job = json.loads(sys.stdin.buffer.read())
    tests = _tests(job["course"], job["stem"])
    confine({"rlimits": RLIMITS})
    for fields in job["answers"]:
        answer = Answer(**fields)
        with contextlib.redirect_stdout(None):  # what a kernel prints must not pass for a finding
            found = look_at(answer, tests, job["seed"], job["given"])
        print(json.dumps({"id": answer.id, "prints": fingerprint(answer.text)} | found), flush=True)


def look_at(answer: Answer, tests, seed: int, given: Sequence[str]) -> dict:
    """``{"text": ...}`` for a host function, ``{"finding": ...}`` for a kernel and for what cannot be judged."""
    cut = extract.host_function if answer.kind == "host" else extract.kernel
    try:
        subject = cut(answer.text, answer.name, answer.others, given)
        if answer.kind == "host":
            return {"text": subject} if subject else {"finding": asdict(Finding(False, Reason.NOT_DONE))}
        cases = hidden.cases(tests, answer.id, seed)
        verdicts = judge(subject, cases)
        found = summary([public(verdict, case) for verdict, case in zip(verdicts, cases, strict=False)], cases)
        return {"finding": asdict(replace(found, picture="" if found.passed else picture(verdicts)))}
    except (GradingError, WarpwiseError) as error:
        return {"finding": asdict(Finding(False, NOT_PYTHON, str(error)))}
    except MemoryError:
        return {"finding": asdict(Finding(False, STOPPED["memory"]))}
    except Exception as error:  # whatever a text can bring about in the interpreter, the batch goes on
        return {"finding": asdict(Finding(False, Reason.RAISED, f"this could not be simulated ({type(error).__name__})"))}


def summary(verdicts: Sequence[Verdict], cases: Sequence[Case]) -> Finding:
    """One finding from the verdicts on an exercise's cases, of which the last is the first that failed."""
    last = verdicts[-1]
    passed = len(verdicts) == len(cases) and all(verdict.passed for verdict in verdicts)
    found = Finding(passed, last.reason, last.detail, last.advice, cases=len(cases), counters=tuple(worst(verdicts, cases)))
    if last.reason == Reason.NOT_DONE:
        return found
    apart = "" if passed else behaviour(cases, len(verdicts) - 1, last.reason)
    detail = shapes_blanked(last.detail, cases)
    return replace(found, detail=detail, case="" if passed else last.case, tried=len(verdicts), behaviour=apart)


def picture(verdicts: Sequence[Verdict]) -> str:
    """A still of the failed case, or of the last one that was right if an error left no trace."""
    trace = next((verdict.trace for verdict in reversed(verdicts) if verdict.trace is not None), None)
    try:
        return still.picture(trace, verdicts[-1].reason) if trace else ""
    except Exception:  # a verdict needs no picture
        return ""


def worst(verdicts: Iterable[Verdict], cases: Iterable[Case]) -> Iterator[Counter]:
    """Each counter that has a budget, as it was in the case that came nearest to it or went furthest beyond."""
    seen: dict[str, list[Counter]] = {}
    for verdict, case in zip(verdicts, cases, strict=False):
        if isinstance(case, Launch) and verdict.trace is not None:
            for name, limit in case.budget.items():
                seen.setdefault(name, []).append(Counter(name, counted(verdict.trace, name), limit))
    for counters in seen.values():
        yield max(counters, key=lambda c: c.excess)


if __name__ == "__main__":
    main()
