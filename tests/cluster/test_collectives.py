"""Collectives: results as on one device, and counts and times by the formulas, for p = 2 to 64."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest

from warpwise import cluster
from warpwise.cluster import ReduceOp, switch

W, ALPHA = 100e9, 2e-6
SOME = (2, 3, 4, 5, 7, 8, 12, 16, 33, 64)


def parts(ranks: int, size: int, dtype: str = "f4") -> list[np.ndarray]:
    """Each rank's array, of values whose sum rounds."""
    rng = np.random.default_rng(ranks)
    return [(100 * rng.standard_normal(size)).astype(dtype) for _ in range(ranks)]


def run(program, ranks: int, **options):
    return cluster.run(program, ranks, topology=switch(ranks, W, ALPHA), **options)


def reduced(ranks: int, size: int, algorithm: str = "ring", op=ReduceOp.SUM, dtype: str = "f4"):
    own = parts(ranks, size, dtype)

    def program(dist):
        mine = own[dist.get_rank()].copy()
        dist.all_reduce(mine, op)
        return mine

    return own, run(program, ranks, algorithm=algorithm)


@pytest.mark.parametrize("ranks", [*range(2, 33), 40, 47, 48, 56, 63, 64])
def test_a_ring_all_reduce_counts_and_takes_what_the_formulas_say(ranks: int):
    size = 4 * ranks
    own, record = reduced(ranks, size)
    nbytes = 4 * size
    assert {use.nbytes for use in record.links} == {2 * (ranks - 1) * nbytes // ranks}
    assert {use.messages for use in record.links} == {2 * (ranks - 1)}
    (one,) = record.collectives
    assert (one.steps, one.nbytes) == (2 * (ranks - 1), nbytes)
    assert one.most_bytes_sent == 2 * (ranks - 1) * nbytes // ranks
    time = 2 * (ranks - 1) * ALPHA + 2 * (ranks - 1) / ranks * nbytes / W
    assert one.seconds == record.seconds == pytest.approx(time, rel=1e-12)
    assert all(result.tobytes() == record.results[0].tobytes() for result in record.results)
    np.testing.assert_allclose(record.results[0], np.sum(own, axis=0, dtype="f8"), rtol=1e-3)


@pytest.mark.parametrize("ranks", SOME)
def test_the_halves_of_a_ring_count_half(ranks: int):
    def program(dist):
        mine, part = np.full(3 * ranks, dist.get_rank(), np.int64), np.zeros(3, np.int64)
        dist.reduce_scatter_tensor(part, mine + np.arange(3 * ranks))
        whole = np.zeros(3 * ranks, np.int64)
        dist.all_gather_into_tensor(whole, part)
        return part, whole

    record = run(program, ranks)
    total = ranks * (ranks - 1) // 2 + ranks * np.arange(3 * ranks)
    for rank, (part, whole) in enumerate(record.results):
        assert np.array_equal(part, total[3 * rank : 3 * rank + 3])
        assert np.array_equal(whole, total)
    nbytes = 8 * 3 * ranks
    for one in record.collectives:
        assert (one.steps, one.most_bytes_sent) == (ranks - 1, (ranks - 1) * nbytes // ranks)
        time = (ranks - 1) * (ALPHA + nbytes / ranks / W)
        assert one.seconds == pytest.approx(time, rel=1e-9)
    assert [one.word for one in record.collectives] == ["reduce_scatter", "all_gather"]


@pytest.mark.parametrize("ranks", SOME)
def test_a_tree_takes_the_logarithm_of_ranks_twice(ranks: int):
    own, record = reduced(ranks, 1000, "tree")
    rounds = 2 * ceil(log2(ranks))
    assert record.seconds == pytest.approx(rounds * (ALPHA + 4000 / W), rel=1e-9)
    assert sum(message.nbytes for message in record.log.messages) == 2 * (ranks - 1) * 4000
    np.testing.assert_allclose(record.results[-1], np.sum(own, axis=0, dtype="f8"), rtol=1e-3)


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32, 64])
def test_doubling_takes_the_logarithm_once(ranks: int):
    _, record = reduced(ranks, 1000, "doubling")
    rounds = int(log2(ranks))
    assert record.seconds == pytest.approx(rounds * (ALPHA + 4000 / W), rel=1e-9)
    assert record.collectives[0].steps == rounds
    assert record.collectives[0].most_bytes_sent == rounds * 4000


