"""From a kernel or a function and a case to a verdict: the one judge of check cells, hidden tests and the grader.

A kernel is only ever interpreted. A value that came out of student code is looked at by its exact type and never asked to do
anything, so an object that claims to equal everything is just a wrong type. What this leaves out: running host functions safely
(the grader's sandbox does) and deciding points.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import traceback
from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import numpy as np

from warpwise import errors, trace
from warpwise.labs import causes
from warpwise.labs.compare import Mismatch, compare, is_poison, poison
from warpwise.labs.exercise import OF_A_TRACE, Call, Case, InOut, Launch, Out, Reason, Verdict, bound, counted, shape_of, within
from warpwise.labs.limit import Memory, TimeIsUp, at_most
from warpwise.metrics import WARP_SIZE, Metrics
from warpwise.simt import Kernel, as_kernel
from warpwise.trace import KINDS, Trace

MAX_STEPS = 50_000  # loop steps of one launch: a few seconds, and many times what a lab's kernel needs
CALL_SECONDS = 5  # for one call of a host function: long for arithmetic, and well within what a grader waits for a cell
MOST_SHOWN = 8  # elements of an array that a message shows
REASONS: dict[type[errors.WarpwiseError], str] = {
    errors.OutOfBoundsError: "out of bounds",
    errors.UnwrittenReadError: "unwritten read",
    errors.MisalignedError: "misaligned access",
    errors.BarrierError: "barrier missed",
    errors.WarpMaskError: "lane missing from a warp's operation",
    errors.KernelAssertionError: "assertion failed",
    errors.UndefinedNameError: Reason.NOT_DEFINED,
    errors.UnsupportedError: "not a kernel feature",
    errors.KernelTypeError: "types do not fit",
    errors.ArithmeticFault: "division by zero",
    errors.StepLimitError: Reason.ENDLESS,
    errors.LaunchError: "launch refused",
}
SEVERAL = "return {} values, with a comma between them"
AN_ARRAY = "return an array: np.array([...])"
A_NUMBER = "return one number"
BY_HAND = "work this element out by hand, step by step as the exercise states it"
OTHER_SHAPE = "look again at the shape that the exercise asks for"
ONE_TILE = "make one tile of the large array at a time, and let go of it before the next"
SIDE_BY_SIDE = "lanes next to each other should name elements next to each other: which of the indices does threadIdx.x move?"
FLOAT64 = (
    "2.0 is float64, and so is float32 that meets a whole number of 32 or 64 bits: write np.float32(2), np.float32(n); "
    "it may have begun on a line above"
)
BUDGET_ADVICE = {
    "sectors_per_request_load": SIDE_BY_SIDE,
    "sectors_per_request_store": SIDE_BY_SIDE,
    "warp_efficiency": "lanes of one warp should take the same way, and every warp should be full of work",
    "divergent_branches": "a condition that differs between the lanes of a warp makes it go both ways: ask for something that warps share",
    "branches": "each if and each trip of a loop is a branch: can one expression, such as min or max, take its place?",
    "global_load_sectors": SIDE_BY_SIDE,
    "global_store_sectors": SIDE_BY_SIDE,
    "op_special": "compute each exp, tanh or square root once and keep it, or share it: slopes often follow from the result",
    "global_load_bytes": "load each value once, into a variable, before the loop that uses it, and nothing that no thread needs",
    "global_store_bytes": "write each result once, when it is finished, and nothing that can be made again where it is needed",
    "global_store_requests": "lanes that store together share one request: let neighbouring threads store neighbours, and store each once",
    "shared_load_requests": "load a value of shared memory once, into a variable, and use it several times",
    "shared_store_requests": "write to shared memory only what other threads will read",
    "op_fp32": "** and comparisons count too, and so does each step that is made twice",
    "op_fp64": FLOAT64,
    "flops_fp64": FLOAT64,
    "shared_bank_conflicts": "word w lies in bank w % 32, and tile[i, j] is word i * columns + j: "
    "write down the banks of lanes 0, 1 and 2 there",
    "global_load_requests": "lanes that load together share one request: let neighbouring threads load neighbours, and load each once",
    "global_atomic_requests": "atomics on shared memory stay on the chip: gather there first, and add to global memory once, at the end",
    "global_bytes_distinct": "more of global memory is touched than the answer needs: which array need not be read or written at all?",
    "local_bytes_per_thread": "an array of one thread should hold one row or one tile of numbers, however long the whole is",
    "shared_bytes_per_block": "shared memory should hold one tile at a time, not all of them",
    "barriers": "a barrier is needed between writing a tile and reading it, and before it is overwritten: which others are there?",
    "global_bytes_moved": "more is moved than is needed: is each element touched once, by a warp whose lanes are all at work?",
}
PLAIN = {int: "i", float: "f", bool: "b"}
NUMPY_SCALARS = {np.dtype(code).type: np.dtype(code).kind for code in "?bBhHiIlLqQefd"}


def judge(target: Any, cases: Iterable[Case], max_steps: int = MAX_STEPS) -> tuple[Verdict, ...]:
    """Verdicts on a kernel or a function, case by case, up to and including the first that is not passed."""
    if is_stub(target):
        return (Verdict(False, Reason.NOT_DONE),)
    verdicts = []
    for case in cases:
        verdicts.append(judge_launch(target, case, max_steps) if isinstance(case, Launch) else judge_call(target, case))
        if not verdicts[-1].passed:
            break
    return tuple(verdicts)


def is_stub(target: Any) -> bool:
    """Whether the body of a kernel or a function is still only a docstring, ``...`` or ``pass``."""
    if isinstance(target, Kernel) or not inspect.isfunction(target):
        try:
            return as_kernel(target).is_stub
        except errors.WarpwiseError:
            return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(target)))
    except (OSError, TypeError, SyntaxError):
        return False
    return is_stub_syntax(tree.body[0])


def is_stub_syntax(function: ast.stmt) -> bool:
    """The same for a function in a syntax tree, which is all that the grader has."""
    return isinstance(function, ast.FunctionDef) and all(_says_nothing(statement) for statement in function.body)


def _says_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def name_of(target: Any) -> str:
    """The name of a kernel or a function, as its author wrote it."""
    function = getattr(target, "py_func", target)  # numba keeps the function it compiled there
    return getattr(function, "name", None) or getattr(function, "__name__", type(target).__name__)


def judge_launch(kernel: Any, launch: Launch, max_steps: int = MAX_STEPS) -> Verdict:
    """Launch a kernel in the simulator on poisoned outputs and copies of the inputs, and judge what it did.

    A plain function is refused, for the grader knows kernels by their decorator. Looked at in this order: errors, races, changed
    inputs, outputs, budget. The first that is wrong makes the verdict.
    A kernel that takes more than ``max_steps`` steps in its loops counts as endless.
    """
    if inspect.isfunction(kernel):
        told = f"{name_of(kernel)} is a plain function; a kernel is asked for here"
        return Verdict(False, Reason.WRONG_TYPE, told, launch.label, advice="write @cuda.jit above it")
    args = [fresh(arg) for arg in launch.args]
    try:
        t = trace(kernel, launch.blocks, launch.threads, *args, max_steps=max_steps)
    except errors.WarpwiseError as error:
        return _on_error(error, launch)
    names = _parameters(kernel, len(args))
    found = _race(t) or _inputs(launch, args, names) or _outputs(kernel, launch, args, names, t) or _budget(launch, t)
    passed, reason, detail, advice = (False, *found) if found else (True, Reason.PASSED, "", "")
    return Verdict(passed, reason, detail, launch.label, t.metrics, t, advice)


def fresh(arg: Any) -> Any:
    """What a launch is given for one of a case's arguments: a poisoned array, a copy, or the number itself."""
    if isinstance(arg, Out):
        return poison(shape_of(arg), arg.dtype)
    arg = arg.start if isinstance(arg, InOut) else arg
    return arg.copy(order="K") if isinstance(arg, np.ndarray) else arg


