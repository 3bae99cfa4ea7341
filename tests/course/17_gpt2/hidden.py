"""Hidden tests of lab 17: cases for each exercise, drawn from a secret seed.

The rules are those of the lab. Results are worked out by other means than the solutions and the
checks, row by row in float64: LayerNorm's slopes from the matrix of derivatives, and a softmax from
sums that lose nothing. Sizes leave warps without rows, rows without neighbours, and columns without
words. An update goes number by number, a block's gradients are slopes of a forward pass that is
written token by token, and a step's bytes come from a list of all its launches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import ceil

import numpy as np

from warpwise.labs import Call, InOut, Launch, Out

C, ROWS, WARPS = 64, 4, 8
THREADS = 32 * WARPS
OF_SLOPES = {
    "atomics": "warps that add to one number in turns do it in another order each time: where "
    "could each warp put its own sum, and who adds these up?",
    "global_load_sectors": "which numbers of a row does a lane load a second time, for dx, that it "
    "could have kept?",
}
OF_NORMS = {
    "global_load_sectors": "the sum of both rows is stored for others: does this kernel read it "
    "back, or read x and more again?"
}
OF_LOGITS = {
    "global_load_sectors": "the largest and the sum of exponentials can be found together, in one "
    "pass over the row (lab 11): how many passes over the logits are there? And is the target "
    "loaded again for each of them?"
}
OF_COLUMNS = {
    "atomics": "where could each warp put its own sum, so that one warp adds up all eight in an "
    "order that does not change?",
    "most_bytes_loaded_by_a_warp": "some warps of the block load more rows than others: which "
    "rows does each of the eight have?",
}


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def several(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count > 1)}"


def between(rng: np.random.Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high))


# --- exercise 1 ---


def norm_backward(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, blocks in (
        (between(rng, 50, 70), 5),
        (1, 1),
        (between(rng, 2, 4), 3),  # blocks without a row
        (32, 8),
        (between(rng, 33, 48), 1),
        (between(rng, 21, 31), 4),
        (ROWS * between(rng, 3, 6) * 2 + 1, 2),
    ):
        yield slopes_launch(rng, rows, blocks)


def slopes_launch(rng: np.random.Generator, rows: int, blocks: int) -> Launch:
    spread = rng.uniform(0.3, 3, (rows, 1)).astype(np.float32)
    x, dout = spread * normal(rng, rows, C) + 2 * normal(rng, rows, 1), normal(rng, rows, C)
    weight, before = normal(rng, C) + np.float32(0.5), 2 * normal(rng, rows, C)
    mean = x.mean(axis=1)
    rstd = 1 / np.sqrt(x.var(axis=1) + np.float32(1e-5))
    dx, of_weight, of_bias = before.astype(float), np.zeros((blocks, C)), np.zeros((blocks, C))
    for r in range(rows):
        hat = (x[r].astype(float) - mean[r]) * rstd[r]
        derivatives = rstd[r] * (np.eye(C) - 1 / C - np.outer(hat, hat) / C)
        dx[r] += derivatives @ (dout[r].astype(float) * weight)
        of_weight[r // ROWS % blocks] += dout[r] * hat
        of_bias[r // ROWS % blocks] += dout[r]
    return Launch(
        f"{several(rows, 'row')}, {several(blocks, 'block')}, drawn as {rng.integers(10**6):06}",
        blocks,
        32 * ROWS,
        args=(dout, x, weight, mean, rstd, InOut(before), Out((blocks, C)), Out((blocks, C))),
        want=tuple(one.astype(np.float32) for one in (dx, of_weight, of_bias)),
        rtol=1e-4,
        atol=5e-5,
        budget={
            "atomics": 0,
            "global_load_sectors": C // 8 * (3 * rows + ROWS * blocks) + 8 * rows,
            "global_store_bytes": 4 * C * (rows + 2 * blocks),
            "local_bytes_per_thread": 20 * (C // 32),
            "shared_bytes_per_block": 8 * ROWS * C,
            "shared_load_requests": C // 2 * blocks,
            "shared_bank_conflicts": 0,
            "barriers": 16 * blocks,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 4 * C * ceil(rows / (ROWS * blocks)) + 8 * C,
        },
        advice=OF_SLOPES,
    )


# --- exercise 2 ---


def residual_norm(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, centre, spread in (
        (between(rng, 13, 24), 0, 1),
        (1, 0, 1),
        (between(rng, 2, 4), 0, 0.003),  # a variance not far above EPS
        (between(rng, 5, 8), 10_000, 1),
        (16, -10_000, 1),
        (between(rng, 9, 12), 3, 20),
        (between(rng, 25, 35), 0, 1),
    ):
        yield norm_launch(rng, rows, centre, spread)


def norm_launch(rng: np.random.Generator, rows: int, centre: int, spread: float) -> Launch:
    x, more = (np.float32(spread) * normal(rng, rows, C) for _ in range(2))
    x += np.float32(centre)
    weight, bias, total = normal(rng, C), normal(rng, C), x + more
    mean = [math.fsum(row) / C for row in total.astype(float)]
    var = [math.fsum((row - m) ** 2) / C for row, m in zip(total.astype(float), mean, strict=True)]
    rstd = [1 / math.sqrt(v + float(np.float32(1e-5))) for v in var]
    hats = (total.astype(float) - np.array(mean)[:, None]) * np.array(rstd)[:, None]
    results = total, hats * weight + bias, np.array(mean), np.array(rstd)
    return Launch(
        f"{several(rows, 'row')}, mean near {centre:,}, spread {spread}, first {x[0, 0]:.4f}",
        ceil(rows / ROWS),
        32 * ROWS,
        args=(x, more, weight, bias, Out((rows, C)), Out((rows, C)), Out(rows), Out(rows)),
        want=tuple(one.astype(np.float32) for one in results),
        rtol=1e-3 if abs(centre) > 100 else 1e-4,
        atol=2e-2 if abs(centre) > 100 else 3e-5,
        budget={
            "global_load_sectors": C // 8 * 4 * rows,
            "global_store_bytes": 8 * rows * (C + 1),
            "local_bytes_per_thread": 4 * (C // 32),
            "shared_bytes_per_block": 0,
            "barriers": 0,
            "op_special": 64 * rows,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 12 * C,
        },
        advice=OF_NORMS,
    )


# --- exercise 3 ---


def classifier(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, vocabulary, columns, kind in (
        (6, between(rng, 257, 400), 448, "spread"),
        (2, 512, 512, "spread"),
        (4, between(rng, 2, 32), 32, "spread"),
        (1, 1, 8, "spread"),
        (5, between(rng, 600, 700), 704, "large"),
        (3, between(rng, 261, 300), 304, "rising"),
        (3, 264, 264, "falling"),
        (WARPS, between(rng, 400, 500), 520, "peak"),
        (2, 900, 1000, "low"),
        (3, between(rng, 40, 90), 96, "low"),  # and threads without a column
    ):
        yield logits_launch(rng, rows, vocabulary, columns, kind)


def logits_launch(
    rng: np.random.Generator, rows: int, vocabulary: int, columns: int, kind: str
) -> Launch:
    logits = 2 * normal(rng, rows, columns)
    if kind in ("rising", "falling"):  # from one thread's column to its next by more than 10
        slope = np.arange(columns, dtype=np.float32) / 20
        logits += slope if kind == "rising" else -slope
    elif kind == "peak":  # in row r, far above all others, where warp r meets it
        logits[np.arange(rows), 32 * np.arange(rows) + rng.integers(0, 32, rows)] += 300
    elif kind in ("large", "low"):  # exp of these is more than float32 holds, or 0
        logits = 100 * logits if kind == "large" else logits - 300
    targets = rng.integers(0, vocabulary, rows).astype(np.int32)
    targets[-1] = vocabulary - 1
    targets[0] = 0
    want, losses = np.zeros((rows, columns)), np.zeros(rows)
    for r, y in enumerate(targets):
        words = logits[r, :vocabulary].astype(float)
        powers = [math.exp(z - max(words)) for z in words]
        want[r, :vocabulary] = np.array(powers) / math.fsum(powers) / rows
        want[r, y] -= 1 / rows
        losses[r] = math.log(math.fsum(powers)) + max(words) - words[y]
    sizes = f"{several(rows, 'row')}, {vocabulary} of {columns}"
    return Launch(
        f"{sizes}, {kind} logits, first {logits[0, 0]:.4f}",
        rows,
        THREADS,
        args=(InOut(logits), targets, Out(rows), vocabulary),
        want=(want.astype(np.float32), losses.astype(np.float32)),
        rtol=2e-4,
        atol=2e-6,
        budget={
            "atomics": 0,
            "global_load_sectors": rows * (2 * ceil(vocabulary / 8) + 16),
            "global_store_bytes": 4 * rows * (columns + 1),
            "shared_bytes_per_block": 256,
            "local_bytes_per_thread": 0,
            "barriers": 32 * rows,
            "flops_fp64": 0,
            "most_bytes_stored_by_a_warp": 192 * ceil(columns / THREADS) + 4,
        },
        advice=OF_LOGITS,
    )


# --- exercise 4 ---


def bias_gradient(rng: np.random.Generator) -> Iterator[Launch]:
    for rows, columns in (
        (between(rng, 60, 90), 128),
        (1, 8),
        (between(rng, 2, 8), 32 * between(rng, 1, 4)),
        (64, 40),
        (between(rng, 9, 16), 8 * between(rng, 9, 12)),
        (between(rng, 100, 200), 24),
        (8 * between(rng, 3, 6) + 1, 192),
    ):
        dout = normal(rng, rows, columns) + np.float32(0.25)
        sums = np.array([math.fsum(column) for column in dout.T.astype(float)])
        blocks = ceil(columns / 32)
        yield Launch(
            f"{rows} x {columns}, first {dout[0, 0]:.4f}",
            blocks,
            THREADS,
            args=(dout, Out(columns)),
            want=(sums.astype(np.float32),),
            rtol=1e-5,
            atol=1e-4,
            budget={
                "atomics": 0,
                "global_load_sectors": rows * columns // 8,
                "global_store_bytes": 4 * columns,
                "most_bytes_loaded_by_a_warp": 128 * ceil(rows / WARPS),
                "shared_bytes_per_block": 4 * THREADS,
                "shared_load_requests": 24 * blocks,
                "shared_bank_conflicts": 0,
                "local_bytes_per_thread": 0,
                "barriers": 32 * blocks,
                "flops_fp64": 0,
                "most_bytes_stored_by_a_warp": 128,
            },
            advice=OF_COLUMNS,
        )


# --- exercise 5 ---

OF_UPDATES = {
    "global_load_sectors": "each name of an element on the right of a line loads it: which array "
    "is named twice, or read after it was stored?",
    "flops_fp64": "an int64 with a float32 makes float64: which 1 has no type?",
}


def adamw(rng: np.random.Generator) -> Iterator[Launch]:
    cases = [  # parameters, step, size of gradients, scale, rate, decay
        (256 * between(rng, 8, 12), between(rng, 2, 9), 1e-3, 2.0**-10, 0.02, 0.3),
        (between(rng, 1100, 1250), 1, 1e-3, 1.0, 0.03, 0.5),
        (between(rng, 600, 700), between(rng, 2, 5), 1e-5, 2.0**-12, 0.05, 0.0),
        (between(rng, 300, 400), between(rng, 30, 99), 1e-8, 2.0**-20, 0.02, 0.1),
        (between(rng, 33, 63), between(rng, 500, 900), 3e-3, 1.0, 0.01, 1.0),
        (between(rng, 2, 31), between(rng, 2, 9), 1e-4, 0.25, 0.04, 0.2),
        (1, between(rng, 2, 9), 1e-3, 2.0**-6, 0.02, 0.4),
        (between(rng, 400, 500), between(rng, 2, 9), 0.0, 1.0, 0.03, 0.3),
    ]
    for case in cases:
        yield adamw_launch(rng, *case)


def adamw_launch(
    rng: np.random.Generator,
    n: int,
    step: int,
    size: float,
    scale: float,
    rate: float,
    decay: float,
) -> Launch:
    numbers = [*map(np.float32, (scale, rate, decay, 1 - 0.9**step, 1 - 0.999**step))]
    rows: list[tuple] = []
    while len(rows) < n:
        sign, way = rng.choice([-1, 1], 2)
        given = (
            np.float16(way * size / scale * rng.uniform(0.1, 2)),
            np.float32(sign * rng.uniform(0.5, 2)),
            np.float32(0 if step == 1 else size * rng.normal()),
            np.float32(0 if step == 1 else size * size * rng.uniform(0.2, 2)),
        )
        found = updated(*map(float, (*given, *numbers)))
        if is_clear(found[0]) and (size == 0 or abs(found[1]) > 0.02 * abs(float(given[2]))):
            rows.append((*given, *found))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    gradient, master, mean, square = columns[:4]
    want = [column.astype(np.float32) for column in columns[4:]]
    return Launch(
        (
            f"{several(n, 'parameter')}, step {step}, gradients of {size:g}, decay {decay}, "
            f"drawn as {rng.integers(10**6):06}"
        ),
        ceil(n / 256),
        256,
        args=(gradient, InOut(master), InOut(mean), InOut(square), Out(n, "float16"), *numbers),
        want=(*want, want[0].astype(np.float16)),
        rtol=2e-4,
        advice=OF_UPDATES,
        budget={
            "global_load_sectors": ceil(n / 16) + 3 * ceil(n / 8),
            "global_store_sectors": ceil(n / 16) + 3 * ceil(n / 8),
            "op_special": 2 * n,
            "flops_fp64": 0,
            "shared_bytes_per_block": 0,
            "local_bytes_per_thread": 64,
            "most_bytes_stored_by_a_warp": 1792,
        },
    )


def updated(
    gradient: float,
    master: float,
    mean: float,
    square: float,
    scale: float,
    rate: float,
    decay: float,
    correct1: float,
    correct2: float,
) -> tuple[float, float, float]:
    """Return master, mean and mean of squares of one parameter."""
    g = scale * gradient
    mean += 0.1 * (g - mean)
    square += 0.001 * (g * g - square)
    root = math.sqrt(square) / math.sqrt(correct2) + 1e-8
    return master * (1 - rate * decay) - rate / correct1 * mean / root, mean, square


def is_clear(master: float) -> bool:
    """True if float32's errors do not decide how a number is rounded to float16."""
    fraction, _ = math.frexp(abs(master))  # 0.5 to 1, in steps of 2^-11
    return abs(fraction * 2**11 % 1 - 0.5) > 0.05


