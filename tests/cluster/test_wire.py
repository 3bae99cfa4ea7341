"""The wire: ranks apart, over a transport in memory, give the same results and mistakes."""

from __future__ import annotations

import threading
import time
from collections import deque

import numpy as np
import pytest

from warpwise import cluster
from warpwise.cluster.engines.apart import Rank, StalledError
from warpwise.cluster.engines.outcome import Outcome
from warpwise.cluster.engines.wire import HEAD, HEADS, LONGEST, GoneError, _short
from warpwise.devices import H100
from warpwise.errors import (
    BufferInUseError,
    ClusterError,
    DeadlockError,
    MismatchError,
    ReplicaError,
)

pytestmark = pytest.mark.threads


class Memory:
    """A transport between threads of one process."""

    def __init__(self, rank: int, ranks: int, shared: dict, lock: threading.Lock):
        self.rank, self.ranks, self.shared, self.lock = rank, ranks, shared, lock

    def send(self, data, to, tag):
        one = self._add((self.rank, to, tag), 0, data.copy())
        return lambda: self._is_done(one) or tag == HEADS

    def receive(self, room, sender, tag):
        one = self._add((sender, self.rank, tag), 1, room)
        return lambda: self._is_done(one)

    def _is_done(self, one):
        if self.shared.get("stopped"):
            raise GoneError("stopped")
        return one[1]

    def _add(self, ends, side, array):
        with self.lock:
            both = self.shared.setdefault(ends, (deque(), deque()))
            one = [array, False]
            both[side].append(one)
            while all(both):
                sent, received = (queue.popleft() for queue in both)
                received[0][...] = sent[0]
                sent[1] = received[1] = True
        return one

    def close(self):
        pass


def apart(program, ranks: int, *args, algorithm: str = "ring", timeout: float = 0.3):
    """Run a program on ranks apart; return results, or raise what is no consequence."""
    shared, lock, results, errors = {}, threading.Lock(), {}, []

    def one(number: int) -> None:
        rank = Rank(Memory(number, ranks, shared, lock), H100, algorithm, timeout)
        try:
            results[number] = rank.call(program, *args)
            rank.close()
        except ClusterError as error:
            errors.append(error)

    threads = [threading.Thread(target=one, args=(n,), daemon=True) for n in range(ranks)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) and not errors:
        time.sleep(0.005)
    for thread in threads:  # those that wait give up; one that has ended waits for the others
        thread.join(timeout + 0.3 if errors else None)
    shared["stopped"] = True
    for error in sorted(errors, key=lambda error: isinstance(error, StalledError)):
        raise error
    return tuple(results[number] for number in range(ranks))


def a_generator(dist):
    x = np.full(5, 0.1 + dist.get_rank())
    yield dist.all_reduce(x)
    return x


