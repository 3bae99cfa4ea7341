"""A pattern of rounding: many small errors, up and down alike, that do not follow the result."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern, figure

FEWEST = 64  # errors below which their spread tells nothing
LARGEST = 0.05  # of the usual size of an element, above which an error is no rounding
ROUNDED = (
    "numbers are rounded on the way: are scores, weights or sums kept in a type or in steps that "
    "are too coarse?"
)
OF_FORMULA = (
    "what counts for little in the formula is another there, such as a power, a factor or a small "
    "term: compare it with the exercise's, term by term"
)
ONE_OF_MANY = "one of very many terms is left out, or is there twice"


def rounded(f: Failure) -> Pattern | None:
    """Errors much smaller than the elements, as many up as down, that do not follow them."""
    got, want = f.numbers
    if f.got.dtype.kind != "f" or f.wrong.sum() < FEWEST or not np.isfinite(got - want).all():
        return None
    gap, usual = (got - want).ravel(), float(np.sqrt((want * want).mean()))
    off = float(np.sqrt((gap * gap).mean()))
    if not 0 < off < LARGEST * usual or not 0.3 < (gap > 0).mean() < 0.7:
        return None
    alike = abs(float((gap * want.ravel()).mean())) / (off * usual)
    if alike > 0.2 or _whole_lines_are_right(f):
        return None
    seen = f"the errors are small, about {figure(round(100 * off / usual, 2))} % of what is usual"
    causes = (ROUNDED, ONE_OF_MANY)
    if not (f.is_softmax or f.has_halves or f.is_product):
        causes = OF_FORMULA, ROUNDED.replace("scores, weights or sums", "numbers or sums")
    return Pattern(f"{seen}, and go up and down alike", causes)


def _whole_lines_are_right(f: Failure) -> bool:
    """True if some rows are right and others wrong: rounding meets all of them."""
    lines = f.wrong.reshape(-1, f.wrong.shape[-1]).mean(1)
    return bool((lines == 0).any())
