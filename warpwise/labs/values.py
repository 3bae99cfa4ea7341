"""Judge the value of a host function, wherever it ran: its type and its numbers.

Of wrong numbers it says why they may be wrong. Left out: calling the function, which ``calls`` and
the grader's sandbox do."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import takewhile
from textwrap import dedent
from typing import Any

import numpy as np

from warpwise.labs import advice, causes, repairs
from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.described import (
    advice_on_type,
    arguments,
    is_short,
    kind_of,
    shown_call,
    shows_values,
    told_value,
)
from warpwise.labs.exercise import (
    Call,
    Case,
    Objection,
    Reason,
    Verdict,
    copied,
    named_before,
    read_as,
)
from warpwise.labs.limit import TimeIsUp, at_most
from warpwise.labs.lookup import names_of_arguments
from warpwise.labs.patterns import Failure
from warpwise.labs.reductions import over_all
from warpwise.labs.slices import alone, suspects
from warpwise.labs.unused import ends_early, unused
from warpwise.messages import (
    NOTHING,
    Chosen,
    Datum,
    Elsewhere,
    Later,
    Message,
    Source,
    Words,
    message,
    plain,
)

Trio = tuple[Any, Any, Message]  # one of several results, what it should be, and what it is called
ORDER_SECONDS = 2.0  #: in which other cases have to show that results are in another order
ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True, eq=False)
class Made:
    """Where a value came from: a function, and the cases that a changed one has to make right."""

    function: Callable[..., Any]
    cases: Sequence[Case]


def judge_value(value: Any, call: Call, name: str = "the function") -> Verdict:
    """Judge a value that came from student code, or from the sandbox that ran it.

    Safe for any object: see ``described``."""
    return with_arguments(verdict_on(value, call, name, None), call, name)


def verdict_on(value: Any, call: Call, name: str, made: Made | None) -> Verdict:
    """Judge a value; ``made`` says where it came from, if that is at hand."""
    told = shown_call(call, name)
    verdict = _compared(value, call, told, made)
    if call.objection is None or not verdict.passed:
        return verdict
    return _objected(value, call, call.objection, told, made)


def _objected(
    value: Any, call: Call, objection: Objection, told: Message, made: Made | None
) -> Verdict:
    """Judge a value of the right types, of which many may be right."""
    several = type(call.want) is tuple
    if not (wrong := objection(*value) if several else objection(value)):
        return _passed(call)
    text = message("{call}: {wrong}", call=told, wrong=Datum(wrong))
    known = Words(advice.SMALL_CASE)
    guess = Later(lambda: _repaired(made, call, told, ()) or advice.FOLLOW_IT)
    remedy = message("[[{guess}|{known}]]", guess=guess, known=known)
    return failed(call, Reason.WRONG_RESULT, message("{wrong}", wrong=Elsewhere(text)), remedy)


def _compared(value: Any, call: Call, told: Message, made: Made | None) -> Verdict:
    """Judge a value by its types, shapes and numbers; only by types and shapes if many are right.

    An item of a tuple is judged after those before it."""
    if type(call.want) is not tuple:
        return _judge_item(value, call.want, call, told, made)
    if type(value) is not tuple or len(value) != len(call.want):
        several = advice.SEVERAL_AND_NOT_NONE if value is None else advice.SEVERAL
        if type(value) is list and len(value) == len(call.want):
            several = advice.TUPLE_AND_NO_LIST
        remedy = plain(several.format(len(call.want)))
        detail = told_value(told, "returned", value, call.want)
        return failed(call, Reason.WRONG_TYPE, detail, remedy)
    known = _returned_names(made.function) if made else ()
    items = [
        message("[[{item}|an item of {call}]]", item=Source(known[i]), call=told)
        if len(known) == len(value)
        else message(
            "[[the {nth} result of {call}|a result of {call}]]", nth=Datum(_nth(i)), call=told
        )
        for i in range(len(value))
    ]
    if _are_swapped(value, call.want):
        detail = told_value(told, "returned", value, call.want)
        return failed(call, Reason.WRONG_TYPE, detail, plain(advice.SWAPPED))
    trios = list(zip(value, call.want, items, strict=True))
    order = None if _were_in_order(made, call) else _other_order(trios, call)
    if order is not None and _is_right_everywhere(order, made, call):
        return _in_other_order(order, call, told)
    found = (
        _judge_item(item, want, call, name, made, number, trios)
        for number, (item, want, name) in enumerate(trios)
    )
    return next((verdict for verdict in found if not verdict.passed), _passed(call))


def _right(trios: Sequence[Trio], call: Call) -> dict[str, np.ndarray]:
    """Return the items of a value that are right, by name."""
    return {
        told.open(): np.asarray(want)
        for value, want, told in trios
        if np.size(want) > 1 and _judge_item(value, want, call, told, None).passed
    }


def _are_swapped(values: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """True if results have the types that are due in another order, and not in their own."""
    got, want = ([(kind_of(one), np.ndim(one)) for one in side] for side in (values, wanted))
    known = all(kind is not None for kind, _ in got)
    return known and got != want and sorted(map(str, got)) == sorted(map(str, want))


def _other_order(trios: Sequence[Trio], call: Call) -> list[int] | None:
    """Return which result each value is, if they are the right ones in another order; else None."""
    order: list[int] = []
    for value, own, told in trios:
        if _judge_item(value, own, call, told, None).passed:
            order.append(len(order))
            continue
        wants = (want for _, want, _ in trios)
        right = (_judge_item(value, want, call, told, None).passed for want in wants)
        order.append(next((number for number, is_right in enumerate(right) if is_right), -1))
    is_other = sorted(order) == list(range(len(trios))) != order
    return order if is_other else None


def _were_in_order(made: Made | None, call: Call) -> bool:
    """True if a case before this one, all of which are right, has results that differ."""
    before = takewhile(lambda case: case is not call, made.cases if made else ())
    return any(
        isinstance(case, Call)
        and isinstance(case.want, tuple)
        and any(not np.array_equal(case.want[0], other) for other in case.want[1:])
        for case in before
    )


def _is_right_everywhere(order: Sequence[int], made: Made | None, call: Call) -> bool:
    """True if results in another order are right in all cases, as far as the function is at hand.

    In one case they can be so by chance, as a row and a column of small numbers."""
    cases = made.cases if made else ()
    others = [case for case in cases if isinstance(case, Call) and case is not call]
    try:
        with redirect_stdout(StringIO()), np.errstate(all="ignore"), at_most(ORDER_SECONDS):
            return all(_is_right(order, made, case) for case in others)
    except (Exception, SystemExit, TimeIsUp):
        return False


def _is_right(order: Sequence[int], made: Made | None, case: Call) -> bool:
    value = made.function(*copies(case)) if made else None
    if type(value) is not tuple or len(value) != len(order):
        return False
    trios = ((value[at], case.want[due], NOTHING) for at, due in enumerate(order))
    return all(_judge_item(one, want, case, told, None).passed for one, want, told in trios)


def _in_other_order(order: Sequence[int], call: Call, told: Message) -> Verdict:
    """Judge results that are right, each in the place of another."""
    moved = [(_nth(at), _nth(due)) for at, due in enumerate(order) if at != due]
    (at, due), *others = moved
    said = [f"the {at} result of {told.open()} is what the {due} should be"]
    said += [f"the {at} what the {due} should be" for at, due in others]
    *first, last = said
    text = f"{', '.join(first)}, and {last}"
    detail = message("{told}", told=Elsewhere(plain(text)))
    known = Words(advice.SMALL_CASE)
    chosen = all(isinstance(want, int) for want in call.want)
    swap = advice.SWAPPED_OR_EQUAL if chosen else advice.SWAPPED
    remedy = message("[[{swap}|{known}]]", swap=Chosen(swap), known=known)
    return failed(call, Reason.WRONG_RESULT, detail, remedy)


def _nth(number: int) -> str:
    """Name one of several results, counted from 0."""
    return ORDINALS[number] if number < len(ORDINALS) else f"{number + 1}th"


def _returned_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names that a function returns together; none where it returns anything else."""
    tree = _tree_of(function)
    returns = (
        [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)] if tree else []
    )
    named = {
        tuple(part.id for part in value.elts if isinstance(part, ast.Name))
        for value in returns
        if isinstance(value, ast.Tuple)
    }
    return named.pop() if len(named) == 1 and len(returns) == 1 else ()


