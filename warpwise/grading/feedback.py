"""A student's feedback as one self-contained HTML page: what was asked, what was found and why, and what to try.

Hidden tests appear by their labels and by what went wrong there, never with an expected value. Everything that came from outside is
escaped. The page needs no script and no other file, and reads in light, in dark and on paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from warpwise.grading import record as reasons
from warpwise.grading.record import NOT_REACHED, SHOWN_PASSED, UNTOUCHED, Counter, Finding, Record, Result, Visible
from warpwise.labs.exercise import Reason, bound
from warpwise.labs.source import Lab, role

EXPLAINED = {
    Reason.PASSED: "Right in every hidden case.",
    Reason.NOT_DONE: "The exercise is still as it was handed out.",
    Reason.WRONG_RESULT: "The result differs from what the exercise asks for.",
    Reason.WRONG_TYPE: "The function returned something else than what the exercise asks for.",
    Reason.NOT_WRITTEN: "Some elements of the output were never written.",
    Reason.INPUT_CHANGED: "An input was changed.",
    Reason.RACE: "Two threads use one element without a barrier between them, so the result depends on who comes first.",
    Reason.TOO_MUCH_MEMORY: "The function held more in memory at once than the exercise allows.",
    Reason.RAISED: "The code ended with an error.",
    "out of bounds": "A thread named an element outside its array.",
    "unwritten read": "A thread read shared or local memory where nothing had been written.",
    "barrier missed": "Only a part of a block reached a barrier; on a GPU the block would hang.",
    "misaligned access": "An element lies at an address that is no multiple of its size; a GPU stops there.",
    "lane missing from a warp's operation": "A shuffle, vote or syncwarp names lanes that do not take part.",
    "assertion failed": "An assert of the kernel does not hold in some thread.",
    "name not defined": "The kernel uses a name that nothing defines, most often a misspelling.",
    "not a kernel feature": "The kernel uses something that kernels cannot use.",
    "types do not fit": "An operation was given types that do not go together.",
    "division by zero": "An integer was divided by zero.",
    "launch refused": "A GPU would refuse this launch.",
    reasons.MISSING: "The notebook has no answer to this exercise.",
    reasons.NOT_PYTHON: "The code of the exercise cannot be read.",
    reasons.NOT_GRADED: "Nothing was graded, because of the problem named above.",
    reasons.ENDED: "The code ended the process that ran it.",
    reasons.TOO_LONG: "The code did not come to an end.",
    reasons.TOO_SLOW: "The code waited without computing until its time was over.",
    reasons.TOO_MUCH_MEMORY: "The code asked for more memory than there is for one exercise.",
    reasons.TOO_MUCH_OUTPUT: "The code printed without end.",
}
ONCE_MORE = "Open the notebook in JupyterLab, run it from top to bottom, save it, and hand in that file."
OVER_BUDGET = "The result is right, but it costs more than the budget allows."

STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --ground: #ffffff; --panel: #f5f7f9; --line: #d0d7de;
  --good: #17663a; --bad: #a3261c; --bar: #3b73b9; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --soft: #a7b0ba; --ground: #14171b; --panel: #1e2329; --line: #3a424c;
  --good: #6bcf94; --bad: #ff9a8f; --bar: #6fa3e0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 0; } p { margin: .5rem 0; } .soft { color: var(--soft); }
section.exercise { border: 1px solid var(--line); border-left: .35rem solid var(--bad); border-radius: .4rem;
  padding: 1rem 1.1rem; margin: 1rem 0; break-inside: avoid; }
section.passed { border-left-color: var(--good); }
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; align-items: baseline; }
.verdict { font-weight: 600; color: var(--bad); } .passed .verdict { color: var(--good); } .points { font-variant-numeric: tabular-nums; }
.note { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .9rem; }
pre { background: var(--panel); border-radius: .3rem; padding: .7rem .9rem; overflow-x: auto; white-space: pre-wrap;
  font-size: .85rem; margin: .6rem 0; }
table { border-collapse: collapse; width: 100%; margin: .7rem 0; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--soft); } td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr.over td, tr.over th { color: var(--bad); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .3rem; } }
@media print { body { max-width: none; padding: 0; } }
"""


@dataclass(frozen=True)
class Asked:
    """What a lab says about an exercise: its heading and its objective."""

    title: str
    objective: str


