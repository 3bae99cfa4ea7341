"""Notice where a function makes an infinity or nan without an error, as NumPy's numbers do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from warpwise.labs.helper_functions import At, Texts

WANTED = "what should the result be there?"
BY_ZERO = "{line} divides by 0 here: " + WANTED
OF_ZERO = "{line} takes the logarithm of 0 here: " + WANTED
NOUGHTS = "{line} divides 0 by 0 here, or an infinity by an infinity, which is nan: " + WANTED
ITSELF = (
    "{line} subtracts an infinity from itself here, as in -inf - (-inf), which is nan: "
    "guard that difference"
)
OVERFLOW = (
    "exp of a large number is inf, and inf / inf, inf - inf and 0 * inf are nan, as on {lines}: "
    "subtract the maximum before exp"
)
OF_LOG = "divide by zero encountered in log"
UNDERFLOW = "underflow encountered in exp"
OF_SMALL = (
    "exp of a number far below 0 is 0, as on {first}, and 0 / 0 is nan, as on {last}: is "
    "what is subtracted before exp the maximum of that row itself, or has a row nothing to add up?"
)
LOG_OF_SMALL = (
    "exp of a number far below 0 is 0, as on {first}, and the logarithm of 0 on {last} "
    "is -inf: is what is subtracted before exp the maximum of that row?"
)
#: how a warning begins -> a question about it, the more telling first
QUESTIONS = {
    "divide by zero encountered in log": OF_ZERO,
    "divide by zero": BY_ZERO,
    "invalid value encountered in divide": NOUGHTS,
    "invalid value encountered in subtract": ITSELF,
}
OF_INFINITIES = tuple(f"invalid value encountered in {what}" for what in ("divide", "subtract"))


@dataclass
class Unusual:
    """NumPy's warnings about a function's lines: "divide by zero encountered in log", and where.

    Of a warning only the first line is kept, one of the function itself before a helper's."""

    lines: dict[str, At] = field(default_factory=dict)

    def asked(self, is_nan: bool) -> str:
        """Ask about what was met first of zeros and infinities; "" if nothing was.

        ``is_nan``: whether nan came out. If not, infinities may be right, or never looked at."""
        overflow = self.lines.get("overflow encountered in exp")
        invalid = [self.lines[told] for told in OF_INFINITIES if told in self.lines]
        if is_nan and overflow and invalid:
            return OVERFLOW.format(lines=overflow.and_on(min(invalid)))
        if small := self._of_small(is_nan):
            return small
        found = [
            (line, question.format(line=line))
            for told, line in self.lines.items()
            if (question := _question(told)) and (is_nan or question not in (ITSELF, NOUGHTS))
        ]
        return min(found)[1] if found else ""

    def _of_small(self, is_nan: bool) -> str:
        """Ask about exponentials that are 0, and then divided or taken the logarithm of."""
        first = self.lines.get(UNDERFLOW)
        divided = self.lines.get(OF_INFINITIES[0]) if is_nan else None
        for last, asked in ((divided, OF_SMALL), (self.lines.get(OF_LOG), LOG_OF_SMALL)):
            if first and last and not last.is_above(first):
                return asked.format(first=first, last=last)
        return ""


def _question(told: str) -> str:
    return next((q for start, q in QUESTIONS.items() if told.startswith(start)), "")


@contextmanager
def unusual_numbers(texts: Texts) -> Iterator[Unusual]:
    """Give what holds, after the block, NumPy's warnings about the lines of a function's ``texts``.

    Those are not shown: what is told of the result speaks of them. All others are, after the block,
    as they would have been, if they would have."""
    found, before = Unusual(), np.geterr()
    noticed = np.errstate(all="warn")
    with warnings.catch_warnings(record=True) as caught, noticed:
        # Each is kept once a line: a loop may make thousands, and what is held counts.
        warnings.simplefilter("default", RuntimeWarning)
        try:
            yield found
        finally:
            for one in caught:
                if (at := texts.at(one.filename, one.lineno)) is not None:
                    told = str(one.message)
                    found.lines[told] = min(at, found.lines.get(told, at))
    shown = "warn" in before.values()
    for one in caught:
        known = texts.at(one.filename, one.lineno) is not None
        if known or not shown or "underflow" in str(one.message):
            continue
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