@pytest.mark.parametrize("algorithm", ["ring", "tree", "doubling"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_every_algorithm_sums_as_simulated(algorithm: str, ranks: int):
    one = cluster.run(a_generator, ranks, algorithm=algorithm).results
    other = apart(a_generator, ranks, algorithm=algorithm, timeout=9)
    assert [x.tobytes() for x in one] == [x.tobytes() for x in other]


def test_messages_overtake_by_tag_and_stay_in_order_without():
    def program(dist):
        found = np.zeros(5, int)
        if dist.get_rank() == 0:
            works = [dist.isend(np.full(1, i), 1, tag=i // 3) for i in range(5)]
            for work in reversed(works):
                work.wait()
        for i in range(5) if dist.get_rank() else ():
            dist.recv(found[i : i + 1], 0, tag=int(i < 2))
        return found.tolist()

    assert apart(program, 2, timeout=9)[1] == [3, 4, 0, 1, 2]


def test_collectives_of_several_groups_go_on_beside_each_other():
    def program(dist):
        rank = dist.get_rank()
        pairs = [dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([0, 2])]
        mine = [one for one in (pairs if rank else pairs[::-1]) if rank in one.ranks]
        arrays = [np.full(4, 1 + rank) for _ in mine]
        pairs = zip(arrays, mine, strict=True)
        works = [dist.all_reduce(x, group=one, async_op=True) for x, one in pairs]
        for work in works:
            work.wait()
        return {one.ranks: int(x[0]) for x, one in zip(arrays, mine, strict=True)}

    expected = {(0, 1): 3, (1, 2): 5, (0, 2): 4}
    for rank, found in enumerate(apart(program, 3, timeout=9)):
        assert found == {pair: total for pair, total in expected.items() if rank in pair}


def test_more_messages_than_tags_arrive(monkeypatch):
    monkeypatch.setattr("warpwise.cluster.engines.wire.TAGS", 3)

    def program(dist):
        x = np.zeros(3)
        for _ in range(8):
            x += 1 + dist.get_rank()
            dist.all_reduce(x)
        return x[0]

    assert apart(program, 2, timeout=9) == cluster.run(program, 2).results


def test_what_is_through_is_forgotten():
    def program(dist):
        for _ in range(20):
            dist.all_reduce(np.ones(4))
        run = dist._run
        wire = run.fabric
        return len(run.register.parts), len(wire.announced), len(wire.expected), len(run.tracks)

    assert apart(program, 2, timeout=9) == ((0, 0, 0, 2),) * 2


# --- mistakes ---


def in_another_order(dist):
    if dist.get_rank() == 0:
        dist.broadcast(np.zeros(3), 0)
    dist.all_reduce(np.zeros(3))


def of_another_shape(dist):
    dist.all_reduce(np.zeros(3 + dist.get_rank()))


def another_message(dist):
    x = np.zeros(3 + dist.get_rank())
    _ = dist.recv(x, 0) if dist.get_rank() else dist.send(x, 1)


def changes_what_is_sent(dist):
    x = np.zeros(3)
    work = dist.all_reduce(x, async_op=True)
    x[...] = 1
    work.wait()


def drifts_apart(dist):
    dist.check_replicas({"w": np.full(2, dist.get_rank())}, step=4)


def reduces_one_gradient_alone(dist):
    before, after = np.ones(3), np.ones(3)
    if dist.get_rank() == 0:
        before *= 2
    dist.check_gradients({"g": before}, {"g": after})


def forgets_to_wait(dist):
    dist.all_reduce(np.zeros(3), async_op=True)


MISTAKES = [
    (in_another_order, DeadlockError, "rank 0 calls broadcast at .* and rank 1 calls all_reduce"),
    (of_another_shape, MismatchError, r"all_reduce has shape \(3,\) on rank 0 .* and \(4,\) on"),
    (another_message, MismatchError, r"rank 0 sends \(3,\) of float64 at test_wire.py:"),
    (changes_what_is_sent, BufferInUseError, "changes an array, found at test_wire.py:"),
    (drifts_apart, ReplicaError, "drifted apart in step 4: parameter w of rank 1 is not"),
    (reduces_one_gradient_alone, ReplicaError, "gradient g of rank 0"),
    (forgets_to_wait, ClusterError, "ends and has not waited for its all_reduce at test_wire"),
]


@pytest.mark.parametrize(("program", "kind", "said"), MISTAKES)
def test_a_mistake_is_named_as_on_the_simulated_cluster(program, kind, said: str):
    for way in (cluster.run, apart):
        with pytest.raises(kind, match=said):
            way(program, 2)


def both_send(dist):
    x, y, other = np.zeros(3), np.zeros(3), 1 - dist.get_rank()
    dist.send(x, other)
    dist.recv(y, other)


def waits_in_a_collective(dist):
    work = dist.irecv(np.zeros(3), 1 - dist.get_rank(), tag=4)
    if dist.get_rank():
        dist.barrier()
    work.wait()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            both_send,
            r"^deadlock: nothing came for 0.3 s, and rank (\d) waits at test_wire.py:\d+ for "
            r"its send to rank (?!\1)\d$",
        ),
        (
            waits_in_a_collective,
            r"rank 1 waits in barrier at test_wire.py:\d+ for rank 0$|rank 0 "
            r"waits at test_wire.py:\d+ for its irecv from rank 1 with tag 4 at test_wire.py:\d+$",
        ),
    ],
)
def test_a_rank_to_which_nothing_comes_gives_up_and_says_where(program, said: str):
    with pytest.raises(DeadlockError, match=said):
        apart(program, 2)


def test_who_waits_for_a_rank_that_has_ended_waits_no_longer():
    def program(dist):
        if dist.get_rank():
            dist.recv(np.zeros(1), 0)

    with pytest.raises(DeadlockError, match=r"its recv from rank 0, and rank 0 has ended$"):
        apart(program, 2, timeout=1)


@pytest.mark.parametrize("engine", ["mpi", "gloo"])
def test_an_outcome_says_that_it_has_no_trace(engine: str):
    outcome = Outcome(engine, (None,), 0.5)
    assert repr(outcome) == f"<1 rank over {engine}: 500 ms measured here, and no trace>"
    assert outcome.text().startswith(repr(outcome)[1:-1])
    with pytest.raises(AttributeError, match=f"a run over {engine} has no trace, so no links: run"):
        outcome.links  # noqa: B018
    with pytest.raises(AttributeError, match=r"^nonsense$"):
        outcome.nonsense  # noqa: B018


def test_a_head_has_room_for_the_longest_call():
    long = "\u20ac" * 1000
    assert len(_short(long)) <= LONGEST and _short(long) != _short(long[:-1])
    assert 4 * LONGEST * 7 + 200 < HEAD
