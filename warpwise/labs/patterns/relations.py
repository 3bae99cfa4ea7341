"""Patterns of what lies between got and wanted: a factor or a term that is an input."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from warpwise.labs.patterns import constants
from warpwise.labs.patterns.failure import MASKED, Failure, Pattern, figure
from warpwise.labs.patterns.of_inputs import operands

FEWEST = 4
RAGGED = (
    "a last tile, block or row that is not full is left out or treated as if it were: look at "
    "guards, masks and where loops end"
)
SOME_COUNTED = (
    "only some of the inputs are counted, as where there are more elements than threads and no loop"
)
TWICE_COUNTED = "some inputs are counted more than once, or are counted and should not be"
ENDS = "a range begins or ends one step too early or too late"
ONE_TOO_MANY = "something is counted that should not be, or twice"
ONE_TOO_FEW = "something that counts is forgotten"
ROUNDED = "a quotient is rounded the other way, or < stands for <="
WHOLE = "one operation is another one, or an operand another array's: compare it with the formula"


def factor_or_term(f: Failure) -> Pattern | None:
    """Got and wanted differ by an input, as a factor or as a term."""
    got, want = f.numbers
    used = f.wrong
    if used.sum() < FEWEST or not (np.isfinite(got[used]).all() and np.isfinite(want[used]).all()):
        return None
    a, b = got[used], want[used]
    with np.errstate(all="ignore"):
        for name, value, how in operands(f):
            x = value[used]
            if not (np.isfinite(x).all() and x.any()) or (np.ptp(x) == 0 and name not in f.scalars):
                continue
            if _alike(f, a * x, b):
                seen = f"each wrong one would be right if it were multiplied by {name}{how}"
                return Pattern(seen, (f"the factor {name} is left out", "a step is left out"))
            if _alike(f, a, b * x):
                seen = f"each wrong one is {name}{how} times what it should be"
                return Pattern(seen, (f"the factor {name} is there once too often", WHOLE))
            if _differ_by(f, b - a, x, a, b):
                seen = f"{name}{how} is missing from each wrong one"
                return Pattern(seen, (f"the term {name} is left out of a sum", WHOLE))
            if _differ_by(f, a - b, x, a, b):
                seen = f"{name}{how} is in each wrong one and should not be"
                return Pattern(seen, (f"the term {name} is added and should not be", WHOLE))
    return None


def two_factors(f: Failure) -> Pattern | None:
    """Got is wanted times two inputs, or divided by them: one that goes by the row, say, and one
    that goes by the column."""
    got, want = f.numbers
    used = f.wrong
    if used.sum() < FEWEST or not (np.isfinite(got[used]).all() and np.isfinite(want[used]).all()):
        return None
    a, b = got[used], want[used]
    with np.errstate(all="ignore"):
        for (name, value, _), (other, second, _) in combinations(operands(f), 2):
            x = (value * second)[used]
            if name == other or not (np.isfinite(x).all() and x.any()) or np.ptp(x) == 0:
                continue
            both = f"{name} and {other}"
            if _alike(f, a, b * x):
                seen = f"each wrong one is {name} times {other} times what it should be"
                return Pattern(seen, (f"the factors {both} are there once too often", WHOLE))
            if _alike(f, a * x, b):
                seen = f"each wrong one would be right if it were multiplied by {both}"
                return Pattern(seen, (f"the factors {both} are left out", "a step is left out"))
    return None


def _alike(f: Failure, a: np.ndarray, b: np.ndarray) -> bool:
    """True if two are the same but for rounding, as of sums whose terms cancel."""
    if f.got.dtype.kind != "f":
        return f.same(a, b)
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5 * float(np.abs(b).max())))


def _differ_by(f: Failure, gap: np.ndarray, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """True if a difference is an input, of which enough digits are left."""
    size = np.maximum(np.abs(a), np.abs(b)).max()
    if np.abs(x).max() < 0.01 * size or np.abs(x).max() == 0:
        return False
    return bool((np.abs(gap - x) <= 1e-5 * size + f.atol).all())


def one_number(f: Failure) -> Pattern | None:
    """The result is a single number: how far off it is."""
    if f.got.size != 1 or f.got.dtype.kind == "b":
        return None
    got, want = f.numbers[0].item(), f.numbers[1].item()
    if not (np.isfinite(got) and np.isfinite(want)):
        return None
    if f.got.dtype.kind in "iu" and abs(got - want) == 1:
        seen = f"it is 1 too {'large' if got > want else 'small'}"
        one = ONE_TOO_MANY if got > want else ONE_TOO_FEW
        ends = (ENDS,) if f.uses("range", "len") else ()
        return Pattern(seen, (*ends, one, ROUNDED))
    if got and want and got * want > 0:
        times = got / want
        large = times > 1
        known = next((n for n, v in f.scalars.items() if v and np.isclose(times, v)), "")
        below = next((n for n, v in f.scalars.items() if v and np.isclose(times * v, 1)), "")
        seen = f"it is {figure(times)} times what it should be"
        if unit := constants.of_unit(times):
            return Pattern(f"{seen}, {unit[0]}", (unit[1], WHOLE))
        if known or below:
            seen += f", which is {known or '1 / ' + below}"
            what = f"{known or below} is multiplied or divided by once too often, or left out"
            return Pattern(seen, (what, WHOLE))
        if f.got.dtype.kind in "iu":
            seen = f"it is {abs(got - want):.0f} too {'large' if large else 'small'}"
        more = "something is counted twice, or where it does not count"
        less = "something is left out"
        if f.uses("/", "//", "ceil", "floor", "trunc", "int"):
            less = f"{less}, or rounded down where it should be rounded up"
        return Pattern(seen, (more if large else less, WHOLE))
    return None


def too_small(f: Failure) -> Pattern | None:
    """Counts that are all too small, or too large."""
    got, want = f.pairs
    if f.got.dtype.kind not in "iu" or got.size < FEWEST or (want < 0).any() or (got < 0).any():
        return None
    together = f"together {figure(f.numbers[0].sum())} where {figure(f.numbers[1].sum())} are due"
    if (got < want).all():
        return Pattern(f"all wrong ones are too small, {together}", (SOME_COUNTED, RAGGED))
    if (got > want).all():
        return Pattern(f"all wrong ones are too large, {together}", (TWICE_COUNTED, MASKED))
    return None


def unexplained(f: Failure) -> Pattern | None:
    """No rule holds, but the text is that of a softmax: what usually goes wrong there."""
    if f.is_softmax:
        return Pattern("", f.likely(WHOLE))
    return None
