"""Elementwise operations as separate kernels and as one, for tests of the fusion model."""

from __future__ import annotations

import math

import numpy as np

from warpwise import cuda, trace

THREADS = 64


@cuda.jit
def sine(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sin(x[i])


@cuda.jit
def cosine(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.cos(x[i])


@cuda.jit
def square(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = v * v


@cuda.jit
def add(x, z, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + z[i]


@cuda.jit
def multiply(x, z, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * z[i]


@cuda.jit
def sigmoid(x, y, one):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = one / (one + math.exp(-x[i]))


@cuda.jit
def scale(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * a


@cuda.jit
def shift(x, y, b):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + b


@cuda.jit
def trig_fused_loading_twice(x, y):
    i = cuda.grid(1)
    if i < x.size:
        s, c = math.sin(x[i]), math.cos(x[i])
        y[i] = s * s + c * c


@cuda.jit
def trig_fused(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        s, c = math.sin(v), math.cos(v)
        y[i] = s * s + c * c


@cuda.jit
def silu_fused(x, y, one):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = v * (one / (one + math.exp(-v)))


@cuda.jit
def axpy_fused(x, z, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * a + z[i]


@cuda.jit
def chain_fused(x, y, a, b, length):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for k in range(length):
            v = v * a if k % 2 == 0 else v + b
        y[i] = v


def launches(
    operations: str, n: int, dtype: str = "float32", length: int = 4
) -> tuple[list, object]:
    """Trace a program of ``views.fusion``, unfused and fused.

    Both must compute the same, and what NumPy does."""
    x, z, y = (np.random.default_rng(seed).normal(size=n).astype(dtype) for seed in (1, 2, 3))
    parts = [np.zeros_like(x) for _ in range(9)]
    one, a, b = (np.dtype(dtype).type(value) for value in (1, 1.5, -0.25))
    grid = -(-n // THREADS), THREADS

    def run(kernel, *arguments):
        return trace(kernel, *grid, *arguments, record=())

    if operations == "trig":
        s, c, s2, c2, last = parts[:5]
        apart = [
            run(sine, x, s),
            run(cosine, x, c),
            run(square, s, s2),
            run(square, c, c2),
            run(add, s2, c2, last),
        ]
        fused, expected = run(trig_fused, x, y), np.ones_like(x)
    elif operations == "silu":
        s, last = parts[:2]
        apart = [run(sigmoid, x, s, one), run(multiply, x, s, last)]
        fused, expected = run(silu_fused, x, y, one), x / (1 + np.exp(-x))
    elif operations == "axpy":
        s, last = parts[:2]
        apart = [run(scale, x, s, a), run(add, s, z, last)]
        fused, expected = run(axpy_fused, x, z, y, a), a * x + z
    else:
        values = [x, *parts[:length]]
        apart = [
            run((scale, shift)[k % 2], values[k], values[k + 1], (a, b)[k % 2])
            for k in range(length)
        ]
        last, expected = values[length], x
        for k in range(length):
            expected = expected * a if k % 2 == 0 else expected + b
        fused = run(chain_fused, x, y, a, b, length)
    close = 5e-3 if dtype == "float16" else 1e-5
    assert np.allclose(last, expected, rtol=close, atol=close) and np.allclose(
        y, expected, rtol=close, atol=close
    )
    return apart, fused


def moved(traces) -> int:
    """Return the bytes that active lanes read and wrote."""
    return sum(t.metrics.global_load_bytes + t.metrics.global_store_bytes for t in traces)


def flops(traces) -> int:
    """Return the flops of every type."""
    return sum(t.metrics.flops_fp16 + t.metrics.flops_fp32 + t.metrics.flops_fp64 for t in traces)


def work(traces) -> int:
    """Return the flops of every type, and special functions."""
    return flops(traces) + sum(t.metrics.op_special for t in traces)
