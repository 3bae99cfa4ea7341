"""Structured arrays, with gaps for alignment and without, with arrays and records in their
fields."""

import numpy as np
from numba import cuda

PARTICLE = np.dtype([("x", np.float64), ("v", np.float32, (3,)), ("kind", np.int32)])
ALIGNED = np.dtype([("kind", np.int8), ("x", np.float64), ("v", np.float32, (3,))], align=True)


@cuda.jit(device=True)
def energy(particle):
    found = 0.0
    for k in range(3):
        found += particle.v[k] * particle["v"][k]
    return found / 2


@cuda.jit
def fields(p, out):
    i = cuda.grid(1)
    if i < p.size:
        out[i] = p[i].kind + p[i].x + p[i]["v"][1]
        p[i].x = i
        p[i]["kind"] += 1
        p[i].v[2] = out[i]


@cuda.jit
def whole_records(p, q, out):
    """A record as a value, passed on and written to."""
    i = cuda.grid(1)
    if i < p.size:
        mine = p[i]
        mine.x *= 2
        out[i] = energy(mine) + mine.x
        q[q.size - 1 - i].kind = mine.kind + 1


@cuda.jit
def columns(p, out):
    """One field of all records is an array."""
    i = cuda.grid(1)
    if i < p.size:
        out[i] = p.x[i] + p["x"][-1 - i] + p.v[i, 2] + p[1:].kind[0]


@cuda.jit
def by_lane(p, out):
    """Each thread's record is another one."""
    i = cuda.grid(1)
    if i < p.size:
        mine, steps = p[i // 2] if i % 3 else p[-1], 0
        while mine.x < 8 and steps < p.size - 1:
            steps += 1
            mine = p[(i + steps) % p.size]
        out[i] = mine.x + 10 * steps


@cuda.jit
def one_record(settings, x, out):
    """A record as an argument."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = settings.x * x[i] + settings.kind + settings.v[1]


def particles(rng, n, dtype):
    p = np.zeros(n, dtype)
    p["kind"], p["x"], p["v"] = (
        rng.integers(0, 9, n),
        rng.integers(-9, 9, n),
        rng.integers(-9, 9, (n, 3)),
    )
    return p


def launches(rng):
    for dtype in (PARTICLE, ALIGNED):
        yield fields, 2, 16, (particles(rng, 30, dtype), np.zeros(30))
        yield (
            whole_records,
            2,
            16,
            (particles(rng, 30, dtype), particles(rng, 30, dtype), np.zeros(30)),
        )
        yield columns, 2, 16, (particles(rng, 30, dtype), np.zeros(30))
        yield (
            one_record,
            2,
            16,
            (particles(rng, 3, dtype)[1], rng.standard_normal(30), np.zeros(30)),
        )
    yield by_lane, 1, 16, (particles(rng, 15, PARTICLE), np.zeros(15))
