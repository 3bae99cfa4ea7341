"""Collectives: the formulas against counts of the simulated cluster, for 2 to 64 ranks."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest

from warpwise import cluster
from warpwise.cluster import switch
from warpwise.errors import LaunchError
from warpwise.model.collectives import BUS, WAYS, cost, crossover_bytes, ring_seconds, sends

W, ALPHA = 100e9, 2e-6
RANKS = (2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 48, 64)


def program(way: str, p: int):
    """Return a program in which each rank has p pieces of 3 float32."""

    def all_reduce(dist):
        dist.all_reduce(np.ones(3 * p, np.float32))

    def scatter(dist):
        dist.reduce_scatter_tensor(np.zeros(3, np.float32), np.ones(3 * p, np.float32))

    def gather(dist):
        dist.all_gather_into_tensor(np.zeros(3 * p, np.float32), np.ones(3, np.float32))

    def exchange(dist):
        pieces = [np.ones(3, np.float32) for _ in range(p)]
        dist.all_to_all([np.zeros(3, np.float32) for _ in range(p)], pieces)

    def broadcast(dist):
        dist.broadcast(np.ones(3 * p, np.float32), 0)

    return {
        "reduce-scatter": scatter,
        "all-gather": gather,
        "all-to-all": exchange,
        "broadcast": broadcast,
    }.get(way, all_reduce)


def run(way: str, p: int):
    algorithm = "tree" if way.startswith("tree") else "ring"
    return cluster.run(
        program(way, p), p, topology=switch(p, W, ALPHA), algorithm=algorithm, device="H100 SXM"
    )


@pytest.mark.parametrize("p", RANKS)
@pytest.mark.parametrize("way", WAYS)
def test_rounds_bytes_and_time_are_those_of_the_cluster(way, p):
    record, found = run(way, p), cost(way, p, 12 * p)
    (one,) = record.collectives
    assert one.most_bytes_sent == found.most_bytes_sent
    if not way.startswith("tree"):  # whose ranks take part in some of the rounds
        assert one.steps == found.rounds
    assert record.seconds == pytest.approx(found.seconds(ALPHA, W), rel=1e-9)


@pytest.mark.parametrize("p", RANKS)
@pytest.mark.parametrize("way", WAYS)
def test_the_messages_of_the_rounds_are_those_of_the_cluster(way, p):
    sent = sorted((m.source, m.target) for m in run(way, p).log.messages)
    told = sends(way, p)
    assert sorted((one.source, one.target) for each in told for one in each) == sent
    assert len(told) == cost(way, p, 1).rounds


@pytest.mark.parametrize("p", RANKS)
def test_pieces_that_go_around_a_ring_meet_all_ranks(p):
    """Of a reduce-scatter piece c ends with rank c and has the terms of all; of a gather all do."""
    terms = [[{r} for _ in range(p)] for r in range(p)]
    whole = sends("ring all-reduce", p)
    for k, each in enumerate(whole):
        before = [[set(one) for one in row] for row in terms]
        for one in each:
            held = before[one.source][one.piece]
            terms[one.target][one.piece] |= held
        if k == p - 2:
            assert all(terms[c][c] == set(range(p)) for c in range(p))
    assert all(one == set(range(p)) for row in terms for one in row)


def test_a_ring_sends_the_fewest_bytes_and_a_tree_waits_fewer_times():
    for p in RANKS[1:]:
        ring, tree = cost("ring all-reduce", p, 1.0), cost("tree all-reduce", p, 1.0)
        assert ring.most_bytes_sent == pytest.approx(2 * (p - 1) / p)
        assert tree.most_bytes_sent == ceil(log2(p)) and tree.rounds <= ring.rounds


@pytest.mark.parametrize("p", [4, 8, 16, 64])
def test_at_the_crossover_both_take_equally_long(p):
    size = crossover_bytes(p, ALPHA, W)
    ring, tree = (cost(way, p, size).seconds(ALPHA, W) for way in WAYS[:2])
    assert ring == pytest.approx(tree)
    assert crossover_bytes(2, ALPHA, W) == 0


def test_busbw_is_what_a_link_carries():
    for way, share in BUS.items():
        name = f"ring {way}" if way == "all-reduce" else way
        if way != "broadcast":  # which nccl-tests counts as a pipelined ring
            assert cost(name, 8, 1.0).most_bytes_sent == pytest.approx(share(8))


def test_published_ring_of_eight():
    """450 GB/s and 3.4 us: 51 us for 1 MB, 436 us for 100 MB, 3.9 ms for 1 GB."""
    for nbytes, us in ((1e6, 51), (1e7, 86), (1e8, 436), (1e9, 3936)):
        found = 1e6 * cost("ring all-reduce", 8, nbytes).seconds(3.4e-6, 450e9)
        assert found == pytest.approx(us, rel=0.01)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("star", 4, 1), "way is 'star'; it can be ring all-reduce"),
        (("all-gather", 0, 1), "p is 0; it can be 1 to 65,536"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(LaunchError) as caught:
        cost(*wrong)
    assert message in str(caught.value)


@pytest.mark.parametrize("p", [2, 4, 5, 8, 16])
@pytest.mark.parametrize("way", WAYS)
def test_a_ring_of_links_takes_about_what_the_cluster_counts(way, p):
    """Which lets a round begin before the last one's end; on neighbours' messages both agree."""
    algorithm = "tree" if way.startswith("tree") else "ring"
    record = cluster.run(
        program(way, p), p, topology=cluster.torus((p,)), algorithm=algorithm, device="H100 SXM"
    )
    found = ring_seconds(way, p, 12 * p, 1e-6, 90e9)
    assert record.seconds == pytest.approx(found, rel=2e-3)
    if way in ("ring all-reduce", "reduce-scatter", "all-gather"):
        assert record.seconds == pytest.approx(found, rel=1e-9)
