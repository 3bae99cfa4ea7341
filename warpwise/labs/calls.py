"""Judge host functions: call one, here and now, or judge a value that the sandbox brought back.

A value that came out of student code is looked at by its exact type and never asked to do anything,
so an object that claims to equal everything is just a wrong type."""

from __future__ import annotations

import ast
import inspect
import linecache
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from textwrap import dedent
from typing import Any

import numpy as np

from warpwise.labs import advice, causes, repairs
from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.endless import stays
from warpwise.labs.exercise import Call, Case, Reason, Verdict, named_before, read_as
from warpwise.labs.limit import PATIENCE, Memory, TimeIsUp, at_most
from warpwise.labs.lookup import name_of
from warpwise.labs.patterns import Failure
from warpwise.labs.unused import unused
from warpwise.messages import (
    NOTHING,
    Chosen,
    Datum,
    Elsewhere,
    Joined,
    Lengths,
    Limit,
    Message,
    Name,
    Size,
    Source,
    TypeName,
    Words,
    message,
    plain,
)
from warpwise.simt import Kernel

# of processor time, for one call of a host function: long for arithmetic, and well within a
# grader's limit for a cell
CALL_SECONDS = 5
MOST_SHOWN = 8  # elements of an array that a message shows
MOST_CHARACTERS = 40  # of arguments that stand in front of what is wrong
OF_SHAPES = ("broadcast", "matmul", "not aligned")  # in NumPy's messages
KINDS = {int: "i", float: "f", bool: "b"}
NUMPY_SCALARS = {np.dtype(code).type: np.dtype(code).kind for code in "?bBhHiIlLqQefd"}


def judge_call(function: Callable[..., Any], call: Call, others: Sequence[Case] = ()) -> Verdict:
    """Call a host function and judge its value: student code runs, so only on their own machine.

    A call that takes more than CALL_SECONDS is too slow, where ``limit`` can stop it. ``others``
    are the cases that it is judged on, which a change has to make right before it is advised."""
    made = _Made(function, tuple(others) or (call,))
    return _with_arguments(_judge_call(made, call), call, name_of(function))


@dataclass(frozen=True, eq=False)
class _Made:
    """Where a value came from: a function, and the cases that a changed one has to make right."""

    function: Callable[..., Any]
    cases: Sequence[Case]


def _judge_call(made: _Made, call: Call) -> Verdict:
    function = made.function
    name = name_of(function)
    if _is_kernel(function):
        told = message(
            "{name} is a kernel; a plain Python function is asked for here", name=Name(name)
        )
        return _failed(call, Reason.WRONG_TYPE, told, plain("remove @cuda.jit above it"))
    args = _copies(call)
    shown = _shown(call, name)
    try:
        with at_most(CALL_SECONDS), Memory(call.most_bytes is not None) as memory:
            value = function(*args)
    except TimeIsUp as error:
        return _late(call, shown, function, error)
    except (Exception, SystemExit) as error:
        told = message(
            "{call} raised [[{kind}: {error}|an error]]{line}",
            call=shown,
            kind=Datum(type(error).__name__),
            error=Datum(str(error)),
            line=_line_in(function, error),
        )
        shapes = isinstance(error, ValueError) and any(w in str(error) for w in OF_SHAPES)
        advise = Chosen(causes.BROADCAST if shapes else "")
        return _failed(call, Reason.RAISED, told, message("[[{advise}]]", advise=advise))
    for given, now in zip(call.args, args, strict=True):
        if isinstance(given, np.ndarray) and compare(now, given):
            changed = message("{call} changed its argument", call=shown)
            return _failed(call, Reason.INPUT_CHANGED, changed)
    verdict = _judge_value(value, call, name, made)
    if verdict.passed and memory.most_bytes > (call.most_bytes or inf):
        told = message(
            "the result is right, but {call} held [[{held:,} bytes at once; "
            "the budget is at most {budget:,}|more memory at once than its budget]]",
            call=shown,
            held=Size(memory.most_bytes),
            budget=Size(call.most_bytes),
        )
        return _failed(call, Reason.TOO_MUCH_MEMORY, told, plain(advice.ONE_TILE))
    return verdict


def judge_value(value: Any, call: Call, name: str = "the function") -> Verdict:
    """Judge a value that came from student code, or from the sandbox that ran it.

    Safe for any object: see ``_kind``."""
    return _with_arguments(_judge_value(value, call, name, None), call, name)


def _judge_value(value: Any, call: Call, name: str, made: _Made | None) -> Verdict:
    """Judge a value; ``made`` says where it came from, if that is at hand."""
    told = _shown(call, name)
    if type(call.want) is not tuple:
        return _judge_item(value, call.want, call, told, made)
    if type(value) is not tuple or len(value) != len(call.want):
        several = plain(advice.SEVERAL.format(len(call.want)))
        detail = _returned(told, "returned", value, call.want)
        return _failed(call, Reason.WRONG_TYPE, detail, several)
    items = (
        message("[[item {i} of {call}|an item of {call}]]", i=Size(i), call=told)
        for i in range(len(value))
    )
    found = (
        _judge_item(item, want, call, name, made, number)
        for number, (item, want, name) in enumerate(zip(value, call.want, items, strict=True))
    )
    return next((verdict for verdict in found if not verdict.passed), _passed(call))


