"""A student's feedback as one self-contained HTML page: no script, no other file, for light, dark, narrow screens, readers and paper.

Everything that came from outside is escaped, but for pictures: those the simulation's process drew (``labs.still``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwise.grading.feedback import Bar, Notebook, Part

LIMIT_AT = 60  #: percent of a bar's length at which its budget is marked
STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --ground: #ffffff; --panel: #f5f7f9; --line: #d0d7de;
  --good: #17663a; --bad: #a3261c; --link: #0b5394; --one: #0b69ad; --two: #b4560a; --three: #00735a; --inside: #fff; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --soft: #a7b0ba; --ground: #14171b; --panel: #1e2329; --line: #3a424c;
  --good: #6bcf94; --bad: #ff9a8f; --link: #86bdf0; --one: #58aeea; --two: #efa044; --three: #45c99c; --inside: #10151b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 48rem; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 0; } p { margin: .5rem 0; } .soft, footer { color: var(--soft); } a { color: var(--link); }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .85rem; }
section.exercise { border: 1px solid var(--line); border-left: .35rem solid var(--bad); border-radius: .4rem;
  padding: 1rem 1.1rem; margin: 1rem 0; }
section.passed { border-left-color: var(--good); }
.head { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; align-items: baseline; }
.verdict { font-weight: 600; color: var(--bad); } .passed .verdict, .verdict.passed { color: var(--good); }
.note { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .9rem; }
pre { background: var(--panel); border-radius: .3rem; padding: .7rem .9rem; white-space: pre-wrap; margin: .6rem 0; }
table { border-collapse: collapse; width: 100%; margin: .7rem 0; font-size: .95rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .2rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--soft); } .number { text-align: right; white-space: nowrap; padding-right: 0; font-variant-numeric: tabular-nums; }
tbody th[colspan] { font-weight: 600; } .over { color: var(--bad); font-weight: 600; }
.bar { position: relative; height: .6rem; margin: .3rem 0 .1rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: .2rem; overflow: hidden; print-color-adjust: exact; }
.bar i { display: block; height: 100%; background: var(--good); } .bar.beyond i { background: var(--bad); }
.bar b { position: absolute; inset: 0 auto; left: 60%; width: 2px; background: var(--text); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
figure { margin: .9rem 0; } figcaption { font-size: .95rem; margin-top: .3rem; }
.scrolls { overflow-x: auto; } .scrolls:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
details { border-top: 1px solid var(--line); margin-top: .9rem; padding-top: .5rem; } summary { cursor: pointer; font-weight: 600; }
footer { margin-top: 2.5rem; font-size: .95rem; }
@media (max-width: 30rem) { body { padding: 1.25rem .8rem 3rem; } section.exercise { padding: .8rem; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .3rem; } }
@media print { :root { color-scheme: light; --text: #000; --soft: #444; --ground: #fff; --panel: #f5f7f9; --line: #bbb; --good: #17663a;
  --bad: #a3261c; --link: #000; --one: #0b69ad; --two: #b4560a; --three: #00735a; --inside: #fff; }
  body { max-width: none; padding: 0; } h2, h3, .head { break-after: avoid; } figure, table, pre { break-inside: avoid; }
  details::details-content { content-visibility: visible; height: auto; } }
"""


def page(student: str, notebooks: Sequence[Notebook], footer: str) -> str:
    """The whole page of one student."""
    parts = "".join(part for notebook in notebooks for part in _notebook(notebook))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Feedback for {escape(student)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>Feedback for {escape(student)}</h1></header>\n<main>\n{_summary(notebooks)}{parts}</main>\n"
        f"<footer><p>{escape(footer)}</p></footer>\n</body>\n</html>\n"
    )


def _summary(notebooks: Sequence[Notebook]) -> str:
    """One row an exercise, with a link to what is said of it, below a row for its lab."""
    rows = "".join(row for notebook in notebooks for row in _rows(notebook))
    head = '<tr><th scope="col">Exercise</th><th scope="col">Result</th><th scope="col" class="number">Points</th></tr>'
    table = f"<table><thead>{head}</thead>{rows}</table>"
    return f'<section aria-labelledby="summary">\n<h2 id="summary">Summary</h2>\n{table}\n</section>\n'


