"""What the pages and texts about a class share: how students, numbers and tables are written.

Names and texts from outside are escaped here, and what cannot be seen in them is shown as a mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from warpwise.grading.cohort.overview import Exceeded
from warpwise.grading.cohort.side_by_side import printable
from warpwise.grading.record import Record
from warpwise.labs.exercise import MORE_IS_BETTER

MOST_NAMES = 4  # of the students in a group that are named
STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --ground: #ffffff; --panel: #f5f7f9; --line: #d0d7de;
  --good: #17663a; --bad: #a3261c; --bar: #3b73b9; --passed: #2f8554; --failed: #cf5a4e; --left: #c3cad2;
  --renamed: #fff3c4; --different: #ffdfdb; }
@media screen and (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --soft: #a7b0ba; --ground: #14171b; --panel: #1e2329;
  --line: #3a424c; --good: #6bcf94; --bad: #ff9a8f; --bar: #6fa3e0; --passed: #4fae78; --failed: #d9695d; --left: #4b545f;
  --renamed: #453a14; --different: #532622; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 3rem 0 .5rem; padding-top: .8rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2rem 0 .3rem; } h4 { font-size: 1rem; margin: 1rem 0 .2rem; }
p { margin: .5rem 0; max-width: 46rem; } .soft { color: var(--soft); } a { color: inherit; }
.note { background: var(--panel); border: 1px solid var(--line); border-left: .35rem solid var(--bad); border-radius: .4rem;
  padding: .6rem .9rem; }
.wide { overflow-x: auto; margin: .6rem 0 1rem; } .wide:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .92rem; min-width: 32rem; width: 100%; overflow-wrap: normal; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
th:last-child, td:last-child { padding-right: 0; } td.names { overflow-wrap: anywhere; min-width: 10rem; }
td.names:last-child { width: 30%; }
thead th.number { width: 1%; }
thead th { color: var(--soft); vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg { display: block; max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg.parts { width: 12rem; height: .8rem; margin: .35rem 0; } .bar { fill: var(--bar); } .passed { fill: var(--passed); }
.failed { fill: var(--failed); } .left { fill: var(--left); } svg line { stroke: var(--line); }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem; margin: 0 .35rem 0 .8rem; vertical-align: -.05rem; }
.key.passed { background: var(--passed); margin-left: 0; } .key.failed { background: var(--failed); } .key.left { background: var(--left); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .7rem 0; } summary { padding: .6rem .9rem; cursor: pointer; }
details > .wide, details > p { margin: .3rem .9rem .9rem; }
table.texts { min-width: 46rem; table-layout: fixed; font-size: .84rem; }
table.texts td, table.texts th { padding: .05rem .5rem; border: 0; }
table.texts th.number, table.texts td.number { width: 3rem; color: var(--soft); } table.texts .how { width: 2rem; text-align: center; }
table.texts td.code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
tr.renamed td { background: var(--renamed); } tr.different td { background: var(--different); }
table.texts tr.renamed td.number, table.texts tr.different td.number { color: var(--text); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.wide { position: relative; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .3rem; } }
@media print { :root { color-scheme: light; } body { max-width: none; padding: 0; }
  .wide { overflow: visible; } table { min-width: 0 !important; }
  details::details-content { content-visibility: visible; block-size: auto; }
  tr, svg { break-inside: avoid; } h2, h3, h4 { break-after: avoid; } }
"""


def who(record: Record) -> str:
    """A student as the gradebook and the platform know them."""
    named = record.name and record.name != record.student
    return printable(f"{record.name} ({record.student})" if named else record.student)


def names(records: Sequence[Record], most: int = MOST_NAMES) -> str:
    """The first few students of some records."""
    students = list(dict.fromkeys(map(who, records)))
    return ", ".join(students[:most]) + (f" and {len(students) - most} more" if len(students) > most else "")


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def figure(value: float) -> str:
    """A number with at most two digits after the point."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def how_far(exceeded: Exceeded) -> str:
    if exceeded.times is None:
        return f"by {figure(exceeded.value - exceeded.limit)}"
    share = f"{exceeded.times:.2g}" if exceeded.times < 10 else f"{exceeded.times:,.0f}"
    return f"1/{share} of it" if exceeded.counter in MORE_IS_BETTER else f"{share} times"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "0%"


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def safe(text: str) -> str:
    return escape(printable(text))


def table(caption: str, heads: Sequence[tuple[str, str]], body: str, kind: str = "") -> str:
    """A table in a box of its own, which scrolls, and can be reached by the keyboard for that."""
    head = "".join(f'<th scope="col"{f" class={style}" if style else ""}>{escape(text)}</th>' for text, style in heads)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(caption)}"><table{f" class={kind}" if kind else ""}>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n"
    )
