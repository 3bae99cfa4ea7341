"""``check``, which a lab's check cells call: judge, give the verdict, show the student's kernel.

A notebook shows the verdict as a card (``card``), and its text where there is no HTML. nbval
compares that text with the one kept in the notebook, so it says only what is the same for every
right answer. Counters and picture differ between right answers; they replace a placeholder, and
nbval sees only the placeholder. So do the card, and the kernel's results on a GPU, which stand
below the counters where there is one. The picture opens at what failed (``place``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from textwrap import dedent, indent
from typing import Any

from warpwise.cluster import Record
from warpwise.errors import WarpwiseError
from warpwise.labs import (
    causes,
    fold,
    lookup,
    modelled_time,
    on_gpu,
    place,
    progress,
    ungraded,
)
from warpwise.labs.budgets import counter_value, counts_atomics, figure
from warpwise.labs.card import Card, Gauge
from warpwise.labs.cells_run import CellsRun
from warpwise.labs.compiler_budget import with_compiled
from warpwise.labs.counted import counted
from warpwise.labs.differences import Difference
from warpwise.labs.exercise import Call, Case, Launch, Program, Reason, Verdict
from warpwise.labs.judge import FIRST_BLOCK, judge_until_wrong, telling
from warpwise.labs.ladder import Attempts, Ladder
from warpwise.labs.looked import Looked, looked
from warpwise.labs.narrowed import Ruled, narrowed
from warpwise.messages import NOTHING, plain
from warpwise.traces import Trace

COUNTERS = "(counters: run this cell)"
PICTURE = "(picture: run this cell)"
BOARD = "(your kernels so far: run this cell)"
TARGET = "target; run this cell for your own result"
TOLD = ("passed", "reason", "detail", "case")  # fields of a verdict for ``warpwise check``
USUAL_COUNTERS = ("sectors_per_request_load", "sectors_per_request_store", "global_bytes_moved")
_SESSION = progress.Session()
_CELLS = CellsRun()
_CELLS.watch()


def check(
    target: Any,
    cases: Iterable[Case],
    view: Any = None,
    strict: bool = False,
    board: Ladder | Attempts | None = None,
) -> None:
    """Judge a kernel or a function on each case, in order, and show the verdict and the kernel.

    ``target`` may be its name, to be looked up where ``check`` is called: a name that is missing
    there is a verdict too. ``view`` draws the trace: a module of ``warpwise.views`` with
    ``of_trace``, by default one that shows the verdict's reason, such as ``burst``. A wrong answer
    raises nothing, unless ``strict``: then it raises AssertionError in the end, which tells
    nbgrader. A kernel that passes gets a row in ``board``, which is shown: its counters on the
    first case."""
    cases = tuple(cases)
    names = sys._getframe(1).f_globals
    name, verdicts = _judged(target, cases, names)
    kernel = names.get(target) if isinstance(target, str) else target
    case, shown = _shown(cases, verdicts)
    seen = _looked_at(kernel, case, shown)
    taken, missing = tuple[Gauge, ...](), ""
    verdicts = _advised(kernel, verdicts, seen, _failed_one_in(kernel, name))
    if not _nobody_looks():  # the grader compiles it elsewhere
        verdicts, found, missing = with_compiled(kernel, cases, verdicts)
        taken = tuple(Gauge(*one) for one in found)
        case, shown = _shown(cases, verdicts)
    last = _told(verdicts)
    told = {"exercise": name, "advice": _advice(last)} | {k: getattr(last, k) for k in TOLD}
    _SESSION.told(name, last.passed)
    card = _card(name, cases, verdicts, names, seen.told, taken)
    _say(verdict_text(name, cases, verdicts, seen.told), card, told | {"looked": seen.told})
    if isinstance(case, Launch) and shown.trace is not None:
        below = on_gpu.report(kernel, name, cases, verdicts)
        charted = isinstance(board, Ladder) and board.rates is not None
        timed = modelled_time.of_interest(shown.trace) if last.passed and not charted else ""
        _replace(COUNTERS, _folded(counters_text(shown.trace, case, taken), below, timed, missing))
    if board is not None and last.passed and shown.trace is not None:
        _replace(BOARD, board.add(name, shown.trace))
    differs = seen.difference
    if differs is not None and differs.wrong:
        _replace(PICTURE, _bundle(lambda: _drawn_inputs(differs)))
    elif isinstance(case, Launch) and shown.trace is not None:
        _replace(PICTURE, _bundle(lambda: place.picture(kernel, case, shown, view)))
    elif isinstance(case, Launch) and not shown.passed and not _nobody_looks():
        ended = place.of_mistake(kernel, case, shown)
        if ended is not None:
            _replace(PICTURE, _bundle(lambda: ended))
    elif shown.trace is not None:
        picture(shown.trace, view=view)
    elif shown.run is not None:
        _replace(COUNTERS, _run_folded(shown.run))
    elif isinstance(case, Call) and case.view is not None:
        _replace(PICTURE, _bundle(lambda: case.view))
    if strict and not last.passed:
        raise AssertionError(f"{name}: {last.reason}")


def passed(name: str) -> bool:
    """Return whether an exercise's function passed its check, when it last ran in this session."""
    return name in _SESSION.passed


