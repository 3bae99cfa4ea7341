"""Exercises as data: launches, calls, runs on a cluster, and the verdict on one of them.

These are plain values. A lab's check cell builds them, the hidden tests build them from a seed, and
``judge`` turns them into verdicts; nothing here runs student code."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from warpwise.cluster import Record, Topology
from warpwise.errors import LabError
from warpwise.hopper import TensorMap
from warpwise.labs.budgets import NAMES, OF_A_RUN, OF_THE_COMPILER
from warpwise.labs.compare import poison
from warpwise.messages import NOTHING, Message
from warpwise.metrics import Metrics
from warpwise.traces import Trace


class Reason:
    """The phrases that a verdict can have as its reason; tests and gradebooks rely on them.

    Errors of a kernel add theirs: ``judge.REASONS``."""

    PASSED = "passed"
    NOT_DONE = "not done yet"
    WRONG_RESULT = "wrong result"
    WRONG_TYPE = "wrong type"
    NOT_WRITTEN = "output not written"
    INPUT_CHANGED = "input changed"
    RACE = "race"
    RAISED = "raised an error"
    ENDLESS = "does not end"  #: known: a loop that no thread can leave
    TOO_SLOW = "too slow"  #: it used up its processor time, or its steps
    TIMED_OUT = "timed out"  #: it waited, or got no processor
    NOT_DEFINED = "name not defined"
    NOT_PYTHON = "not Python"
    OVER_BUDGET = "over budget: "  #: followed by the name of the counter
    TOO_MUCH_MEMORY = "over budget: memory"  #: of a host function
    REFUSED = "refused by the compiler"  #: NVIDIA's, of a kernel that is right
    DEADLOCK = "deadlock"  #: of ranks, which wait for what no rank does
    MISMATCH = "ranks do not agree"
    IN_USE = "array still in use"  #: by a transfer that was not waited for
    RANKS = "mistake among ranks"  #: any other


@dataclass(frozen=True)
class Out:
    """An array that the kernel must fill.

    It is poisoned before the launch: NaN for floats, a rare value for integers."""

    shape: tuple[int, ...] | int
    dtype: str = "float32"


@dataclass(frozen=True, eq=False)
class InOut:
    """An array that the kernel reads and changes in place.

    A launch gets a copy, so every launch begins with the same values."""

    start: np.ndarray


#: takes the inputs of a case, without outputs, and returns what the case wants
Reference = Callable[..., np.ndarray | tuple[np.ndarray, ...]]
#: from what is misread, as a clause that follows "if", to what then comes out: as ``want`` of the
#: case, or as a reference of its inputs
Readings = Mapping[str, Any]
#: takes what a function returned, of a tuple each item, and says what is wrong with it, or ""
Objection = Callable[..., str]


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel and the results that it must give.

    ``args`` holds arrays, scalars, tensor maps of ``warpwise.hopper``, ``Out`` and ``InOut``,
    in the order of the kernel's parameters. ``want`` has one array for each ``Out`` and
    ``InOut``, in order. ``budget`` maps counters, of ``budgets.NAMES``, to the most each may
    be; to the least for those in MORE_IS_BETTER. Budgets on loads and stores count atomics too.
    ``advice`` maps some of these counters to what to try where the exercise knows it better
    than the counter, one text for all its cases, hidden ones too. Results are compared exactly
    unless ``rtol`` or ``atol`` is given. ``reference`` works out what is wanted of other
    inputs, to explain a wrong answer: it takes arrays, those of tensor maps, numbers and the
    starts of ``InOut`` in order, and returns an array, or a tuple with one for each output.
    ``readings`` name the ways in which the exercise is misread, each with its result or a
    function as ``reference`` is; a wrong answer that gives such a result is told which.
    ``compiled`` is a budget on what NVIDIA's compiler makes of the kernel, of
    ``budgets.OF_THE_COMPILER``: the most each may be, and of ``flops_per_issue_slot`` the least.
    Where there is no compiler, nothing comes of it.
    Raises LabError when ``want`` and ``args`` do not fit together or a counter does not exist."""

    label: str
    blocks: int | tuple[int, ...]
    threads: int | tuple[int, ...]
    args: tuple[Any, ...]
    want: tuple[np.ndarray, ...]
    budget: Mapping[str, float] = field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0
    advice: Mapping[str, str] = field(default_factory=dict)
    reference: Reference | None = field(default=None, repr=False, compare=False)
    readings: Readings = field(default_factory=dict, repr=False, compare=False)
    compiled: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outs = [_kind_of(out) for out in self.args if isinstance(out, Out | InOut)]
        wants = [(want.shape, want.dtype) for want in self.want]
        if outs != wants:
            both = f"the outputs are {outs}, the expected arrays {wants}"
            raise LabError(f"launch {self.label!r}: {both}")
        unknown = sorted((set(self.budget) - {*NAMES}) | (set(self.compiled) - {*OF_THE_COMPILER}))
        if unknown:
            raise LabError(f"launch {self.label!r}: no counter is called {', '.join(unknown)}")
        if idle := sorted(set(self.advice) - set(self.budget)):
            without = f"advice on {', '.join(idle)}, which the budget does not name"
            raise LabError(f"launch {self.label!r}: {without}")


