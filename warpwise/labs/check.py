"""``check``: what a lab's check cell calls. It judges, says the verdict, and shows the student's own kernel.

nbval compares the verdict with the one kept in the notebook, so the verdict says only what is the same for every right answer.
Counters and picture differ between right answers; they replace a placeholder, and nbval sees only the placeholder. So does what a
GPU makes of the kernel, which stands below the counters where there is one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from textwrap import indent
from typing import Any

from warpwise.errors import WarpwiseError
from warpwise.labs import lookup, on_gpu
from warpwise.labs.exercise import Call, Case, Launch, Reason, Verdict, bound, counted
from warpwise.labs.judge import figure, judge, name_of
from warpwise.trace import Trace

COUNTERS = "(counters: run this cell)"
PICTURE = "(picture: run this cell)"
TARGET = "target; run this cell for your own result"
TOLD = ("passed", "reason", "detail", "case")  # of a verdict, to ``warpwise check``
SIDES = {f"{Reason.OVER_BUDGET}sectors_per_request_{kind}": kind for kind in ("load", "store")}  # where the picture should open


def check(target: Any, cases: Iterable[Case], view: Any = None, strict: bool = False) -> None:
    """Judge a kernel or a function on each case, in order, and say what came of it. A wrong answer is no exception here.

    Unless it is ``strict``: then AssertionError is raised for it in the end, which is how nbgrader is told.

    ``target`` may be the name of one, to be looked up where ``check`` is called: a name that is missing there is a verdict too.
    ``view`` draws the trace: a module of ``warpwise.views`` with ``of_trace``. Without one it is ``burst``.
    """
    cases = tuple(cases)
    names = sys._getframe(1).f_globals
    name, verdicts = _judged(target, cases, names)
    last = verdicts[-1]
    _say(verdict_text(name, cases, verdicts), {"exercise": name, "advice": _advice(last)} | {k: getattr(last, k) for k in TOLD})
    case, shown = (cases[0], verdicts[0]) if last.passed else (cases[len(verdicts) - 1], last)
    if shown.metrics is not None:
        measured = on_gpu.told(names.get(target) if isinstance(target, str) else target, name, cases, verdicts)
        _replace(COUNTERS, {"text/plain": "\n".join(filter(None, (counters_text(shown, dict(case.budget)), measured)))})
    if shown.trace is not None:
        picture(shown.trace, SIDES.get(shown.reason), view)
    elif isinstance(case, Call) and case.view is not None:
        _replace(PICTURE, _bundle(lambda: case.view))
    if strict and not last.passed:
        raise AssertionError(f"{name}: {last.reason}")


def _judged(target: Any, cases: tuple[Case, ...], names: Mapping[str, Any]) -> tuple[str, tuple[Verdict, ...]]:
    if not isinstance(target, str):
        return name_of(target), judge(target, cases)
    problem = lookup.problem(target, names)
    return target, (problem,) if problem else judge(names[target], cases)


def verdict_text(name: str, cases: tuple[Case, ...], verdicts: tuple[Verdict, ...]) -> str:
    """The verdict on an exercise, then one line per case that was tried, then what to do about the one that failed."""
    last = verdicts[-1]
    lines = [f"{name}: {last.reason}"]
    if last.reason == Reason.NOT_DONE:
        return lines[0]
    tried = [(_outcome(case, verdict), case.label) for case, verdict in zip(cases, verdicts, strict=False) if verdict.case]
    width = max((len(outcome) for outcome, _ in tried), default=0)
    lines += [f"  {outcome:{width}}  {label}" for outcome, label in tried]
    if not last.passed:
        lines += [indent(text, "    ") for text in (last.detail, f"Try: {_advice(last)}" if _advice(last) else "") if text]
    return "\n".join(lines)


def _outcome(case: Case, verdict: Verdict) -> str:
    within = ", within budget" if isinstance(case, Launch) and case.budget else ""
    return f"right{within}" if verdict.reason == Reason.PASSED else verdict.reason


def _advice(verdict: Verdict) -> str:
    """The advice, unless the error that became the detail has said it already."""
    return "" if verdict.advice in verdict.detail else verdict.advice


def counters_text(verdict: Verdict, budget: dict[str, float]) -> str:
    """The counters of one launch that its budget is about, and the most or the least each may be."""
    names = tuple(budget) or ("sectors_per_request_load", "sectors_per_request_store", "global_bytes_moved")
    limits = {name: f"{bound(name)} {figure(limit)}" for name, limit in budget.items()}
    rows = [(name, figure(counted(verdict.trace, name)), limits.get(name, "")) for name in names]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    table = "\n".join(f"  {name:{widths[0]}}  {value:>{widths[1]}}  {most}".rstrip() for name, value, most in rows)
    return f"counters of launch {verdict.case}\n{table}"


def picture(trace: Trace, kind: str | None = None, view: Any = None) -> None:
    """Show what a traced launch did, as ``view.of_trace`` draws it. Where no picture can be drawn, say why.

    Without a view it shows which sectors each warp touched, by source line, and opens on the request that wastes most, or with
    ``kind`` "load" or "store" on the worst of these.
    """
    _replace(PICTURE, _bundle(lambda: _drawn(trace, kind, view)))


def _drawn(trace: Trace, kind: str | None, view: Any) -> Any:
    if view is not None:
        return view.of_trace(trace)
    from warpwise.views import burst

    return burst.of_trace(trace, kind=kind)


def _bundle(draw: Callable[[], Any]) -> dict[str, Any]:
    """The view that ``draw`` makes as a notebook output: a widget, or a still picture without anywidget, or a line of text."""
    try:
        made = draw()
    except (ImportError, WarpwiseError) as error:
        return {"text/plain": f"(no picture: {error})"}
    try:
        return _data_of(made.widget())
    except ImportError:
        return {"text/plain": "(picture)", "text/html": made._repr_html_()}


def _data_of(widget: Any) -> dict[str, Any]:
    bundle = widget._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle)


def _say(text: str, verdict: dict[str, Any]) -> None:
    """Put a text on the page; the verdict travels in the output's metadata, for ``warpwise check``.

    What nbval compares, and what a fresh lab shows, is a target: headed so, for it is not the student's own result.
    """
    _replace(f"{TARGET}\n{text}" if verdict["passed"] else text, {"text/plain": text}, **verdict)


def _replace(placeholder: str, data: dict[str, Any], **verdict: Any) -> None:
    """Put a placeholder on the page and then its real content, which is no part of what nbval compares."""
    if not _in_notebook():
        print(data["text/plain"])
        return
    from IPython.display import display

    mark = {"warpwise": {"placeholder": placeholder} | verdict}
    display({"text/plain": placeholder}, raw=True, metadata=mark, display_id=True).update(data, raw=True, metadata=mark)


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
