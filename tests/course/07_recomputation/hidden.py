"""Hidden tests of lab 7: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Sizes include one element, less than a warp, whole blocks and ragged
ones. Slopes are computed in float64, by formulas that the lab does not use. Chains are drawn until
there is only one best choice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, Launch, Out

ROOT, CUBIC = np.sqrt(2 / np.pi), 0.044715


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def sizes(rng: np.random.Generator) -> tuple[int, ...]:
    whole = 128 * int(rng.integers(2, 12))
    return (
        1,
        int(rng.integers(2, 32)),
        whole,
        whole + 1,
        *(int(n) for n in rng.integers(129, 3000, 3)),
    )


def _elementwise(n: int, x: np.ndarray, *inputs: np.ndarray, want: np.ndarray, **more) -> Launch:
    """Return a launch that loads each input once, and stores the output once, per element."""
    arrays, budget = (x, *inputs), more.pop("budget", {})
    return Launch(
        f"{n} elements, first {x[0]:.5f}",
        ceil(n / 128),
        128,
        args=(*arrays, Out(n)),
        want=(want.astype(np.float32),),
        budget={
            "global_load_bytes": 4 * n * len(arrays),
            "global_load_sectors": ceil(n / 8) * len(arrays),
            "global_store_bytes": 4 * n,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 256,
        }
        | budget,
        **more,
    )


def _climbed(x: np.ndarray) -> list[np.ndarray]:
    values = [x.astype(np.float64)]
    for _ in range(3):
        values.append(0.5 + 0.5 * np.tanh(values[-1] / 2))
    return values


def lean_forward(rng: np.random.Generator) -> Iterator[Launch]:
    for n, spread in zip(sizes(rng), itertools.cycle((1, 3)), strict=False):
        x = np.float32(spread) * normal(rng, n)
        yield _elementwise(n, x, want=_climbed(x)[-1], rtol=1e-6)


def lean_backward(rng: np.random.Generator) -> Iterator[Launch]:
    for n, spread in zip(sizes(rng), itertools.cycle((1, 3)), strict=False):
        x, dout = np.float32(spread) * normal(rng, n), normal(rng, n)
        climbed = _climbed(x)
        slopes = [1 / (4 * np.cosh(v / 2) ** 2) for v in climbed[:-1]]
        yield _elementwise(
            n,
            x,
            dout,
            want=dout * np.prod(slopes, axis=0),
            rtol=1e-5,
            atol=1e-7,
            budget={"op_special": 3 * n},
        )


def gelu_backward(rng: np.random.Generator) -> Iterator[Launch]:
    for n, spread in zip(sizes(rng), (1, 3, 0.3, 1, 3, 2, 6), strict=True):
        x, dout = np.float32(spread) * normal(rng, n), normal(rng, n)
        x = np.clip(x, -30, 30)
        x[: n // 50] = rng.choice([-30, 30, 0], n // 50)
        x = x if n > 1 else (rng.choice([-1, 1], 1) * rng.uniform(1, 2, 1)).astype(np.float32)
        v = x.astype(np.float64)
        u = ROOT * (v + CUBIC * v**3)
        slope = 0.5 * (1 + np.tanh(u)) + 0.5 * v / np.cosh(np.clip(u, -300, 300)) ** 2 * ROOT * (
            1 + 3 * CUBIC * v**2
        )
        yield _elementwise(
            n,
            x,
            dout,
            want=dout * slope,
            rtol=1e-5,
            atol=1e-5,
            budget={"op_special": n},
        )


def checkpoints(rng: np.random.Generator) -> Iterator[Call]:
    yield Call(
        f"one that fits, {rng.integers(2, 99)}", (np.array([7]), np.array([0]), 7), np.array([True])
    )
    yield Call(
        f"one that does not, {rng.integers(2, 99)}",
        (np.array([7]), np.array([0]), 6),
        np.array([False]),
    )
    for length, room in (
        (2, 1),
        (5, 0.4),
        (7, 0.6),
        (8, 0.75),
        (9, 0.5),
        (10, 0.45),
        (11, 0.6),
        (11, 1),
        (6, 0.05),
    ):
        yield _chain(rng, length, room)


def _chain(rng: np.random.Generator, length: int, room: float) -> Call:
    """Draw a chain whose limit lies ``room`` of the way from the least peak to the sum.

    At 0.05 it is below any peak, at 1 everything fits."""
    while True:
        sizes, work = rng.integers(1, 30, length), np.append(0, rng.integers(1, 40, length - 1))
        choices = [
            np.array((True, *others))
            for others in itertools.product((True, False), repeat=length - 1)
        ]
        peaks = [_peak(sizes, kept) for kept in choices]
        limit = (
            int(min(peaks) + room * (sizes.sum() - min(peaks)))
            if room > 0.1
            else int(min(peaks)) - 1
        )
        ranked = sorted(
            (int(work[~kept].sum()), i) for i, kept in enumerate(choices) if peaks[i] <= limit
        )
        if len(ranked) > 1 and ranked[0][0] == ranked[1][0]:
            continue
        want = choices[ranked[0][1]] if ranked else np.zeros(length, bool)
        return Call(
            f"{length} activations of {sizes.sum()} bytes, limit {limit}",
            (sizes, work, limit),
            want,
        )


def _peak(sizes: np.ndarray, kept: np.ndarray) -> int:
    """Return the peak, by going up and down as the backward pass does."""
    memory = {i: int(size) for i, size in enumerate(sizes) if kept[i]}
    most = sum(memory.values())
    for last in reversed(range(len(sizes))):
        first = max(i for i in range(last + 1) if kept[i])
        memory |= {i: int(sizes[i]) for i in range(first, last + 1)}
        most = max(most, sum(memory.values()))
        del memory[last]
    return most


def layernorm_backward(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [(*(int(n) for n in rng.integers((1, 33), (14, 400))), 0) for _ in range(3)]
    fixed = [
        (1, 1, 0),
        (4, 32, 0),
        (5, int(rng.integers(2, 32)), 0),
        (int(rng.integers(9, 14)), 33, 0),
        (3, 128, 10_000),
        (6, 250, 10_000),
    ]
    for rows, cols, centre in fixed + drawn:
        spread = rng.uniform(0.5, 2, (rows, 1))
        x = (spread * rng.normal(size=(rows, cols)) + centre).astype(np.float32)
        weight, dout = normal(rng, cols), normal(rng, rows, cols)
        mean = x.mean(axis=1, dtype=np.float64).astype(np.float32)
        rstd = (1 / np.sqrt(x.var(axis=1, dtype=np.float64) + 1e-5)).astype(np.float32)
        yield Launch(
            f"{rows} x {cols}, mean near {centre:,}, first {x[0, 0]:.4f}",
            ceil(rows / 4),
            128,
            args=(x, weight, dout, mean, rstd, Out((rows, cols))),
            want=(_layernorm_dx(x, weight, dout, mean, rstd),),
            rtol=1e-4,
            atol=2e-5,
            budget={
                "global_load_bytes": 24 * x.size + 256 * rows,
                "global_store_bytes": 4 * x.size,
                "sectors_per_request_load": 5.1,
                "global_load_sectors": (30 * ceil(cols / 32) + 2) * rows,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 6 * cols,
            },
        )


def _layernorm_dx(x, weight, dout, mean, rstd) -> np.ndarray:
    """Compute the gradient a row at a time."""
    rows = []
    for one, slope, middle, scale in zip(
        x.astype(float), dout.astype(float), mean.astype(float), rstd.astype(float), strict=True
    ):
        h, g = (one - middle) * scale, slope * weight.astype(float)
        rows.append(scale * (g - g.sum() / g.size - h * (g @ h) / g.size))
    return np.array(rows, np.float32)
