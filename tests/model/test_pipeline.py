"""The pipeline: trips by hand, and by what has to hold of any; its pace against its bounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest

from warpwise.errors import LaunchError
from warpwise.model.pipeline import Trip, pipeline

CASES = [
    case for case in product((1, 2, 3, 4), (1, 3, 8), (1, 4, 9), (1, 2, 8)) if case[3] <= case[1]
]


def test_two_stages_by_hand():
    """Copies of 3 and products of 2: the second copy begins beside the first, the third when the
    first product has ended."""
    found = pipeline(3, 2, 3, 2)
    assert found.trips == (Trip(0, 0, 3, 3, 5), Trip(1, 1, 4, 5, 7), Trip(0, 5, 8, 8, 10))
    assert found.total == 10 and found.busy == Fraction(6, 10)


@pytest.mark.parametrize(("copy", "product"), [(3, 2), (1, 7), (8, 8)])
def test_with_one_stage_nothing_overlaps(copy, product):
    assert pipeline(6, 1, copy, product).total == 6 * (copy + product)


@pytest.mark.parametrize(("stages", "copy", "product", "path"), CASES)
def test_nothing_begins_before_what_it_waits_for_and_nothing_later(stages, copy, product, path):
    trips = pipeline(12, stages, copy, product, path).trips
    for k, trip in enumerate(trips):
        free = [trips[k - stages].product_ends] if k >= stages else [0]
        taken = [trips[k - 1].copy_begins + path] if k else []
        assert trip.copy_begins == max(free + taken)
        assert trip.product_begins == max(trip.copy_ends, trips[k - 1].product_ends if k else 0)
    for stage in range(stages):
        held = [trip for trip in trips if trip.stage == stage]
        assert all(one.product_ends <= other.copy_begins for one, other in pairwise(held))


@pytest.mark.parametrize(("stages", "copy", "product", "path"), CASES)
def test_in_the_long_run_the_largest_bound_is_the_pace(stages, copy, product, path):
    some, more = (pipeline(120 * k, stages, copy, product, path) for k in (1, 2))
    assert Fraction(more.total - some.total, 120) == max(some.bounds.values())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((0, 2, 3, 3), "tiles is 0; it can be 1 or more"),
        ((8, 0, 3, 3), "stages is 0; it can be 1 or more"),
        ((8, 2, 3, 3, 4), "path is 4; it can be 1 to 3"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        pipeline(*wrong)
    assert message in str(caught.value)