def _parameters(kernel: Any, count: int) -> tuple[str, ...]:
    names = tuple(as_kernel(kernel).parameters)
    return names if len(names) == count else tuple(f"argument {i}" for i in range(count))


def _on_error(error: errors.WarpwiseError, case: Case) -> Verdict:
    reason = next((REASONS[kind] for kind in type(error).__mro__ if kind in REASONS), Reason.RAISED)
    return Verdict(False, reason, str(error), case.label, advice=getattr(error, "try_this", ""))


# Each of the four looks for one kind of mistake and returns (reason, detail, advice), or None.


def _race(t: Trace) -> tuple[str, str, str] | None:
    if not t.races:
        return None
    race = t.races[0]
    return Reason.RACE, f"{race.what}\n{race.places}", race.try_this


def _inputs(launch: Launch, args: list[Any], names: tuple[str, ...]) -> tuple[str, str, str] | None:
    for given, now, name in zip(launch.args, args, names, strict=True):
        if isinstance(given, np.ndarray):
            changed = compare(now, given)
            if changed:
                return Reason.INPUT_CHANGED, changed.say(name, was=True), f"write only to the output; {name} is read-only here"
    return None


def _outputs(kernel: Any, launch: Launch, args: list[Any], names: tuple[str, ...], t: Trace) -> tuple[str, str, str] | None:
    outs = [(now, name) for given, now, name in zip(launch.args, args, names, strict=True) if isinstance(given, Out | InOut)]
    for (got, name), want in zip(outs, launch.want, strict=True):
        wrong = compare(got, want, launch.rtol, launch.atol)
        if wrong is None:
            continue
        unwritten = is_poison(got) & wrong.where
        if unwritten.any():
            return Reason.NOT_WRITTEN, *_on_unwritten(kernel, launch, name, unwritten, t)
        return Reason.WRONG_RESULT, *_on_wrong(name, wrong)
    return None


