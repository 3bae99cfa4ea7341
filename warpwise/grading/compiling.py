"""Hold a kernel that passed to its budget for the compiler: registers, spills, local memory, and
how much of its inner loop computes.

The compiler runs in a sandbox of its own, ``inside/compiler.py``, and gets kernels as text and the
types of a launch: no case, no test, no other submission. No Python of a student runs there, so what
comes back, numbers of eight bytes, is the compiler's. Where this machine has no compiler, or
it does not work in a sandbox, nothing is taken off, and the record says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from warpwise.grading import hidden, parts, sandbox
from warpwise.grading.inside.compiler import FRAME, REFUSED, TRIAL
from warpwise.grading.material import Material
from warpwise.grading.notebook import Answer
from warpwise.grading.record import NO_COMPILER, STOPPED, Counter, Finding
from warpwise.grading.warm import Warm
from warpwise.labs.compiler_budget import CC, DEVICE, budget_of, objection
from warpwise.labs.exercise import Case, Reason
from warpwise.messages import NOTHING, Message, plain
from warpwise.metrics.compiler_figures import CompilerFigures

PART = "compiler"  #: of ``decisions.CHANGED``
MOST = 1 << 40  #: of any of the numbers
KEPT = 1024  #: kernels of which a grader remembers what the compiler gave them
PACKAGES = ("numba-cuda", "nvidia-cuda-nvcc", "nvidia-nvvm")
GRADED = (
    f"looked at the machine code for an {DEVICE}, which the notebook's own check leaves out when "
    "it is run again"
)
Start = Callable[[], Warm | None]
NO_RESULT = "the compiler came to no end with this kernel, within its limits"


@lru_cache(maxsize=4)
def here(mode: str) -> str:
    """Return the versions of the compiler that works in a sandbox on this machine; "" for none.

    It is tried out, once."""
    try:
        found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    except PackageNotFoundError:
        return ""
    return found if _numbers(sandbox.run(parts.COMPILER, TRIAL, mode).result) else ""


def digest(material: Material, mode: str) -> dict[str, str]:
    """Return the part of a lab's key that names the compiler; none where nothing depends on it."""
    return {PART: here(mode)} if material.compiled else {}


class Compiler:
    """A machine's compiler for one grader, which remembers what it gave to which text."""

    def __init__(self, mode: str):
        self.mode = mode
        self.known: dict[str, tuple[CompilerFigures | None, str]] = {}

    def held(
        self,
        answer: Answer,
        material: Material,
        found: Finding,
        causes: Mapping[str, str],
        start: Start,
    ) -> tuple[Finding, str]:
        """Return the finding on a kernel that passed, and a sentence about the compiler, or "".

        ``start`` returns a warm sandbox, if there is one. ``causes`` is what the simulation's
        process has found in the text (``compiler_budget.causes``)."""
        cases = hidden.cases(material.tests, answer.id, material.seed)
        budget = budget_of(cases)
        if budget is None or not found.passed:
            return found, ""
        if not here(self.mode):
            return found, NO_COMPILER
        types, limits = budget
        taken, said = self._taken(answer, material.given, types, start)
        if taken is None:
            return _failed(found, cases, Reason.REFUSED, plain(said), NOTHING), GRADED
        counters = [Counter(name, getattr(taken, name), limits[name]) for name in limits]
        found = replace(found, counters=(*found.counters, *counters))
        reason, detail, remedy = objection(taken, limits, causes)
        return _failed(found, cases, reason, detail, remedy) if reason else found, GRADED

    def _taken(
        self, answer: Answer, given: Sequence[str], types: str, start: Start
    ) -> tuple[CompilerFigures | None, str]:
        """Return what a kernel takes, or why it has no numbers."""
        about = {"answer": [answer.text, answer.name, list(answer.others)], "given": list(given)}
        job = {**about, "types": types, "cc": list(CC)}
        key = json.dumps(job)
        if key not in self.known:
            if len(self.known) >= KEPT:
                self.known.clear()
            self.known[key] = _compiled(job, self.mode, start())
        return self.known[key]


def _compiled(job: parts.Job, mode: str, warm: Warm | None) -> tuple[CompilerFigures | None, str]:
    done = sandbox.play(parts.COMPILER, job, mode, warm)
    numbers = None if done.stopped or done.exit else _numbers(done.result)
    if numbers is not None:
        return numbers, ""
    if done.exit == REFUSED and not done.stopped:
        return None, (done.chatter.strip().splitlines() or [NO_RESULT])[-1][:300]
    return None, f"{NO_RESULT}: {STOPPED[done.stopped]}"


def _numbers(result: bytes) -> CompilerFigures | None:
    """Read a result that nobody trusts: None unless it is numbers that can be."""
    if len(result) != FRAME.size:
        return None
    found = CompilerFigures(*FRAME.unpack(result))
    return found if found.possible and max(found) < MOST else None


def _failed(
    found: Finding, cases: Sequence[Case], reason: str, detail: Message, remedy: Message
) -> Finding:
    """Return the finding on a kernel that is right in all cases, and over this budget in all."""
    labels = tuple(case.label for case in cases)
    told = replace(found, passed=False, reason=reason, case=labels[0], failed=labels)
    return replace(told, detail=detail.hidden(), advice=remedy.hidden())
