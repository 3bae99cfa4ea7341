"""Programs of ranks: turns, memory, kernels, and generators where there are no threads."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import warpwise
from warpwise import cluster, cuda
from warpwise.cluster.sites import call_site
from warpwise.cuda import RaceWarning
from warpwise.errors import ClusterError, LaunchError, OutOfBoundsError


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def stacked(dist, x):
    """Let an array go around a ring, doubled by each rank, and reduce beside it."""
    rank, p = dist.get_rank(), dist.get_world_size()
    y = np.full(6, rank, np.float64)
    work = dist.all_reduce(y, async_op=True)
    if rank:
        dist.recv(x, rank - 1)
    double[1, 32](x)
    if rank < p - 1:
        dist.send(x, rank + 1)
    work.wait()
    dist.barrier()
    return x, y


def passed_on(dist, x, rank, p):
    if rank:
        yield dist.recv(x, rank - 1)
    double[1, 32](x)
    if rank < p - 1:
        yield dist.send(x, rank + 1)


def yielding(dist, x):
    rank, p = dist.get_rank(), dist.get_world_size()
    y = np.full(6, rank, np.float64)
    work = dist.all_reduce(y, async_op=True)
    yield from passed_on(dist, x, rank, p)
    yield work.wait()
    yield dist.barrier()
    return x, y


def steps(record):
    """Return what the tracks hold, without lines of the program."""
    return [
        [(type(step), getattr(step, "seconds", None)) for step in track.steps]
        for track in record.log.tracks
    ]


def test_a_plain_function_and_a_generator_make_the_same_log():
    x = np.ones(5, np.float32)
    one, other = (cluster.run(program, 4, x) for program in (stacked, yielding))
    for (a, b), (c, d) in zip(one.results, other.results, strict=True):
        assert a.tobytes() == c.tobytes() and b.tobytes() == d.tobytes()
    assert [result[0][0] for result in one.results] == [2, 4, 8, 16]
    assert all((result[1] == 6).all() for result in one.results)
    assert steps(one) == steps(other) and one.seconds == other.seconds
    assert (x == 1).all()


def no_start(self):
    raise RuntimeError("can't start new thread")


@pytest.fixture
def no_threads(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", no_start)


def test_generators_need_no_threads(no_threads):
    record = cluster.run(yielding, 3, np.ones(5, np.float32))
    assert record.results[2][0].tolist() == [8] * 5


def test_a_plain_function_needs_no_threads(monkeypatch):
    x = np.ones(5, np.float32)
    one = cluster.run(stacked, 4, x)
    monkeypatch.setattr(threading.Thread, "start", no_start)
    other = cluster.run(stacked, 4, x)
    assert one.log == other.log and one.times == other.times
    for (a, b), (c, d) in zip(one.results, other.results, strict=True):
        assert a.tobytes() == c.tobytes() and b.tobytes() == d.tobytes()


class Trainer:
    """A class of the reader's, with a helper of every kind that waits."""

    def __init__(self, dist, scale=2):
        self.dist, self.scale = dist, scale

    def step(self, x, *, times=1):
        for _ in range(times):
            self.dist.all_reduce(x)
        return [value * self.scale for value in x]


def of_every_kind(dist):
    """Wait in a method, a closure, a lambda, a condition, a with and a try."""
    x = np.ones(2)

    def reduced(y, op=cluster.ReduceOp.SUM):
        dist.all_reduce(y, op=op)
        return y.sum()

    both = lambda a, b: reduced(a) + reduced(b)  # noqa: E731
    first = Trainer(dist).step(x, times=2)
    if reduced(np.ones(3)) == 3 * dist.get_world_size():
        first.append(both(np.ones(1), b=np.ones(1)))
    with np.errstate(all="ignore"):
        first.append(f"{reduced(np.ones(1), op=cluster.ReduceOp.MAX):.0f}")
    try:
        reduced(np.ones(1))
        raise KeyError
    except KeyError:
        first.append(Again(dist)(dist))
    return first


class Named:
    def name(self):
        return "named"


class Again(Named):
    def __init__(self, dist):
        dist.barrier()

    def name(self):
        return super().name() + " again"

    def __call__(self, dist):
        dist.barrier()
        return self.name()


