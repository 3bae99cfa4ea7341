"""Find what the wrong elements of an output have in common, and what usually makes such numbers.

``find`` looks for the exercise's own readings, and at fragments of tensor cores, and then tries the
patterns from the most telling to the least; the first that holds is told. Each is found in the
numbers of one case, so what is told is private to whoever owns that case. Left out: which elements
depend on which inputs, and the text of the kernel."""

from __future__ import annotations

import numpy as np

from warpwise.labs.compare import compare
from warpwise.labs.patterns import (
    along_axes,
    exchanged,
    labels,
    lengths,
    log_sums,
    marked_rows,
    moves,
    not_numbers,
    of_inputs,
    places,
    powers,
    readings,
    relations,
    roughly,
    sizes,
    some_factor,
    sums,
    ties,
    unlike_before,
    values,
)
from warpwise.labs.patterns.failure import Failure, Pattern
from warpwise.labs.patterns.places import Place, place

#: from the most telling to the least
PATTERNS = (
    not_numbers.unwritten_start,
    not_numbers.not_a_number,
    not_numbers.infinite,
    ties.other_neighbour,
    ties.equal_inputs,
    exchanged.exchanged,
    marked_rows.marked_rows,
    log_sums.of_a_log_sum,
    unlike_before.all_zeros,
    values.one_factor,
    powers.a_power,
    of_inputs.constant,
    of_inputs.function_of_inputs,
    values.one_step,
    along_axes.reduced,
    along_axes.reduction_missing,
    relations.factor_or_term,
    relations.two_factors,
    sizes.product_apart,
    relations.one_number,
    values.sign,
    labels.one_for_another,
    moves.moved,
    sums.part_of_a_sum,
    some_factor.one_factor_of_some,
    some_factor.factors_of_columns,
    some_factor.inverted,
    not_numbers.zeros,
    places.at_the_edge,
    values.of_a_type,
    values.offset,
    values.factor_by_axis,
    along_axes.rising,
    values.close,
    roughly.rounded,
    unlike_before.scaled,
    relations.too_small,
    places.some_wrong,
    unlike_before.ragged,
    relations.unexplained,
)

#: how a pattern begins that says little of a cause
LITTLE = ("wrong: ", "they are close")
FIRST = (
    "mend {name} first, if the other is made of it: compare its formula with the exercise's, term "
    "by term"
)
#: of numbers that name something
OF_LABELS = (
    of_inputs.constant,
    labels.one_for_another,
    moves.moved,
    places.some_wrong,
    labels.another,
)
#: where got and wanted differ in their last digits only, so that each looks like the other
OF_DIGITS = (ties.other_neighbour, values.of_a_type, unlike_before.scaled, values.close)


def find(failure: Failure) -> Pattern | None:
    """Return the first pattern that the wrong elements have; None if there is none."""
    if failure.got.dtype.kind not in "iufb":
        return None
    if found := readings.misread(failure) or failure.fragment:
        return found
    if failure.got.shape != failure.want.shape:
        return lengths.other_length(failure)
    patterns = OF_LABELS if failure.labels else OF_DIGITS if failure.is_close else PATTERNS
    with np.errstate(all="ignore"):
        return next((found for look in patterns if (found := look(failure)) is not None), None)


def of_fewer_axes(f: Failure, known: Pattern | None) -> Pattern | None:
    """Return what another wrong output shows, of fewer axes, where this one shows little.

    A matrix is often made of such numbers, as of a mean for each row."""
    if not f.also or f.is_softmax or (known and not known.seen.startswith(LITTLE)):
        return None
    name, (got, want) = next(iter(f.also.items()))
    differs = compare(got, want, f.rtol, f.atol)
    assert differs is not None
    other = Failure(
        name, got, want, differs.where, f.inputs, None, f.tile, f.words, f.rtol, f.atol, f.before
    )
    seen = f"{name} is wrong as well"
    if (pattern := find(other)) is None:
        return Pattern(seen, (FIRST.format(name=name),))
    return Pattern(f"{seen}: {pattern.seen}", (FIRST.format(name=name), *pattern.causes))


__all__ = ["Failure", "Pattern", "Place", "find", "of_fewer_axes", "place", "places"]
