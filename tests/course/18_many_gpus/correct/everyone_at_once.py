# Pieces go straight to where they belong, all at once, and nothing goes around a ring.
import numpy as np


def ends(n, p):
    return [n // p * c + min(c, n % p) for c in range(p + 1)]


def swapped(dist, leaving, coming):
    """Send an array to each other rank, and fill one from each."""
    works = []
    for other in range(dist.get_world_size()):
        if other != dist.get_rank():
            works.append(dist.isend(leaving[other], other))
            works.append(dist.irecv(coming[other], other))
    for work in works:
        work.wait()


def reduce_scatter(dist, x):
    me, p = dist.get_rank(), dist.get_world_size()
    at = ends(x.size, p)
    leaving = [x[at[c] : at[c + 1]] for c in range(p)]
    coming = [np.zeros_like(leaving[me]) for _ in range(p)]
    swapped(dist, leaving, coming)
    return leaving[me] + sum(coming)


def all_gather(dist, piece, n):
    me, p = dist.get_rank(), dist.get_world_size()
    at = ends(n, p)
    coming = [np.empty(at[c + 1] - at[c], np.float32) for c in range(p)]
    coming[me] = piece.copy()
    swapped(dist, [piece] * p, coming)
    return np.hstack(coming)


def ring_all_reduce(dist, x):
    total = all_gather(dist, reduce_scatter(dist, x.ravel()), x.size)
    total.shape = x.shape
    return total


def exchange(dist, x):
    """One direction after the other: each rank sends to the right, then each to the left."""
    me, p = dist.get_rank(), dist.get_world_size()
    row = np.empty(x.size + 2, x.dtype)
    row[1:-1] = x
    for mine, place, step in ((-1, 0, 1), (0, -1, -1)):
        got, gone = np.empty(1, x.dtype), x[mine].reshape(1).copy()
        work = dist.irecv(got, (me - step) % p)
        dist.send(gone, (me + step) % p)
        work.wait()
        row[place] = got[0]
    return row


def tensor_parallel_mlp(dist, x, w1, w2):
    h = x @ w1
    h[h < 0] = 0
    return ring_all_reduce(dist, h @ w2)


def mlp_backward(dist, x, w1, w2, dy):
    alive = x @ w1 > 0
    dz = np.where(alive, dy @ w2.T, 0)
    return ring_all_reduce(dist, dz @ w1.T), x.T @ dz, (x @ w1 * alive).T @ dy


def data_parallel(dist, weights, x, y, steps, bucket):
    """A list of gradients, copied into a new array for each bucket."""
    p, losses, w = dist.get_world_size(), [], weights.copy()
    for _ in range(steps):
        kept = forward(w, x)
        loss, slope = loss_of(kept[-1], y)
        loss = np.full(1, loss / p)
        first, buckets, filling = dist.all_reduce(loss, async_op=True), [], []
        for n in range(len(w) - 1, -1, -1):
            gradient, slope = back(dist, w[n], kept[n], kept[n + 1], slope)
            filling.insert(0, gradient / p)
            if len(filling) == bucket:
                array = np.stack(filling)
                buckets.insert(0, (array, dist.all_reduce(array, async_op=True)))
                filling = []
        first.wait()
        losses.append(loss[0])
        for _, work in buckets:
            work.wait()
        w -= RATE * np.concatenate([array for array, _ in buckets])
    return np.array(losses), w


def zero_1(dist, w, g, m, v, t):
    """Collectives where all pieces are as large, and the ring where they are not."""
    me, p = dist.get_rank(), dist.get_world_size()
    if w.size % p:
        sums = reduce_scatter(dist, g)
    else:
        sums = np.empty(w.size // p, g.dtype)
        dist.reduce_scatter_tensor(sums, g / np.float32(1))
    at = ends(w.size, p)
    piece, m, v = adam(w[at[me] : at[me + 1]], sums / np.float32(p), m, v, t)
    if w.size % p:
        return all_gather(dist, piece, w.size), m, v
    whole = np.empty_like(w)
    dist.all_gather_into_tensor(whole, piece)
    return whole, m, v


def schedule(stages, batches):
    """By formulas: backward passes set the pace, and a forward pass fits between two."""
    s = np.arange(stages)[:, None]
    k = np.arange(1, batches + 1)[None, :]
    forwards = np.where(k <= stages - s, s + k - 1, 2 * k + s - 2)
    backwards = 2 * (stages + k) - 3 - s
    table = np.zeros((stages, 2 * (batches + stages - 1)), int)
    np.put_along_axis(table, forwards, np.repeat(k, stages, axis=0), axis=1)
    np.put_along_axis(table, backwards, -np.repeat(k, stages, axis=0), axis=1)
    return table


def plan_run(gpus, memory, network, layers, width, tokens, sequences):
    """All plans at once: each number of a plan is an array, and so are bytes and seconds."""
    ranks = np.arange(1, gpus + 1)
    data, tensor, zero, again = (
        side.ravel() for side in np.meshgrid(ranks, ranks, np.arange(4), np.arange(2))
    )
    inside = gpus % (data * tensor) == 0
    data, tensor, zero, again = (side[inside] for side in (data, tensor, zero, again))
    stages = gpus // (data * tensor)
    can = (sequences % data == 0) & (width % tensor == 0) & (layers % stages == 0)
    data, tensor, zero, again, stages = (
        side[can] for side in (data, tensor, zero, again, stages)
    )

    def passing(among, span, size):
        return size * (1 - 1 / among) / np.where(span > 8, network, 450e9)

    micro, here = sequences / data, layers / stages
    parameters = 12.0 * width * width * here / tensor
    state = [parts / np.where(zero >= stage, data, 1) for stage, parts in ((3, 2), (2, 2), (1, 12))]
    line = tokens * width / tensor
    waiting = np.minimum(micro, stages) * here
    activations = line * np.where(again == 1, 2 * waiting + 34, 34 * waiting)
    nbytes = parameters * sum(state) + activations
    products = (3 + again) * here * 24.0 * tokens * width * width / tensor / 600e12
    within = (8 + 4 * again) * here * passing(tensor, tensor, 2.0 * tokens * width)
    times = np.choose(zero, [2 + 0 * micro, 2 + 0 * micro, micro + 1, 3 * micro])
    behind = products * np.where(zero < 2, 1, micro)
    between = times * passing(data, data * tensor, 2 * parameters) - behind
    seconds = (micro + stages - 1) * (products + within) + np.maximum(between, 0)
    one = np.where(nbytes <= memory, seconds, np.inf).argmin()
    plan = (int(side[one]) for side in (data, tensor, stages, zero, again))
    return (*plan, float(nbytes[one]), float(seconds[one]))
