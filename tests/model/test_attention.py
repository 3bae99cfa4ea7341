"""Attention by tiles against a loop over the tiles and a traced kernel; the standard way.

Counts of standard attention are those of its arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.flash_kernel import arguments, flash

from warpwise import trace
from warpwise.errors import LaunchError
from warpwise.model.attention import attention, visits

TILE, D = 8, 4  # in the traced kernel


def standard(Q, K, V, causal):
    """Return attention by whole matrices, and the bytes of its three kernels' arrays."""
    S = (Q @ K.T / np.float32(math.sqrt(Q.shape[1]))).astype(Q.dtype)
    masked = np.where(np.tril(np.ones_like(S)), S, -np.inf) if causal else S
    P = np.exp(masked - masked.max(1, keepdims=True)).astype(Q.dtype)
    P /= P.sum(1, keepdims=True)
    R = P @ V
    return R, sum(a.nbytes for a in (Q, K, S, P, V)), sum(a.nbytes for a in (S, P, R))


def looped(n, d, rows, columns, item_bytes, causal):
    """Count tiles, skipped ones, bytes read and bytes written, score by score."""
    tiles = skipped = read = written = 0
    for top in range(0, n, rows):
        queries = range(top, min(top + rows, n))
        read += len(queries) * d * item_bytes
        written += len(queries) * d * item_bytes
        for left in range(0, n, columns):
            keys = range(left, min(left + columns, n))
            tiles += 1
            if causal and not any(key <= query for key in keys for query in queries):
                skipped += 1
            else:
                read += 2 * len(keys) * d * item_bytes
    return tiles, skipped, read, written


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 50),
    st.integers(1, 9),
    st.integers(1, 60),
    st.integers(1, 60),
    st.sampled_from([2, 4]),
    st.booleans(),
)
def test_the_closed_form_is_the_loop_over_tiles(n, d, rows, columns, item_bytes, causal):
    a = attention(n, d, rows, columns, item_bytes, causal)
    assert (a.tiles, a.skipped, a.read_bytes, a.written_bytes) == looped(
        n, d, rows, columns, item_bytes, causal
    )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [8, 24, 29])
def test_a_traced_kernel_reads_and_writes_what_the_model_says(n: int, causal: bool):
    Q, K, V, R, *rest = arguments(n, D, causal)
    m = trace(flash(TILE, D), -(-n // TILE), TILE, Q, K, V, R, *rest, record=()).metrics
    a = attention(n, D, TILE, TILE, item_bytes=4, causal=causal)
    expected, read, written = standard(Q, K, V, causal)
    assert np.allclose(R, expected, atol=1e-5)
    assert (m.global_load_bytes, m.global_store_bytes) == (a.read_bytes, a.written_bytes)
    assert (a.standard_read_bytes, a.standard_written_bytes) == (read, written)
    assert a.least_bytes == sum(array.nbytes for array in (Q, K, V, R))


def test_what_a_block_holds_is_what_its_arrays_take():
    a = attention(4096, 64, 128, 32)
    half, single = np.float16, np.float32
    arrays = {
        "Q": np.empty((128, 64), half),
        "K": np.empty((32, 64), half),
        "V": np.empty((32, 64), half),
    }
    arrays |= {"S": np.empty((128, 32), single), "O": np.empty((128, 64), single)}
    assert a.tile_bytes == {name: array.nbytes for name, array in arrays.items()}


def test_both_ways_grow_with_the_square_and_the_gain_tends_to_twice_the_rows_over_d():
    """At fixed d and tiles, both curves have slope 2 in the end.

    The paper's "sub-quadratic" is about the factor."""
    sizes = [2**k for k in range(8, 21)]
    counts = [attention(n, 64, 128, 128) for n in sizes]
    for moved in (
        [a.read_bytes + a.written_bytes for a in counts],
        [a.standard_read_bytes for a in counts],
    ):
        assert np.polyfit(np.log(sizes[-4:]), np.log(moved[-4:]), 1)[0] == pytest.approx(
            2, abs=0.01
        )
    assert counts[-1].bytes_saved == pytest.approx(2 * 128 / 64, rel=0.01)


def test_with_few_rows_in_a_tile_the_tiles_move_more():
    assert attention(4096, 128, 16, 64).bytes_saved < 1 < attention(4096, 128, 128, 64).bytes_saved


def test_the_last_query_tile_meets_all_keys_and_the_first_its_own():
    assert [visits(1024, 128, 64, query, True) for query in (0, 7)] == [2, 16]
    assert [visits(1024, 128, 64, query, False) for query in (0, 7)] == [16, 16]


def test_it_says_itself_in_a_line():
    a = attention(1024, 64, 128, 128, causal=True)
    assert str(a).startswith(
        f"64 tiles, 28 of them skipped; reads {a.read_bytes:,} bytes and writes 131,072; "
        "standard attention moves "
    )


@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"d": 0}, {"rows": -1}, {"columns": 1.5}, {"item_bytes": 9}]
)
def test_a_size_that_cannot_be_is_named(wrong: dict):
    with pytest.raises(LaunchError, match=next(iter(wrong))):
        attention(**{"n": 64, "d": 8, "rows": 8, "columns": 8} | wrong)
