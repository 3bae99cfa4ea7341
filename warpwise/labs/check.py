"""``check``: what a lab's check cell calls. It judges, says the verdict, and shows the student's own kernel.

nbval compares the verdict with the one kept in the notebook, so the verdict says only what is the same for every right answer.
Counters and picture differ between right answers; they replace a placeholder, and nbval sees only the placeholder.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import indent
from typing import Any

from warpwise.errors import WarpwiseError
from warpwise.labs.exercise import Case, Launch, Reason, Verdict
from warpwise.labs.judge import judge, name_of
from warpwise.trace import Trace

COUNTERS = "(counters: run this cell)"
PICTURE = "(picture: run this cell)"


def check(target: Any, cases: Iterable[Case]) -> None:
    """Judge a kernel or a function on each case, in order, and say what came of it. A wrong answer is no exception here."""
    cases = tuple(cases)
    verdicts = judge(target, cases)
    name, last = name_of(target), verdicts[-1]
    _say(verdict_text(name, cases, verdicts), {"exercise": name, "passed": last.passed, "reason": last.reason, "detail": last.detail})
    case, shown = (cases[0], verdicts[0]) if last.passed else (cases[len(verdicts) - 1], last)
    if shown.metrics is not None:
        _replace(COUNTERS, {"text/plain": counters_text(shown, dict(case.budget))})
    if shown.trace is not None:
        picture(shown.trace)


def verdict_text(name: str, cases: tuple[Case, ...], verdicts: tuple[Verdict, ...]) -> str:
    """The verdict on an exercise, then one line per case that was tried, then what to do about the one that failed."""
    last = verdicts[-1]
    lines = [f"{name}: {last.reason}"]
    if last.reason == Reason.NOT_DONE:
        return lines[0]
    width = max(len(_outcome(case, verdict)) for case, verdict in zip(cases, verdicts, strict=False))
    lines += [f"  {_outcome(case, verdict):{width}}  {case.label}" for case, verdict in zip(cases, verdicts, strict=False)]
    if not last.passed:
        lines += [indent(text, "    ") for text in (last.detail, _advice(last)) if text]
    return "\n".join(lines)


def _outcome(case: Case, verdict: Verdict) -> str:
    within = ", within budget" if isinstance(case, Launch) and case.budget else ""
    return f"right{within}" if verdict.reason == Reason.PASSED else verdict.reason


def _advice(verdict: Verdict) -> str:
    """The advice, unless the error that became the detail has said it already."""
    return f"Try: {verdict.advice}" if verdict.advice and verdict.advice not in verdict.detail else ""


def counters_text(verdict: Verdict, budget: dict[str, float]) -> str:
    """The counters of one launch that its budget is about, and the most each may be."""
    names = tuple(budget) or ("sectors_per_request_load", "sectors_per_request_store", "global_bytes_moved")
    rows = [(name, f"{getattr(verdict.metrics, name):,.6g}", f"at most {budget[name]:,.6g}" if name in budget else "") for name in names]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    table = "\n".join(f"  {name:{widths[0]}}  {value:>{widths[1]}}  {most}".rstrip() for name, value, most in rows)
    return f"counters of launch {verdict.case}\n{table}"


def picture(trace: Trace) -> None:
    """Show which sectors each warp of a traced launch touched, by source line. Where no picture can be drawn, say why."""
    _replace(PICTURE, _bundle(trace))


def _bundle(trace: Trace) -> dict[str, Any]:
    """The picture as a notebook output: a widget, or a still picture without anywidget, or a line of text."""
    try:
        from warpwise.views import burst
    except ImportError as error:
        return {"text/plain": f"(no picture: {error})"}
    try:
        return _data_of(burst.widget(trace))
    except ImportError:
        return {"text/plain": "(picture)", "text/html": burst.of_trace(trace)._repr_html_()}
    except WarpwiseError as error:
        return {"text/plain": f"(no picture: {error})"}


def _data_of(widget: Any) -> dict[str, Any]:
    bundle = widget._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle)


def _say(text: str, verdict: dict[str, Any]) -> None:
    """Put a text on the page; the verdict travels in the output's metadata, for ``warpwise check``."""
    if _in_notebook():
        from IPython.display import display

        display({"text/plain": text}, raw=True, metadata={"warpwise": verdict})
    else:
        print(text)


def _replace(placeholder: str, data: dict[str, Any]) -> None:
    """Put a placeholder on the page and then its real content, which is no part of what nbval compares."""
    if not _in_notebook():
        print(data["text/plain"])
        return
    from IPython.display import display

    mark = {"warpwise": {"placeholder": placeholder}}
    display({"text/plain": placeholder}, raw=True, metadata=mark, display_id=True).update(data, raw=True, metadata=mark)


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")