@pytest.mark.parametrize("ranks", SOME)
def test_a_broadcast_reaches_twice_as_many_in_each_round(ranks: int):
    def program(dist):
        x = np.full(1000, dist.get_rank(), np.float32)
        dist.broadcast(x, src=ranks - 1)
        return x

    record = run(program, ranks)
    assert all((result == ranks - 1).all() for result in record.results)
    assert record.seconds == pytest.approx(ceil(log2(ranks)) * (ALPHA + 4000 / W), rel=1e-9)
    assert len(record.log.messages) == ranks - 1


@pytest.mark.parametrize("ranks", SOME)
def test_all_to_all_moves_each_piece_once(ranks: int):
    def program(dist):
        mine = [np.array([dist.get_rank(), to], np.int32) for to in range(ranks)]
        room = [np.zeros(2, np.int32) for _ in range(ranks)]
        dist.all_to_all(room, mine)
        return np.array(room)

    record = run(program, ranks)
    for rank, result in enumerate(record.results):
        assert result.tolist() == [[sender, rank] for sender in range(ranks)]
    assert {use.nbytes for use in record.links} == {8 * (ranks - 1)}
    assert record.seconds == pytest.approx((ranks - 1) * (ALPHA + 8 / W), rel=1e-9)


@pytest.mark.parametrize("ranks", SOME)
def test_nobody_leaves_a_barrier_before_the_last_has_come(ranks: int):
    def program(dist):
        dist.compute(1e-3 if dist.get_rank() == ranks - 1 else 0)
        dist.barrier()
        dist.compute(1e-6, "after")

    record = run(program, ranks)
    after = [work.begin for work in record.times.works if work.spent.what == "after"]
    assert len(after) == ranks and min(after) >= 1e-3
    assert max(after) == pytest.approx(1e-3 + ceil(log2(ranks)) * ALPHA)


# --- sums ---


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_the_order_of_a_rings_sum_is_the_one_described(ranks: int):
    own, record = reduced(ranks, 5 * ranks + 1)
    pieces = [np.array_split(x, ranks) for x in own]
    expected = []
    for c in range(ranks):
        order = [(c + 1 + k) % ranks for k in range(ranks)]
        total = pieces[order[0]][c]
        for rank in order[1:]:
            total = total + pieces[rank][c]
        expected.append(total)
    assert record.results[0].tobytes() == np.concatenate(expected).tobytes()


@pytest.mark.parametrize("algorithm", ["tree", "doubling"])
def test_the_order_of_a_trees_sum_is_the_one_described(algorithm: str):
    (a, b, c, d), record = reduced(4, 100, algorithm)
    assert record.results[2].tobytes() == ((a + b) + (c + d)).tobytes()


@pytest.mark.parametrize("algorithm", ["ring", "tree", "doubling"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 6, 7, 11])
@pytest.mark.parametrize("size", [1, 5, 64])
def test_every_size_and_number_of_ranks_gives_the_sum(algorithm: str, ranks: int, size: int):
    own, record = reduced(ranks, size, algorithm, dtype="i8")
    assert all(np.array_equal(result, np.sum(own, axis=0)) for result in record.results)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("MAX", np.max), ("MIN", np.min), ("PRODUCT", np.prod), ("SUM", np.sum)],
)
def test_other_reductions(op: str, expected):
    own, record = reduced(5, 7, op=ReduceOp[op], dtype="f8")
    np.testing.assert_allclose(record.results[4], expected(own, axis=0), rtol=1e-12)


def test_two_runs_are_the_same():
    (_, one), (_, other) = (reduced(6, 100) for _ in range(2))
    assert one.log == other.log and one.times == other.times


def test_an_array_of_several_axes_that_is_not_contiguous():
    def program(dist):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        dist.all_reduce(x[:, ::2])
        return x

    expected = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected[:, ::2] *= 3
    assert np.array_equal(run(program, 3).results[1], expected)


def test_a_group_reduces_among_its_own():
    def program(dist):
        row = dist.new_group([0, 1] if dist.get_rank() < 2 else [2, 3])
        column = dist.new_group([0, 2] if dist.get_rank() % 2 == 0 else [1, 3])
        x, y = (np.array([1 + dist.get_rank()]) for _ in range(2))
        dist.all_reduce(x, group=row)
        dist.all_reduce(y, group=column)
        return x[0], y[0], dist.get_rank(column), dist.get_world_size(row)

    assert run(program, 4).results == ((3, 4, 0, 2), (3, 6, 0, 2), (7, 4, 1, 2), (7, 6, 1, 2))
