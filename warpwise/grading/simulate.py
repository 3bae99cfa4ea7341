"""The simulation's process: a student's kernels, interpreted on the hidden cases, under limits of steps, CPU time and memory.

    python -P -m warpwise.grading.simulate < job      one line of JSON per exercise on standard output

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
from dataclasses import asdict, replace
from pathlib import Path

from warpwise.errors import GradingError, WarpwiseError
from warpwise.grading import extract, hidden, watch
from warpwise.grading.notebook import Answer
from warpwise.grading.record import NOT_PYTHON, STOPPED, Counter, Finding
from warpwise.labs.exercise import Case, Launch, Reason, Verdict, counted
from warpwise.labs.judge import judge

LIMITS = watch.Limits(cpu_seconds=20, wall_seconds=120, memory_bytes=2 << 30, result_bytes=1 << 20)
RLIMITS = {"CPU": 21, "AS": 6 << 30, "FSIZE": 0, "NOFILE": 64, "CORE": 0}
PACKAGES = Path(__file__).resolve().parents[2]

# Details of these verdicts quote the hidden data.
QUOTING = (Reason.WRONG_RESULT, Reason.WRONG_TYPE, Reason.INPUT_CHANGED)


def simulate(course: Path, stem: str, seed: int, answers: Sequence[Answer], given: Sequence[str]) -> dict[str, Finding | str]:
    """By exercise id: the finding on a kernel, or the text of a host function that is to run in the sandbox.

    An exercise that takes the process with it is found wrong for that reason, and the others are judged in a new one.
    """
    found: dict[str, Finding | str] = {}
    waiting = list(answers)
    while waiting:
        job = {"course": str(course), "stem": stem, "seed": seed, "given": list(given), "answers": [asdict(a) for a in waiting]}
        done = watch.run([sys.executable, "-P", "-m", "warpwise.grading.simulate"], json.dumps(job).encode(), LIMITS, env=_environment())
        lines = [json.loads(line) for line in done.result.splitlines() if line.endswith(b"}")]
        found |= {line["id"]: line["text"] if "text" in line else _finding(line["finding"]) for line in lines}
        waiting = waiting[len(lines) :]
        if waiting:
            last_words = done.chatter.strip().splitlines()[-1:]
            found[waiting.pop(0).id] = Finding(False, STOPPED[done.stopped], "the simulation was ended. " + " ".join(last_words)[:200])
    return found


def _environment() -> dict[str, str]:
    ours = {"WARPWISE_BACKEND": "simulator", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return os.environ | ours | {"PYTHONPATH": os.pathsep.join([str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])])}


def _finding(fields: dict) -> Finding:
    return Finding(**fields | {"counters": tuple(Counter(**c) for c in fields["counters"])})


# From here on: what runs in the process.


def main() -> None:
    from warpwise.grading.inside.start import confine

    job = json.load(sys.stdin)
    tests = hidden.load(Path(job["course"]), job["stem"])
    confine({"rlimits": RLIMITS})
    for fields in job["answers"]:
        answer = Answer(**fields)
        with contextlib.redirect_stdout(None):  # what a kernel prints must not pass for a finding
            found = look_at(answer, tests, job["seed"], job["given"])
        print(json.dumps({"id": answer.id} | found), flush=True)


def look_at(answer: Answer, tests, seed: int, given: Sequence[str]) -> dict:
    """``{"text": ...}`` for a host function, ``{"finding": ...}`` for a kernel and for what cannot be judged."""
    cut = extract.host_function if answer.kind == "host" else extract.kernel
    try:
        subject = cut(answer.text, answer.name, answer.others, given)
        if answer.kind == "host":
            return {"text": subject} if subject else {"finding": asdict(Finding(False, Reason.NOT_DONE))}
        cases = hidden.cases(tests, answer.id, seed)
        return {"finding": asdict(summary([public(verdict) for verdict in judge(subject, cases)], cases))}
    except (GradingError, WarpwiseError) as error:
        return {"finding": asdict(Finding(False, NOT_PYTHON, str(error)))}
    except MemoryError:
        return {"finding": asdict(Finding(False, STOPPED["memory"]))}
    except Exception as error:  # whatever a text can bring about in the interpreter, the batch goes on
        return {"finding": asdict(Finding(False, Reason.RAISED, f"this could not be simulated ({type(error).__name__}: {error})"[:300]))}


def summary(verdicts: Sequence[Verdict], cases: Sequence[Case]) -> Finding:
    """One finding from the verdicts on an exercise's cases, of which the last is the first that failed."""
    last = verdicts[-1]
    passed = len(verdicts) == len(cases) and all(verdict.passed for verdict in verdicts)
    advice = "" if last.advice in last.detail else last.advice  # the text of a kernel's error holds its advice
    tried = 0 if last.reason == Reason.NOT_DONE else len(verdicts)
    return Finding(passed, last.reason, last.detail, advice, "" if passed else last.case, tried, len(cases), tuple(worst(verdicts, cases)))


def public(verdict: Verdict) -> Verdict:
    """A verdict without what a student must not read: details that quote the hidden data."""
    return replace(verdict, detail="") if verdict.reason in QUOTING else verdict


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
