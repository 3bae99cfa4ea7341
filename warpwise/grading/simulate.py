"""Interpret a student's kernels on the hidden cases, in a process of their own.

    python -P -m warpwise.grading.simulate < job      write lines of JSON, one per exercise
    python -P -m warpwise.grading.simulate SOCKET     serve jobs, each in a fork (``serve``)

Everything that runs here is ours: kernels are text that is interpreted. So its verdicts can be
believed; it has limits of steps, CPU time and memory because a kernel may ask for more than it
should. Lines before that of an exercise say how far it came. It also cuts out the text of host
functions, since that takes a parser; they run elsewhere, in the sandbox."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from warpwise.errors import WarpwiseError
from warpwise.grading import extract, hidden, store, watch
from warpwise.grading.behaviour import Probe, behaviour
from warpwise.grading.fingerprints import fingerprint
from warpwise.grading.notebook import Answer
from warpwise.grading.record import NOT_PYTHON, STOPPED, Counter, Finding
from warpwise.grading.warm import Warm
from warpwise.labs import still
from warpwise.labs.compiler_budget import causes, has_budget
from warpwise.labs.counted import counted
from warpwise.labs.endless import does_not_end
from warpwise.labs.exercise import Case, Reason, Verdict
from warpwise.labs.judge import judged, telling
from warpwise.simt import Kernel

LIMITS = watch.Limits(cpu_seconds=20, memory_bytes=2 << 30, result_bytes=1 << 20)
RLIMITS = {"CPU": 40, "AS": 6 << 30, "FSIZE": 0, "NOFILE": 64, "CORE": 0}
SPARE_SECONDS = 5.0  #: of processor time, within which a wrong answer meets further cases
HOPELESS = (Reason.ENDLESS, Reason.TOO_SLOW)
MOST_CHARACTERS = 2000  #: of a detail; a line of the student's own may be long
PACKAGES = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-P", "-m", "warpwise.grading.simulate")


@dataclass(frozen=True)
class Simulated:
    """A finding on one exercise, or None and the text of a host function for the sandbox.

    ``endless`` is True if the text shows that the function does not end."""

    finding: Finding | None
    text: str = ""
    endless: bool = False
    prints: tuple[int, ...] = ()  #: of the student's whole cell
    #: of a kernel that passed and has a budget for the compiler: ``compiler_budget.causes``
    causes: Mapping[str, str] = field(default_factory=dict)


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

    Each has all of the limits: one that ends the process is tried again in one of its own if others
    came before it. If it ends this too, it is wrong for that reason, unless a case had given a
    wrong result before; the rest are judged in a new process. ``warm`` is one that was started for
    many submissions: see ``serving``."""
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
        whole = [line for line in lines if "prints" in line]
        found |= {line["id"]: _simulated(line) for line in whole}
        waiting = waiting[len(whole) :]
        if waiting and not whole:
            told = {"cpu": f"used more than {limits.cpu_seconds:g} s of processor time"}
            why = told.get(done.stopped, "the simulation was ended")
            ended, stopped = waiting.pop(0).id, Finding(False, STOPPED[done.stopped], why)
            steps = [line for line in lines if line["id"] == ended]
            found[ended] = Simulated(_interrupted(stopped, steps))
    return found


def _interrupted(stopped: Finding, steps: Sequence[dict[str, Any]]) -> Finding:
    """Return the finding on an answer whose process was ended, from what it said of its cases."""
    begun = [line for line in steps if "case" in line]
    if not begun:
        return stopped
    label, counts = begun[-1]["case"], {"tried": begun[-1]["tried"], "cases": begun[-1]["cases"]}
    before = [store.finding(line["so_far"]) for line in steps if "so_far" in line]
    if before and before[-1].tried == counts["tried"]:
        return before[-1]  # it ended after the case, among probes
    known = before[-1].failed if before else ()
    wrong = [found for found in before[-1:] if not found.reason.startswith(Reason.OVER_BUDGET)]
    found = wrong[0] if wrong else replace(stopped, case=label)
    return replace(found, **counts, failed=(*known, label))


