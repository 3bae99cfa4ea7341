"""A check's verdict as a card, for a notebook that shows HTML.

The head says in a word and a sign how it went, so that nothing hangs on its colour; below stand
what happened, what to try, the cases, the budget as gauges, and how far the lab is done. The card
knows neither judge nor kernel: ``check`` gives it the words of the verdict, which the plain text
says too. All of them are escaped, for names, labels and source lines are a student's. Style and
text are complete in themselves: no script, no font, nothing to fetch. A notebook that is not
trusted drops the style, and the words are read one after another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

from warpwise.labs.budgets import bound, figure, within
from warpwise.labs.exercise import Reason

LIMIT_AT = 60  #: percent of a gauge's width, where its limit is marked
MOST_ROWS = 6  #: of cases that all passed; more are folded
MOST_NAMED = 3  #: of cases that were not tried; of more it is said how many
NOT_TRIED = "not tried"
#: by the class of its colours: the sign in a card's head
SIGNS = {"right": "✓", "over": "!", "wrong": "✗", "open": "○"}


@dataclass(frozen=True)
class Gauge:
    """A counter and its limit, None where it has none; ``note`` stands after the limit."""

    counter: str
    value: float
    limit: float | None = None
    note: str = ""

    @property
    def kept(self) -> bool:
        return self.limit is None or within(self.counter, self.value, self.limit)

    @property
    def limits(self) -> str:
        """The limit in words: "at most 0"."""
        if self.limit is None:
            return ""
        return f"{bound(self.counter)} {figure(self.limit)}{self.note}"

    @property
    def told(self) -> str:
        """The value and its limit in words: "16 of at most 0"."""
        return " of ".join(filter(None, (figure(self.value), self.limits)))

    @property
    def percent(self) -> float:
        """How far the gauge is filled: to LIMIT_AT where the value is its limit."""
        if not self.value or self.limit is None:
            return 0
        return min(100, LIMIT_AT * self.value / self.limit) if self.limit else 100


@dataclass(frozen=True)
class Card:
    """What a check found. ``cases``: outcome and label of each that was tried, ``left`` the others.

    ``launch`` is the label of the one that ``gauges`` count. The first line of ``detail`` says what
    happened, the others where. The first line of ``advice`` asks or tells what to try; the others,
    which say where, are folded: questions come before places."""

    name: str
    reason: str
    cases: tuple[tuple[str, str], ...] = ()
    left: tuple[str, ...] = ()
    detail: str = ""
    advice: str = ""
    gauges: tuple[Gauge, ...] = ()
    launch: str = ""
    progress: str = ""
    looked: str = ""

    @property
    def look(self) -> str:
        """The class of its colours."""
        if self.reason.startswith(Reason.OVER_BUDGET):
            return "over"
        return {Reason.PASSED: "right", Reason.NOT_DONE: "open"}.get(self.reason, "wrong")

    @property
    def word(self) -> str:
        """How it went, in the head."""
        said = "right, but over budget" if self.look == "over" else self.reason
        return said[:1].upper() + said[1:]

    @property
    def line(self) -> str:
        """What happened, in one line."""
        if self.look == "right":
            return f"{_all(len(self.cases))} right{', within budget' if self._budgets else ''}."
        if self.look == "open":
            return "The cell above still has its stub: write your answer there, run it, then this."
        return self.detail.partition("\n")[0]

    @property
    def _budgets(self) -> bool:
        return any("budget" in outcome for outcome, _ in self.cases)

    def html(self) -> str:
        """Return the whole card."""
        question, _, place = self.advice.partition("\n")
        label = f'role="group" aria-label="{escape(f"Check of {self.name}: {self.word}")}"'
        parts = (
            self._head(),
            _paragraph("line", self.line),
            _block(self.detail.partition("\n")[2]),
            _paragraph("try", question, "Try: "),
            _folded("Where?", place),
            _paragraph("looked", self.looked, "Looked at: "),
            self._cases(),
            self._gauges(),
            _paragraph("foot", self.progress),
        )
        inside = f"<style>{style()}</style>{''.join(parts)}"
        return f'<div class="ww-card ww-{self.look}" {label}>{inside}</div>'

    def _head(self) -> str:
        sign = f'<span class="ww-sign" aria-hidden="true">{SIGNS[self.look]}</span>'
        said = f'<span class="ww-word">{escape(self.word)}</span>'
        name = f'<span class="ww-code ww-name">{escape(self.name)}</span>'
        return f'<div class="ww-head" role="heading" aria-level="3">{sign} {said} {name}</div>'

    def _cases(self) -> str:
        rows = [_row(*case) for case in self.cases]
        if self.left:
            few = len(self.left) <= MOST_NAMED
            rows.append(_row(NOT_TRIED, ", ".join(self.left) if few else f"{len(self.left)} more"))
        if not rows or self.look == "open":
            return ""
        listed = f'<ul class="ww-cases" aria-label="Cases">{"".join(rows)}</ul>'
        if self.look == "right" and len(rows) > MOST_ROWS:
            return f"<details><summary>{len(rows)} cases</summary>{listed}</details>"
        return listed

    def _gauges(self) -> str:
        if not self.gauges:
            return ""
        rows = "".join(_gauge(gauge) for gauge in self.gauges)
        title = f'<p class="ww-of">Counters of this case: {escape(self.launch)}</p>'
        return f'<div class="ww-gauges">{title}{rows}</div>'


@cache
def style() -> str:
    """Return the card's style sheet; its rules name classes that no host has."""
    return (files("warpwise.labs") / "card.css").read_text(encoding="utf-8")


