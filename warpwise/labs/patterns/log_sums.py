"""A pattern of log-sum-exps: the maximum is right, and what is added to it is not its logarithm."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from warpwise.labs.patterns.failure import TERMS, Failure, Pattern

FEWEST = 3  # wrong elements below which that is chance
NO_LOG = "the sum itself is added to the maximum: where is its logarithm?"
OTHER_BASE = "is it the natural logarithm, math.log, that is taken of the sum?"


def of_a_log_sum(f: Failure) -> Pattern | None:
    """Each wrong one is a row's maximum plus the sum of its weights, or plus that sum's log2."""
    if f.got.dtype.kind != "f" or f.wrong.sum() < FEWEST:
        return None
    got, want = f.pairs
    if not (np.isfinite(got).all() and np.isfinite(want).all()):
        return None
    for name, top in _maxima(f):
        with np.errstate(all="ignore"):
            due = want - top
            if (due < 0).any() or np.ptp(due) < 1e-3:
                continue
            if f.same(got, top + np.exp(due)):
                seen = (
                    f"each wrong one is the maximum of a row of {name} and the sum of its weights"
                )
                return Pattern(seen, (NO_LOG, TERMS))
            if f.same(got, top + due / math.log(2)):
                what = f"what each wrong one adds to the maximum of a row of {name}"
                seen = f"{what} is 1 / log(2) times what it should be"
                return Pattern(seen, (OTHER_BASE, TERMS))
    return None


def _maxima(f: Failure) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the inputs that have a row for each element, and the maxima of the wrong ones."""
    for name, array in f.arrays.items():
        if array.shape[:-1] == f.want.shape and array.ndim > 1:
            yield name, array.max(-1)[f.wrong]