def serving() -> Warm:
    """Start a process that draws the hidden cases of each lab once, and forks per submission."""
    return Warm(COMMAND, environment())


def environment(backend: str = "simulator") -> dict[str, str]:
    """Return variables for a process with this package, on one core and this backend.

    Folders that are named from here are so from anywhere: none is looked for beside answers."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join([str(PACKAGES), *(os.path.abspath(one) for one in given if one)])
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return os.environ | one_core | {"WARPWISE_BACKEND": backend, "PYTHONPATH": path}


def _simulated(line: dict[str, Any]) -> Simulated:
    found = store.finding(line["finding"]) if "finding" in line else None
    endless = line.get("endless", False)
    return Simulated(
        found, line.get("text", ""), endless, tuple(line["prints"]), line.get("causes", {})
    )


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
        say = partial(_say, sys.stdout, answer.id)
        with contextlib.redirect_stdout(None):  # what a kernel prints must not pass for a finding
            course = (tests, job["seed"], job["given"])
            until = time.process_time() + SPARE_SECONDS
            found = judge_answer(answer, *course, Progress(say, until))
        say({"prints": fingerprint(answer.text)} | found)


def _say(stream: TextIO, exercise: str, line: dict[str, Any]) -> None:
    print(json.dumps({"id": exercise} | line), file=stream, flush=True)


@dataclass(frozen=True)
class Progress:
    """What to tell on the way, and the processor time from which on a wrong answer is let be.

    There are no more cases then, once one gave a wrong result, and no probes. An answer that is
    only over budget goes on, since it may earn a share of its points for being right."""

    say: Callable[[dict[str, Any]], None] = lambda line: None
    until: float = math.inf

    @property
    def over(self) -> bool:
        return time.process_time() > self.until


def judge_answer(
    answer: Answer,
    tests: ModuleType,
    seed: int,
    given: Sequence[str],
    progress: Progress = Progress(),
) -> dict[str, Any]:
    """Return ``{"text": ..., "endless": ...}`` for a host function, else ``{"finding": ...}``."""
    try:
        read, said = _read(answer, given), dict[str, str]()
        if isinstance(read, str) and read:
            return {"text": read, "endless": does_not_end(read, answer.name)}
        about = (tests, answer.id, seed)
        found = (
            finding(read, hidden.cases(*about), partial(hidden.more_cases, *about), progress)
            if isinstance(read, Kernel)
            else Finding(False, Reason.NOT_DONE)
        )
        if found.passed and isinstance(read, Kernel) and has_budget(hidden.cases(*about)):
            said = causes(read)
        return {"finding": asdict(found), "causes": said}
    except _UnreadableError as error:
        found = Finding(False, error.reason, str(error), error.advice)
    except MemoryError:
        found = Finding(False, STOPPED["memory"])
    except Exception as error:  # whatever a text does to the interpreter, the batch goes on
        failed = f"this could not be simulated ({type(error).__name__})"
        found = Finding(False, Reason.RAISED, failed)
    return {"finding": asdict(found)}


class _UnreadableError(Exception):
    """A cell without the kernel or function that is asked for. It says so of the text alone."""

    def __init__(self, reason: str, what: str, advice: str = ""):
        super().__init__(what)
        self.reason, self.advice = reason, advice


def _read(answer: Answer, given: Sequence[str]) -> Kernel | str:
    """Return an answer's kernel, or the text of a host function, "" for one not begun."""
    try:
        if answer.kind == "host":
            return extract.host_function(answer.text, answer.name, answer.others, given)
        return extract.kernel(answer.text, answer.name, answer.others, given)
    except extract.NotDefinedError as error:
        raise _UnreadableError(Reason.NOT_DEFINED, str(error), error.advice) from error
    except WarpwiseError as error:
        raise _UnreadableError(NOT_PYTHON, str(error)) from error