def _all(count: int) -> str:
    return "The one case is" if count == 1 else f"All {count} cases are"


def _paragraph(kind: str, text: str, lead: str = "") -> str:
    bold = f"<b>{lead}</b>" if lead else ""
    return f'<p class="ww-{kind}">{bold}{escape(text)}</p>' if text else ""


def _folded(summary: str, text: str) -> str:
    said = _paragraph("place", text)
    return f"<details><summary>{summary}</summary>{said}</details>" if said else ""


def _block(text: str) -> str:
    return f'<pre class="ww-where">{escape(text)}</pre>' if text.strip() else ""


def _row(outcome: str, label: str) -> str:
    if outcome.startswith("right"):
        look, sign = "right", SIGNS["right"]
    elif outcome == NOT_TRIED:
        look, sign = "open", SIGNS["open"]
    else:
        look = "over" if outcome.startswith(Reason.OVER_BUDGET) else "wrong"
        sign = SIGNS[look]
    mark = f'<span class="ww-mark" aria-hidden="true">{sign}</span>'
    said = f'<span class="ww-outcome">{escape(outcome)}</span>'
    return (
        f'<li class="ww-is-{look}">{mark} {said} <span class="ww-case">{escape(label)}</span></li>'
    )


def _gauge(gauge: Gauge) -> str:
    """A row: the counter, its value and limit in words, and a bar between if it has a limit."""
    name, told = escape(gauge.counter), escape(gauge.told)
    if gauge.limit is None:
        row = f'<span class="ww-code">{name}</span> <span class="ww-figure">{told}</span>'
        return f'<div class="ww-gauge">{row}</div>'
    look, sign = ("right", SIGNS["right"]) if gauge.kept else ("over", SIGNS["over"])
    most = max(gauge.value, gauge.limit)
    meter = f'aria-valuemin="0" aria-valuemax="{most:g}" aria-valuenow="{gauge.value:g}"'
    words = f'role="meter" aria-label="{name}" aria-valuetext="{told}"'
    filled = f'<i style="width:{gauge.percent:.0f}%"></i><b style="left:{LIMIT_AT}%"></b>'
    bar = f'<span class="ww-bar" {words} {meter}>{filled}</span>'
    mark = f'<span class="ww-mark" aria-hidden="true">{sign}</span>'
    said = f'<span class="ww-figure">{mark} {told}</span>'
    called = f'<span class="ww-code">{name}</span>'
    return f'<div class="ww-gauge ww-is-{look}">{called} {bar} {said}</div>'