def _judge_item(
    value: Any, wanted: Any, call: Call, told: Message, made: _Made | None, number: int = 0
) -> Verdict:
    """Judge a number or an array, which messages call ``told``: the ``number``-th of a tuple."""
    kind, asked = _kind(value), _kind(wanted)
    returned = _returned(told, "is" if type(call.want) is tuple else "returned", value, wanted)
    if kind is None or (kind != asked and (kind, asked) != ("i", "f")):
        try_this = plain(_advice_on_type(value, asked, np.shape(wanted)))
        return _failed(call, Reason.WRONG_TYPE, returned, try_this)
    got, want = np.asarray(value), np.asarray(wanted)
    if got.dtype.kind == "O":  # an integer of more than 64 bits
        wrong: Mismatch | None = Mismatch(got, want, np.ones(want.shape, bool))
    else:
        wrong = compare(got, want, call.rtol, call.atol)
    if wrong is None:
        return _passed(call)
    detail = wrong.say(told) if want.shape else returned
    seen, remedy = _on_value(wrong, call, told, made, number)
    # the hidden rendering is empty: the reason says that the value is wrong
    detail = message("{detail}{seen}", detail=Elsewhere(detail), seen=Elsewhere(seen))
    return _failed(call, Reason.WRONG_RESULT, detail, remedy)


def _on_value(
    wrong: Mismatch, call: Call, told: Message, made: _Made | None, number: int
) -> tuple[Message, Message]:
    """Say what wrong values have in common, and what to do; both can tell of the data."""
    failure = partial(_failure, wrong, call, told, made, number)
    usual = advice.BY_HAND if wrong.want.shape else "work this case out by hand"
    shaped = wrong.got.shape == wrong.want.shape
    known = advice.SMALL_CASE if shaped else advice.OTHER_SHAPE
    return causes.told(failure, partial(_repaired, made, call), known, usual)


def _repaired(made: _Made | None, call: Call) -> str:
    """Say where a small change of a function makes its cases right; "" if none is found."""
    tree = _tree_of(made.function) if made else None
    if made is None or tree is None:
        return ""
    function = made.function

    def passes(tree: ast.FunctionDef) -> bool:
        changed = repairs.changed_function(function, tree)
        others = (case for case in made.cases if isinstance(case, Call) and case is not call)
        return changed is not None and all(
            _judge_value(repairs.value_of(changed, _copies(call)), call, "", None).passed
            for call in (call, *others)  # the one that fails is tried first
        )

    found = repairs.repair(tree, passes, "function")
    return repairs.told(found, found.line + function.__code__.co_firstlineno - 1 if found else 0)


def _copies(call: Call) -> tuple[Any, ...]:
    """Return the arguments of a call, arrays as copies."""
    return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in call.args)


def _failure(
    wrong: Mismatch, call: Call, told: Message, made: _Made | None, number: int
) -> Failure:
    """Gather what is known of a wrong value."""
    tree = _tree_of(made.function) if made else None
    names = [arg.arg for arg in tree.args.args] if tree else []
    if len(names) != len(call.args):
        names = [f"argument {i}" for i in range(len(call.args))]
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
        unused=unused(tree) if tree else "",
    )


