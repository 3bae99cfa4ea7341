"""Mistakes among ranks: each is named in one line with ranks and lines, and its right twin runs."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from warpwise import cluster, cuda
from warpwise.cluster.absent import INSTEAD
from warpwise.errors import (
    BufferInUseError,
    ClusterError,
    DeadlockError,
    MismatchError,
    ReplicaError,
)


def place(program: Callable, mark: str) -> str:
    """Return the line of a program that ends with a mark, as messages name it."""
    lines, first = inspect.getsourcelines(program)
    (at,) = [i for i, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}")]
    return f"test_mistakes.py:{first + at}"


def named(program: Callable, kind: type, text: str, ranks: int = 2) -> None:
    """Check that a program raises this error with this message, where A and B are its lines."""
    with pytest.raises(kind) as caught:
        cluster.run(program, ranks)
    for mark in "AB":
        if f"# {mark}\n" in inspect.getsource(program):
            text = text.replace(f"<{mark}>", place(program, mark))
    assert str(caught.value) == text
    assert type(caught.value) is kind and "\n" not in str(caught.value)
    hidden = caught.value.told.hidden()
    assert hidden and not any(f"rank {rank}" in hidden for rank in range(ranks))


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape or 4, np.float32)


# --- deadlocks ---


def test_collectives_in_another_order():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() == 0:
            dist.all_reduce(x)  # A
            dist.broadcast(x, 0)
        else:
            dist.broadcast(x, 0)  # B
            dist.all_reduce(x)

    def right(dist):
        x = zeros()
        if dist.get_rank() == 0:
            dist.all_reduce(x)
            dist.broadcast(x, 0)
        else:
            dist.all_reduce(x)
            dist.broadcast(x, 0)

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 0 calls all_reduce at <A> and rank 1 calls broadcast at <B>, and each "
        "waits for the other: all ranks call collectives in the same order",
    )
    cluster.run(right, 2)


def test_two_arrays_of_one_shape_in_another_order_are_noted():
    def faulty(dist):
        x, y = zeros(), zeros() + 1
        if dist.get_rank() == 0:
            dist.all_reduce(x)  # A
            dist.all_reduce(y)
        else:
            dist.all_reduce(y)  # B
            dist.all_reduce(x)
        return x[0], y[0]

    def right(dist):
        x, y = zeros(), zeros() + 1
        dist.all_reduce(x)
        dist.all_reduce(y)

    record = cluster.run(faulty, 2)
    assert record.results == ((1, 1), (1, 1))  # and not 0 and 2
    assert record.notes[0] == (
        f"all_reduce of rank 0 at {place(faulty, 'A')} is one with that of rank 1 at "
        f"{place(faulty, 'B')}: if they mean different arrays, these are mixed up"
    )
    assert len(record.notes) == 2 and record.notes[1] in record.text()
    assert cluster.run(right, 2).notes == ()


def test_a_collective_that_one_rank_leaves_out():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() != 2:
            dist.all_reduce(x)  # A

    def right(dist):
        x = zeros()
        dist.all_reduce(x)

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 0 waits in all_reduce at <A>, which rank 2 has not called, "
        "and rank 2 has ended",
        ranks=3,
    )
    cluster.run(right, 3)


def test_a_receive_that_nobody_sends_to():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() == 1:
            dist.recv(x, 0)  # A

    def right(dist):
        x = zeros()
        if dist.get_rank() == 1:
            dist.recv(x, 0)
        else:
            dist.send(x, 1)

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 1 waits at <A> for its recv from rank 0, and rank 0 has ended",
    )
    cluster.run(right, 2)


def test_a_send_that_nobody_receives():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() == 0:
            work = dist.isend(x, 1)  # A
            work.wait()  # B

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 0 waits at <B> for its isend to rank 1 at <A>, and rank 1 has ended",
    )


def test_two_ranks_that_both_send_first():
    def faulty(dist):
        x, y, other = zeros(), zeros(), 1 - dist.get_rank()
        dist.send(x, other)  # A
        dist.recv(y, other)

    def right(dist):
        x, y, other = zeros(), zeros(), 1 - dist.get_rank()
        work = dist.isend(x, other)
        dist.recv(y, other)
        work.wait()

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 0 waits at <A> for its send to rank 1, "
        "rank 1 waits at <A> for its send to rank 0",
    )
    cluster.run(right, 2)


def test_a_circle_is_named_without_the_ranks_that_only_wait_for_it():
    def faulty(dist):
        x, rank = zeros(), dist.get_rank()
        dist.recv(x, 1 if rank == 0 else 3 - rank)  # A

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 1 waits at <A> for its recv from rank 2, "
        "rank 2 waits at <A> for its recv from rank 1",
        ranks=3,
    )


def test_of_a_long_circle_the_first_ranks_are_named_and_how_many_there_are():
    def faulty(dist):
        x = zeros()
        dist.recv(x, (dist.get_rank() + 1) % 6)  # A

    waits = [f"rank {r} waits at <A> for its recv from rank {r + 1}" for r in range(4)]
    text = f"deadlock: {', '.join(waits)}, and so on around 6 ranks"
    named(faulty, DeadlockError, text, ranks=6)


def test_tags_that_do_not_meet():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() == 0:
            dist.send(x, 1, tag=7)  # A
        else:
            dist.recv(x, 0, tag=8)  # B

    def right(dist):
        x = zeros()
        if dist.get_rank() == 0:
            dist.send(x, 1, tag=7)
        else:
            dist.recv(x, 0, tag=7)

    named(
        faulty,
        DeadlockError,
        "deadlock: rank 0 waits at <A> for its send to rank 1 with tag 7, "
        "rank 1 waits at <B> for its recv from rank 0 with tag 8",
    )
    cluster.run(right, 2)


# --- sides that differ ---


def test_a_receive_of_another_shape():
    def faulty(dist):
        if dist.get_rank() == 0:
            dist.send(zeros(4), 1)  # A
        else:
            dist.recv(zeros(5), 0)  # B

    named(
        faulty,
        MismatchError,
        "rank 0 sends (4,) of float32 at <A>, and rank 1 receives (5,) of float32 at <B>",
    )


def test_a_receive_of_another_type():
    def faulty(dist):
        if dist.get_rank() == 0:
            dist.send(zeros(), 1)  # A
        else:
            dist.recv(zeros().astype(np.float64), 0)  # B

    named(
        faulty,
        MismatchError,
        "rank 0 sends (4,) of float32 at <A>, and rank 1 receives (4,) of float64 at <B>",
    )


@pytest.mark.parametrize(
    ("arguments", "name", "first", "second"),
    [
        (lambda rank: (zeros(4 + rank), 0), "shape", "(4,)", "(5,)"),
        (lambda rank: (zeros().astype(f"f{4 + 4 * rank}"), 0), "type", "float32", "float64"),
        (lambda rank: (zeros(), rank), "src", "0", "1"),
    ],
    ids=["shape", "type", "src"],
)
def test_a_collective_with_other_arguments(arguments, name, first, second):
    def faulty(dist):
        dist.broadcast(*arguments(dist.get_rank()))  # A

    named(
        faulty,
        MismatchError,
        f"broadcast has {name} {first} on rank 0 at <A>, and {second} on rank 1 at <A>",
    )
    cluster.run(lambda dist: dist.broadcast(*arguments(0)), 2)


def test_a_list_without_an_array_for_each_rank():
    def faulty(dist):
        dist.all_gather([zeros(), zeros()], zeros())  # A

    named(
        faulty,
        MismatchError,
        "all_gather at <A> takes a list with one array for each rank: 3, not 2",
        ranks=3,
    )
    cluster.run(faulty, 2)


def test_a_list_whose_own_place_does_not_fit():
    def faulty(dist):
        dist.all_gather([zeros(3), zeros(3)], zeros(4))  # A

    named(
        faulty,
        MismatchError,
        "all_gather at <A>: rank 0 has (4,) of float32, and in the list (3,) of float32 for itself",
    )


def test_a_part_that_does_not_fit_the_whole():
    def faulty(dist):
        dist.reduce_scatter_tensor(zeros(3), zeros(8))  # A

    named(
        faulty,
        MismatchError,
        "reduce_scatter_tensor at <A> takes a contiguous array with one part of (3,) for each "
        "rank, not one of (8,)",
    )


# --- arrays in use ---


def test_an_array_that_is_changed_while_it_is_sent():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() == 0:
            work = dist.isend(x, 1)  # A
            x += 1
            work.wait()  # B
        else:
            dist.recv(x, 0)

    def right(dist):
        x = zeros()
        if dist.get_rank() == 0:
            work = dist.isend(x, 1)
            work.wait()
            x += 1
        else:
            dist.recv(x, 0)

    named(
        faulty,
        BufferInUseError,
        "rank 0 changes an array, found at <B>, that its isend at <A> works on until the "
        "wait for it",
    )
    cluster.run(right, 2)


def test_an_array_that_is_changed_while_it_is_reduced():
    def faulty(dist):
        x = zeros()
        work = dist.all_reduce(x, async_op=True)  # A
        x[0] = 1
        dist.barrier()  # B
        work.wait()

    def right(dist):
        x = zeros()
        work = dist.all_reduce(x, async_op=True)
        dist.barrier()
        work.wait()
        x[0] = 1

    named(
        faulty,
        BufferInUseError,
        "rank 0 changes an array, found at <B>, that its all_reduce at <A> works on until the wait "
        "for it",
    )
    cluster.run(right, 2)


def test_an_array_that_two_collectives_reduce_at_once():
    def faulty(dist):
        x = zeros(4, 4)
        works = [
            dist.all_reduce(x, async_op=True),  # A
            dist.all_reduce(x[1:], async_op=True),  # B
        ]
        for work in works:
            work.wait()

    def right(dist):
        x = zeros(4, 4)
        works = [dist.all_reduce(x[:, part], async_op=True) for part in (slice(2), slice(2, 4))]
        for work in works:
            work.wait()

    named(
        faulty,
        BufferInUseError,
        "rank 0 passes to all_reduce at <B> an array that its all_reduce at <A> works on until "
        "the wait for it",
    )
    cluster.run(right, 2)


def test_an_array_that_is_sent_to_two_ranks_at_once():
    def program(dist):
        x = zeros() + dist.get_rank()
        if dist.get_rank() == 0:
            works = [dist.isend(x, 1), dist.isend(x[1:], 2)]
            for work in works:
                work.wait()
        else:
            dist.recv(x[dist.get_rank() - 1 :], 0)
        return x.tolist()

    assert cluster.run(program, 3).results == ([0] * 4, [0] * 4, [2, 0, 0, 0])


@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]


def test_a_kernel_that_reads_what_is_still_received():
    def faulty(dist):
        x, y = zeros(), zeros()
        if dist.get_rank() == 0:
            dist.send(x, 1)
        else:
            work = dist.irecv(x, 0)  # A
            double[1, 32](x, y)  # B
            work.wait()

    def right(dist):
        x, y = zeros(), zeros()
        if dist.get_rank() == 0:
            dist.send(x, 1)
        else:
            work = dist.irecv(x, 0)
            work.wait()
            double[1, 32](x, y)

    named(
        faulty,
        BufferInUseError,
        "rank 1 launches double at <B> on an array that its irecv at <A> fills: wait for it before",
    )
    cluster.run(right, 2)


def test_a_kernel_that_writes_what_is_still_sent():
    def faulty(dist):
        x, y = zeros() + 1, zeros()
        if dist.get_rank() == 0:
            work = dist.isend(y, 1)  # A
            double[1, 32](x, y)  # B
            work.wait()
        else:
            dist.recv(y, 0)

    def right(dist):
        x, y = zeros() + 1, zeros()
        if dist.get_rank() == 0:
            work = dist.isend(x, 1)
            double[1, 32](x, y)
            work.wait()
        else:
            dist.recv(y, 0)

    named(
        faulty,
        BufferInUseError,
        "rank 0 changes an array, found at <B>, that its isend at <A> works on until the "
        "wait for it",
    )
    cluster.run(right, 2)


def test_what_is_looked_at_too_early_shows():
    def program(dist):
        x = zeros() + 1
        if dist.get_rank() == 0:
            dist.send(x, 1)
            return x
        work = dist.irecv(x, 0)
        early = x.copy()
        work.wait()
        return early

    one, early = cluster.run(program, 2).results
    assert np.isnan(early).all() and (one == 1).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "g", "i4", "u2", "i1"])
@pytest.mark.parametrize("columns", [slice(None), slice(None, None, 2)], ids=["whole", "strided"])
def test_what_is_received_is_not_written_before(dtype: str, columns: slice):
    def program(dist, change: bool):
        x = np.ones((3, 4), dtype)[:, columns]
        if dist.get_rank() == 0:
            dist.send(x, 1)
        else:
            work = dist.irecv(x, 0)
            if change:
                with np.errstate(invalid="ignore"):
                    x[1] += 1
            work.wait()
        return x

    assert (cluster.run(program, 2, False).results[1] == 1).all()
    if dtype == "g":  # of its NaN no signalling one is made
        return
    with pytest.raises(BufferInUseError, match="irecv"):
        cluster.run(program, 2, True)


def test_a_transfer_that_nobody_waits_for():
    def faulty(dist):
        x = zeros()
        if dist.get_rank() == 0:
            dist.isend(x, 1)  # A
        else:
            dist.recv(x, 0)

    with pytest.raises(ClusterError) as caught:
        cluster.run(faulty, 2)
    assert str(caught.value).startswith(
        f"rank 0 ends and has not waited for its isend at {place(faulty, 'A')}: .wait() on what it"
    )


def test_an_array_that_ranks_share():
    x = zeros()

    def faulty(dist):
        dist.all_reduce(x[1:])  # A

    def right(dist, x):
        dist.all_reduce(x[1:])

    named(
        faulty,
        ClusterError,
        "rank 0 passes to all_reduce at <A> the memory that rank 1 passes to all_reduce at <A>: "
        "ranks share none, so make the array in the program, or pass it to run",
    )
    cluster.run(right, 2, zeros())


def test_an_array_that_ranks_only_send_can_be_one():
    x = zeros() + 1

    def program(dist):
        room = [zeros() for _ in range(3)]
        dist.all_gather(room, x)
        return sum(room)

    assert (cluster.run(program, 3).results[0] == 3).all()


# --- gradients and replicas ---


def training(gradient: Callable, update: Callable = lambda dist, step: 0.0) -> Callable:
    """Return a program of three steps: gradients, reduced by ``gradient``, and an update."""

    def program(dist):
        rank = dist.get_rank()
        w = {"first": np.ones(3, np.float32), "second": np.ones(5, np.float32)}
        for step in range(3):
            rng = np.random.default_rng((rank, step))
            g = {name: rng.random(one.shape, np.float32) for name, one in w.items()}
            own = {name: one.copy() for name, one in g.items()}
            gradient(dist, g, step)
            dist.check_gradients(own, g, step)  # G
            for name in w:
                w[name] -= np.float32(0.1) * g[name]
            w["second"] += np.float32(update(dist, step))
            dist.check_replicas(w, step)  # R
        return w

    return program


def reduce_all(dist, g, step):
    for one in g.values():
        dist.all_reduce(one)


def one_bucket(dist, g, step):
    bucket = np.concatenate(list(g.values()))
    dist.all_reduce(bucket)
    g["first"][:], g["second"][:] = bucket[:3], bucket[3:]


def mean(dist, g, step):
    reduce_all(dist, g, step)
    for one in g.values():
        one /= dist.get_world_size()


@pytest.mark.parametrize("way", [reduce_all, one_bucket, mean])
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_gradients_that_are_reduced_once_pass(way, ranks: int):
    cluster.run(training(way), ranks)


def forgets(dist, g, step):
    dist.all_reduce(g["first"])
    if step != 1:
        dist.all_reduce(g["second"])


def reduces_twice(dist, g, step):
    for one in g.values():
        dist.all_reduce(one)
    if step == 2:
        dist.all_reduce(g["first"])


def bucket_twice(dist, g, step):
    one_bucket(dist, g, step)
    one_bucket(dist, g, step)


def mean_twice(dist, g, step):
    mean(dist, g, step)
    for one in g.values():
        one /= dist.get_world_size()


def noise(dist, g, step):
    reduce_all(dist, g, step)
    g["second"] += 1


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (forgets, "second of rank 0 was not reduced: it is still the rank's own in step 1"),
        (bucket_twice, "first of rank 0 was reduced twice in step 0"),
        (mean_twice, "first of rank 0 was divided by the number of ranks twice in step 0"),
        (noise, "second of rank 0 is neither the sum nor the mean of the ranks' own in step 0"),
    ],
)
def test_gradients_that_are_not_the_sum_once(way, said: str):
    program = training(way)
    with pytest.raises(ReplicaError) as caught:
        cluster.run(program, 3)
    assert str(caught.value) == f"gradient {said}, found at {place(program, 'G')}"


def test_gradients_may_be_complex():
    def program(dist, times):
        g = {"w": np.full(3, 1 + 1j * (dist.get_rank() + 1), np.complex64)}
        own = {"w": g["w"].copy()}
        for _ in range(times):
            dist.all_reduce(g["w"])
        dist.check_gradients(own, g)
        dist.check_replicas({"w": 1j * np.ones(2, np.complex64) * dist.get_rank()})

    with pytest.raises(ReplicaError, match=r"of rank 1 is not that of rank 0, by up to 1, at"):
        cluster.run(program, 2, 1)
    with pytest.raises(ReplicaError, match=r"^gradient w of rank 0 was not reduced"):
        cluster.run(program, 2, 0)


def test_arrays_that_were_reduced_are_let_go_with_the_program_s_own():
    def program(dist):
        kept, known = np.ones(8, np.float32), []
        dist.all_reduce(kept[2:6:2])
        for _ in range(4):
            gone = np.ones(8, np.float32)
            known.append(weakref.ref(gone))
            dist.all_reduce(gone)
            del gone
        assert not any(one() is not None for one in known)
        places = [place.array() for place, _ in dist._reduced]
        (still,) = [one for one in places if one is not None]
        still[:] = 7
        assert kept.tolist() == [1, 1, 7, 1, 7, 1, 1, 1]

    cluster.run(program, 2)


def test_a_gradient_reduced_twice_names_both_lines():
    program = training(reduces_twice)
    with pytest.raises(ReplicaError) as caught:
        cluster.run(program, 2)
    first = inspect.getsourcelines(reduces_twice)[1]
    assert str(caught.value) == (
        f"gradient first of rank 0 was reduced twice, at test_mistakes.py:{first + 2} and "
        f"test_mistakes.py:{first + 4} in step 2, found at {place(program, 'G')}"
    )


def test_replicas_that_drift_apart_are_named_at_the_first_step():
    program = training(reduce_all, lambda dist, step: 0.25 * (dist.get_rank() == 2 and step >= 1))
    with pytest.raises(ReplicaError) as caught:
        cluster.run(program, 3)
    assert str(caught.value) == (
        "replicas drifted apart in step 1: parameter second of rank 2 is not that of rank 0, "
        f"by up to 0.25, at {place(program, 'R')}"
    )
    assert caught.value.told.hidden().startswith(
        "replicas drifted apart: parameter second of a rank is not that of a rank, at "
    )


def test_the_first_check_that_fails_is_named_without_steps():
    def faulty(dist):
        w = zeros()
        for step in range(4):
            w += dist.get_rank() if step == 2 else 1
            dist.check_replicas({"w": w})  # A

    named(
        faulty,
        ReplicaError,
        "replicas drifted apart in check 3: parameter w of rank 1 is not that of rank 0, by up to "
        "1, at <A>",
    )


def test_ranks_that_check_other_arrays():
    def faulty(dist):
        if dist.get_rank() == 0:
            dist.check_replicas({"w": zeros()})  # A
        else:
            dist.check_replicas({"v": zeros()})  # B

    named(
        faulty,
        MismatchError,
        "check_replicas has arrays of other names, shapes or types from rank 1 at <B> than from "
        "rank 0 at <A>",
    )


def test_a_check_that_one_rank_leaves_out():
    def faulty(dist):
        if dist.get_rank() == 0:
            dist.check_replicas({"w": zeros()})  # A

    named(
        faulty,
        ClusterError,
        "rank 1 has not come to the check_replicas of rank 0 at <A>: all ranks call it",
    )


# --- arguments ---


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda d: d.send(zeros(), 2),
            "send at {} is between rank 0 and rank 2: it needs two ranks",
        ),
        (
            lambda d: d.recv(zeros(), 0),
            "recv at {} is between rank 0 and rank 0: it needs two ranks",
        ),
        (lambda d: d.all_reduce([1, 2]), "all_reduce at {} takes NumPy or device arrays"),
        (lambda d: d.all_reduce(np.array(["a"])), "all_reduce at {} takes NumPy or device arrays"),
        (
            lambda d: d.all_reduce(np.ones(4, object)),
            "all_reduce at {} takes NumPy or device arrays of numbers, not an array of object",
        ),
        (
            lambda d: d.check_replicas([zeros()]),
            "check_replicas at {} takes a dictionary of arrays, such as {{'w': w}}, not list",
        ),
        (
            lambda d: d.check_gradients(zeros(), zeros()),
            "check_gradients at {} takes a dictionary of arrays, such as {{'w': w}}, not ndarray",
        ),
        (lambda d: d.all_reduce(fixed()), "all_reduce at {} writes into its array"),
        (
            lambda d: d.reduce_scatter(zeros(), zeros()),
            "reduce_scatter at {} takes a list with one array for each rank, and not one array",
        ),
        (lambda d: d.broadcast(zeros(), 5), "rank 5 is not in the group of ranks (0, 1), at {}"),
        (lambda d: d.new_group([0, 0]), "a group at {} has ranks from 0 to rank 1, each once"),
        (lambda d: d.barrier(d.new_group([1])), "rank 0 is not in the group of ranks (1,), at {}"),
        (lambda d: d.compute("1ms"), "work at {} takes 0 seconds or more, not '1ms'"),
        (lambda d: d.compute(None), "work at {} takes 0 seconds or more, not None"),
        (lambda d: d.compute(-1), "work at {} takes 0 seconds or more, not -1"),
    ],
)
def test_arguments_that_cannot_be(call, said: str):
    here = f"test_mistakes.py:{call.__code__.co_firstlineno}"
    with pytest.raises(ClusterError) as caught:
        cluster.run(call, 2)
    assert str(caught.value).startswith(said.format(here))


def fixed() -> np.ndarray:
    x = zeros()
    x.flags.writeable = False
    return x


# --- names of torch.distributed that are not there ---


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda dist: dist.reduce(zeros(), 0), "no reduce: all_reduce has the result on every"),
        (lambda dist: dist.gather(zeros()), "no gather: all_gather has all arrays on every rank"),
        (lambda dist: dist.init_process_group("nccl"), "no init_process_group: cluster.run starts"),
        (lambda dist: dist.rank, r"no rank: call get_rank\(\)"),
        (lambda dist: dist.allreduce(zeros()), r"no allreduce: did you mean all_reduce\?"),
        (lambda dist: dist.monitor, "no monitor: it has all_gather, all_gather_into_tensor, "),
    ],
)
def test_a_name_that_a_rank_has_not(call, said):
    with pytest.raises(AttributeError, match=f"^a rank has {said}"):
        cluster.run(call, 2)


def test_what_stands_in_for_absent_names_is_there():
    for name, advice in INSTEAD.items():
        assert not hasattr(cluster.Communicator, name)
        for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", advice):
            assert hasattr(cluster.Communicator, word)


def test_a_reduction_that_there_is_not():
    said = "no reduction AVG: there are SUM, PRODUCT, MIN and MAX, and a mean is the SUM over"
    with pytest.raises(AttributeError, match=said):
        _ = cluster.ReduceOp.AVG
    with pytest.raises(
        ClusterError, match=rf"^all_reduce at test_mistakes.py:\d+ has {said}"
    ) as got:
        cluster.run(lambda dist: dist.all_reduce(zeros(), op="avg"), 2)
    assert "AVG" not in got.value.told.hidden()
    for op in ("sum", "SUM", cluster.ReduceOp.SUM):

        def program(dist, op=op):
            x = np.ones(2)
            dist.all_reduce(x, op)
            return x[0]

        assert cluster.run(program, 2).results == (2, 2)