def _judge_item(
    value: Any,
    wanted: Any,
    call: Call,
    told: Message,
    made: Made | None,
    number: int = 0,
    trios: Sequence[Trio] = (),
) -> Verdict:
    """Judge a number or an array, which messages call ``told``: the ``number``-th of a tuple.

    ``trios`` are all of the tuple."""
    kind, asked = kind_of(value), kind_of(wanted)
    returned = told_value(told, "is" if type(call.want) is tuple else "returned", value, wanted)
    if kind is None or (kind != asked and (kind, asked) != ("i", "f")):
        of_label = number in call.labels and (kind, asked) == ("f", "i")
        known = advice.OF_LABEL if of_label else advice_on_type(value, asked, np.shape(wanted))
        try_this = plain(known)
        return failed(call, Reason.WRONG_TYPE, returned, try_this)
    got, want = np.asarray(value), np.asarray(wanted)
    if call.objection and got.dtype.kind != "O" and got.shape == want.shape:
        return _passed(call)
    if number in call.typed and got.dtype != want.dtype:
        return failed(call, Reason.WRONG_TYPE, returned, plain(advice.OF_TYPE.format(want.dtype)))
    if got.dtype.kind == "O":  # an integer of more than 64 bits
        wrong: Mismatch | None = Mismatch(got, want, np.ones(want.shape, bool))
    else:
        wrong = compare(got, want, call.rtol, call.atol)
    if wrong is None:
        return _passed(call)
    detail = wrong.say(told) if want.shape else returned
    seen, remedy = _on_value(wrong, call, told, made, number, trios)
    # the hidden rendering is empty: the reason says that the value is wrong
    detail = message("{detail}{seen}", detail=Elsewhere(detail), seen=Elsewhere(seen))
    return failed(call, Reason.WRONG_RESULT, detail, remedy)