def _on_unwritten(kernel: Any, launch: Launch, name: str, unwritten: np.ndarray, t: Trace) -> tuple[str, str]:
    """What to say of an output that still holds its poison, or that was computed from it."""
    first = ", ".join(map(str, np.argwhere(unwritten)[0].tolist()))
    count = f"{int(unwritten.sum())} of {unwritten.size} elements"
    if _loads_from(name, t):
        said = f"{name}[{first}] was computed from what the output held before the launch; so were {count}"
        return said, f"begin with =, not with +=: {name} holds no zeros, so write to it and never read it"
    advice = causes.of_missing(as_kernel(kernel), launch, name, unwritten, t)
    return f"{name}[{first}] was never written; {count} are missing", advice


def _loads_from(name: str, t: Trace) -> bool:
    """Whether a recorded block loaded from this array."""
    numbers = [i for i, array in enumerate(t.arrays) if array.name == name]
    return bool((np.isin(t.records.array, numbers) & (t.records.kind == KINDS.index("load"))).any())


def _on_wrong(name: str, wrong: Mismatch) -> tuple[str, str]:
    times = causes.factor(wrong.got, wrong.want)
    detail = wrong.say(name) + (f"; each is {times:.6g} times what it should be" if times is not None else "")
    return detail, causes.of_wrong(name, wrong, times is not None)


def _budget(launch: Launch, t: Trace) -> tuple[str, str, str] | None:
    for counter, limit in launch.budget.items():
        value = counted(t, counter)
        if not within(counter, value, limit):
            budget = f"the budget is {bound(counter)} {figure(limit)}"
            detail = f"the result is right, but {counter} is {figure(value)}; {budget}{_blame(t, counter)}"
            return Reason.OVER_BUDGET + counter, detail, BUDGET_ADVICE.get(counter, f"bring {counter} down on the line that has most of it")
    return None


