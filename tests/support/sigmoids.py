"""Three sigmoids forward and backward, as kernels that tests trace.

They come in the four variants of ``views.recomputation``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warpwise import cuda, trace

THREADS = 32
ONE = np.float32(1)


@cuda.jit(device=True)
def sigmoid(v):
    return ONE / (ONE + math.exp(-v))


@cuda.jit(device=True)
def slope(d, s):
    return d * (s * (ONE - s))


@cuda.jit
def eager_forward(v, s):
    i = cuda.grid(1)
    s[i] = sigmoid(v[i])


@cuda.jit
def eager_backward(s, above, below):
    i = cuda.grid(1)
    v = s[i]
    below[i] = slope(above[i], v)


@cuda.jit
def forward_storing(x, s1, s2, out):
    i = cuda.grid(1)
    a = sigmoid(x[i])
    s1[i] = a
    b = sigmoid(a)
    s2[i] = b
    out[i] = sigmoid(b)


@cuda.jit
def forward_lean(x, out):
    i = cuda.grid(1)
    out[i] = sigmoid(sigmoid(sigmoid(x[i])))


@cuda.jit
def backward_reading(s1, s2, out, dout, dx):
    i = cuda.grid(1)
    c = out[i]
    d = slope(dout[i], c)
    b = s2[i]
    d = slope(d, b)
    a = s1[i]
    dx[i] = slope(d, a)


@cuda.jit
def backward_out_again(s1, s2, dout, dx):
    i = cuda.grid(1)
    b = s2[i]
    d = slope(dout[i], sigmoid(b))
    d = slope(d, b)
    a = s1[i]
    dx[i] = slope(d, a)


@cuda.jit
def backward_all_again(x, dout, dx):
    i = cuda.grid(1)
    a = sigmoid(x[i])
    b = sigmoid(a)
    d = slope(slope(dout[i], sigmoid(b)), b)
    dx[i] = slope(d, a)


@dataclass(frozen=True)
class Counts:
    """Counts of all launches of a variant, for each element."""

    accesses: float
    bytes: float
    flops: float
    special: float


def launch(variant: str, n: int = 256) -> tuple[list, Counts]:
    """Trace a variant, whose output and gradient must be NumPy's.

    NumPy's come from float64 and the chain rule."""
    x, dout = (np.random.default_rng(seed).normal(size=n).astype(np.float32) for seed in (1, 2))
    s1, s2, out, d2, d1, dx = (np.zeros_like(x) for _ in range(6))

    def run(kernel, *arguments):
        return trace(kernel, n // THREADS, THREADS, *arguments, record=())

    if variant == "eager":
        traces = [run(eager_forward, *pair) for pair in ((x, s1), (s1, s2), (s2, out))]
        traces += [
            run(eager_backward, *three) for three in ((out, dout, d2), (s2, d2, d1), (s1, d1, dx))
        ]
    elif variant == "all":
        traces = [run(forward_lean, x, out), run(backward_all_again, x, dout, dx)]
    else:
        traces = [run(forward_storing, x, s1, s2, out)]
        traces.append(
            run(backward_reading, s1, s2, out, dout, dx)
            if variant == "stored"
            else run(backward_out_again, s1, s2, dout, dx)
        )
    _check(x.astype(float), dout, out, dx)
    return traces, _counts(traces, n)


def _check(x, dout, out, dx) -> None:
    a = 1 / (1 + np.exp(-x))
    b = 1 / (1 + np.exp(-a))
    c = 1 / (1 + np.exp(-b))
    assert np.allclose(out, c, rtol=1e-5)
    assert np.allclose(dx, dout * c * (1 - c) * b * (1 - b) * a * (1 - a), rtol=1e-4)


def _counts(traces, n: int) -> Counts:
    total = {
        name: sum(getattr(t.metrics, name) for t in traces)
        for name in (
            "global_load_requests",
            "global_store_requests",
            "global_load_bytes",
            "global_store_bytes",
            "flops_fp32",
            "op_special",
        )
    }
    warps = n / 32  # every warp is full: a request is one access of each of its 32 elements
    return Counts(
        (total["global_load_requests"] + total["global_store_requests"]) / warps,
        (total["global_load_bytes"] + total["global_store_bytes"]) / n,
        total["flops_fp32"] / n,
        total["op_special"] / n,
    )
