"""Run a kernel and its launch, and say what came of it as plain data.

Text and launch are two cells with one namespace. A launch that ends with a trace is shown in tabs.
If it binds ``expected``, that is compared with the last array of its last ``trace(...)``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from warpwise.cells.run import (
    Namespace,
    Printed,
    Shown,
    evaluated,
    line,
    remembered,
    rendered,
    said,
)
from warpwise.cuda import DeviceArray
from warpwise.labs.compare import compare
from warpwise.labs.fragments import misplaced
from warpwise.messages import Name
from warpwise.metrics import Metrics
from warpwise.playground.difference import difference
from warpwise.show import show
from warpwise.simt import as_kernel
from warpwise.traces import Trace

KERNEL, LAUNCH = "kernel", "launch"  #: the two cells, as marks and errors call them
EXPECTED = "expected"
#: Relative and absolute, by bytes of a number: several times what the order of a sum may change.
TOLERANCES = {2: (2e-2, 1e-3), 4: (1e-4, 1e-5), 8: (1e-9, 1e-12)}
MOST_MARKS = 50


@dataclass(frozen=True)
class Mark:
    """A line that is to blame: the cell, the line from 1, "race" or "error", and what was said."""

    cell: str
    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class Played:
    """What a kernel's launch shows, the lines to mark, the verdict on its result, and counters."""

    shown: Shown
    marks: tuple[Mark, ...] = ()
    verdict: str = ""
    metrics: Metrics | None = None

    @property
    def data(self) -> dict[str, Any]:
        marks = [asdict(mark) for mark in self.marks]
        return {**self.shown.data, "marks": marks, "verdict": self.verdict}


def play(program: Mapping[str, str]) -> dict[str, Any]:
    """Run a ``kernel`` and its ``launch``, and the same launch of the ``other`` kernel, if given.

    Returns ``kernels``, what each shows, and ``difference``, the rows of their counters."""
    texts = [program["kernel"], *filter(str.strip, [program.get("other", "")])]
    played = [run(text, program["launch"]) for text in texts]
    counted = [one.metrics for one in played if one.metrics]
    rows = difference(*counted) if len(counted) == 2 else []
    return {"kernels": [one.data for one in played], "difference": rows}


def run(kernel: str, launch: str) -> Played:
    """Run one kernel's text and its launch."""
    printed = Printed()
    space: Namespace = {"__name__": "__main__"}
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = printed.warn  # type: ignore[assignment]  # any place
            value = _value(kernel, launch, space)
            shown = Shown(printed.text, *rendered(drawn(value)))
    except BaseException as error:
        return Played(Shown(printed.text, error=said(error)), tuple(_blamed(error)))
    traces = [one for one in (*space.values(), value) if isinstance(one, Trace)]
    said_of_it, metrics = verdict(launch, space), traces[-1].metrics if traces else None
    marks = dict.fromkeys(mark for trace in traces for mark in races(trace))
    if metrics and metrics.op_tensor and said_of_it.endswith("wrong."):
        marks |= dict.fromkeys(fragments(ast.parse(launch), space))
    return Played(shown, tuple(marks)[:MOST_MARKS], said_of_it, metrics)


def drawn(value: object) -> object:
    """Return a trace as its tabs; anything else as it is."""
    return show(value) if isinstance(value, Trace) else value


def races(trace: Trace) -> Iterator[Mark]:
    """Yield both lines of every race, unless they are elsewhere than in the kernel's cell."""
    for race in trace.races:
        for side in (race.first, race.second):
            if side.line > 0 and not side.elsewhere:
                yield Mark(KERNEL, side.line, "race", f"{race.what}. Try: {race.try_this}.")


def verdict(launch: str, space: Namespace) -> str:
    """Compare ``expected`` with the result of a launch; "" if there is nothing to compare."""
    want, name = space.get(EXPECTED), result(ast.parse(launch), space)
    if not name or want is None or callable(want):
        return ""
    given = space[name]
    got: np.ndarray = given.copy_to_host() if isinstance(given, DeviceArray) else given
    try:
        fitting = np.asarray(want).astype(got.dtype)
        wrong = compare(got, fitting, *TOLERANCES.get(_precision(got), (0.0, 0.0)))
    except Exception as error:  # whatever the values of a reader raise
        return f"expected cannot be compared with {name}: {error}"
    return f"{name} is as expected." if wrong is None else f"{wrong.say(Name(name)).open()}."


def fragments(launch: ast.Module, space: Namespace) -> Iterator[Mark]:
    """Yield the product of a wrong result that gets a fragment in another order."""
    given = ast.Expression(ast.Tuple(_traced(launch), ast.Load()))
    ast.fix_missing_locations(given)
    try:
        kernel, blocks, threads, *args = eval(compile(given, LAUNCH, "eval"), space)
        found = misplaced(as_kernel(kernel), blocks, threads, args)
    except Exception:  # whatever the expressions of a reader raise
        return
    if found and found.line:
        yield Mark(KERNEL, found.line, "error", found.told)


def _traced(tree: ast.Module) -> list[ast.expr]:
    """Return what the last ``trace(...)`` is given."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    traced = [call for call in calls if getattr(call.func, "id", "") == "trace"]
    return traced[-1].args if traced else []


def result(tree: ast.Module, space: Namespace) -> str:
    """Return the name of the last array that the last ``trace(...)`` is given, or ""."""
    args = _traced(tree)
    names = [arg.id for arg in args if isinstance(arg, ast.Name)]
    arrays = np.ndarray, DeviceArray
    return next((n for n in reversed(names) if isinstance(space.get(n), arrays)), "")


def _value(kernel: str, launch: str, space: Namespace) -> object:
    """Run both texts; a mistake of syntax in the launch is found before anything runs."""
    first = ast.parse(remembered(kernel, KERNEL), KERNEL)
    second = _unshown(ast.parse(remembered(launch, LAUNCH), LAUNCH))
    evaluated(first, KERNEL, space)
    return evaluated(second, LAUNCH, space)


def _unshown(tree: ast.Module) -> ast.Module:
    """Let ``trace(...).show()`` at the end give the trace, which is shown anyway."""
    match tree.body[-1:]:
        case [
            ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("trace")) as call, "show"), [], []))
        ]:
            tree.body[-1] = ast.copy_location(ast.Expr(call), tree.body[-1])
    return tree


def _blamed(error: BaseException) -> Iterator[Mark]:
    """Yield the line that an error blames: in the kernel if it is there, else in the launch."""
    for cell in (KERNEL, LAUNCH):
        if number := line(error, cell):
            yield Mark(cell, number, "error", said(error))
            return


def _precision(array: np.ndarray) -> int:
    """Return the bytes of a number, 0 for what has to be equal."""
    parts = {"f": 1, "c": 2}.get(array.dtype.kind)
    return array.itemsize // parts if parts else 0
