"""Patterns of NaN and infinity, and of zeros where something is due."""

from __future__ import annotations

import numpy as np

from warpwise.labs.patterns.failure import Failure, Pattern

NAN = (
    "nan comes from 0 / 0, from an infinity minus an infinity, or from one times 0: "
    "which line can meet that?"
)
NOT_COME = "what a transfer has not brought yet is nan: is each array waited for before it is used?"
EXP_NAN = (
    "where nothing is seen yet the maximum is -inf, and -inf - (-inf) is nan: guard that difference"
)
NO_MAXIMUM = (
    "exp of a large number is inf: subtract the maximum of the row before exp, and add it back to "
    "a logarithm"
)
NOT_LARGEST = (
    "exp of a large number is inf: is what is subtracted before exp the largest of all there, not "
    "the first, say?"
)
LOG_OF_0 = (
    "exp of a number far below 0 is 0, and the logarithm of 0 is -inf: is what is subtracted "
    "before exp the largest of all there, and is anything added to the sum?"
)
NO_LOG_SUM = (
    "where a row sees nothing its L is -inf, and a score minus that is inf or nan: which pairs do "
    "the mask and the edges leave out?"
)
NO_SCALE = "is each score multiplied by scale, and the row's L subtracted, before exp?"
NO_TRIP = (
    "nothing is added to the sum that is stored: does the loop make a trip, where does it begin "
    "and end, and what does its condition let through?"
)
AFTER_LOOP = "where does the store stand: in the loop, or after it?"
OF_INFINITY = ("INF", "MASK", "MIN", "LOW", "NEG")  # in names of one, or of a constant that is
TOO_FAR = (
    "exp of a number far below 0 is 0, and 0 / 0 is nan: does the maximum begin at -inf, not at a "
    "number?"
)
VANISHED = (
    "exp of a number far below 0 is 0: subtract the row's own maximum, which begins at -inf, not "
    "0, and leaves out the keys that a mask hides"
)


def not_a_number(f: Failure) -> Pattern | None:
    """NaN where a number or an infinity is due."""
    if f.got.dtype.kind != "f" or f.want.dtype.kind != "f":
        return None
    nan = np.isnan(f.got) & ~np.isnan(f.want)
    if not nan.any():
        return None
    count = int(nan.sum())
    where = _only_where(f, nan)
    seen = _so_many(count, f.got.size, "nan") + where
    if has_unset(f.got[nan]):
        return Pattern(seen, (NOT_COME, NAN))
    if f.uses("sqrt") and not f.uses("exp"):
        root = "the root of a number below 0, as of a difference that lost its digits"
        return Pattern(seen, (root, NAN))
    if not f.uses("exp"):
        return Pattern(seen, (NAN,))
    empty = bool(((f.want == 0) | np.isneginf(f.want))[nan].all())
    overflow = (
        "exp of a large number is inf unless the maximum is subtracted first, "
        "and inf / inf, inf - inf and 0 * inf are nan"
    )
    zero = "leave out what is masked or beyond the end by a condition, not by a factor 0"
    if f.is_backward:
        return Pattern(seen, (NO_LOG_SUM, f"exp of a large number is inf: {NO_SCALE}"))
    if empty:
        none = "a row that sees nothing has the sum 0: test for it, and do not divide by it"
        return Pattern(seen, (none, EXP_NAN, overflow))
    if not f.is_softmax:
        return Pattern(seen, (NOT_LARGEST, f"{overflow}: {zero}"))
    return Pattern(seen, (EXP_NAN if _meets_infinity(f) else TOO_FAR, f"{overflow}: {zero}"))


def has_unset(floats: np.ndarray) -> bool:
    """True if some are made of the nan that stands where a rank has received nothing as yet."""
    nans, size = floats[np.isnan(floats)], floats.dtype.itemsize
    bit = {4: 1 << 21, 8: 1 << 50}.get(size)
    return bit is not None and bool((nans.view(f"u{size}") & np.array(bit, f"u{size}")).any())


