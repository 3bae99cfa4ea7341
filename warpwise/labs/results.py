"""Judge the outputs of a launch: what is unwritten or wrong, why that may be, and what to try.

Left out: running the launch, and all else that can be wrong with it, which ``judge`` does."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from warpwise import errors, trace
from warpwise.labs import causes, repairs
from warpwise.labs.budgets import counter_value, within
from warpwise.labs.compare import Mismatch, compare, is_poison, makes_nan
from warpwise.labs.elementwise import is_elementwise
from warpwise.labs.exercise import (
    Case,
    InOut,
    Launch,
    Out,
    Reason,
    fresh,
    named_before,
    named_inputs,
    outputs,
    read_as,
)
from warpwise.labs.first_nan import first_nan
from warpwise.labs.fragments import misplaced
from warpwise.labs.patterns import Failure, Pattern
from warpwise.labs.slices import alone, suspects
from warpwise.labs.unused import unused
from warpwise.labs.uses import uses
from warpwise.messages import NOTHING, Element, Later, Message, Name, Size, Words, message
from warpwise.simt import Kernel, as_kernel
from warpwise.simt.frontend.set_by_one import set_by_one
from warpwise.traces import KINDS, Trace

#: of an output whose text reads it, or hands it on
OR_READ = ", or computed from what it held before the launch"
Mistake = tuple[str, Message, Message]  # reason, detail, advice


def on_outputs(
    kernel: Any,
    launch: Launch,
    args: list[Any],
    names: tuple[str, ...],
    t: Trace,
    others: Sequence[Case] = (),
) -> Mistake | None:
    outs = outputs(launch, zip(args, names, strict=True))
    for number, ((got, name), want) in enumerate(zip(outs, launch.want, strict=True)):
        wrong = compare(got, want, launch.rtol, launch.atol)
        if wrong is None:
            continue
        unwritten = _unwritten(kernel, launch, number, got, wrong)
        if unwritten.any():
            told = _on_unwritten(kernel, launch, name, unwritten, want, t, others)
            return Reason.NOT_WRITTEN, *told
        spoiled = _wrong_ones(outs, launch)
        beside = _beside(launch, outs, name, want.ndim, spoiled)
        failure = partial(_failure, kernel, launch, names, number, name, wrong, others, beside, t)
        right = tuple(beside["right"])
        repaired = partial(_repaired, as_kernel(kernel), launch, others, spoiled, right)
        known = causes.BY_HAND.format(name=name)
        seen, remedy = causes.told(failure, repaired, known)
        nan = NOTHING
        if makes_nan(wrong):
            fresh_args = [fresh(arg) for arg in launch.args]
            found = cache(partial(first_nan, as_kernel(kernel), launch, fresh_args))
            nan = message("[[{line}]]", line=Later(found))
        detail = message("{wrong}{seen}{nan}", wrong=wrong.say(Name(name)), seen=seen, nan=nan)
        return Reason.WRONG_RESULT, detail, remedy
    return None


def _beside(
    launch: Launch,
    outs: Sequence[tuple[np.ndarray, str]],
    name: str,
    axes: int,
    spoiled: Collection[str],
) -> dict[str, Any]:
    """Return what is known of the outputs beside one: fields of ``Failure``.

    ``spoiled`` are all wrong ones. ``right`` are those that are, ``due`` is what all should be, and
    ``also`` are wrong ones of fewer ``axes``, got and wanted."""
    right, due, also = {}, {}, {}
    for (got, other), want in zip(outs, launch.want, strict=True):
        if other == name:
            continue
        due[other] = want
        if other in spoiled:
            if want.ndim < axes and not is_poison(got).any():
                also[other] = got, want
        elif want.size > 1:
            right[other] = want
    return {"right": right, "due": due, "also": also}


def _wrong_ones(outs: Sequence[tuple[np.ndarray, str]], launch: Launch) -> tuple[str, ...]:
    """Name the outputs that are wrong."""
    pairs = zip(outs, launch.want, strict=True)
    return tuple(
        name for (got, name), want in pairs if compare(got, want, launch.rtol, launch.atol)
    )


def _repaired(
    kernel: Kernel,
    launch: Launch,
    cases: Sequence[Case],
    wrong: Collection[str] = (),
    right: Collection[str] = (),
) -> str:
    """Say where a small change of a kernel makes its cases right; "" if none is found.

    ``launch`` is the one that fails, and so is tried first. Where some outputs are ``wrong`` and
    others ``right``, the lines that only the wrong ones are made of are the first to be changed."""
    others = [case for case in cases if isinstance(case, Launch) and case is not launch]
    launches = [launch, *others]

    def passes(tree: ast.FunctionDef) -> bool:
        changed = repairs.changed_kernel(kernel, tree)
        return all(_is_right(changed, one) for one in launches) and _is_cheap(changed, launch)

    found = repairs.repair(kernel.tree, passes, "kernel", suspects(kernel.tree, wrong, right))
    if found is None:
        return alone(kernel.tree, wrong, right, kernel.base)
    return repairs.told(found, found.line - kernel.base, kernel.lines.get(found.line, ""))


def _is_right(kernel: Kernel, launch: Launch) -> bool:
    """Return whether a launch gives what is wanted, without a look at its cost and its order."""
    return _run(kernel, launch, record=(), sanitize=False) is not None


def _is_cheap(kernel: Kernel, launch: Launch) -> bool:
    """Return whether a launch is right, keeps to its budget too, and has no race.

    Its float64 does not count: a change may be tried in float64 to find where digits are lost."""
    t = _run(kernel, launch, whole_barriers=True)
    budget = {name: most for name, most in launch.budget.items() if not name.endswith("_fp64")}
    return (
        t is not None
        and not t.races
        and all(within(name, counter_value(t, name), most) for name, most in budget.items())
    )


def _run(kernel: Kernel, launch: Launch, **watched: Any) -> Trace | None:
    """Trace a changed kernel; None if it fails, or gives something else than what is wanted."""
    args = [fresh(arg) for arg in launch.args]
    size, most = (launch.blocks, launch.threads), repairs.MAX_STEPS
    try:
        t = trace(kernel, *size, *args, max_steps=most, progress=False, **watched)
    except errors.WarpwiseError:
        return None
    wanted = zip(outputs(launch, args), launch.want, strict=True)
    right = all(compare(got, want, launch.rtol, launch.atol) is None for got, want in wanted)
    return t if right else None


def _failure(
    kernel: Any,
    launch: Launch,
    names: tuple[str, ...],
    number: int,
    name: str,
    wrong: Mismatch,
    others: Sequence[Case],
    beside: dict[str, Any],
    t: Trace,
) -> Failure:
    """Gather what is known of a wrong output, the ``number``-th, ``beside`` the others."""
    given = dict(zip(names, launch.args, strict=True))
    starts = {n: arg.start for n, arg in given.items() if isinstance(arg, InOut)}
    tree = as_kernel(kernel).tree
    return Failure(
        name,
        wrong.got,
        wrong.want,
        wrong.where,
        inputs=named_inputs(launch, names),
        start=starts.get(name),
        tile=causes.tile_of(launch),
        words=causes.words_of(tree),
        rtol=launch.rtol,
        atol=launch.atol,
        before=named_before(launch, others, names),
        readings=read_as(launch, number),
        unused=set_by_one(tree) or unused(tree, outputs(launch, names)),
        elementwise=is_elementwise(tree),
        fragment=_fragment(kernel, launch) if t.metrics.op_tensor else None,
        **beside,
    )


def _fragment(kernel: Any, launch: Launch) -> Pattern | None:
    """Return what is wrong with the order of a fragment of tensor cores, if anything."""
    args = [fresh(arg) for arg in launch.args]
    return misplaced(as_kernel(kernel), launch.blocks, launch.threads, args)


def _unwritten(
    kernel: Any, launch: Launch, number: int, got: np.ndarray, wrong: Mismatch
) -> np.ndarray:
    """Mark the wrong elements of an output that still hold their poison.

    A byte that was stored may be like it by chance: bytes are computed again over others."""
    held: np.ndarray = is_poison(got) & wrong.where
    poisoned = isinstance(outputs(launch, launch.args)[number], Out)
    if got.itemsize > 1 or not poisoned or not held.any():
        return held
    args = [fresh(arg) for arg in launch.args]
    again = outputs(launch, args)[number]
    before = (~again.view(np.uint8)).view(again.dtype)
    again[...] = before
    size = launch.blocks, launch.threads
    trace(as_kernel(kernel), *size, *args, record=(), sanitize=False, progress=False)
    return np.asarray(held & (again == before))


def _on_unwritten(
    kernel: Any,
    launch: Launch,
    name: str,
    unwritten: np.ndarray,
    want: np.ndarray,
    t: Trace,
    others: Sequence[Case],
) -> tuple[Message, Message]:
    """Detail and advice for an output that still holds its poison, or was computed from it.

    Which of the two can depend on the data; the text says if it can be the second."""
    seen = uses(as_kernel(kernel), name)
    read_back = _loads_from(name, t)
    element = Element(Name(name), tuple(np.argwhere(unwritten)[0].tolist()))
    count, size = Size(int(unwritten.sum())), Size(unwritten.size)
    detail = message(
        "[[{element} {happened}|{array} is never written{or_read}]]",
        element=element,
        happened=message(
            "was computed from what the output held before the launch; "
            "so were {count} of {size} elements",
            count=count,
            size=size,
        )
        if read_back
        else message(
            "was never written; {count} of {size} elements {are} missing[[{where}]]",
            count=count,
            size=size,
            are=Words("is" if unwritten.sum() == 1 else "are"),
            where=Later(partial(causes.where_missing, launch, unwritten, want)),
        ),
        array=Name(name),
        or_read=Words(OR_READ if seen.read or seen.otherwise else ""),
    )

    @cache
    def guess() -> str:
        found = (
            (causes.READ_BACK.format(name=name),)
            if read_back
            else causes.of_missing(as_kernel(kernel), launch, name, unwritten, want, t)
        )
        return causes.with_place(found, partial(_repaired, as_kernel(kernel), launch, others))

    known = causes.of_missing_by_text(as_kernel(kernel), name, seen)
    return detail, message("[[{guess}|{known}]]", guess=Later(guess), known=Words(known))


def _loads_from(name: str, t: Trace) -> bool:
    """True if a recorded block loaded from this array."""
    numbers = [i for i, array in enumerate(t.arrays) if array.name == name]
    return bool((np.isin(t.records.array, numbers) & (t.records.kind == KINDS.index("load"))).any())