def _rows(notebook: Notebook) -> Iterator[str]:
    points = escape(notebook.points.removesuffix(" points"))
    yield (
        f'<tbody><tr><th scope="rowgroup" colspan="2"><a href="#{notebook.key}">{escape(notebook.title)}</a></th>'
        f'<td class="number"><strong>{points}</strong></td></tr>'
    )
    if notebook.problem:
        yield '<tr><td colspan="2"><span class="verdict">Could not be graded</span></td><td></td></tr>'
    for part in notebook.parts:
        counted = part.points.endswith(" points")
        yield (
            f'<tr><th scope="row"><a href="#{part.key}">{_inline(part.asked.title)}</a></th><td>{_verdict(part)}</td>'
            f'<td class="number">{escape(part.points.removesuffix(" points")) if counted else "not counted"}</td></tr>'
        )
    yield "</tbody>"


def _notebook(notebook: Notebook) -> Iterator[str]:
    yield f'<section aria-labelledby="{notebook.key}">\n<h2 id="{notebook.key}">{escape(notebook.title)}</h2>\n'
    yield f'<p class="soft">File {escape(notebook.file)}</p>\n'
    if notebook.points:
        yield f"<p><strong>{escape(notebook.points)}</strong></p>\n"
    if notebook.problem:
        yield f'<p class="note"><strong>This notebook could not be graded.</strong> {escape(notebook.problem)}</p>\n'
        yield f"<p><strong>What to do:</strong> {escape(notebook.remedy)}</p>\n"
    yield from (f'<p class="note">{escape(note)}</p>\n' for note in notebook.notes)
    for part in notebook.parts:
        yield from _part(part)
    yield from (f'<p class="soft">{_inline(title)}: not chosen.</p>\n' for title in notebook.left)
    yield "</section>\n"


def _part(part: Part) -> Iterator[str]:
    yield f'<section class="exercise{" passed" if part.passed else ""}" aria-labelledby="{part.key}">\n'
    yield f'<div class="head"><h3 id="{part.key}">{_inline(part.asked.title)}</h3><span>{escape(part.points)}</span></div>\n'
    if part.asked.objective:
        yield f'<p class="soft">{_inline(part.asked.objective)}</p>\n'
    yield f"<p>{_verdict(part)}. {escape(part.explained)}</p>\n"
    facts = [("Hidden tests", part.hidden), ("Your own check", part.check), ("On a GPU", part.gpu)]
    yield f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(said)}</dd>' for name, said in facts if said)}</dl>\n"
    if part.detail:
        yield f"<pre>{escape(part.detail)}</pre>\n"
    if part.bars:
        yield _bars(part.bars)
    yield part.picture
    yield from _hints(part)
    yield "</section>\n"


def _hints(part: Part) -> Iterator[str]:
    said = [f"<p>{escape(part.advice)}</p>"] if part.advice else []
    if part.asked.hint and not part.passed:
        said.append(f"<p>In the lab, below this exercise: “{_inline(part.asked.hint)}”.</p>")
    if said:
        yield f"<details>\n<summary>Hint</summary>\n{''.join(said)}\n</details>\n"


def _verdict(part: Part) -> str:
    mark = f'<span aria-hidden="true">{"✓" if part.passed else "✗"} </span>'
    return f'<span class="verdict{" passed" if part.passed else ""}">{mark}{escape(part.result)}</span>'


def _bars(bars: Sequence[Bar]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(bar.name)}</th><td{" class=over" if bar.over else ""}>{escape(bar.words)}{_bar(bar)}</td></tr>'
        for bar in bars
    )
    head = '<tr><th scope="col">Counter</th><th scope="col">Against its budget, in the worst case</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>\n"


def _bar(bar: Bar) -> str:
    """The share as a length, with a mark at the budget; the words beside it say the same."""
    share = (2.0 if bar.over else 0.0) if bar.share is None else bar.share
    length = min(100, round(LIMIT_AT * share))
    return f'<div class="bar{" beyond" if bar.over else ""}" aria-hidden="true"><i style="width:{length}%"></i><b></b></div>'


def _inline(text: str) -> str:
    """A line of a lab's Markdown: code as code, stress as plain text."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text.replace("*", ""), quote=False))
