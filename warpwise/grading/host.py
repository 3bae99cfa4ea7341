"""Judge host functions on hidden cases, in a sandbox: calls of one, or its runs on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpwise.grading import functions, programs
from warpwise.grading.behaviour import Probe
from warpwise.grading.record import Finding
from warpwise.grading.simulate import summary
from warpwise.grading.warm import Warm
from warpwise.labs.exercise import Call, Case, Program, Verdict


def judge_function(
    text: str,
    name: str,
    cases: Sequence[Call] | Sequence[Program],
    mode: str,
    draw: Callable[[], Sequence[Case]] = tuple,
    warm: Warm | None = None,
    endless: bool = False,
) -> Finding:
    """Judge a host function, given as text, isolated in this mode (see ``sandbox.isolation``).

    ``draw`` makes more cases, by which an explanation of a failure is confirmed. ``warm`` is a
    sandbox that was started for many functions: see ``sandbox.warm``. ``endless`` is True if it is
    known that the function does not end."""

    def judged(cases: Sequence[Case]) -> list[Verdict]:
        about = (mode, warm, endless)
        if runs := [case for case in cases if isinstance(case, Program)]:
            return programs.verdicts(text, name, runs, *about)
        calls = [case for case in cases if isinstance(case, Call)]
        return functions.verdicts(text, name, calls, *about) if calls else []

    def again(fresh: Sequence[Case]) -> list[bool]:
        return [verdict.passed for verdict in judged(fresh)]

    return summary(judged(cases), cases, Probe(draw, again))