def _blame(t: Trace, counter: str) -> str:
    """The line that has most of a counter."""
    if not t.by_line or counter in OF_A_TRACE:
        return ""
    if counter == "warp_efficiency":
        line = max(t.by_line, key=lambda number: _idle_lanes(t.by_line[number]))
        return f"\nmost of the idle lanes on\n{_quoted(t, line)}"
    line = max(t.by_line, key=lambda number: getattr(t.by_line[number], counter))
    return f"\nmost of it, {figure(getattr(t.by_line[line], counter))}, on\n{_quoted(t, line)}"


def _idle_lanes(m: Metrics) -> int:
    """Lanes that stood idle, summed over the warps' instructions."""
    return WARP_SIZE * m.warp_instructions - m.thread_instructions


def _quoted(t: Trace, line: int) -> str:
    return f"    line {line}: {t.source.get(line, '').strip()}"


def figure(value: float) -> str:
    """A counter for a reader: groups of three digits, and at most two after the point."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def judge_call(function: Callable[..., Any], call: Call) -> Verdict:
    """Call a host function here and now, and judge its value. Only for the student's own machine: student code runs.

    A call that takes more than CALL_SECONDS counts as endless, where ``limit`` can stop it.
    """
    name = name_of(function)
    if _is_kernel(function):
        told = f"{name} is a kernel; a plain Python function is asked for here"
        return Verdict(False, Reason.WRONG_TYPE, told, call.label, trace=call.trace, advice="remove @cuda.jit above it")
    args = [arg.copy(order="K") if isinstance(arg, np.ndarray) else arg for arg in call.args]
    try:
        with at_most(CALL_SECONDS), Memory(call.most_bytes is not None) as memory:
            value = function(*args)
    except TimeIsUp as error:
        told = f"{_call(call, name)} gave no answer in {CALL_SECONDS} seconds{_line_in(function, error)}"
        advice = "look for a loop whose condition never becomes false"
        return Verdict(False, Reason.ENDLESS, told, call.label, trace=call.trace, advice=advice)
    except (Exception, SystemExit) as error:
        told = f"{_call(call, name)} raised {type(error).__name__}: {error}{_line_in(function, error)}"
        return Verdict(False, Reason.RAISED, told, call.label, trace=call.trace)
    for given, now in zip(call.args, args, strict=True):
        if isinstance(given, np.ndarray) and compare(now, given):
            return Verdict(False, Reason.INPUT_CHANGED, f"{_call(call, name)} changed its argument", call.label, trace=call.trace)
    verdict = judge_value(value, call, name)
    return _too_much(call, name, memory.most_bytes) if verdict.passed and memory.most_bytes > (call.most_bytes or inf) else verdict


def _too_much(call: Call, name: str, held: int) -> Verdict:
    """The verdict on a right answer that held more memory at once than it may."""
    told = f"the result is right, but {_call(call, name)} held {held:,} bytes at once; the budget is at most {call.most_bytes:,}"
    return Verdict(False, Reason.TOO_MUCH_MEMORY, told, call.label, trace=call.trace, advice=ONE_TILE)


def _is_kernel(target: Any) -> bool:
    return isinstance(target, Kernel) or (hasattr(target, "py_func") and type(target).__module__.startswith(("numba.cuda", "numba_cuda")))


def _line_in(function: Any, error: BaseException) -> str:
    """The last line of the function's own cell or file that an error went through, or that was at work when time was up."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return f"\n    line {lines[-1]}: {linecache.getline(file, lines[-1]).strip()}" if lines else ""


