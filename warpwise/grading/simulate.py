"""Interpret a student's kernels on the hidden cases, in a process of their own.

    python -P -m warpwise.grading.simulate < job      write a line of JSON per exercise
    python -P -m warpwise.grading.simulate SOCKET     serve jobs, each in a fork (``serve``)

Everything that runs here is ours: kernels are text that is interpreted. So its verdicts can be
believed; it has limits of steps, CPU time and memory because a kernel may ask for more than it
should. It also cuts out the text of host functions, since that takes a parser; they run elsewhere,
in the sandbox."""

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
from typing import Any

from warpwise.errors import WarpwiseError
from warpwise.grading import extract, hidden, store, watch
from warpwise.grading.behaviour import behaviour
from warpwise.grading.fingerprints import fingerprint
from warpwise.grading.notebook import Answer
from warpwise.grading.record import NOT_PYTHON, STOPPED, Counter, Finding
from warpwise.grading.warm import Warm
from warpwise.labs import still
from warpwise.labs.budgets import counter_value
from warpwise.labs.exercise import Case, Launch, Reason, Verdict
from warpwise.labs.judge import judge
from warpwise.simt import Kernel

LIMITS = watch.Limits(cpu_seconds=20, memory_bytes=2 << 30, result_bytes=1 << 20)
RLIMITS = {"CPU": 40, "AS": 6 << 30, "FSIZE": 0, "NOFILE": 64, "CORE": 0}
MOST_CHARACTERS = 2000  #: of a detail; a line of the student's own may be long
PACKAGES = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-P", "-m", "warpwise.grading.simulate")


@dataclass(frozen=True)
class Simulated:
    """A finding on one exercise, or None and the text of a host function for the sandbox."""

    finding: Finding | None
    text: str = ""
    prints: tuple[int, ...] = ()  #: of the student's whole cell


def simulate(
    course: Path,
    stem: str,
    seed: int,
    answers: Sequence[Answer],
    given: Sequence[str],
    warm: Warm | None = None,
    limits: watch.Limits = LIMITS,
) -> dict[str, Simulated]:
    """Judge each answer, by exercise id.

    An exercise that ends the process is wrong for that reason, and the others are judged in a new
    one. ``warm`` is a process that was started for many submissions: see ``serving``."""
    found: dict[str, Simulated] = {}
    waiting = list(answers)
    about = {"course": str(course), "stem": stem, "seed": seed}
    kernels = [answer.id for answer in answers if answer.kind != "host"]
    while waiting:
        fields = about | {"given": list(given), "answers": [asdict(a) for a in waiting]}
        job = json.dumps(fields).encode()
        if warm:
            done = warm.run(job, limits, about | {"kernels": kernels})
        else:
            done = watch.run(COMMAND, job, limits, env=environment())
        lines = [json.loads(line) for line in done.result.splitlines() if line.endswith(b"}")]
        found |= {line["id"]: _simulated(line) for line in lines}
        waiting = waiting[len(lines) :]
        if waiting:
            told = {"cpu": f"used more than {limits.cpu_seconds:g} s of processor time"}
            why = told.get(done.stopped, "the simulation was ended")
            found[waiting.pop(0).id] = Simulated(Finding(False, STOPPED[done.stopped], why))
    return found


def serving() -> Warm:
    """Start a process that draws the hidden cases of each lab once, and forks per submission."""
    return Warm(COMMAND, environment())


def environment(backend: str = "simulator") -> dict[str, str]:
    """Return variables for a process with this package, on one core and this backend."""
    path = os.pathsep.join(filter(None, [str(PACKAGES), os.environ.get("PYTHONPATH")]))
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return os.environ | one_core | {"WARPWISE_BACKEND": backend, "PYTHONPATH": path}


def _simulated(line: dict[str, Any]) -> Simulated:
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


def _draw(about: dict[str, Any]) -> None:
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
            found = judge_answer(answer, tests, job["seed"], job["given"])
        print(json.dumps({"id": answer.id, "prints": fingerprint(answer.text)} | found), flush=True)


def judge_answer(
    answer: Answer, tests: ModuleType, seed: int, given: Sequence[str]
) -> dict[str, Any]:
    """Return ``{"text": ...}`` for a host function, and ``{"finding": ...}`` otherwise."""
    try:
        read = _read(answer, given)
        if isinstance(read, str) and read:
            return {"text": read}
        found = (
            finding(read, hidden.cases(tests, answer.id, seed))
            if isinstance(read, Kernel)
            else Finding(False, Reason.NOT_DONE)
        )
    except _UnreadableError as error:
        found = Finding(False, NOT_PYTHON, str(error))
    except MemoryError:
        found = Finding(False, STOPPED["memory"])
    except Exception as error:  # whatever a text does to the interpreter, the batch goes on
        failed = f"this could not be simulated ({type(error).__name__})"
        found = Finding(False, Reason.RAISED, failed)
    return {"finding": asdict(found)}


class _UnreadableError(Exception):
    """A cell without the kernel or function that is asked for. It says so of the text alone."""


def _read(answer: Answer, given: Sequence[str]) -> Kernel | str:
    """Return an answer's kernel, or the text of a host function, "" for one not begun."""
    try:
        if answer.kind == "host":
            return extract.host_function(answer.text, answer.name, answer.others, given)
        return extract.kernel(answer.text, answer.name, answer.others, given)
    except WarpwiseError as error:
        raise _UnreadableError(str(error)) from error


def finding(kernel: Kernel, cases: Sequence[Case]) -> Finding:
    """Judge a kernel on its cases, with a picture if it fails."""
    verdicts = judge(kernel, cases)
    found = summary(verdicts, cases)
    return found if found.passed else replace(found, picture=picture(verdicts))


def summary(verdicts: Sequence[Verdict], cases: Sequence[Case]) -> Finding:
    """Summarize the verdicts on an exercise's cases, of which the last is the first that failed.

    Of its messages only the hidden renderings go on from here: into records and feedback."""
    last, counters = verdicts[-1], tuple(worst(verdicts, cases))
    passed = len(verdicts) == len(cases) and all(verdict.passed for verdict in verdicts)
    detail, advice = last.message.hidden()[:MOST_CHARACTERS], last.remedy.hidden()
    found = Finding(passed, last.reason, detail, advice, cases=len(cases), counters=counters)
    if last.reason == Reason.NOT_DONE:
        return found
    found = replace(found, tried=len(verdicts))
    if passed:
        return found
    apart = behaviour(cases, len(verdicts) - 1, last.reason)
    return replace(found, case=last.case, behaviour=apart)


def picture(verdicts: Sequence[Verdict]) -> str:
    """Draw the failed case, or the last one that was right if an error left no trace."""
    traces = [verdict.trace for verdict in verdicts if verdict.trace is not None]
    trace = traces[-1] if traces else None
    try:
        return still.picture(trace, verdicts[-1].reason) if trace else ""
    except Exception:  # a verdict needs no picture
        return ""


def worst(verdicts: Iterable[Verdict], cases: Iterable[Case]) -> Iterator[Counter]:
    """Yield each counter with a budget, from the case that came nearest to it or went furthest."""
    seen: dict[str, list[Counter]] = {}
    for verdict, case in zip(verdicts, cases, strict=False):
        if isinstance(case, Launch) and verdict.trace is not None:
            for name, limit in case.budget.items():
                seen.setdefault(name, []).append(
                    Counter(name, counter_value(verdict.trace, name), limit)
                )
    for counters in seen.values():
        yield max(counters, key=lambda c: c.excess)


if __name__ == "__main__":
    main()
