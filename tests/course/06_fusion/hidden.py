"""Hidden tests of lab 6: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Sizes include one element, less than a warp, whole blocks and ragged
ones. Rows with a large mean tell Welford's method from a sum of squares. ``warpwise.model.fusion``
works out what a graph moves, without knowing the lab's arrays."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, InOut, Launch, Out
from warpwise.model.fusion import Operation
from warpwise.model.fusion import kernels as planned


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def fused_trig(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = rng.integers(130, 3000, 3)
    for n in (
        1,
        int(rng.integers(2, 32)),
        128 * int(rng.integers(2, 9)),
        128 * int(rng.integers(2, 9)) + 1,
        *map(int, drawn),
    ):
        x = 2 * normal(rng, n)
        a, b = rng.uniform(0.5, 4, 2).astype(np.float32)
        want = (
            a * np.sin(x.astype(np.float64)) ** 2 + b * np.cos(x.astype(np.float64)) ** 2
        ).astype(np.float32)
        yield Launch(
            f"{n} elements",
            ceil(n / 128),
            128,
            args=(x, a, b, Out(n)),
            want=(want,),
            rtol=1e-5,
            atol=1e-6,
            budget={
                "global_load_bytes": 4 * n,
                "global_load_sectors": ceil(n / 8),
                "global_store_bytes": 4 * n,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def bias_gelu(rng: np.random.Generator) -> Iterator[Launch]:
    whole = (8 * int(rng.integers(2, 8)), 32 * int(rng.integers(2, 6)))
    drawn = [tuple(int(n) for n in rng.integers(3, 150, 2)) for _ in range(4)]
    for rows, cols in (
        (1, 1),
        (1, int(rng.integers(33, 99))),
        (int(rng.integers(9, 60)), 1),
        whole,
        *drawn,
    ):
        x, bias = 3 * normal(rng, rows, cols), 2 * normal(rng, cols)
        v = x.astype(np.float64) + bias
        want = 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))
        yield Launch(
            f"{rows} x {cols}",
            (ceil(cols / 32), ceil(rows / 8)),
            (32, 8),
            args=(x, bias, Out(x.shape)),
            want=(want.astype(np.float32),),
            rtol=1e-5,
            atol=2e-6,
            budget={
                "global_load_bytes": 8 * x.size,
                "global_store_bytes": 4 * x.size,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 256,
            },
        )


def elements_moved(rng: np.random.Generator) -> Iterator[Call]:
    for operations in (
        1,
        2,
        3,
        5,
        8,
        12,
        12,
        20,
        int(rng.integers(4, 16)),
        int(rng.integers(20, 60)),
    ):
        inputs = int(rng.integers(1, 4))
        # Values are not numbered in the order in which they are made.
        names = rng.permutation(inputs + operations + 3)
        known, made, reads = list(names[:inputs]), list(names[inputs : inputs + operations]), []
        for value in made:
            two = rng.random() < 0.6
            recent = known[-6:]
            reads.append([int(rng.choice(recent)), int(rng.choice(recent)) if two else -1])
            known.append(value)
        kernels = np.sort(rng.integers(0, max(1, operations // 2) + 1, operations))
        results = sorted({int(made[-1]), *(int(value) for value in made if rng.random() < 0.15)})
        yield Call(
            (
                f"{operations} operations in {len(set(kernels.tolist()))} kernels, "
                f"{len(results)} results, from {int(names[0])}"
            ),
            (np.array(reads), np.array(made), kernels, np.array(results)),
            want=_moved(reads, made, kernels, results),
        )


def _moved(reads, made, kernels, results) -> int:
    """Count moved elements with the model that also draws the fusion widget."""
    steps = [
        Operation(str(value), "", tuple(str(one) for one in of if one >= 0))
        for value, of in zip(made, reads, strict=True)
    ]
    groups = [
        [step for step, at in zip(steps, kernels, strict=True) if at == k]
        for k in sorted(set(kernels.tolist()))
    ]
    return sum(len(kernel.accesses) for kernel in planned(groups, map(str, results)))


def residual_layernorm(rng: np.random.Generator) -> Iterator[Launch]:
    drawn = [tuple(int(n) for n in rng.integers((2, 129), (7, 1000))) for _ in range(2)]
    plain = (
        (1, 1),
        (int(rng.integers(2, 6)), int(rng.integers(2, 32))),
        (3, 128),
        (2, 1024),
        *drawn,
    )
    far = ((3, 64), (2, int(rng.integers(500, 1000))), (2, 1024))
    narrow = (2, int(rng.integers(33, 300)), 0, 0.003)  # a variance not far above EPS
    for rows, cols, centre, spread in (
        [(*shape, 0, 1) for shape in plain] + [narrow] + [(*shape, 10_000, 1) for shape in far]
    ):
        x = np.float32(spread) * normal(rng, rows, cols) + np.float32(centre)
        residual, weight, bias = (
            np.float32(spread) * normal(rng, rows, cols),
            normal(rng, cols),
            normal(rng, cols),
        )
        summed = x + residual
        h = summed.astype(np.float64)
        mean, rstd = h.mean(axis=1), 1 / np.sqrt(h.var(axis=1) + 1e-5)
        out = (h - mean[:, None]) * rstd[:, None] * weight + bias
        size = rows * cols
        yield Launch(
            f"{rows} x {cols}, mean near {centre:,}, first {x[0, 0]:.4f}",
            rows,
            128,
            args=(
                x,
                residual,
                weight,
                bias,
                Out((rows, cols)),
                Out((rows, cols)),
                Out(rows),
                Out(rows),
            ),
            want=(summed, out.astype(np.float32), mean.astype(np.float32), rstd.astype(np.float32)),
            rtol=1e-3 if centre else 1e-4,
            atol=2e-2 if centre else 2e-5,
            budget={
                "global_load_bytes": 16 * size,
                "global_store_bytes": 8 * size + 8 * rows,
                "global_load_requests": 16 * rows * ceil(cols / 128),
                "local_bytes_per_thread": 32,
                "op_special": 128 * rows,
                "shared_load_requests": rows * (4 * ceil(cols / 32) + 160),
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 400 * ceil(cols / 128) + 16,
            },
        )


def adamw_step(rng: np.random.Generator) -> Iterator[Launch]:
    sizes = (
        1,
        int(rng.integers(2, 32)),
        256 * int(rng.integers(2, 9)),
        256 * int(rng.integers(2, 9)) + 1,
        *map(int, rng.integers(257, 3000, 3)),
    )
    for k, n in zip((1, 2, 1, 5, 100, 1, 20), sizes, strict=True):
        eps = np.float32(0.1) if k == 5 else np.float32(1e-8)
        rate, beta1, beta2, decay = rng.uniform(
            (0.01, 0.8, 0.95, 0.05), (0.05, 0.95, 0.999, 0.3)
        ).astype(np.float32)
        c1, c2 = 1 - beta1 ** np.float32(k), 1 - beta2 ** np.float32(k)
        p, g = normal(rng, n), normal(rng, n)
        m, v = (0 * p, 0 * p) if k == 1 else (normal(rng, n) / 3, normal(rng, n) ** 2 / 5)
        first = float(beta1) * m.astype(np.float64) + (1 - float(beta1)) * g
        second = (
            float(beta2) * v.astype(np.float64) + (1 - float(beta2)) * g.astype(np.float64) ** 2
        )
        shrunk = p.astype(np.float64) * (1 - float(rate) * float(decay))
        new = shrunk - float(rate) * (first / float(c1)) / (
            np.sqrt(second / float(c2)) + float(eps)
        )
        yield Launch(
            f"{n} parameters, step {k}, rate {rate:.5f}",
            ceil(n / 256),
            256,
            args=(InOut(p), g, InOut(m), InOut(v), rate, beta1, beta2, c1, c2, eps, decay),
            want=tuple(array.astype(np.float32) for array in (new, first, second)),
            rtol=1e-5,
            atol=5e-7,
            budget={
                "global_load_bytes": 16 * n,
                "global_load_sectors": 4 * ceil(n / 8),
                "global_store_bytes": 12 * n,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 768,
            },
        )