def page(student: str, records: Sequence[Record], labs: Mapping[str, Lab]) -> str:
    """The whole page of one student, all their labs on it."""
    body = "".join(part for record in records for part in _record(record, labs.get(record.lab)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Feedback for {escape(student)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>Feedback for {escape(student)}</h1>\n{body}{_footer()}</main>\n</body>\n</html>\n"
    )


def asked(lab: Lab) -> dict[str, Asked]:
    """The heading and the objective that stand before each exercise cell of a lab, by exercise id; a heading below keeps the objective."""
    found, title, objective = {}, "", ""
    for cell in lab.cells:
        if cell.cell_type == "markdown":
            for heading in re.finditer(r"^(##|###)\s+(.+)$", cell.source, re.M):
                title, objective = heading[2].strip(), "" if heading[1] == "##" else objective
            for sentence in re.finditer(r"\*\*Objective\.\*\*\s*(.+?)(?:\n\s*\n|\Z)", cell.source, re.S):
                objective = " ".join(sentence[1].split())
        elif role(cell) == "exercise":
            found[cell.metadata["warpwise"]["id"]] = Asked(title, objective)
    return found


def _record(record: Record, lab: Lab | None) -> Iterator[str]:
    yield f"<h2>{escape(lab.title if lab else record.file)}</h2>\n"
    yield f'<p class="soft">File {escape(record.file)}</p>\n'
    if lab:
        yield f"<p><strong>{record.points:g} of {record.possible:g} points</strong></p>\n"
    if record.problem:
        yield f'<p class="note"><strong>This notebook could not be graded.</strong> {escape(_sentence(record.problem))}</p>\n'
        yield f"<p><strong>Try:</strong> {ONCE_MORE}</p>\n"
    if not record.isolated:
        yield '<p class="note"><strong>Not isolated.</strong> These points were computed without a sandbox and need a second look.</p>\n'
    questions, counted = asked(lab) if lab else {}, record.counted
    for result in record.results if not record.problem else ():
        question = questions.get(result.exercise, Asked(result.exercise, ""))
        if result in counted or result.finding.reason not in UNTOUCHED:
            yield from _exercise(result, question, counts=result in counted)
        else:
            yield f'<p class="soft">{escape(question.title)}: not chosen.</p>\n'


def _exercise(result: Result, question: Asked, counts: bool) -> Iterator[str]:
    finding, passed = result.finding, result.points > 0
    yield f'<section class="exercise{" passed" if passed else ""}">\n<div class="head"><h3>{escape(question.title)}</h3>'
    points = f"{result.points:g} of {result.possible:g} points" if counts else "does not count: another of the choice does"
    yield f'<span class="points">{points}</span></div>\n'
    if question.objective:
        yield f'<p class="soft">{escape(question.objective)}</p>\n'
    verdict = f"{'✓' if passed else '✗'} {_readable(finding.reason)}."
    yield f'<p><span class="verdict">{escape(verdict)}</span> {escape(_explained(finding))}</p>\n'
    yield _facts(result)
    if finding.detail:
        yield f"<pre>{escape(finding.detail)}</pre>\n"
    if finding.counters:
        yield _counters(finding.counters)
    if finding.advice:
        yield f"<p><strong>Try:</strong> {escape(_sentence(finding.advice))}</p>\n"
    yield "</section>\n"


def _facts(result: Result) -> str:
    """Where the hidden cases stand, and how the student's own check came out."""
    finding = result.finding
    rows = []
    if finding.tried:
        right = finding.tried if finding.passed else finding.tried - 1
        stopped = "" if finding.passed else f", then one that is not: {finding.case}"
        rows.append(("Hidden tests", f"{right} of {finding.cases} right{stopped}"))
    rows.append(("Your own check", _shown(result.visible)))
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows) + "</dl>\n"


def _shown(visible: Visible) -> str:
    if visible.outcome == SHOWN_PASSED:
        return "passes when the notebook is run again"
    if visible.outcome == NOT_REACHED:
        return "was not reached when the notebook was run again" + (f" ({visible.why})" if visible.why else "")
    return "does not pass when the notebook is run again" + (f" ({visible.why})" if visible.why else "")


def _counters(counters: Sequence[Counter]) -> str:
    rows = "".join(
        f'<tr{" class=over" if c.over else ""}><th scope="row">{escape(_readable(c.name))}</th><td class="number">{_figure(c.value)}</td>'
        f'<td class="number">{bound(c.name)} {_figure(c.limit)}</td><td>{"over budget" if c.over else "within budget"}</td></tr>'
        for c in counters
    )
    number = '<th scope="col" class="number">'
    head = f'<tr><th scope="col">Counter, worst case</th>{number}yours</th>{number}budget</th><th scope="col">verdict</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>\n"


def _footer() -> str:
    return (
        '<p class="soft">An exercise gives its points when every hidden test passes within the budget. '
        "Hidden tests use other sizes and other data than the checks in the notebook. Counters are modelled, not measured.</p>\n"
    )


def _explained(finding: Finding) -> str:
    return EXPLAINED.get(finding.reason, OVER_BUDGET if finding.reason.startswith(Reason.OVER_BUDGET) else "")


def _readable(reason: str) -> str:
    words = reason.replace("_", " ")
    return words[:1].upper() + words[1:]


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!", ")")) else f"{text}."


def _figure(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