@dataclass(frozen=True)
class Call:
    """One call of a host function: numbers and arrays in; a number, an array or a tuple out.

    ``most_bytes`` is the memory that NumPy and Python may hold at once for it, beyond its
    arguments. The grader sees the memory of a process, so a hidden call should allow
    LEAST_MOST_BYTES or more, and a wrong answer need twice as much. ``trace`` is a launch that the
    call is about, and ``view`` a picture for it (a ``View`` of ``warpwise.views``) that shows no
    launch. ``reference`` works out what is wanted of other arguments, and ``readings`` say what
    comes out if the exercise is misread, as a launch's do. ``labels`` number the outputs
    that name something, such as the fastest of some devices: none is more or less than another.
    ``typed`` number those that need the very dtype of ``want``; others may be of another width.
    Where many results are right, ``want`` is one of them, and ``objection`` says of others of its
    types and shapes what is wrong; of a hidden call only that something is."""

    label: str
    args: tuple[Any, ...]
    want: Any
    rtol: float = 0.0
    atol: float = 0.0
    most_bytes: int | None = None
    trace: Trace | None = field(default=None, repr=False, compare=False)
    view: Any = field(default=None, repr=False, compare=False)
    reference: Reference | None = field(default=None, repr=False, compare=False)
    readings: Readings = field(default_factory=dict, repr=False, compare=False)
    labels: tuple[int, ...] = field(default=(), repr=False, compare=False)
    typed: tuple[int, ...] = ()
    objection: Objection | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Program:
    """One run of a function on the ranks of a simulated cluster, and what each rank must return.

    ``each`` holds by rank the arguments that stand after ``dist``: numbers and arrays. ``want`` has
    what each returns, as ``want`` of a Call. ``budget`` maps counters of a run, of
    ``budgets.OF_A_RUN``, to the most each may be, and ``advice`` some of them to what to try.
    ``topology`` is as ``cluster.run`` takes it. ``readings`` map what is misread, as a call's do,
    to what each rank then returns. The function may call its arrays its own: they are copies. Its
    kernels would run in the notebook and not in the grader, so an exercise asks for NumPy. Raises
    LabError when ``want`` and ``each`` do not fit together or a counter does not exist."""

    label: str
    each: tuple[tuple[Any, ...], ...]
    want: tuple[Any, ...]
    budget: Mapping[str, float] = field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0
    advice: Mapping[str, str] = field(default_factory=dict)
    topology: Topology | None = None
    readings: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.each) != len(self.want) or not self.each:
            both = f"{len(self.each)} ranks run, and {len(self.want)} results are wanted"
            raise LabError(f"program {self.label!r}: {both}")
        unknown = sorted({*self.budget, *self.advice} - {*OF_A_RUN})
        if unknown:
            raise LabError(f"program {self.label!r}: no counter is called {', '.join(unknown)}")

    @property
    def ranks(self) -> int:
        return len(self.each)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of the first rank."""
        return self.each[0]

    def of_rank(self, rank: int) -> Call:
        """Return what a rank is asked for, as a call."""
        readings = {clause: results[rank] for clause, results in self.readings.items()}
        given, want = self.each[rank], self.want[rank]
        return Call(self.label, given, want, self.rtol, self.atol, readings=readings)


#: of hidden calls: below, the grader could not tell an answer's memory from Python's
LEAST_MOST_BYTES = 48 << 20
Alone = Launch | Call  #: a case of one GPU, or of none
Case = Alone | Program
Item = TypeVar("Item")


@dataclass(frozen=True)
class Verdict:
    """The judge's decision on one case.

    ``reason`` is one of the phrases of ``Reason``. ``message`` says where, what was expected and
    what came instead, ``remedy`` what to try. ``detail`` and ``advice`` are these in full, for
    whoever may see the case; of a hidden case only their hidden renderings leave the grader.
    ``run`` is of a program that came to its end."""

    passed: bool
    reason: str
    message: Message = NOTHING
    case: str = ""
    metrics: Metrics | None = None
    trace: Trace | None = field(default=None, repr=False, compare=False)
    remedy: Message = NOTHING
    run: Record | None = field(default=None, repr=False, compare=False)

    @property
    def detail(self) -> str:
        return self.message.open()

    @property
    def advice(self) -> str:
        return self.remedy.open()


def shape_of(out: Out) -> tuple[int, ...]:
    """Return the shape of an output as a tuple; a bare length is a vector's."""
    return (out.shape,) if isinstance(out.shape, int) else tuple(out.shape)


