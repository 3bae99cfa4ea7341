"""The part of a class's page that shows similar submissions: which they are, their texts beside each other, and what it cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from warpwise.grading.cohort import similar
from warpwise.grading.cohort.parts import counted, safe, table, who
from warpwise.grading.cohort.side_by_side import DIFFERENT, RENAMED, SAME, Row, printable, rows
from warpwise.grading.cohort.similar import Pair
from warpwise.grading.record import Record, Result

MOST_PAIRS, MOST_SHOWN = 100, 20  # pairs that are listed, and of which the texts are shown
MARKS = {SAME: ("", "", ""), RENAMED: ("renamed", "≈", "names, layout or comments differ"), DIFFERENT: ("different", "≠", "differs")}
CANNOT_KNOW = (
    "Similar means that much of the program is the same once layout, comments, names and the order of functions are put aside. "
    "It does not say who wrote what, or why: two students can have learned from the same person, page or assistant, worked together "
    "where that is allowed, or found the same short answer. A text that somebody else wrote anew is not found. Read both texts, and ask."
)
LEFT_OUT = (
    f"What the lab hands out is left out, and in a class of {similar.LEAST_CLASS} or more what over a third of the answers have. "
    "An answer that very many share therefore shows above, under “the same answer”, and not here. "
    f"Listed are pairs with {similar.LEAST_SIMILARITY:.0%} or more of the smaller answer in common, and in all at least about four lines. "
    "A print is a short piece of a program, about a quarter of a line."
)


def section(pairs: Sequence[Pair], unknown: Sequence[str]) -> Iterator[str]:
    yield f"<h2>Similar submissions</h2>\n<p>{CANNOT_KNOW}</p>\n<p>{LEFT_OUT}</p>\n"
    if unknown:
        yield f"<p>Of {safe(', '.join(unknown))} the source was not found, so what it hands out counts as similar here.</p>\n"
    if not pairs:
        yield "<p>No two submissions are similar.</p>\n"
        return
    listed = "" if len(pairs) <= MOST_PAIRS else f" The {MOST_PAIRS} with most in common are listed; --csv writes all."
    shown = "" if len(pairs) <= MOST_SHOWN else f" Both texts are shown for the first {MOST_SHOWN}."
    yield f"<p>{counted(len(pairs), 'pair')} of submissions.{listed}{shown}</p>\n"
    body = "".join(
        f'<tr><th scope="row">{escape(who(p.a))} and {escape(who(p.b))}</th><td>{safe(p.lab)}</td><td class="names">'
        f'{safe(", ".join(p.exercises))}</td><td class="number">{p.similarity:.0%}</td>'
        f'<td class="number">{p.shared:,} of {p.size:,}</td></tr>'
        for p in pairs[:MOST_PAIRS]
    )
    heads = (("Students", ""), ("Lab", ""), ("Exercises", ""), ("In common", "number"), ("Prints", "number"))
    yield table("Similar submissions, those with most in common first", heads, body)
    yield from (part for pair in pairs[:MOST_SHOWN] for part in _pair(pair))


def _pair(pair: Pair) -> Iterator[str]:
    title = f"{escape(who(pair.a))} and {escape(who(pair.b))}: {safe(', '.join(pair.exercises))}, {pair.similarity:.0%} in common"
    yield f"<details><summary>{title}</summary>\n"
    times = [f"{who(r)} handed in {printable(r.submitted.replace('T', ' '))}" for r in (pair.a, pair.b) if r.submitted]
    if times:
        yield f'<p class="soft">{escape("; ".join(times))}.</p>\n'
    for exercise in pair.exercises:
        a, b = (_result(record, exercise).text for record in (pair.a, pair.b))
        if a or b:
            yield _beside(exercise, pair, rows(a, b))
        else:
            yield f"<p>{safe(exercise)}: the texts were not kept.</p>\n"
    yield "</details>\n"


def _beside(exercise: str, pair: Pair, lines: Sequence[Row]) -> str:
    body = "".join(map(_row, lines))
    line = ('<span class="unseen">line</span>', "number")
    heads = (line, (escape(who(pair.a)), ""), ('<span class="unseen">compared</span>', "how"), line, (escape(who(pair.b)), ""))
    head = "".join(f'<th scope="col"{f" class={style}" if style else ""}>{text}</th>' for text, style in heads)
    caption = f"{safe(printable(exercise))}. ≠ marks lines that differ, ≈ those in which only names, layout or comments do."
    label = escape(f"{exercise}: {who(pair.a)} and {who(pair.b)}")
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}"><table class="texts"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n"
    )


def _row(row: Row) -> str:
    kind, mark, said = MARKS[row.kind]
    how = f'<span aria-hidden="true">{mark}</span><span class="unseen">{said}</span>' if mark else ""
    return (
        f'<tr{f" class={kind}" if kind else ""}><td class="number">{row.number_a or ""}</td><td class="code">{escape(row.a)}</td>'
        f'<td class="how">{how}</td><td class="number">{row.number_b or ""}</td><td class="code">{escape(row.b)}</td></tr>'
    )


def _result(record: Record, exercise: str) -> Result:
    return next(result for result in record.results if result.exercise == exercise)