def _looked_at(target: Any, case: Case, verdict: Verdict) -> Looked:
    """What is found out about a wrong result, if anyone is there to read it."""
    if verdict.reason != Reason.WRONG_RESULT or _nobody_looks():
        return Looked()
    return looked(target, case)


def _failed_one_in(target: Any, name: str) -> str:
    """Name an exercise whose own check failed and that the target calls; "" if there is none."""
    code = getattr(getattr(target, "py_func", target), "__code__", None)
    called = set(code.co_names) if code else set()
    return next(iter(sorted(called & _SESSION.failed - {name})), "")


def _advised(
    kernel: Any, verdicts: tuple[Verdict, ...], seen: Looked, failed: str
) -> tuple[Verdict, ...]:
    """Return the verdicts with better advice, where what was found beside them allows it.

    ``failed`` is an exercise that this one calls and whose own check did not pass."""
    last = _told(verdicts)
    if failed and last.reason == Reason.WRONG_RESULT:
        advice = f"it calls {failed}, whose own check does not pass: mend that first"
    else:
        advice = narrowed(last.advice, _ruled(kernel, seen))
    if advice == last.advice:
        return verdicts
    better = replace(last, remedy=plain(advice))
    return tuple(better if verdict is last else verdict for verdict in verdicts)


def _ruled(kernel: Any, seen: Looked) -> Ruled:
    """What running it again has shown."""
    return Ruled(
        exact=seen.exact,
        of_one_maximum=seen.of_one_maximum,
        others=seen.others,
        other_lanes=seen.of_other_lanes and causes.is_of_lanes(kernel),
        tried=seen.difference.tried if seen.difference else "",
        numbers=seen.numbers,
        equals=bool(seen.equals),
        moved=seen.moved,
    )


def _judged(
    target: Any, cases: tuple[Case, ...], names: Mapping[str, Any]
) -> tuple[str, tuple[Verdict, ...]]:
    judged = partial(judge_until_wrong, cases=cases, record=() if _nobody_looks() else FIRST_BLOCK)
    if not isinstance(target, str):
        return lookup.name_of(target), _read(judged(target))
    problem = lookup.problem(target, names, _CELLS)
    if problem is None and all(isinstance(case, Call | Program) for case in cases):
        problem = ungraded.problem(target, names)
    return target, _read((problem,) if problem else judged(names[target]))


