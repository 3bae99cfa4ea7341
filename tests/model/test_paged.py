"""Blocks of a cache: no two requests hold one, prefixes are shared, and ends give back."""

from __future__ import annotations

from itertools import chain

import pytest

from warpwise.errors import LaunchError
from warpwise.model.paged import Request, paged, reserved
from warpwise.views.paged_cache import REQUESTS, STEPS


@pytest.mark.parametrize("block", [1, 4, 16, 32])
@pytest.mark.parametrize("prefix", [0, 5, 48])
def test_blocks_hold_all_tokens_and_belong_to_one_request_each(block, prefix):
    for step in range(STEPS + 1):
        held = paged(REQUESTS, step, block, prefix)
        own = list(chain.from_iterable(table[held.shared :] for table in held.tables))
        assert len(set(own)) == len(own) and not set(own) & set(range(held.shared))
        for table, tokens in zip(held.tables, held.tokens, strict=True):
            assert len(table) == -(-tokens // block)
            assert not table or table[: held.shared] == tuple(range(held.shared))
        live = sum(map(bool, held.tokens))
        assert 0 <= held.places - held.used <= live * (block - 1)


def test_a_block_of_one_wastes_nothing_and_reservations_much():
    held = paged(REQUESTS, 20, 1)
    assert held.places == held.used == 378
    assert reserved(REQUESTS, 20, 128) == 5 * 128


def test_a_request_keeps_its_blocks_and_takes_those_given_back():
    two = (Request(4, 2), Request(4, 9, 1))
    assert paged(two, 2, 4).tables == ((0, 1), (2, 3))
    assert paged(two, 3, 4).tables == ((), (2, 3))
    assert paged(two, 6, 4).tables == ((), (2, 3, 0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((-1, 16), "step is -1; it can be 0 or more"),
        ((0, 0), "block is 0; it can be 1 or more"),
        ((0, 16, 51), "prefix is 51; it can be 0 to 50"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        paged(REQUESTS, *wrong)
    assert str(caught.value) == message