def finding(
    kernel: Kernel,
    cases: Sequence[Case],
    draw: Callable[[], Sequence[Case]] = tuple,
    progress: Progress = Progress(),
) -> Finding:
    """Judge a kernel on its cases, with a picture if it fails.

    ``draw`` makes more cases, by which an explanation of the failure is confirmed. A kernel that
    used up its steps would do so again, so no case follows one of these."""
    verdicts: list[Verdict] = []
    for verdict in judged(kernel, _announced(cases, progress), record=()):
        verdicts.append(verdict)
        if not verdict.passed:
            progress.say({"so_far": asdict(summary(verdicts, cases))})
            wrong = not verdicts[telling(verdicts)].reason.startswith(Reason.OVER_BUDGET)
            if verdict.reason in HOPELESS or (wrong and progress.over):
                break

    def again(fresh: Sequence[Case]) -> Iterator[bool]:
        in_time = takewhile(lambda case: not progress.over, fresh)
        return (verdict.passed for verdict in judged(kernel, in_time, record=()))

    if not all(verdict.passed for verdict in verdicts):
        progress.say({"so_far": asdict(summary(verdicts, cases))})
    found = summary(verdicts, cases, Probe(draw, again))
    return found if found.passed else replace(found, picture=picture(kernel, cases, verdicts))


def _announced(cases: Sequence[Case], progress: Progress) -> Iterator[Case]:
    for number, case in enumerate(cases, 1):
        progress.say({"case": case.label, "tried": number, "cases": len(cases)})
        yield case


def summary(
    verdicts: Sequence[Verdict], cases: Sequence[Case], probe: Probe | None = None
) -> Finding:
    """Summarize the verdicts on the first so many of an exercise's cases.

    Of messages only the hidden renderings go on from here: into records and feedback."""
    told, counters = verdicts[telling(verdicts)], tuple(worst(verdicts, cases))
    failed = tuple(verdict.case for verdict in verdicts if not verdict.passed)
    passed = len(verdicts) == len(cases) and not failed
    detail, advice = told.message.hidden()[:MOST_CHARACTERS], told.remedy.hidden()
    found = Finding(passed, told.reason, detail, advice, cases=len(cases), counters=counters)
    if told.reason == Reason.NOT_DONE:
        return found
    found = replace(found, tried=len(verdicts))
    if passed:
        return found
    apart = behaviour(cases, [verdict.passed for verdict in verdicts], told.reason, probe)
    return replace(found, case=told.case, behaviour=apart, failed=failed)


def picture(kernel: Kernel, cases: Sequence[Case], verdicts: Sequence[Verdict]) -> str:
    """Draw the case that is told, or one before it that left a trace if an error left none.

    It is launched once more: what a picture shows of each access is not kept of every case."""
    told = telling(verdicts)
    traced = [at for at, verdict in enumerate(verdicts[: told + 1]) if verdict.trace is not None]
    try:
        again = next(judged(kernel, [cases[at] for at in traced[-1:]]), None)
        trace = again.trace if again else None
        return still.picture(trace, verdicts[told].reason) if trace else ""
    except Exception:  # a verdict needs no picture
        return ""


def worst(verdicts: Iterable[Verdict], cases: Iterable[Case]) -> Iterator[Counter]:
    """Yield each counter with a budget, from the case that came nearest to it or went furthest.

    A case that allows none and has some goes before all others, whatever the sizes drawn."""
    seen: dict[str, list[Counter]] = {}
    for verdict, case in zip(verdicts, cases, strict=False):
        for name, value, limit in counted(verdict, case):
            seen.setdefault(name, []).append(Counter(name, value, limit))
    for counters in seen.values():
        yield max(counters, key=lambda c: (c.over and not c.limit, c.excess))


if __name__ == "__main__":
    main()