# --- exercise 6 ---


def block_backward(rng: np.random.Generator) -> Iterator[Call]:
    cases = [  # tokens, channels, heads
        (between(rng, 3, 7), 4, 2),
        (1, 4, 1),
        (between(rng, 2, 5), 6, 3),
        (between(rng, 6, 9), 6, 1),
        (2, 8, 2),
        (between(rng, 9, 12), 4, 4),
    ]
    for n, c, heads in cases:
        x, dend = rng.normal(size=(2, n, c)) * rng.uniform(0.5, 2)
        p = rng.normal(size=12 * c * c + 13 * c) * rng.uniform(0.3, 0.7)
        sizes = f"{several(n, 'token')}, {c} channels, heads {heads}"
        yield Call(
            f"{sizes}, drawn as {rng.integers(10**6):06}",
            (dend, x, p, heads),
            slopes(dend, x, p, heads),
            rtol=1e-6,
            atol=1e-6,
        )


def slopes(dend: np.ndarray, x: np.ndarray, p: np.ndarray, heads: int) -> tuple:
    """Return the gradients of x and p, each from the imaginary part of the loss after a step."""
    found = [np.zeros_like(x), np.zeros_like(p)]
    for which, slope in enumerate(found):
        for at in np.ndindex(slope.shape):
            both = [x.astype(complex), p.astype(complex)]
            both[which][at] += 1e-40j
            slope[at] = float((dend * ends(*both, heads)).sum().imag / 1e-40)
    return tuple(found)


