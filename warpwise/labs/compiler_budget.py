"""Budgets on what NVIDIA's compiler makes of a kernel: registers, spills, arrays in local memory,
and how much of its inner loop computes.

A launch has one in ``compiled``. No GPU is needed, but the compiler's packages, which are an extra:
where they are missing a check says so in a line, and takes nothing off. Left out: compiling a
stranger's kernel, which the grader does in a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from warpwise.cuda.numba_backend import package
from warpwise.errors import ToolchainError
from warpwise.labs.budgets import OF_THE_COMPILER, bound, figure, within
from warpwise.labs.exercise import Case, Launch, Reason, Verdict, fresh
from warpwise.labs.kept_places import kept_places
from warpwise.labs.unknown_places import unknown_places
from warpwise.messages import NOTHING, Limit, Message, Name, Words, message, plain
from warpwise.metrics.compiler_figures import CompilerFigures
from warpwise.simt import Kernel, as_kernel

DEVICE, CC = "RTX A6000", (8, 6)  #: whose machine code is looked at
NUMBA = "numba-cuda"  #: which compiles for it
NOT_LOOKED_AT = (
    "registers, spills, local memory and FLOPs in an issue slot: not looked at, and nothing taken "
    "off, because "
)
MISSING = f"{NOT_LOOKED_AT}CUDA's compiler is not here (`warpwise doctor` says how to install it)"
SUCCESSOR = f"{NOT_LOOKED_AT}the budgets are for {NUMBA}, and its successor compiles here"
UNROLL = (
    "an array is in registers only if the compiler knows every place in it: write the bounds of "
    "these loops as numbers, such as range(8), and use no place that is worked out as the kernel "
    "runs; a loop with too much inside is not unrolled, so let one loop count through few places"
)
FEWER = (
    "let a thread keep fewer numbers at once: what it can read again from shared memory when it is "
    "needed needs no array of its own"
)
ONCE = (
    "work out before both loops what these values share: `(t + 64 * i) // 8` is "
    f"`t // 8 + 8 * i`; or {FEWER}"
)
SPILLS = f"{FEWER}; max_registers or launch_bounds in the decorator takes registers away"
CONSTANT = (
    "work out before this loop what is the same in each trip, and write sizes as numbers: `//` and "
    "`%` by a number that only the launch knows take dozens of instructions, by 8 or 64 only a few"
)
ADVICE = dict(zip(OF_THE_COMPILER, (FEWER, SPILLS, UNROLL, CONSTANT), strict=True))
SLOTS = OF_THE_COMPILER[3]
#: what is told first: without spills, and with; last what a loop computes, which the others spoil
ORDER = (
    (*OF_THE_COMPILER[2::-1], SLOTS),
    (*OF_THE_COMPILER[1:3], OF_THE_COMPILER[0], SLOTS),
)
Budget = Mapping[str, float]


def budget_of(cases: Iterable[Case]) -> tuple[str, Budget] | None:
    """Return the types of a launch that has a budget for the compiler, as text, and the budget.

    An exercise has one kernel and one budget, so the first such launch decides."""
    for case in cases:
        if isinstance(case, Launch) and case.compiled:
            return ", ".join(map(_type_of, map(fresh, case.args))), case.compiled
    return None


def _type_of(value: Any) -> str:
    """Return the type of an argument as Numba writes it; an array is in C order."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{', '.join([':'] * (value.ndim - 1) + ['::1'])}]"
    if isinstance(value, np.generic):
        return str(value.dtype)
    return {bool: "boolean", int: "int64", float: "float64"}[type(value)]


def has_budget(cases: Iterable[Case]) -> bool:
    """True if one of these cases has a budget for the compiler."""
    return any(isinstance(case, Launch) and case.compiled for case in cases)


def causes(kernel: Kernel) -> dict[str, str]:
    """Say what a kernel's text has that may cost registers or local memory, by counter."""
    return {
        "registers_per_thread": kept_places(kernel),
        "local_memory_bytes": unknown_places(kernel),
    }


def objection(
    taken: CompilerFigures, budget: Budget, found: Mapping[str, str]
) -> tuple[str, Message, Message]:
    """Return the reason of what is over its budget, what happened, and what to try; "" if nothing.

    ``found`` is what ``causes`` has found in the text."""
    spilled = taken.spilled_bytes > 0  # then local memory is that of registers that spill
    more = {**found, SLOTS: taken.told}
    for name in ORDER[spilled]:
        value = getattr(taken, name)
        if name in budget and not within(name, value, budget[name]):
            because = more.get(name, "")
            detail = message(
                "the result is right, but {counter} is {value}; the budget is {bound} "
                "{limit}{because}",
                counter=Name(name),
                value=Limit(figure(value)),
                bound=Words(bound(name)),
                limit=Limit(figure(budget[name])),
                because=Words(f": {because}" if because else ""),
            )
            kept = name == OF_THE_COMPILER[0] and because
            return Reason.OVER_BUDGET + name, detail, plain(ONCE if kept else ADVICE[name])
    return "", NOTHING, NOTHING


#: from a kernel and the types of its launch; raises ToolchainError
Compile = Callable[[Any, str], CompilerFigures]


def with_compiled(
    kernel: Any,
    cases: Sequence[Case],
    verdicts: tuple[Verdict, ...],
    compile: Compile | None = None,
) -> tuple[tuple[Verdict, ...], tuple[tuple[str, float, float], ...], str]:
    """Look at a kernel that passed all cases: the verdicts, counters with limits, and a line.

    The line is empty, or says that the compiler is missing. A kernel over this budget fails on the
    first of its cases that has it. ``compile`` takes the place of this machine's compiler."""
    found = budget_of(cases)
    if found is None or not verdicts or not all(verdict.passed for verdict in verdicts):
        return verdicts, (), ""
    (types, budget), take = found, compile or _compiler()
    if take is None:
        return verdicts, (), MISSING if package() == NUMBA else SUCCESSOR
    at = next(i for i, case in enumerate(cases) if isinstance(case, Launch) and case.compiled)
    try:
        taken = take(kernel, types)
    except ToolchainError as error:
        return _failed(verdicts, at, Reason.REFUSED, plain(str(error)), NOTHING), (), ""
    counters = tuple((n, getattr(taken, n), budget[n]) for n in OF_THE_COMPILER if n in budget)
    over = objection(taken, budget, causes(as_kernel(kernel)))
    return _failed(verdicts, at, *over), counters, ""


def _compiler() -> Compile | None:
    """Return this machine's compiler; None where its packages are missing, or it is another.

    Another makes other code of the same kernel, and has no loads of 16 bytes."""
    if find_spec("cuda") is None or package() != NUMBA:
        return None
    from warpwise.toolchain import compile_kernel, missing
    from warpwise.toolchain.figures import figures

    if missing():
        return None
    return lambda kernel, types: figures(compile_kernel(kernel, types, CC), as_kernel(kernel))


def _failed(
    verdicts: tuple[Verdict, ...], at: int, reason: str, detail: Message, remedy: Message
) -> tuple[Verdict, ...]:
    """Return the verdicts, of which one fails if there is a reason."""
    if not reason:
        return verdicts
    told = replace(verdicts[at], passed=False, reason=reason, message=detail, remedy=remedy)
    return (*verdicts[:at], told, *verdicts[at + 1 :])
