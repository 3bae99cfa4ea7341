"""Programs of a cluster as exercises: judged by what each rank returns, and by what they send."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.rank_programs import sum_over

from warpwise.cluster import switch
from warpwise.errors import LabError
from warpwise.labs.exercise import Program, Reason
from warpwise.labs.judge import judge


def case(ranks: int, size: int = 12, **more) -> Program:
    return sum_over(ranks, size, 0, 9, **more)


def passed_on(dist, x):
    """Pass every array around the ring."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    total, mine, got = x.copy(), x.copy(), np.empty_like(x)
    for _ in range(ranks - 1):
        work = dist.isend(mine, (rank + 1) % ranks)
        dist.recv(got, (rank - 1) % ranks)
        work.wait()
        total += got
        mine = got.copy()
    return total


def through_one(dist, x):
    """Send everything to rank 0, and the sum back."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if rank:
        dist.send(x, 0)
        dist.recv(x, 0)
        return x
    total, got = x.copy(), np.empty_like(x)
    for other in range(1, ranks):
        dist.recv(got, other)
        total += got
    for other in range(1, ranks):
        dist.send(total, other)
    return total


def summed(dist, x):
    """Leave it to the library."""
    dist.all_reduce(x)
    return x


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("program", [passed_on, through_one, summed])
def test_right_answers_pass(program, ranks: int):
    (verdict,) = judge(program, [case(ranks)])
    assert verdict.passed, verdict.detail


@pytest.mark.parametrize(
    ("program", "counter", "counted"),
    [
        (passed_on, "rounds", 3),
        (passed_on, "most_bytes_sent_by_a_rank", 3 * 48),
        (passed_on, "most_bytes_over_a_link", 3 * 48),
        (passed_on, "collectives", 0),
        (summed, "collectives", 1),
        (summed, "most_bytes_in_a_collective", 48),
        (through_one, "most_bytes_sent_by_a_rank", 3 * 48),
        (through_one, "rounds", 6),  # one after another in and out of rank 0
    ],
)
def test_a_budget_counts_what_is_sent(program, counter: str, counted: int):
    (kept,) = judge(program, [case(4, budget={counter: counted})])
    (over,) = judge(program, [case(4, budget={counter: counted - 1})])
    assert kept.passed
    assert over.reason == Reason.OVER_BUDGET + counter and over.advice
    assert not counted or str(counted) in over.detail
    assert not counted or str(counted) not in over.message.hidden()


def test_rounds_do_not_depend_on_the_topology():
    slow = switch(4, bytes_per_s=1.0, latency_s=1.0)
    (verdict,) = judge(passed_on, [case(4, budget={"rounds": 3}, topology=slow)])
    assert verdict.passed and verdict.run is not None and verdict.run.seconds > 100


def overlapped(dist, x, waits_first):
    """Work for 3 us, while a sum travels for 4, or after it."""
    work = dist.all_reduce(x, async_op=True)
    if waits_first:
        work.wait()
    dist.compute(3e-6, "work")
    work.wait()
    return x


@pytest.mark.parametrize(("waits_first", "hidden"), [(False, 3), (True, 0)])
def test_what_is_not_hidden_is_the_time_without_work(waits_first: bool, hidden: int):
    def timed(budget):
        two, one = np.full(4, 2, np.float32), np.ones(4, np.float32)
        topology = switch(2, bytes_per_s=1e30, latency_s=2e-6)
        given = ((one, waits_first),) * 2
        (verdict,) = judge(overlapped, [Program("", given, (two,) * 2, budget, topology=topology)])
        return verdict

    whole, apart = 7 - hidden, 4 - hidden
    assert timed({"microseconds": whole + 0.1, "microseconds_not_hidden": apart + 0.1}).passed
    for counter, limit in (("microseconds", whole), ("microseconds_not_hidden", apart)):
        assert timed({counter: limit - 0.1}).reason == Reason.OVER_BUDGET + counter


def test_a_reading_is_told_by_rank():
    one = case(3)
    own = tuple(x for (x,) in one.each)
    (verdict,) = judge(unchanged, [replace(one, readings={"nothing is added": own})])
    assert "this is what comes out if nothing is added" in verdict.detail
    (other,) = judge(unchanged, [replace(one, readings={"nothing is added": own[::-1]})])
    assert "comes out if" not in other.detail


def deadlocked(dist, x):
    dist.send(x, 1 - dist.get_rank())
    dist.recv(x, 1 - dist.get_rank())


def mismatched(dist, x):
    dist.all_reduce(x if dist.get_rank() else x[1:])


def changed(dist, x):
    work = dist.all_reduce(x, async_op=True)
    x += 1
    work.wait()


def alone(dist, x):
    dist.irecv(x, 1 - dist.get_rank())


def raised(dist, x):
    return x / missing  # noqa: F821


def unchanged(dist, x):
    return x


@pytest.mark.parametrize(
    ("program", "reason", "says"),
    [
        (deadlocked, Reason.DEADLOCK, "rank 1 waits"),
        (mismatched, Reason.MISMATCH, "shape"),
        (changed, Reason.IN_USE, "changes an array"),
        (alone, Reason.RANKS, "has not waited for its irecv"),
        (raised, Reason.RAISED, "'missing' is not defined"),
        (unchanged, Reason.WRONG_RESULT, "[0] should be 15 and is 7"),
    ],
)
def test_a_mistake_is_named(program, reason: str, says: str):
    (verdict,) = judge(program, [case(2)])
    assert (verdict.passed, verdict.reason) == (False, reason)
    assert says in verdict.detail
    assert verdict.advice or reason == Reason.RAISED


def returns_the_sum(dist, x):
    return dist.all_reduce(x)


def returns_a_name(dist, x):
    total = dist.all_reduce(x * 1)
    return total


def returns_the_wait(dist, x):
    return dist.all_reduce(x, async_op=True).wait()


def returns_a_handle(dist, x):
    total = x.copy()
    work = dist.all_reduce(total, async_op=True)
    work.wait()
    return work


def returns_what_is_scattered(dist, x):
    piece = np.zeros_like(x)
    return dist.reduce_scatter(output=piece, input_list=[x] * dist.get_world_size())


def returns_what_is_gathered(dist, x):
    room = [np.zeros_like(x) for _ in range(dist.get_world_size())]
    return dist.all_gather(room, x)


def returns_what_is_broadcast(dist, x):
    return dist.broadcast(x, 0)


def returns_what_is_exchanged(dist, x):
    ones, others = [x, x], [x.copy(), x.copy()]
    return dist.all_to_all(others, ones)


def returns_what_is_received(dist, x):
    if dist.get_rank():
        return dist.send(x, 0)
    return dist.recv(x, 1)


def returns_nothing(dist, x):
    dist.all_reduce(x)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (returns_the_sum, "into x, in place, and returns None: .* return x"),
        (returns_a_name, "the array that it is given, in place, .* return that array, which needs"),
        (returns_the_wait, "into x, in place, and returns a handle, whose wait.. returns None"),
        (returns_a_handle, "into total, in place, and returns a handle.* return total"),
        (returns_what_is_scattered, "dist.reduce_scatter puts its result into piece, .* piece"),
        (returns_what_is_gathered, "dist.all_gather puts its result into room, .* return room"),
        (returns_what_is_broadcast, "dist.broadcast puts its result into x"),
        (returns_what_is_exchanged, "dist.all_to_all puts its result into others"),
        (returns_what_is_received, "dist.send returns None|dist.recv puts its result into x"),
        (returns_nothing, "end the function with return"),
    ],
)
def test_what_dist_returns_is_no_result(program, says: str):
    (verdict,) = judge(program, [case(2)])
    assert verdict.reason == Reason.WRONG_TYPE
    assert re.search(says, verdict.advice), verdict.advice


def test_a_case_has_a_result_for_each_rank_and_known_counters():
    with pytest.raises(LabError, match="2 ranks run, and 1 results"):
        Program("two", ((1,), (2,)), (3,))
    with pytest.raises(LabError, match="no counter is called bytes"):
        Program("one", ((1,),), (1,), {"bytes": 1})


@pytest.mark.parametrize("waits_first", [False, True])
def test_an_array_used_before_the_wait_is_named_whichever_result_shows_it(waits_first: bool):
    def twice(dist, x):
        total = x.astype(np.float64)
        work = dist.all_reduce(total, async_op=True)
        if waits_first:
            work.wait()
        found = np.full(1, np.nan), 2 * total - 1
        if not waits_first:
            work.wait()
        return found

    x = np.arange(3.0)
    asked = Program("two ranks", ((x,), (x,)), ((np.ones(1), 4 * x - 1),) * 2)
    (verdict,) = judge(twice, [asked])
    assert verdict.reason == Reason.WRONG_RESULT
    assert ("waited for before it is used" in verdict.remedy.open()) is not waits_first
