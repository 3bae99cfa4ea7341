"""Training on several ranks: the numbers of one device, and the traffic and time of each way."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cluster
from warpwise.cluster import switch

RNG = np.random.default_rng(7)
X, Y = RNG.standard_normal((32, 6)), RNG.standard_normal((32, 4))
START = {"up": RNG.standard_normal((6, 16)) / 4, "down": RNG.standard_normal((16, 4)) / 4}
STEPS, RATE = 5, 0.05


def gradients(w, x, y, samples):
    """Return the loss and the gradients of a small MLP; means over ``samples``."""
    hidden = np.maximum(x @ w["up"], 0)
    wrong = hidden @ w["down"] - y
    back = 2 * wrong / samples
    inner = (back @ w["down"].T) * (hidden > 0)
    return (wrong**2).sum() / samples, {"up": x.T @ inner, "down": hidden.T @ back}


def one_device():
    w, losses = {name: one.copy() for name, one in START.items()}, []
    for _ in range(STEPS):
        loss, g = gradients(w, X, Y, len(X))
        losses.append(loss)
        for name in w:
            w[name] -= RATE * g[name]
    return losses, w


def mine(dist, array):
    return np.split(array, dist.get_world_size())[dist.get_rank()]


def data_parallel(dist, w):
    """Each rank has some of the samples; gradients are reduced while the next is computed."""
    x, y, losses = mine(dist, X), mine(dist, Y), []
    for step in range(STEPS):
        loss, g = gradients(w, x, y, len(X))
        own = {name: one.copy() for name, one in g.items()}
        works = [dist.all_reduce(one, async_op=True) for one in g.values()]
        total = np.array([loss])
        dist.all_reduce(total)
        for work in works:
            work.wait()
        dist.check_gradients(own, g, step)
        losses.append(total[0])
        for name in w:
            w[name] -= RATE * g[name]
        dist.check_replicas(w, step)
    return losses, w


def zero_1(dist, w):
    """Each rank updates its part of all weights, in one row, and gathers those of others."""
    x, y, losses = mine(dist, X), mine(dist, Y), []
    for _ in range(STEPS):
        loss, g = gradients(w, x, y, len(X))
        losses.append(loss)
        row = np.concatenate([one.ravel() for one in g.values()])
        part = np.zeros(row.size // dist.get_world_size())
        dist.reduce_scatter_tensor(part, row)
        weights = np.concatenate([one.ravel() for one in w.values()])
        own = mine(dist, weights) - RATE * part
        dist.all_gather_into_tensor(weights, own)
        w["up"], w["down"] = weights[:96].reshape(6, 16), weights[96:].reshape(16, 4)
        dist.check_replicas(w)
    return losses, w


def tensor_parallel(dist, w):
    """Each rank has some of the hidden units: one all-reduce forward, and here none backward."""
    w = {
        "up": np.hsplit(w["up"], dist.get_world_size())[dist.get_rank()].copy(),
        "down": mine(dist, w["down"]).copy(),
    }
    losses = []
    for _ in range(STEPS):
        hidden = np.maximum(X @ w["up"], 0)
        out = hidden @ w["down"]
        dist.all_reduce(out)
        back = 2 * (out - Y) / len(X)
        inner = (back @ w["down"].T) * (hidden > 0)
        losses.append(((out - Y) ** 2).sum() / len(X))
        w["down"] -= RATE * hidden.T @ back
        w["up"] -= RATE * X.T @ inner
    return losses, w


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_data_parallel_has_the_losses_of_one_device(ranks: int):
    losses, w = one_device()
    record = cluster.run(data_parallel, ranks, START)
    assert losses[-1] < 0.9 * losses[0]
    for found, weights in record.results:
        np.testing.assert_allclose(found, losses, rtol=1e-12)
        for name in w:
            np.testing.assert_allclose(weights[name], w[name], rtol=1e-10)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_zero_1_moves_as_much_and_has_the_same_weights(ranks: int):
    replicated, sharded = (cluster.run(one, ranks, START) for one in (data_parallel, zero_1))
    _, w = one_device()
    for _, weights in sharded.results:
        for name in w:
            np.testing.assert_allclose(weights[name], w[name], rtol=1e-10)
    moved = [
        sum(one.most_bytes_sent for one in record.collectives if one.nbytes > 8)
        for record in (replicated, sharded)
    ]
    assert moved[0] == moved[1] == STEPS * 2 * (ranks - 1) * (96 + 64) * 8 // ranks


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_tensor_parallel_has_the_losses_of_one_device(ranks: int):
    losses, _ = one_device()
    for found, _ in cluster.run(tensor_parallel, ranks, START).results:
        np.testing.assert_allclose(found, losses, rtol=1e-12)


def pipeline(dist, batches: int, seconds: float):
    """All forward passes, then all backward ones, of twice the time (GPipe)."""
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    x = np.zeros(1)
    for _ in range(batches):
        if rank:
            dist.recv(x, rank - 1)
        dist.compute(seconds, "forward")
        if rank < last:
            dist.send(x, rank + 1)
    for _ in range(batches):
        if rank < last:
            dist.recv(x, rank + 1)
        dist.compute(2 * seconds, "backward")
        if rank:
            dist.send(x, rank - 1)


@pytest.mark.parametrize("stages", [2, 4, 8])
@pytest.mark.parametrize("batches", [1, 4, 16])
def test_a_pipelines_bubble_is_that_of_the_formula(stages: int, batches: int):
    """(p - 1) / (m + p - 1) of the time, on links that take none."""
    free = switch(stages, 1e30, 0)
    record = cluster.run(pipeline, stages, batches, 1e-3, topology=free)
    assert record.seconds == pytest.approx(3e-3 * (batches + stages - 1))
    for one in record.ranks:
        bubble = (stages - 1) / (batches + stages - 1)
        assert one.idle / record.seconds == pytest.approx(bubble, abs=1e-9)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_ring_written_by_hand_is_ours(ranks: int):
    """The lab's first exercise: the same bits, bytes and steps as ``all_reduce``."""

    def by_hand(dist, x):
        p, rank = dist.get_world_size(), dist.get_rank()
        pieces, room = np.split(x, p), np.zeros(len(x) // p)
        for step in range(2 * (p - 1)):
            out = (rank - 1 - step) % p
            into = (out - 1) % p
            work = dist.isend(pieces[out], (rank + 1) % p)
            dist.recv(room, (rank - 1) % p)
            work.wait()
            pieces[into][:] = room + pieces[into] if step < p - 1 else room
        return x

    def ours(dist, x):
        dist.all_reduce(x)
        return x

    def start(program):
        return lambda dist: program(
            dist, np.random.default_rng(dist.get_rank()).standard_normal(40)
        )

    one, other = (cluster.run(start(program), ranks) for program in (by_hand, ours))
    for a, b in zip(one.results, other.results, strict=True):
        assert a.tobytes() == b.tobytes()
    assert one.bytes_by_link == other.bytes_by_link
    assert one.seconds == pytest.approx(other.seconds)