def test_functions_of_every_kind_wait_without_threads(monkeypatch):
    one = cluster.run(of_every_kind, 2)
    monkeypatch.setattr(threading.Thread, "start", no_start)
    other = cluster.run(of_every_kind, 2)
    assert one.results == other.results == ([8.0, 8.0, 4.0, "1", "named again"],) * 2
    assert one.log == other.log


def test_a_wait_in_a_comprehension_is_found_without_threads(no_threads):
    def program(dist):
        works = [dist.barrier(async_op=True) for _ in range(2)]
        return [work.wait() for work in works]

    with pytest.raises(ClusterError, match="no threads not within a lambda or a comprehension"):
        cluster.run(program, 2)


def test_a_generator_that_forgets_a_yield_is_found():
    def program(dist):
        dist.barrier()
        yield dist.barrier()

    with pytest.raises(ClusterError, match=r"has not waited for its barrier at test_programs.py:"):
        cluster.run(program, 2)


def test_a_generator_that_yields_anything_else_is_found():
    def program(dist):
        yield 3

    with pytest.raises(ClusterError, match=r"yields int at test_programs.py:"):
        cluster.run(program, 2)


def test_an_array_that_a_generator_yields_is_named_by_its_type_once():
    def program(dist):
        yield np.zeros(1000)

    with pytest.raises(ClusterError, match=r"yields float64 at test_programs.py:"):
        cluster.run(program, 2)


def test_a_folder_whose_name_begins_as_ours_is_the_readers():
    file = f"{Path(warpwise.__file__).parent}_notes{os.sep}ring.py"
    names = {"call_site": call_site}
    exec(compile("\nhere = call_site()", file, "exec"), names)
    assert names["here"] == "ring.py:2"


def test_a_generator_waits_for_several_at_once():
    def program(dist):
        x, y, other = np.zeros(3) + dist.get_rank(), np.zeros(3), 1 - dist.get_rank()
        yield dist.isend(x, other), dist.irecv(y, other)
        return y[0]

    assert cluster.run(program, 2).results == (1, 0)


def test_each_rank_has_memory_of_its_own():
    def program(dist, arrays):
        arrays["x"][:] += dist.get_rank()
        return arrays["x"]

    given = {"x": np.zeros(3)}
    results = cluster.run(program, 3, given).results
    assert [result[0] for result in results] == [0, 1, 2] and (given["x"] == 0).all()


def test_device_arrays_and_kernels_can_be_passed_to_a_run():
    def program(dist, kernel, x):
        kernel[1, 32](x)
        return x.copy_to_host().tolist()

    x = cuda.to_device(np.ones(3))
    assert cluster.run(program, 2, double, x).results == ([2] * 3,) * 2
    assert x.copy_to_host().tolist() == [1] * 3


def test_device_arrays_are_sent_and_received():
    def program(dist):
        x = cuda.to_device(np.full(4, 1 + dist.get_rank(), np.float32))
        double[1, 32](x)
        dist.all_reduce(x)
        return x.copy_to_host()

    assert cluster.run(program, 2).results[1].tolist() == [6] * 4


def test_kernels_are_counted_and_timed():
    record = cluster.run(stacked, 3, np.ones(1000, np.float32))
    assert [work.rank for work in record.kernels] == [0, 1, 2]
    for work in record.kernels:
        assert work.spent.what == "double" and work.spent.site.startswith("test_programs.py:")
        assert work.spent.metrics.global_load_requests == 1
        assert work.end - work.begin == pytest.approx(work.spent.seconds) and work.spent.seconds > 0


def test_a_slower_device_takes_longer():
    def program(dist, x):
        double[40, 256](x)

    x = np.ones(10_240, np.float32)
    fast, slow = (cluster.run(program, 2, x, device=name) for name in ("H100 SXM", "V100"))
    assert slow.seconds > 2 * fast.seconds


def test_races_of_a_kernel_are_told():
    @cuda.jit
    def race(x):
        x[0] = cuda.threadIdx.x

    with pytest.warns(RaceWarning, match="race"):
        cluster.run(lambda dist: race[1, 64](np.zeros(1)), 2)