def _read(verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Leave out of verdicts what takes time to find, where nobody reads it."""
    if not _nobody_looks():
        return verdicts
    return tuple(replace(verdict, message=NOTHING, remedy=NOTHING) for verdict in verdicts)


def _told(verdicts: tuple[Verdict, ...]) -> Verdict:
    """The verdict that head, reason and advice are of: a wrong result counts before a budget."""
    return verdicts[telling(verdicts)]


def _shown(cases: tuple[Case, ...], verdicts: tuple[Verdict, ...]) -> tuple[Case, Verdict]:
    """The case whose counters and picture are shown: the one that is told, or else the first."""
    at = 0 if _told(verdicts).passed else telling(verdicts)
    return cases[at], verdicts[at]


def _card(
    name: str,
    cases: tuple[Case, ...],
    verdicts: tuple[Verdict, ...],
    names: Mapping[str, Any],
    looked: str,
    taken: Sequence[Gauge] = (),
) -> Card:
    """The verdict as a card: what ``verdict_text`` says, the counters, and the lab's progress."""
    last = _told(verdicts)
    case, shown = _shown(cases, verdicts)
    # of a wrong kernel they say nothing
    right = last.passed or last.reason.startswith(Reason.OVER_BUDGET)
    # an error's message ends with its advice
    where = last.detail.removesuffix(f"\n  Try: {last.advice}") if last.advice else last.detail
    line, _, rest = where.partition("\n")
    running = str(names.get("In", ("",))[-1])
    tried = [(c, v) for c, v in zip(cases, verdicts, strict=False) if v.case]
    return Card(
        name,
        last.reason,
        cases=tuple((_outcome(case, verdict), case.label) for case, verdict in tried),
        left=tuple(case.label for case in cases[len(tried) :]),
        detail=f"{line}\n{dedent(rest)}",
        advice=last.advice,
        looked=looked,
        gauges=(*_gauges(shown, case), *taken) if right else (),
        launch=case.label,
        progress=progress.sentence(fold.units_in(running), _SESSION.passed, name),
    )


def verdict_text(
    name: str, cases: tuple[Case, ...], verdicts: tuple[Verdict, ...], looked: str = ""
) -> str:
    """Return the verdict, a line per case that was tried, and advice on the one that is told.

    ``looked``: what is known of the inputs that a wrong element depends on."""
    last = _told(verdicts)
    lines = [f"{name}: {last.reason}"]
    if last.reason == Reason.NOT_DONE:
        return lines[0]
    pairs = zip(cases, verdicts, strict=False)
    tried = [(_outcome(case, verdict), case.label) for case, verdict in pairs if verdict.case]
    width = max((len(outcome) for outcome, _ in tried), default=0)
    lines += [f"  {outcome:{width}}  {label}" for outcome, label in tried]
    if not last.passed:
        advice = f"Try: {_advice(last)}" if _advice(last) else ""
        looked = f"Looked at: {looked}" if looked else ""
        lines += [indent(text, "    ") for text in (last.detail, advice, looked) if text]
    return "\n".join(lines)


def _outcome(case: Case, verdict: Verdict) -> str:
    has_budget = isinstance(case, Launch | Program) and case.budget
    within = ", within budget" if has_budget else ""
    return f"right{within}" if verdict.reason == Reason.PASSED else verdict.reason


def _advice(verdict: Verdict) -> str:
    """The advice, unless the detail, an error's message, contains it already."""
    return "" if verdict.advice in verdict.detail else verdict.advice


def _gauges(verdict: Verdict, case: Case) -> tuple[Gauge, ...]:
    """The counters that a case's budget names, as it counts them, each with its limit."""
    if isinstance(case, Program):
        return tuple(Gauge(*one) for one in counted(verdict, case))
    if not isinstance(case, Launch) or verdict.trace is None:
        return ()
    return _gauges_of(verdict.trace, case)


def _gauges_of(trace: Trace, launch: Launch) -> tuple[Gauge, ...]:
    return tuple(
        Gauge(
            name,
            counter_value(trace, name),
            launch.budget.get(name),
            ", atomics included" if name in launch.budget and counts_atomics(trace, name) else "",
        )
        for name in launch.budget or USUAL_COUNTERS
    )


def counters_text(trace: Trace, launch: Launch, more: Sequence[Gauge] = ()) -> str:
    """Return these counters as a table, with more below them."""
    gauges = (*_gauges_of(trace, launch), *more)
    rows = [(gauge.counter, figure(gauge.value), gauge.limits) for gauge in gauges]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"  {name:{widths[0]}}  {value:>{widths[1]}}  {most}" for name, value, most in rows]
    return "\n".join([f"counters of launch {launch.label}", *(line.rstrip() for line in lines)])