def _meets_infinity(f: Failure) -> bool:
    """True if a maximum may be -inf: the text has a name of an infinity, or an input has one."""
    named = any(part in word.upper() for word in f.words for part in OF_INFINITY)
    return named or any(np.isinf(array).any() for array in f.arrays.values())


def _so_many(count: int, size: int, what: str) -> str:
    return f"{count} of {size} elements {'is' if count == 1 else 'are'} {what}"


def _only_where(f: Failure, nan: np.ndarray) -> str:
    if (f.want[nan] == 0).all():
        return ", all where 0 is due"
    return ", all where -inf is due" if np.isneginf(f.want[nan]).all() else ""


def infinite(f: Failure) -> Pattern | None:
    """Infinity where a number is due, or a number where an infinity is."""
    if f.got.dtype.kind != "f" or f.want.dtype.kind != "f":
        return None
    due = np.isinf(f.want) & f.wrong
    if due.any() and np.isfinite(f.got[due]).all() and (f.wrong == due).all():
        sign = "-inf" if np.isneginf(f.want[due]).all() else "inf"
        what = f"the wrong elements should all be {sign}, and are numbers"
        empty = f"a row without anything to add is a case of its own: its logarithm is {sign}"
        return Pattern(what, (empty, f"a maximum that begins at a number, not at {sign}"))
    found = np.isinf(f.got) & ~np.isinf(f.want)
    if not found.any():
        return None
    seen = _so_many(int(found.sum()), f.got.size, "infinite")
    if f.uses("exp"):
        return Pattern(seen, _of_exp(f, found))
    many = "a number beyond the range of its type: float16 ends at 65504"
    zero = "a division by 0"
    return Pattern(seen, (many, zero) if f.has_halves else (zero, many))


def _of_exp(f: Failure, found: np.ndarray) -> tuple[str, ...]:
    """What usually makes infinities where exponentials are summed."""
    if f.uses("log", "log2") and np.isneginf(f.got[found]).all():
        return (LOG_OF_0,)
    zero = ("a division by a sum of 0",) if f.uses("/", "divide", "true_divide") else ()
    return NO_MAXIMUM, *(zero or (NOT_LARGEST,))


def unwritten_start(f: Failure) -> Pattern | None:
    """An array that is changed in place still holds its start wherever it is wrong."""
    if f.start is None or f.start.shape != f.got.shape:
        return None
    kept = f.got == f.start
    if not kept[f.wrong].all():
        return None
    if kept.all():
        seen = f"{f.name} holds what it held before the launch: nothing new is stored to it"
        store = f"{f.name} is changed in place: store its new value, {f.name}[i] = ..."
        never = "the loop that changes it never runs, or begins too late"
        return Pattern(seen, (store, never))
    seen = f"the wrong elements of {f.name} hold what they held before the launch"
    return Pattern(
        seen,
        (
            "they are never stored: a guard or a loop ends too soon, as where the last block or "
            "tile is not full",
            "some elements have no thread",
        ),
    )


def zeros(f: Failure) -> Pattern | None:
    """Wrong elements are 0 where something else is due."""
    got, want = f.pairs
    if got.any() or not np.isfinite(want).all() or got.size < 2:
        return None
    seen = "every wrong element is 0"
    if f.wrong.ndim == 1 and f.wrong[:-1].all() and not f.wrong[-1]:
        return Pattern(f"{seen}, and only the last one is right", (AFTER_LOOP,))
    if f.is_backward:
        return Pattern(seen, (NO_TRIP, NO_SCALE))
    if f.uses("exp"):
        return Pattern(seen, (VANISHED, "nothing is added to the sum that is stored"))
    lost = "nothing is added to the sum that is stored: a loop that does not run, or the wrong name"
    return Pattern(seen, (lost, "a factor of 0, or a quotient of whole numbers cut to 0"))