def _tree_of(function: Any) -> ast.FunctionDef | None:
    """Return a function's syntax; None where its text cannot be found, or is no ``def``."""
    try:
        tree = ast.parse(dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    return tree.body[0] if isinstance(tree.body[0], ast.FunctionDef) else None


def _with_arguments(verdict: Verdict, call: Call, name: str) -> Verdict:
    """Add the arguments of a call that failed below what is wrong, where they are long."""
    if verdict.passed or _is_short(call):
        return verdict
    args = Datum(f"\n    called as {name}({_arguments(call)})")
    return replace(verdict, message=message("{told}[[{args}]]", told=verdict.message, args=args))


def _passed(call: Call) -> Verdict:
    return Verdict(True, Reason.PASSED, case=call.label, trace=call.trace)


def _failed(call: Call, reason: str, detail: Message, remedy: Message = NOTHING) -> Verdict:
    return Verdict(False, reason, detail, call.label, trace=call.trace, remedy=remedy)


def _late(call: Call, shown: Message, function: Any, error: TimeIsUp) -> Verdict:
    """Judge a call that passed its limit of time."""
    told = message(
        "{call} gave no answer in {limit:g} seconds{kind}{line}",
        call=shown,
        limit=Limit(CALL_SECONDS * (PATIENCE if error.waited else 1)),
        kind=Words("" if error.waited else " of processor time"),
        line=_line_in(function, error),
    )
    if _in_endless_loop(function, error):
        return _failed(call, Reason.ENDLESS, told, plain(advice.ENDLESS))
    if error.waited:
        return _failed(call, Reason.TIMED_OUT, told, plain(advice.TIMED_OUT))
    return _failed(call, Reason.TOO_SLOW, told, plain(advice.TOO_SLOW))


def _in_endless_loop(function: Any, error: BaseException) -> bool:
    """Return whether time ran out in a loop of the function that is known never to end."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return False
    last = _last_line(function, error) - first + 1
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.While))
    return any(stays(loop) for loop in loops if loop.lineno <= last <= (loop.end_lineno or last))


def _is_kernel(target: Any) -> bool:
    of_numba = type(target).__module__.startswith(("numba.cuda", "numba_cuda"))
    return isinstance(target, Kernel) or (of_numba and hasattr(target, "py_func"))


def _line_in(function: Any, error: BaseException) -> Source:
    """The last line of the function's own cell or file that an error, or time's end, came from."""
    line = _last_line(function, error)
    text = linecache.getline(_file_of(function), line).strip()
    return Source(f"\n    line {line}: {text}" if line else "")


def _last_line(function: Any, error: BaseException) -> int:
    """The number of that line, 0 if the error came from elsewhere."""
    frames = traceback.walk_tb(error.__traceback__)
    here = _file_of(function)
    lines = [line for frame, line in frames if frame.f_code.co_filename == here]
    return lines[-1] if lines else 0


def _file_of(function: Any) -> str:
    return str(getattr(getattr(function, "__code__", None), "co_filename", ""))


def _kind(value: Any) -> str | None:
    """b, i or f for a plain number or an array of numbers, by exact type; None for anything else.

    Calls nothing of the value's."""
    if type(value) in KINDS:
        return KINDS[type(value)]
    kind = value.dtype.kind if type(value) is np.ndarray else NUMPY_SCALARS.get(type(value), "")
    return {"u": "i", "i": "i", "f": "f", "b": "b"}.get(kind)


def _advice_on_type(value: Any, wanted: str | None, shape: tuple[int, ...]) -> str:
    if value is None:
        return "end the function with return"
    if shape and type(value) in (list, tuple):
        return advice.AN_ARRAY
    if type(value) in (set, frozenset, list, tuple, dict):
        return "return how many there are: len(...)" if wanted == "i" else advice.A_NUMBER
    if wanted == "i" and _kind(value) == "f":
        return advice.INTEGER_ARRAY if shape else advice.INTEGERS
    return ""


def _returned(told: Message, verb: str, value: Any, wanted: Any) -> Message:
    return message(
        "{call} {verb} {value}[[, expected {wanted}|; {wanted} was asked for]]",
        call=told,
        verb=Words(verb),
        value=_describe(value),
        wanted=_describe(wanted),
    )


def _describe(value: Any) -> Message:
    """Describe a value for a message: its type and, for a number of reasonable length, itself."""
    kind = TypeName(type(value).__name__)
    if value is None:
        return plain("None")
    if type(value) is tuple and 0 < len(value) <= MOST_SHOWN:
        return message("a tuple of {items}", items=Joined(tuple(map(_describe, value)), ", "))
    if type(value) is np.ndarray:
        return _describe_array(value)
    if _kind(value) is None:
        name = Datum(kind.open()[:40])  # student code chose it
        return message("[[an object of type {name}|an object of another type]]", name=name)
    if type(value) is int and value.bit_length() > 64:
        bits = Size(value.bit_length())
        return message("an {kind}[[ of {bits} bits]]", kind=kind, bits=bits)
    article = Words("an" if kind.open()[0] in "aeiou" else "a")
    return message(
        "[[the {kind} {value}|{article} {kind}]]", kind=kind, value=Datum(value), article=article
    )


def _describe_array(array: np.ndarray) -> Message:
    short = array.size <= MOST_SHOWN and array.dtype.kind in "biuf"
    return message(
        "an array of {dtype} with [[shape {shape}{values}|{shape}]]",
        dtype=TypeName(array.dtype),
        shape=Lengths(array.shape),
        values=Datum(f" {array.tolist()}" if short else ""),
    )


def _shown(call: Call, name: str) -> Message:
    """A call as messages show it; the hidden rendering, and that of a long one, is its name."""
    if not _is_short(call):
        return message("{function}", function=Name(name))
    return message("{function}[[({args})]]", function=Name(name), args=Datum(_arguments(call)))


def _is_short(call: Call) -> bool:
    return len(_arguments(call)) <= MOST_CHARACTERS


def _arguments(call: Call) -> str:
    args = (_describe(a).open() if isinstance(a, np.ndarray) else repr(a) for a in call.args)
    return ", ".join(args)