def copied(value: Any) -> Any:
    """Return an array's copy in the same order; anything else as it is."""
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def value_of(arg: Any) -> Any:
    """Return the start of an ``InOut``, the array of a tensor map, anything else as it is."""
    if isinstance(arg, InOut):
        return arg.start
    return arg.array if isinstance(arg, TensorMap) else arg


def with_value(arg: Any, value: Any) -> Any:
    """Return what a launch gets for an argument if its array, or number, is another."""
    return arg._replace(array=value) if isinstance(arg, TensorMap) else value


def needs_the_simulator(launch: Launch) -> bool:
    """True for a launch that no GPU can make: it passes what only a model takes."""
    return any(isinstance(arg, TensorMap) for arg in launch.args)


def fresh(arg: Any) -> Any:
    """Return what a launch gets for an argument of a case: a poisoned array, a copy, the number."""
    if isinstance(arg, Out):
        return poison(shape_of(arg), arg.dtype)
    return with_value(arg, copied(value_of(arg)))


def outputs(launch: Launch, items: Iterable[Item]) -> tuple[Item, ...]:
    """Return those items that stand for outputs, of as many as a launch has arguments."""
    pairs = zip(launch.args, items, strict=True)
    return tuple(item for arg, item in pairs if isinstance(arg, Out | InOut))


def read_as(case: Alone, output: int = 0) -> dict[str, np.ndarray]:
    """Return what one of a case's outputs is in each of its readings, by what is misread."""
    given = [value_of(arg) for arg in inputs_of(case)]
    made = {
        clause: value(*map(copied, given)) if callable(value) else value
        for clause, value in case.readings.items()
    }
    return {
        clause: np.asarray(value[output] if isinstance(value, tuple) else value)
        for clause, value in made.items()
    }


def inputs_of(case: Case) -> tuple[Any, ...]:
    """Return the arguments of a case that are not outputs alone."""
    return tuple(arg for arg in case.args if not isinstance(arg, Out))


def named_inputs(case: Case, names: Sequence[str]) -> dict[str, Any]:
    """Return the inputs of a case by the names of all its arguments, outputs' too."""
    named = {n: a for n, a in zip(names, case.args, strict=True) if not isinstance(a, Out)}
    return {n: value_of(a) for n, a in named.items()}


def named_before(
    case: Case, cases: Sequence[Case], names: Sequence[str]
) -> tuple[dict[str, Any], ...]:
    """Return the inputs of the cases that stand before one, which are right if it is judged."""
    before = itertools.takewhile(lambda other: other is not case, cases)
    return tuple(named_inputs(other, names) for other in before if len(other.args) == len(names))


def _kind_of(out: Out | InOut) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if isinstance(out, InOut):
        return out.start.shape, out.start.dtype
    return shape_of(out), np.dtype(out.dtype)