def _on_value(
    wrong: Mismatch,
    call: Call,
    told: Message,
    made: Made | None,
    number: int,
    trios: Sequence[Trio],
) -> tuple[Message, Message]:
    """Say what wrong values have in common, and what to do; both can tell of the data."""
    failure = partial(_failure, wrong, call, told, made, number, trios)
    usual = advice.BY_HAND if wrong.want.shape else "work this case out by hand"
    shaped = wrong.got.shape == wrong.want.shape
    known = advice.SMALL_CASE if shaped else advice.OTHER_SHAPE
    return causes.told(failure, partial(_repaired, made, call, told, trios), known, usual)


def _repaired(made: Made | None, call: Call, told: Message, trios: Sequence[Trio]) -> str:
    """Say where a small change of a function makes its cases right; "" if none is found."""
    tree = _tree_of(made.function) if made else None
    if made is None or tree is None:
        return ""
    function = made.function

    def passes(tree: ast.FunctionDef) -> bool:
        changed = repairs.changed_function(function, tree)
        others = (case for case in made.cases if isinstance(case, Call) and case is not call)
        return changed is not None and all(
            verdict_on(repairs.value_of(changed, copies(call)), call, "", None).passed
            for call in (call, *others)  # the one that fails is tried first
        )

    spoiled, right = [told.open()], _right(trios, call)
    found = repairs.repair(tree, passes, "function", suspects(tree, spoiled, right))
    if found is None:
        return alone(tree, spoiled, right, 1 - function.__code__.co_firstlineno)
    text = dedent(inspect.getsource(function)).split("\n")[found.line - 1]
    return repairs.told(found, found.line + function.__code__.co_firstlineno - 1, text)


def _failure(
    wrong: Mismatch,
    call: Call,
    told: Message,
    made: Made | None,
    number: int,
    trios: Sequence[Trio],
) -> Failure:
    """Gather what is known of a wrong value."""
    tree = _tree_of(made.function) if made else None
    parameters = [arg.arg for arg in tree.args.args] if tree else []
    names = names_of_arguments(parameters, len(call.args))
    return Failure(
        told.open(),
        wrong.got,
        wrong.want,
        wrong.where,
        inputs=dict(zip(names, call.args, strict=True)),
        words=causes.words_of(tree) if tree else frozenset(),
        rtol=call.rtol,
        atol=call.atol,
        before=named_before(call, made.cases, names) if made else (),
        readings=read_as(call, number),
        unused=(unused(tree) or ends_early(tree)) if tree else "",
        over_all=over_all(tree) if tree and any(np.ndim(arg) > 1 for arg in call.args) else "",
        labels=number in call.labels or wrong.want.dtype.kind == "b",
        right=_right(trios, call),
        due={
            other.open(): np.asarray(want)
            for at, (_, want, other) in enumerate(trios)
            if at != number
        },
    )


def copies(call: Call) -> tuple[Any, ...]:
    """Return the arguments of a call, arrays as copies."""
    return tuple(map(copied, call.args))


def _tree_of(function: Any) -> ast.FunctionDef | None:
    """Return a function's syntax; None where its text cannot be found, or is no ``def``."""
    try:
        tree = ast.parse(dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    return tree.body[0] if isinstance(tree.body[0], ast.FunctionDef) else None


def with_arguments(verdict: Verdict, call: Call, name: str) -> Verdict:
    """Add the arguments of a call that failed below what is wrong, where they are long.

    Left out: arrays of which only types and shapes would be shown."""
    if verdict.passed or is_short(call) or not any(map(shows_values, call.args)):
        return verdict
    args = Datum(f"\n    called as {name}({arguments(call)})")
    return replace(verdict, message=message("{told}[[{args}]]", told=verdict.message, args=args))


def _passed(call: Call) -> Verdict:
    return Verdict(True, Reason.PASSED, case=call.label, trace=call.trace)


def failed(call: Call, reason: str, detail: Message, remedy: Message = NOTHING) -> Verdict:
    """Return the verdict on a call that gave no value, or a wrong one."""
    return Verdict(False, reason, detail, call.label, trace=call.trace, remedy=remedy)
