# Rings that turn to the left, with pieces in a dictionary, and receives that are posted first.
import numpy as np


def around(dist, leaving, like):
    """Send to the left neighbour, and return what comes from the right one."""
    me, p = dist.get_rank(), dist.get_world_size()
    got = np.zeros_like(like)
    coming = dist.irecv(got, (me + 1) % p)
    going = dist.isend(leaving, (me - 1) % p)
    coming.wait()
    going.wait()
    return got


def reduce_scatter(dist, x):
    me, p = dist.get_rank(), dist.get_world_size()
    own = dict(enumerate(np.array_split(x, p)))
    total = own[(me + 1) % p]
    for far in range(2, p + 1):
        mine = own[(me + far) % p]
        total = mine + around(dist, total, mine)
    return total if p > 1 else x


def all_gather(dist, piece, n):
    me, p = dist.get_rank(), dist.get_world_size()
    sizes = [len(range(n)[c::p]) for c in range(p)]
    found = {me: piece}
    latest = piece
    for far in range(1, p):
        source = (me + far) % p
        latest = around(dist, latest, np.zeros(sizes[source], piece.dtype))
        found[source] = latest
    return np.concatenate([found[c] for c in sorted(found)])


def ring_all_reduce(dist, x):
    n = int(np.prod(x.shape))
    return np.reshape(all_gather(dist, reduce_scatter(dist, np.ravel(x)), n), x.shape)


def exchange(dist, x):
    """Tags tell the two numbers apart, in whatever order they come."""
    me, p = dist.get_rank(), dist.get_world_size()
    after, before = np.zeros(1, np.float32), np.zeros(1, np.float32)
    a = dist.irecv(after, (me + 1) % p, tag=1)
    b = dist.irecv(before, (me - 1) % p, tag=2)
    c = dist.isend(x[:1], (me - 1) % p, tag=1)
    d = dist.isend(x[-1:], (me + 1) % p, tag=2)
    for one in (d, c, b, a):
        one.wait()
    return np.append(np.append(before, x), after)


def tensor_parallel_mlp(dist, x, w1, w2):
    part = np.einsum("th,hw->tw", np.where(x @ w1 > 0, x @ w1, 0), w2)
    dist.all_reduce(part, async_op=True).wait()
    return part


def mlp_backward(dist, x, w1, w2, dy):
    """The sum travels while the gradients of weights are computed."""
    z = x @ w1
    dz = np.einsum("tw,hw->th", dy, w2)
    dz[z <= 0] = 0
    dx = np.einsum("th,wh->tw", dz, w1)
    work = dist.all_reduce(dx, async_op=True)
    z[z < 0] = 0
    dw1, dw2 = np.einsum("tw,th->wh", x, dz), np.einsum("th,tw->hw", z, dy)
    work.wait()
    return dx, dw1, dw2


def data_parallel(dist, weights, x, y, steps, bucket):
    """A function for the backward pass, and a dictionary of what is on its way."""
    p, shape = dist.get_world_size(), weights.shape[1:]

    def backward(weights, kept):
        loss, slope = loss_of(kept[-1], y)
        loss = loss.reshape(1)
        going = {"loss": (loss, dist.all_reduce(loss, async_op=True))}
        for start in range(len(weights) - bucket, -1, -bucket):
            room = np.zeros((bucket, *shape))
            for n in range(bucket - 1, -1, -1):
                at = start + n
                room[n], slope = back(dist, weights[at], kept[at], kept[at + 1], slope)
            going[start] = room, dist.all_reduce(room, async_op=True)
        return going

    losses = np.empty(steps)
    for step in range(steps):
        going = backward(weights, forward(weights, x))
        weights = weights.copy()
        for what, (array, work) in going.items():
            work.wait()
            if what == "loss":
                losses[step] = array[0] / p
            else:
                weights[what : what + bucket] -= RATE / p * array
    return losses, weights


def zero_1(dist, w, g, m, v, t):
    """The library's two halves, with pieces of any size."""
    parts = np.array_split(g, dist.get_world_size())
    total = np.zeros_like(parts[dist.get_rank()])
    dist.reduce_scatter(total, parts)
    total /= np.float32(len(parts))
    rooms = [np.zeros_like(part) for part in parts]
    mine = np.array_split(w, len(parts))[dist.get_rank()]
    mine, *averages = adam(mine, total, m, v, t)
    dist.all_gather(rooms, mine)
    return np.hstack(rooms), *averages


def schedule(stages, batches):
    """By counters of each stage: how many forward and backward passes are behind it."""
    done = np.zeros((stages, 2), int)
    columns = []
    while done[0, 1] < batches:
        column, before = np.zeros(stages, int), done.copy()
        for s in range(stages):
            forwards, backwards = before[s]
            turn = forwards < batches and forwards - backwards < stages - s
            if turn and (s == 0 or before[s - 1, 0] > forwards):
                done[s, 0] += 1
                column[s] = forwards + 1
            elif not turn:
                behind = before[s + 1, 1] if s + 1 < stages else forwards
                if behind > backwards:
                    done[s, 1] += 1
                    column[s] = -backwards - 1
        columns.append(column)
    return np.array(columns).T


def plan_run(gpus, memory, network, layers, width, tokens, sequences):
    """From the deepest pipeline and the most that is divided, down; the least by seconds."""

    def speed(reach):
        return network if reach > 8 else 450 * 10**9

    def told(data, tensor, stages, zero, again):
        micro, here = sequences // data, layers // stages
        weights = 12 * width * width * here // tensor * 2
        slopes, state = weights, 6 * weights
        state = state / data if zero else state
        slopes = slopes / data if zero > 1 else slopes
        held = weights / data if zero > 2 else weights
        one = 34 * tokens * width / tensor
        alive = here * (micro if micro < stages else stages)
        lines = alive * one / 17 + one if again else alive * one
        layer = 24 * tokens * width * width / tensor / (6 * 10**14)
        products = here * (4 * layer if again else 3 * layer)
        passed = 2 * tokens * width * (tensor - 1) / tensor / speed(tensor)
        sums = here * (12 if again else 8) * passed
        whole = weights * (data - 1) / data / speed(data * tensor)
        if zero < 2:
            open_ = 2 * whole - products
        else:
            open_ = (micro + 1 if zero == 2 else 3 * micro) * whole - micro * products
        step = (micro + stages - 1) * (products + sums) + (open_ if open_ > 0 else 0)
        return held + slopes + state + lines, step

    found = []
    for stages in range(layers, 0, -1):
        if layers % stages or gpus % stages:
            continue
        for data in range(gpus // stages, 0, -1):
            tensor = gpus // stages // data
            if data * tensor * stages != gpus or sequences % data or width % tensor:
                continue
            for mode in range(8):
                plan = data, tensor, stages, 3 - mode // 2, 1 - mode % 2
                nbytes, step = told(*plan)
                if nbytes <= memory:
                    found.append((step, plan, nbytes))
    step, plan, nbytes = min(found)
    return (*plan, nbytes, step)