def ends(x: np.ndarray, p: np.ndarray, heads: int) -> np.ndarray:
    """Return what a block makes of rows, in llm.c's order of parameters."""
    c, rest = x.shape[1], p
    parts = []
    of_attention = (1, c), (1, c), (3 * c, c), (1, 3 * c), (c, c), (1, c)
    of_wide = (1, c), (1, c), (4 * c, c), (1, 4 * c), (c, 4 * c), (1, c)
    for rows, columns in (*of_attention, *of_wide):
        part, rest = rest[: rows * columns], rest[rows * columns :]
        parts.append(part.reshape(rows, columns))
    assert rest.size == 0
    w1, b1, w_qkv, b_qkv, w_out, b_out, w2, b2, w_fc, b_fc, w_proj, b_proj = parts
    qkv = standard(x) * w1 + b1
    qkv = qkv @ w_qkv.T + b_qkv
    mixed = np.zeros_like(x)
    width = c // heads
    for head in range(heads):
        at = slice(head * width, (head + 1) * width)
        q, k, v = (qkv[:, i * c : (i + 1) * c][:, at] for i in range(3))
        for token in range(len(x)):
            weights = np.exp(k[: token + 1] @ q[token] / math.sqrt(width))
            mixed[token, at] = weights @ v[: token + 1] / weights.sum()
    x = x + mixed @ w_out.T + b_out
    wide = (standard(x) * w2 + b2) @ w_fc.T + b_fc
    power = 2 * math.sqrt(2 / math.pi) * (wide + 0.044715 * wide * wide * wide)
    return x + wide / (1 + np.exp(-power)) @ w_proj.T + b_proj


