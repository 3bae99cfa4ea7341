"""Hidden tests of lab 18: programs with other numbers of ranks, other sizes and fresh numbers.

The rules are those of the lab. At most five ranks: each start of one costs the grader a process.
What is wanted is worked out on one device, from all ranks' arrays together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from warpwise.cluster import switch
from warpwise.gpt2.config import Config, initial
from warpwise.labs import Call, Program
from warpwise.measure.gpt2.reference import loss_and_gradient


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw small whole numbers, whose sums in float32 are exact."""
    return rng.integers(-99, 100, shape).astype(np.float32)


def cuts(n: int, p: int) -> list[slice]:
    """Return the places of pieces: the first n % p of them have one number more."""
    ends = np.cumsum([0, *(n // p + (c < n % p) for c in range(p))])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def sizes(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Draw numbers of ranks with sizes: divisible, one more and one less, fewer than ranks."""
    for p in (1, 2, 3, 5):
        yield p, p * int(rng.integers(3, 9))
    yield 4, 4 * int(rng.integers(3, 9)) + 1
    yield 3, 3 * int(rng.integers(3, 9)) - 1
    yield 5, int(rng.integers(1, 5))


def travels(p: int, n: int, times: int = 1, collectives: int = 0) -> dict[str, int]:
    """Return the budget of so many passes around a ring."""
    return {
        "collectives": collectives,
        "rounds": times * (p - 1),
        "most_bytes_sent_by_a_rank": times * (p - 1) * 4 * -(-n // p),
    }


def reduce_scatter(rng: np.random.Generator) -> Iterator[Program]:
    for p, n in sizes(rng):
        arrays = whole(rng, p, n)
        total = arrays.sum(axis=0)
        yield Program(
            f"{p} ranks, {n} numbers",
            tuple((x,) for x in arrays),
            tuple(total[place] for place in cuts(n, p)),
            travels(p, n),
        )


def all_gather(rng: np.random.Generator) -> Iterator[Program]:
    for p, n in sizes(rng):
        row = whole(rng, n)
        yield Program(
            f"{p} ranks, {n} numbers",
            tuple((row[place].copy(), n) for place in cuts(n, p)),
            (row,) * p,
            travels(p, n),
        )


def ring_all_reduce(rng: np.random.Generator) -> Iterator[Program]:
    for p, n in sizes(rng):
        shape = (n,) if p % 2 else (n, int(rng.integers(2, 4)))
        arrays = whole(rng, p, *shape)
        yield Program(
            f"{p} ranks, shape {shape}",
            tuple((x,) for x in arrays),
            (arrays.sum(axis=0),) * p,
            travels(p, arrays[0].size, times=2),
        )


def exchange(rng: np.random.Generator) -> Iterator[Program]:
    for p in (2, 3, 4, 5, 2, 3):
        n = int(rng.integers(2, 30))
        row = whole(rng, p, n)
        ring = np.concatenate([row.ravel()] * 3)
        yield Program(
            f"{p} ranks, {n} numbers each",
            tuple((x,) for x in row),
            tuple(ring[(p + r) * n - 1 : (p + r + 1) * n + 1].copy() for r in range(p)),
            {"collectives": 0, "rounds": 2, "most_bytes_sent_by_a_rank": 8},
        )


def tensor_parallel_mlp(rng: np.random.Generator) -> Iterator[Program]:
    for p in (1, 2, 3, 4, 5, 2):
        tokens, width, hidden = (int(n) for n in rng.integers((1, 2, p), (5, 7, 20)))
        x = rng.integers(-9, 10, (tokens, width)).astype(np.float32)
        w1 = rng.integers(-9, 10, (width, hidden)).astype(np.float32)
        w2 = rng.integers(-9, 10, (hidden, width)).astype(np.float32)
        yield Program(
            f"{p} ranks, {tokens} tokens, {width} wide, {hidden} hidden",
            tuple((x, w1[:, own].copy(), w2[own].copy()) for own in cuts(hidden, p)),
            (np.maximum(x @ w1, 0) @ w2,) * p,
            travels(p, tokens * width, times=2, collectives=1),
        )


def mlp_backward(rng: np.random.Generator) -> Iterator[Program]:
    for p in (1, 2, 3, 4, 5, 2):
        tokens, width, hidden = (int(n) for n in rng.integers((1, 2, p), (5, 7, 20)))
        x, dy = rng.integers(-9, 10, (2, tokens, width)).astype(np.float32)
        x[1:2] = 0
        w1, w2 = rng.integers(-9, 10, (2, width, hidden)).astype(np.float32)
        z = np.einsum("tw,wh->th", x, w1)
        down = np.where(z > 0, np.einsum("tw,wh->th", dy, w2), 0)
        dw1, dw2 = np.einsum("tw,th->wh", x, down), np.einsum("th,tw->hw", z * (z > 0), dy)
        dx = np.einsum("th,wh->tw", down, w1)
        yield Program(
            f"{p} ranks, {tokens} tokens, {width} wide, {hidden} hidden",
            tuple((x, w1[:, own].copy(), w2[:, own].T.copy(), dy) for own in cuts(hidden, p)),
            tuple((dx, dw1[:, own], dw2[own]) for own in cuts(hidden, p)),
            travels(p, tokens * width, times=2, collectives=1),
        )


def trained(
    weights: np.ndarray, x: np.ndarray, y: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Train on one device, with slopes by the chain rule from the output down."""
    losses = np.zeros(steps)
    for step in range(steps):
        layers = [x]
        for w in weights:
            layers.append(np.tanh(np.einsum("ni,io->no", layers[-1], w)))
        off = layers[-1] - y
        losses[step] = np.square(off).sum() / off.size
        down, slopes = 2 * off / off.size, np.zeros_like(weights)
        for n in range(len(weights) - 1, -1, -1):
            down = down * (1 - np.square(layers[n + 1]))
            slopes[n] = np.einsum("ni,no->io", layers[n], down)
            down = np.einsum("no,io->ni", down, weights[n])
        weights = weights - 0.5 * slopes
    return losses, weights


def data_parallel(rng: np.random.Generator) -> Iterator[Program]:
    for p, buckets, bucket in ((2, 3, 1), (3, 2, 2), (4, 2, 1), (2, 2, 3), (3, 1, 3), (4, 3, 1)):
        layers, width, steps = buckets * bucket, int(rng.integers(7, 11)), int(rng.integers(2, 4))
        texts = int(rng.integers(1, 4)) if buckets > 1 else 60
        weights = rng.normal(size=(layers, width, width)) / width**0.5
        x, y = rng.normal(size=(p, texts, width)), np.tanh(rng.normal(size=(p, texts, width)))
        want = trained(weights, x.reshape(-1, width), y.reshape(-1, width), steps)
        label = f"{buckets} buckets of {bucket}, {width} wide, {texts} texts, {steps} steps"
        yield in_parallel(label, weights, x, y, bucket, want, layer_us=20)
    for p, blocks, bucket in ((2, 2, 2), (3, 2, 4), (2, 1, 1)):
        yield gpt(rng, p, blocks, bucket)


def in_parallel(
    label: str,
    weights: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    bucket: int,
    want: tuple[np.ndarray, np.ndarray],
    layer_us: float,
) -> Program:
    """Return a training of replicas, given x and y by rank."""
    p, layers, steps, nbytes = len(x), len(weights), len(want[0]), bucket * weights[0].nbytes
    not_hidden = 2.5 * steps * (p - 1) * (1 + nbytes / p / 100)
    return Program(
        f"{p} ranks, {label}",
        tuple((weights, x[r], y[r], steps, bucket) for r in range(p)),
        (want,) * p,
        {
            "collectives": steps * (layers // bucket + 1),
            "most_bytes_in_a_collective": nbytes,
            "microseconds_not_hidden": not_hidden,
            "microseconds": layer_us * steps * layers + not_hidden,
        },
        rtol=1e-9,
        atol=1e-12,
        topology=switch(p, bytes_per_s=1e8, latency_s=1e-6),
    )


def gpt(rng: np.random.Generator, p: int, blocks: int, bucket: int) -> Program:
    """Return a training of a smaller miniature, by the gradients of the package's reference."""
    length, steps, texts = int(rng.integers(5, 9)), 2, int(rng.integers(1, 3))
    channels = 4 * int(rng.integers(2, 4))
    words = 4 * channels + 6 - length + int(rng.integers(0, 9))
    config = Config(length, words, blocks, 4, channels, words)
    flat = initial(config, int(rng.integers(1 << 30)), np.float64)
    flat += rng.normal(size=flat.size) / 20
    x, y = rng.integers(0, words, (2, p, texts, length))
    at, losses = places(config), np.zeros(steps)
    first = np.append(flat, 0)[at]
    for step in range(steps):
        all_texts = x.reshape(-1, length), y.reshape(-1, length)
        losses[step], slopes = loss_and_gradient(np, config, flat, *all_texts)
        flat = flat - 0.5 * slopes
    label = f"a GPT of {blocks} blocks, {channels} wide, {words} words, {length} of them a text"
    want = losses, np.append(flat, 0)[at]
    return in_parallel(f"{label}, buckets of {bucket}", first, x, y, bucket, want, layer_us=3000)


def places(config: Config) -> np.ndarray:
    """Return which parameter of a GPT each number of its layers is; the one after all is a 0."""
    all_of_them = np.arange(config.parameters)
    one = {name: all_of_them[at] for name, at in config.places().items()}

    def of_block(names: str, block: int) -> list[np.ndarray]:
        return [np.split(one[name], config.layers)[block] for name in names.split()]

    layers = [[one["wte"], one["wpe"]]]
    for block in range(config.layers):
        layers.append(of_block("ln1w ln1b qkvw qkvb attprojw attprojb", block))
        layers.append(of_block("ln2w ln2b fcw fcb", block))
        layers.append(of_block("fcprojw fcprojb", block))
    layers.append([one["lnfw"], one["lnfb"]])
    size = max(len(np.concatenate(parts)) for parts in layers)
    found = np.full((len(layers), size), config.parameters)
    for layer, parts in enumerate(layers):
        row = np.concatenate(parts)
        found[layer, : row.size] = row
    return found.reshape(len(layers), -1, config.channels)


def zero_1(rng: np.random.Generator) -> Iterator[Program]:
    for p, n in sizes(rng):
        if n < p:
            continue
        t = int(rng.integers(1, 50))
        w, m = rng.normal(size=(2, n)) / 10
        v, g = rng.random(n) / 100, rng.normal(size=(p, n))
        slope = g.mean(axis=0)
        new_m, new_v = m + (slope - m) / 10, v + (slope**2 - v) / 1000
        new_w = w - new_m / (1 - 0.9**t) / (np.sqrt(new_v / (1 - 0.999**t)) + 1e-8) / 100
        yield Program(
            f"{p} ranks, {n} weights, update {t}",
            tuple(
                (*(a.astype(np.float32) for a in (w, g[r], m[own], v[own])), t)
                for r, own in enumerate(cuts(n, p))
            ),
            tuple(
                (new_w.astype(np.float32), *(a[own].astype(np.float32) for a in (new_m, new_v)))
                for own in cuts(n, p)
            ),
            travels(p, n, times=2, collectives=2),
            rtol=1e-4,
            atol=1e-5,
        )


def schedule(rng: np.random.Generator) -> Iterator[Call]:
    for p in (1, 2, 3, 5, 8, int(rng.integers(6, 12))):
        for m in {1, p, 2 * p + 1, int(rng.integers(9, 20))} - ({3} if p in (1, 2, 3) else set()):
            table = np.zeros((p, 2 * (m + p - 1)), np.int64)
            for s in range(p):
                for k in range(1, m + 1):
                    early = s + k - 1 if k <= p - s else 2 * k + s - 2
                    table[s, early], table[s, 2 * (p + k) - 3 - s] = k, -k
            yield Call(f"{p} stages, {m} micro-batches", (p, m), table)


def priced(cluster: tuple, model: tuple, plan: tuple[int, ...]) -> tuple[Fraction, Fraction]:
    """Return the bytes of a GPU and the seconds of a step, as exact fractions."""
    (_, _, network), (layers, width, tokens, sequences) = cluster, model
    data, tensor, pipeline, zero, again = plan
    batches, deep = Fraction(sequences, data), Fraction(layers, pipeline)
    owned = 12 * width**2 * deep / tensor
    shares = [2, 2, 12]  # weights, gradients, state: divided from the last one on
    kept = sum(owned * s / (data if zero > 2 - k else 1) for k, s in enumerate(shares))
    of_layer = Fraction(34 * width, tensor)
    under_way = min(batches, pipeline) * deep
    if again:
        kept += tokens * (under_way * Fraction(2 * width, tensor) + of_layer)
    else:
        kept += tokens * under_way * of_layer

    def one_way(ranks: int, reach: int, nbytes: Fraction) -> Fraction:
        rate = 450 * 10**9 if reach <= 8 else int(network)
        return nbytes * Fraction(ranks - 1, ranks) / rate

    micro = (4 if again else 3) * deep * tokens * 24 * width**2 / tensor / (600 * 10**12)
    sums = (12 if again else 8) * deep * one_way(tensor, tensor, Fraction(2 * tokens * width))
    step = (batches + pipeline - 1) * (micro + sums)
    passes = {0: Fraction(2), 1: Fraction(2), 2: batches + 1, 3: 3 * batches}[zero]
    hides = micro if zero in (0, 1) else micro * batches
    return kept, step + max(0, passes * one_way(data, data * tensor, 2 * owned) - hides)


def planned(label: str, cluster: tuple, model: tuple) -> Call | None:
    """Return a call of plan_run, or None if nothing fits: right is what fits and takes at most 1 %
    longer than the best."""
    (gpus, memory, _), (layers, width, _, sequences) = cluster, model
    found = {}
    for data in range(1, gpus + 1):
        for tensor in range(1, gpus // data + 1):
            pipeline, rest = divmod(gpus, data * tensor)
            if rest or sequences % data or width % tensor or layers % pipeline:
                continue
            for zero in range(4):
                for again in (0, 1):
                    plan = data, tensor, pipeline, zero, again
                    kept, seconds = priced(cluster, model, plan)
                    if kept <= memory:
                        found[plan] = seconds
    if not found:
        return None
    best = min(found.values())
    right = {plan for plan, seconds in found.items() if seconds <= best * Fraction(101, 100)}

    def objection(*returned: float) -> str:
        plan = tuple(map(int, returned[:5]))
        if plan not in right:
            return "it does not fit, or takes too long"
        due = np.array([float(one) for one in priced(cluster, model, plan)])
        near = np.abs(returned[5:] - due) <= 1e-6 * due
        return "" if near.all() else "its bytes or seconds are others"

    want = next(plan for plan, seconds in found.items() if seconds == best)
    numbers = [float(one) for one in priced(cluster, model, want)]
    return Call(label, (*cluster, *model), (*want, *numbers), objection=objection)


def plan_run(rng: np.random.Generator) -> Iterator[Call]:
    long = int(rng.choice([16_384, 20_480, 24_576]))  # the lab shows 32,768
    cards = (40e9, 80e9, 141e9, 192e9)
    for label, cluster, model in (
        ("some GPUs and a small model", (16, 80e9, 50e9), (24, 4096, 2048, 64)),
        ("a large model", (256, 80e9, 50e9), (80, 8192, 8192, 256)),
        ("a slow network", (128, 40e9, 12.5e9), (40, 12_288, 4096, 512)),
        ("a node and a half", (12, 80e9, 25e9), (48, 6144, 4096, 48)),
        ("long texts", (48, 40e9, 50e9), (80, 8192, long, 96)),
        ("much memory", (64, 192e9, 50e9), (80, 8192, 4096, 128)),
        ("few sequences", (96, 80e9, 12.5e9), (96, 8192, 4096, 24)),
        ("two sequences", (32, 40e9, 12.5e9), (96, 8192, 4096, 2)),
        ("little memory", (16, 40e9, 100e9), (48, 8192, 2048, 8)),
        ("a plan that just fits", (8, 16_508_780_544.0, 50e9), (24, 4096, 2048, 32)),
        ("a layer in nine parts", (36, 48e9, 100e9), (16, 9216, 2048, 8)),
        ("very long texts", (36, 40e9, 3e9), (40, 12_288, 32_768, 6)),
        ("very short texts", (48, 192e9, 3e9), (80, 5120, 512, 6)),
        ("a dozen GPUs and long texts", (12, 48e9, 3e9), (32, 9216, 32_768, 16)),
        ("one GPU", (1, 80e9, 50e9), (8, 1024, 1024, 8)),
    ):
        yield planned(label, cluster, model)
    drawn = 0
    while drawn < 5:
        gpus = int(rng.choice([8, 24, 32, 72, 96]))
        on = gpus, float(rng.choice(cards)), float(rng.choice([12.5e9, 25e9, 50e9, 100e9]))
        layers, width = int(rng.choice([24, 36, 48, 72])), int(rng.choice([2048, 3072, 6144, 9216]))
        model = (
            layers,
            width,
            int(rng.choice([2048, 4096, 16_384])),
            gpus * int(rng.choice([1, 2, 4])),
        )
        if call := planned(f"{gpus} GPUs, {layers} layers of {width}", on, model):
            drawn += 1
            yield call
