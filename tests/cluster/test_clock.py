"""Topologies and the clock: ways of messages, links that are shared, and overlap."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warpwise import cluster
from warpwise.cluster import nodes, nvlink_island, switch, torus
from warpwise.cluster.spans import both, length, union
from warpwise.devices import A100, B200, H100, ICI_V5P, INFINIBAND_NDR, NVLINK, V100, Interconnect
from warpwise.errors import LaunchError

SLOW = Interconnect("slow", 1e-6, 0, "for these tests: a byte takes a millisecond")
MB = 1_000_000


def one_message(source: int, target: int, nbytes: int):
    def program(dist):
        x = np.zeros(nbytes, np.uint8)
        if dist.get_rank() == source:
            dist.send(x, target)
        elif dist.get_rank() == target:
            dist.recv(x, source)

    return program


# --- topologies ---


@pytest.mark.parametrize("device", [V100, A100, H100, B200], ids=lambda device: device.name)
def test_a_copy_over_nvlink_takes_latency_and_bytes(device):
    link = NVLINK[device.name]
    record = cluster.run(one_message(0, 3, MB), 4, topology=nvlink_island(4, device))
    assert record.seconds == pytest.approx(1e-6 * link.latency_us + MB / (1e9 * link.gb_per_s))
    assert record.bytes_by_link == {"gpu 0 > switch": MB, "switch > gpu 3": MB}


def test_eight_h100_reduce_a_megabyte_in_the_time_worked_out_by_hand():
    """14 steps of 3.4 us, and 7/4 of the bytes at 450 GB/s."""
    record = cluster.run(lambda dist: dist.all_reduce(np.zeros(MB, np.uint8)), 8)
    assert 1e6 * record.seconds == pytest.approx(51.5, abs=0.05)


def test_between_nodes_a_copy_goes_over_the_network():
    topology = nodes(20)
    inside, across = (cluster.run(one_message(9, to, MB), 20, topology=topology) for to in (10, 3))
    assert list(inside.bytes_by_link) == ["gpu 9 > NVLink 1", "NVLink 1 > gpu 10"]
    assert list(across.bytes_by_link) == ["gpu 9 > network", "network > gpu 3"]
    ndr = INFINIBAND_NDR
    assert across.seconds == pytest.approx(1e-6 * ndr.latency_us + MB / (1e9 * ndr.gb_per_s))
    assert across.seconds > 5 * inside.seconds


def test_a_torus_goes_the_shorter_way_round_axis_by_axis():
    topology = torus((4, 4, 4))
    assert len(topology.links) == 6 * 64
    route = [topology.links[n].name for n in topology.routes[0, 3 * 16 + 2 * 4 + 1]]
    assert route == ["gpu 0 > gpu 48", "gpu 48 > gpu 52", "gpu 52 > gpu 56", "gpu 56 > gpu 57"]
    assert topology.ways[0, 57] == (pytest.approx(4e-6), 1e9 * ICI_V5P.gb_per_s)


@pytest.mark.parametrize("shape", [(1,), (2,), (2, 2), (3, 2), (5,)])
def test_every_way_of_a_torus_leads_from_sender_to_receiver(shape):
    topology = torus(shape)
    for (a, b), route in topology.routes.items():
        ends = [f"gpu {a}", *(topology.links[n].target for n in route)]
        assert ends[-1] == f"gpu {b}"
        assert [topology.links[n].source for n in route] == ends[:-1]
        hops = sum(min((x - y) % n, (y - x) % n) for x, y, n in _by_axis(a, b, shape))
        assert len(route) == hops


def _by_axis(a: int, b: int, shape):
    return zip(np.unravel_index(a, shape), np.unravel_index(b, shape), shape, strict=True)


@pytest.mark.parametrize("ranks", [3, 8])
def test_a_ring_uses_one_way_of_its_links(ranks: int):
    record = cluster.run(
        lambda dist: dist.all_reduce(np.zeros(ranks, np.float32)), ranks, topology=torus((ranks,))
    )
    assert {use.nbytes for use in record.links} == {0, 8 * (ranks - 1)}
    assert len(record.bytes_by_link) == ranks


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: nvlink_island(9), "a board has 8 GPUs, not 9: cluster.nodes(...) joins boards"),
        (lambda: nvlink_island(2, "T4"), "no NVLink of T4 is known"),
        (lambda: nodes(4, 9), "a node has 1 to 8 GPUs, not 9"),
        (lambda: nodes(0), "one rank or more"),
        (lambda: switch(2, 0, 0), "a positive bandwidth"),
        (lambda: torus((2, 0)), "one positive length by axis, not (2, 0)"),
        (lambda: torus(4), "one positive length by axis, not 4: such as (4, 4), or (8,)"),
        (lambda: torus((2.5, 4)), "one positive length by axis, not (2.5, 4)"),
    ],
)
def test_topologies_that_cannot_be(made, said: str):
    with pytest.raises(LaunchError, match=re.escape(said)):
        made()


# --- time ---


def test_messages_over_one_link_go_one_after_the_other():
    """Rank 0 sends 3 and 5 bytes, a millisecond each, over its one link to the switch."""

    def program(dist):
        if dist.get_rank() == 0:
            works = [dist.isend(np.zeros(n, np.uint8), to) for n, to in ((3, 1), (5, 2))]
            for work in works:
                work.wait()
        else:
            dist.recv(np.zeros({1: 3, 2: 5}[dist.get_rank()], np.uint8), 0)

    record = cluster.run(program, 3, topology=switch(3, 1e3, 1e-3))
    assert [(p.begin, p.left, p.end) for p in record.times.passages] == [
        pytest.approx((0, 3e-3, 4e-3)),
        pytest.approx((3e-3, 8e-3, 9e-3)),
    ]


def test_a_link_that_a_way_shares_is_waited_for():
    """On a line of three, 0 > 2 passes the link 1 > 2, which 1 > 2 has taken."""

    def program(dist):
        rank = dist.get_rank()
        if rank == 2:
            room = [np.zeros(4, np.uint8) for _ in range(2)]
            works = [dist.irecv(x, sender) for x, sender in zip(room, (1, 0), strict=True)]
            for work in works:
                work.wait()
        elif rank < 2:
            dist.compute(1e-3 * (1 - rank))
            dist.send(np.zeros(4, np.uint8), 2)

    record = cluster.run(program, 5, topology=torus((5,), SLOW))
    assert [(p.message.source, p.begin, p.end) for p in record.times.passages] == [
        (1, 0.0, pytest.approx(4e-3)),
        (0, pytest.approx(4e-3), pytest.approx(8e-3)),
    ]


def test_of_two_messages_the_one_that_is_ready_first_goes_first():
    """Whatever the order in which ranks take their turns."""

    def program(dist):
        rank = dist.get_rank()
        if rank == 0:
            dist.compute(5e-3)
            dist.send(np.zeros(4, np.uint8), 2)
        elif rank == 1:
            dist.send(np.zeros(4, np.uint8), 2)
        else:
            works = [dist.irecv(np.zeros(4, np.uint8), sender) for sender in (0, 1)]
            for work in works:
                work.wait()

    record = cluster.run(program, 3, topology=switch(3, 1e3, 0))
    assert [(p.message.source, p.begin) for p in record.times.passages] == [(1, 0), (0, 5e-3)]


def test_a_message_that_waits_for_one_link_keeps_none_from_others():
    """0 > 1 waits for the link to 1, which 2 uses, and leaves that from 0 to 0 > 3."""

    def program(dist):
        rank = dist.get_rank()
        works = []
        if rank == 0:
            dist.compute(1e-3)
        if rank in (0, 2):
            for to in {0: (1, 3), 2: (1,)}[rank]:
                works.append(dist.isend(np.zeros(8 if rank == 2 else 4, np.uint8), to))
        else:
            for sender, size in {1: ((2, 8), (0, 4)), 3: ((0, 4),)}[rank]:
                works.append(dist.irecv(np.zeros(size, np.uint8), sender))
        for work in works:
            work.wait()

    topology = switch(4, 1e3, 0)
    begins = {
        (p.message.source, p.message.target): p.begin
        for p in cluster.run(program, 4, topology=topology).times.passages
    }
    assert begins == {
        (2, 1): 0.0,
        (0, 3): pytest.approx(1e-3),
        (0, 1): pytest.approx(8e-3),
    }


@pytest.mark.parametrize("topology", [switch(5, 1e3, 1e-3), torus((5,), SLOW)], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_no_message_waits_while_all_links_of_its_way_are_free(topology, seed: int):
    rng = np.random.default_rng(seed)
    sent = [(*rng.choice(5, 2, replace=False).tolist(), int(rng.integers(1, 9))) for _ in range(30)]

    def program(dist):
        works = []
        for source, target, size in sent:
            if source == dist.get_rank():
                works.append(dist.isend(np.zeros(size, np.uint8), target))
            elif target == dist.get_rank():
                works.append(dist.irecv(np.zeros(size, np.uint8), source))
        for work in works:
            work.wait()

    busy: dict[int, list[tuple[float, float]]] = {}
    passages = cluster.run(program, 5, topology=topology).times.passages
    ways = [topology.routes[p.message.source, p.message.target] for p in passages]
    for one, way in zip(passages, ways, strict=True):
        for link in way:
            busy.setdefault(link, []).append((one.begin, one.left))
    for spans in busy.values():
        assert length(union(spans)) == pytest.approx(sum(end - begin for begin, end in spans))
    for one, way in zip(passages, ways, strict=True):  # all are ready at 0
        taken = union(span for link in way for span in busy[link] if span[0] < one.begin)
        assert length(both(taken, [(0.0, one.begin)])) == pytest.approx(one.begin)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_an_exchange_at_once_takes_what_its_links_need(ranks: int):
    """Each link is busy from the first byte to the last, and the last message has a latency."""

    def program(dist):
        rank, works = dist.get_rank(), []
        for step in range(1, ranks):
            to, sender = (rank + step) % ranks, (rank - step) % ranks
            works.append(dist.isend(np.zeros(4, np.uint8), to))
            works.append(dist.irecv(np.zeros(4, np.uint8), sender))
        for work in works:
            work.wait()

    record = cluster.run(program, ranks, topology=switch(ranks, 1e3, 1e-3))
    assert record.seconds == pytest.approx((ranks - 1) * 4e-3 + 1e-3)


def test_collectives_of_all_pairs_at_once_are_no_slower_than_in_turn():
    def program(dist, at_once):
        works = []
        for one in range(6):
            for other in range(one + 1, 6):
                if dist.get_rank() in (one, other):
                    pair = dist.new_group([one, other])
                    works.append(dist.all_reduce(np.zeros(8, np.uint8), group=pair, async_op=True))
                    if not at_once:
                        works[-1].wait()
        for work in works:
            work.wait()

    topology = switch(6, 1e3, 1e-4)
    at_once, in_turn = (
        cluster.run(program, 6, each=[(flag,)] * 6, topology=topology).seconds
        for flag in (True, False)
    )
    assert 5 * 8e-3 <= at_once < in_turn  # a rank has five sums, each of two halves of 4 bytes


def test_a_message_that_has_begun_can_keep_a_more_urgent_one_waiting():
    """What the reference page says: at once is seldom slower than in turn, and not by much."""
    groups = {(0, 1): 24, (2, 4, 5): 23, (1, 4, 5): 38}

    def program(dist, at_once):
        works = []
        for ranks, size in groups.items():
            if dist.get_rank() in ranks:
                group = dist.new_group(list(ranks))
                x = np.zeros(size, np.uint8)
                works.append(dist.all_reduce(x, group=group, async_op=True))
                if not at_once:
                    works[-1].wait()
        for work in works:
            work.wait()

    topology = switch(6, 1e3, 0)
    at_once, in_turn = (
        cluster.run(program, 6, each=[(flag,)] * 6, topology=topology).seconds
        for flag in (True, False)
    )
    assert in_turn == pytest.approx(32e-3 + 52e-3)  # of ranks 4 and 5: 4 rounds of 8, 4 of 13
    assert in_turn < at_once < 1.1 * in_turn


def test_both_ways_of_a_cable_are_used_at_once():
    def program(dist):
        x, y, other = np.zeros(4, np.uint8), np.zeros(4, np.uint8), 1 - dist.get_rank()
        work = dist.isend(x, other)
        dist.recv(y, other)
        work.wait()

    assert cluster.run(program, 2, topology=switch(2, 1e3, 0)).seconds == pytest.approx(4e-3)


def test_work_beside_a_transfer_overlaps_it():
    def program(dist):
        x = np.zeros(4, np.uint8)
        work = dist.all_reduce(x, async_op=True)
        dist.compute(3e-3, "backward")
        work.wait()
        dist.compute(1e-3, "step")

    record = cluster.run(program, 2, topology=switch(2, 1e3, 0))
    assert record.seconds == pytest.approx(5e-3)
    for one in record.ranks:
        found = one.compute, one.communication, one.overlap, one.idle
        assert found == pytest.approx((4e-3, 4e-3, 3e-3, 0))


def test_a_rank_that_waits_is_idle():
    def program(dist):
        dist.compute(2e-3 * dist.get_rank())
        dist.all_reduce(np.zeros(2, np.uint8))

    record = cluster.run(program, 2, topology=switch(2, 1e3, 0))
    assert [one.idle for one in record.ranks] == pytest.approx([2e-3, 0])
    assert record.seconds == pytest.approx(4e-3)


def test_collectives_of_a_rank_go_one_after_the_other():
    def program(dist):
        x, y = (np.zeros(4, np.uint8) for _ in range(2))
        works = [dist.all_reduce(one, async_op=True) for one in (x, y)]
        for work in works:
            work.wait()

    record = cluster.run(program, 2, topology=switch(2, 1e3, 0))
    first, second = record.collectives
    assert (first.begin, first.end, second.end) == pytest.approx((0, 4e-3, 8e-3))
    assert second.begin == pytest.approx(4e-3)


def test_the_same_run_over_another_topology():
    def program(dist):
        dist.all_reduce(np.zeros(16 * 1024, np.float32))

    on_network = cluster.run(program, 16)
    on_torus = on_network.on(torus((4, 4)))
    again = cluster.run(program, 16, topology=torus((4, 4)))
    assert on_torus.times == again.times != on_network.times
    with pytest.raises(LaunchError, match="joins 4 ranks, not 16"):
        on_network.on(torus((4,)))


def test_spans():
    spans = union([(3, 4), (0, 1), (1, 2), (3.5, 5), (7, 7)])
    assert spans == [(0, 2), (3, 5)] and length(spans) == 4
    assert both(spans, [(1, 3.25), (4, 9)]) == [(1, 2), (3, 3.25), (4, 5)]