def test_an_error_of_a_program_names_its_rank():
    def program(dist):
        if dist.get_rank() == 1:
            double[1, 32](np.zeros(3))
            raise KeyError("mine")
        dist.barrier()

    with pytest.raises(KeyError) as caught:
        cluster.run(program, 2)
    assert caught.value.__notes__ == ["in rank 1 of a cluster"]


def test_an_error_of_the_cluster_names_its_ranks_itself():
    """It is found in the turn of one rank, and may be the mistake of another."""

    def program(dist):
        w = np.full(2, float(dist.get_rank() == 1))
        dist.check_replicas({"bias": w})

    with pytest.raises(ClusterError, match="bias of rank 1 is not that of rank 0") as caught:
        cluster.run(program, 4)
    assert not hasattr(caught.value, "__notes__")


def test_an_error_of_a_kernel_comes_through():
    @cuda.jit
    def beyond(x):
        x[cuda.grid(1)] = 1

    with pytest.raises(OutOfBoundsError):
        cluster.run(lambda dist: beyond[1, 32](np.zeros(3)), 2)


def test_no_thread_is_left_behind_by_an_error():
    before = threading.active_count()
    with pytest.raises(ClusterError):
        cluster.run(lambda dist: dist.get_rank() or dist.barrier(), 8)
    assert threading.active_count() == before


@pytest.mark.threads
@pytest.mark.unix("sends itself a signal")
def test_an_endless_program_can_be_interrupted():
    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def program(dist):
        dist.barrier()
        while True:
            pass

    before = threading.active_count()
    timer = threading.Timer(0.2, interrupt)
    # What a shell starts in the background ignores the signal, and would go on for ever.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            cluster.run(program, 2)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert threading.active_count() == before


def test_messages_of_one_pair_stay_in_order():
    def program(dist):
        if dist.get_rank() == 0:
            works = [dist.isend(np.full(1, i), 1) for i in range(5)]
            for work in reversed(works):
                work.wait()
            return None
        found = np.zeros(5, int)
        for i in range(5):
            dist.recv(found[i : i + 1], 0)
        return found.tolist()

    assert cluster.run(program, 2).results[1] == [0, 1, 2, 3, 4]


def test_tags_let_messages_overtake():
    def program(dist):
        one, other = np.array([1]), np.array([2])
        if dist.get_rank() == 0:
            works = [dist.isend(one, 1, tag=1), dist.isend(other, 1, tag=2)]
            for work in works:
                work.wait()
        else:
            dist.recv(one, 0, tag=2)
            dist.recv(other, 0, tag=1)
        return int(one[0]), int(other[0])

    assert cluster.run(program, 2).results[1] == (2, 1)


def test_a_work_is_waited_for_once():
    def program(dist):
        work = dist.barrier(async_op=True)
        before = work.is_completed()
        work.wait()
        work.wait()
        return before, work.is_completed()

    assert cluster.run(program, 3).results == ((False, True),) * 3


@pytest.mark.parametrize(
    ("ranks", "options", "said"),
    [
        (0, {}, "one rank or more, not 0"),
        (2.0, {}, "one rank or more, not 2.0"),
        (2, {"algorithm": "star"}, "ring, tree, doubling, not 'star'"),
        (2, {"topology": cluster.switch(3, 1e9, 0)}, "switch joins 3 ranks, and 2 run"),
        (2, {"device": "T4"}, "no NVLink of T4 is known"),
        (2, {"topology": "torus"}, r"topology is 'torus'; .* such as cluster.nodes\(2\)"),
        (2, {"topology": cluster.torus}, "topology is the function torus; it is what a call"),
        (
            2,
            {"each": [1, 2]},
            r"each\[0\] is a list or tuple of arguments, such as \(x,\), not int",
        ),
        (2, {"each": [[1], "ab"]}, r"each\[1\] is a list or tuple .*, not str"),
        (2, {"timeout": 0}, "timeout is 0; it has to be seconds, above 0"),
        (2, {"timeout": "x", "engine": "mpi"}, "timeout is 'x'; it has to be seconds, above 0"),
    ],
)
def test_runs_that_cannot_be(ranks, options, said: str):
    with pytest.raises(LaunchError, match=said):
        cluster.run(lambda dist: None, ranks, **options)