def standard(x: np.ndarray) -> np.ndarray:
    """Return rows of mean 0 and variance 1."""
    rows = [row - row.sum() / row.size for row in x]
    return np.array([row / np.sqrt((row * row).sum() / row.size + 1e-5) for row in rows])


# --- exercise 7 ---


def step_bytes(rng: np.random.Generator) -> Iterator[Call]:
    cases = [(4, 64, 512, 3, 4, 128), (1, 1, 2, 1, 1, 1), (8, 1024, 50304, 24, 16, 1024)]
    for _ in range(4):
        heads = between(rng, 1, 9)
        sizes = [between(rng, *ends) for ends in ((1, 9), (2, 300), (10, 9000), (1, 13))]
        cases.append((*sizes, heads, heads * between(rng, 1, 65)))
    for sizes in cases:
        for fused in (False, True):
            label = f"sizes {sizes}, {'fused' if fused else 'not fused'}"
            yield Call(label, (*sizes, fused), bytes_of(*sizes, fused))


def bytes_of(b: int, t: int, v: int, layers: int, h: int, c: int, fused: bool) -> tuple:
    """Add up, launch by launch, the numbers that each array has."""
    n, totals = b * t, dict.fromkeys(("norms", "products", "attention", "classifier"), 0)
    parameters = v * c + t * c

    def launch(group: str, *sizes: int) -> None:
        totals[group] += 4 * sum(sizes)

    def normed(added: bool, adds_back: bool) -> None:
        rows = n * c
        if added and not fused:
            launch("norms", rows, rows, rows)
        launch("norms", *([rows, rows, rows] if added and fused else [rows]), c, c, rows, n, n)
        if adds_back and not fused:
            launch("norms", rows, rows, rows)
        more = [rows] if adds_back and fused else []
        launch("norms", rows, rows, c, n, n, rows, *more, c, c)

    def multiplied(k: int, m: int, biased: bool = True) -> None:
        launch("products", n * k, k * m, n * m, *([m] if biased and fused else []))
        if biased and not fused:
            launch("products", n * m, m, n * m)
        launch("products", n * m, k * m, n * k)
        launch("products", n * m, n * k, k * m)
        if biased:
            launch("products", n * m, m)

    for layer in range(layers):
        normed(layer > 0, True)
        multiplied(c, 3 * c)
        launch("attention", 3 * n * c, n * c, n * h)
        launch("attention", n * c, n * c, n * h)
        launch("attention", 3 * n * c, n * c, n * h, n * h, n * c, n * c)
        launch("attention", 3 * n * c, n * c, n * h, n * h, n * c)
        multiplied(c, c)
        normed(True, True)
        multiplied(c, 4 * c)
        if fused:  # a store of fc's, and a load of fcproj's dX
            launch("products", 4 * n * c, 4 * n * c)
        else:
            launch("products", 4 * n * c, 4 * n * c)
            launch("products", 4 * n * c, 4 * n * c, 4 * n * c)
        multiplied(4 * c, c)
        parameters += sum((c, c, 3 * c * c, 3 * c, c * c, c, c, c, 4 * c * c, 4 * c, 4 * c * c, c))
    normed(True, False)
    parameters += c + c
    multiplied(c, v, biased=False)
    if fused:
        launch("classifier", n * v, n, n, n * v)
    else:
        launch("classifier", n * v, n * v)
        launch("classifier", n, n, n)
        launch("classifier", n * v, n, n * v)
    return *totals.values(), 4 * parameters * (4 + 3)