def _folded(counters: str, *below: str) -> dict[str, Any]:
    """The counters as text, which a card shows as gauges; what stands below it stays open.

    That is results on a GPU, and the modelled time, where there are any."""
    folded = f"<details><summary>Counters as text</summary><pre>{escape(counters)}</pre></details>"
    shown = [folded, *(f"<pre>{escape(text)}</pre>" for text in below if text)]
    return {"text/plain": "\n".join(filter(None, (counters, *below))), "text/html": "".join(shown)}


def _run_folded(run: Record) -> dict[str, Any]:
    """The record of a program's run: its picture, and its tables where there is none."""
    text = run.text()
    tables = f"<pre>{escape(text)}</pre>"
    try:
        picture = tables if _nobody_looks() else run.show()._repr_html_()
    except ImportError:
        picture = tables
    shown = f"<details><summary>The run, modelled</summary>{picture}</details>"
    return {"text/plain": text, "text/html": shown}


def picture(trace: Trace, kind: str | None = None, view: Any = None) -> None:
    """Show a traced launch as ``view.of_trace`` draws it, or why it cannot be drawn.

    Without a view it shows the sectors that each warp touched, by source line, and opens on the
    request that wastes most, or with ``kind`` "load" or "store" on the worst of these."""
    _replace(PICTURE, _bundle(lambda: _drawn(trace, kind, view)))


def _drawn(trace: Trace, kind: str | None, view: Any) -> Any:
    if view is not None:
        return view.of_trace(trace)
    from warpwise.views import burst

    return burst.of_trace(trace, kind=kind)


def _drawn_inputs(found: Difference) -> Any:
    from warpwise.views import dependence

    return dependence.explorer(found.element, found.cells)


def _bundle(draw: Callable[[], Any]) -> dict[str, Any]:
    """The view that ``draw`` makes, as a notebook output.

    That is a widget, a still picture where anywidget is missing, or a line of text. Where nobody
    looks, as in the grader's re-run, nothing is drawn."""
    if _nobody_looks():
        return {"text/plain": "(picture)"}
    try:
        made = draw()
    except (ImportError, WarpwiseError) as error:
        return {"text/plain": f"(no picture: {error})"}
    try:
        return _data_of(made.widget())
    except ImportError:
        return {"text/plain": "(picture)", "text/html": made._repr_html_()}


def _nobody_looks() -> bool:
    """True in the grader's re-run, which compares the first of what is shown and no more."""
    return os.environ.get("WARPWISE_PICTURES") == "none"


def _data_of(widget: Any) -> dict[str, Any]:
    bundle = widget._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle)


def _say(text: str, card: Card, verdict: dict[str, Any]) -> None:
    """Put a verdict on the page, and in the output's metadata, for ``warpwise check``.

    A fresh lab shows the text that nbval compares with, headed as a target: it is not the student's
    own result."""
    shown = {"text/plain": text, "text/html": card.html()}
    _replace(f"{TARGET}\n{text}" if verdict["passed"] else text, shown, **verdict)


def _replace(placeholder: str, data: dict[str, Any], **verdict: Any) -> None:
    """Put a placeholder on the page, then its real content, which nbval does not compare."""
    if not _in_notebook():
        print(data["text/plain"])
        return
    from IPython.display import display

    mark = {"warpwise": {"placeholder": placeholder} | verdict}
    first = {"text/plain": placeholder}
    handle = display(first, raw=True, metadata=mark, display_id=True)
    if not _nobody_looks():
        handle.update(data, raw=True, metadata=mark)


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