def judge_value(value: Any, call: Call, name: str = "the function") -> Verdict:
    """Judge a value that came from student code, or from the sandbox that ran it. Safe for any object: see ``_kind``."""
    told = _call(call, name)
    if type(call.want) is not tuple:
        return _judge_item(value, call.want, call, told)
    if type(value) is not tuple or len(value) != len(call.want):
        detail = f"{told} returned {_describe(value)}, expected {_describe(call.want)}"
        return Verdict(False, Reason.WRONG_TYPE, detail, call.label, trace=call.trace, advice=SEVERAL.format(len(call.want)))
    found = (_judge_item(item, want, call, f"item {i} of {told}") for i, (item, want) in enumerate(zip(value, call.want, strict=True)))
    return next((verdict for verdict in found if not verdict.passed), Verdict(True, Reason.PASSED, "", call.label, trace=call.trace))


def _judge_item(value: Any, wanted: Any, call: Call, told: str) -> Verdict:
    """Judge a number or an array. ``told``: what to call it."""
    kind, asked = _kind(value), _kind(wanted)
    returned = f"{told} {'returned' if type(call.want) is not tuple else 'is'} {_describe(value)}, expected {_describe(wanted)}"
    if kind is None or (kind != asked and (kind, asked) != ("i", "f")):
        advice = _advice_on_type(value, asked, np.shape(wanted))
        return Verdict(False, Reason.WRONG_TYPE, returned, call.label, trace=call.trace, advice=advice)
    got, want = np.asarray(value), np.asarray(wanted)
    wrong = compare(got, want, call.rtol, call.atol) if got.dtype.kind != "O" else Mismatch(got, want, np.ones(want.shape, bool))
    if wrong is None:
        return Verdict(True, Reason.PASSED, "", call.label, trace=call.trace)
    detail = wrong.say(told) if want.shape else returned
    by_hand = causes.NAN if causes.makes_nan(wrong) else BY_HAND if want.shape else "work this case out by hand"
    advice = by_hand if got.shape == want.shape else OTHER_SHAPE
    return Verdict(False, Reason.WRONG_RESULT, detail, call.label, trace=call.trace, advice=advice)


def _kind(value: Any) -> str | None:
    """b, i or f for a plain number or an array of numbers, by exact type; None for anything else. Calls nothing of the value's."""
    if type(value) in PLAIN:
        return PLAIN[type(value)]
    kind = value.dtype.kind if type(value) is np.ndarray else NUMPY_SCALARS.get(type(value))
    return {"u": "i", "i": "i", "f": "f", "b": "b"}.get(kind)


def _advice_on_type(value: Any, wanted: str | None, shape: tuple[int, ...]) -> str:
    if value is None:
        return "end the function with return"
    if shape and type(value) in (list, tuple):
        return AN_ARRAY
    if type(value) in (set, frozenset, list, tuple, dict):
        return "return how many there are: len(...)" if wanted == "i" else A_NUMBER
    if wanted == "i" and _kind(value) == "f" and shape:
        return "an array of whole numbers is asked for: name the dtype, as in np.array([...], dtype=int), which an empty array needs too"
    return "whole numbers are asked for: use //, len() or int()" if wanted == "i" and _kind(value) == "f" else ""


def _describe(value: Any) -> str:
    """A value for a message: its type and, for a plain number of reasonable length, itself."""
    kind = type(value).__name__
    if value is None:
        return "None"
    if type(value) is tuple and 0 < len(value) <= MOST_SHOWN:
        return f"a tuple of {', '.join(map(_describe, value))}"
    if type(value) is np.ndarray:
        shown = f" {value.tolist()}" if value.size <= MOST_SHOWN and value.dtype.kind in "biuf" else ""
        return f"an array of {value.dtype} with shape {value.shape}{shown}"
    if _kind(value) is None:
        return f"an object of type {kind[:40]}"
    short = type(value) is not int or value.bit_length() <= 64
    return f"the {kind} {value}" if short else f"an {kind} of {value.bit_length()} bits"


def _call(call: Call, name: str) -> str:
    return f"{name}({', '.join(_describe(a) if isinstance(a, np.ndarray) else repr(a) for a in call.args)})"
