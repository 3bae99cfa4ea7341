"""Attention over the length of the text: three kernels with all scores in memory, and tiles that keep them on the chip.

Queries are drawn large, so that weights differ: otherwise every result would be about the mean of all values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from warpwise.kernels import attention, attention_tf32
from warpwise.kernels.step import Step
from warpwise.measure import attention_bf16_cases
from warpwise.measure.case import Bar, Case, Variant, keeping, ours
from warpwise.measure.place import Place

TITLE = "Attention over length"
D = attention.D
AT = "attention 4096 float32"
TRUNCATED = 5e-5  # tensor cores round sums towards zero: of 8,192 keys, attention_6_tensor is off by some 2e-5 (computed, not measured)
BARS = (
    Bar("flash attention in float32", AT, "attention_[2-6]_*", "attention_1_unfused", 3.0, 5.0),
    Bar("flash attention in float32", AT, "attention_[2-6]_*", "torch math", 0.0, 3.0),
    Bar("flash attention in float32", AT, "attention_[2-6]_*", "torch efficient", 0.0, 1.0),
    *attention_bf16_cases.BARS,
)


def cases(place: Place) -> Iterator[Case]:
    for n in place.pick(full=(512, 1024, 2048, 4096, 8192), quick=(512, 1024, 2048), rehearsal=(128,)):
        yield attended(place, n, place.pick(full=16, quick=4, rehearsal=1))
    yield from attention_bf16_cases.bf16_cases(place)


def attended(place: Place, n: int, heads: int) -> Case:
    inputs = tuple(place.random(heads * n * D, seed=seed, low=-high, high=high) for seed, high in enumerate((16, 1, 1)))
    given, scores = tuple(map(place.given, inputs)), place.given(place.empty(heads * n * n))
    moved, workspace = 4 * 4 * heads * n * D, 4 * heads * n * n
    return Case(
        f"attention {n} float32",
        (
            *(of_step(place, step, heads, n, *given, scores, bytes=moved + 4 * workspace) for step in attention.UNFUSED),
            *(of_step(place, step, heads, n, *given) for step in attention.FLASH),
            *(of_step(place, step, heads, n, *given, atol=TRUNCATED) for step in attention_tf32.STEPS),
            by_cupy(place, inputs, (heads, n, D), moved + 4 * workspace), *by_torch(place, inputs, (1, heads, n, D)),
        ),
        want=lambda: in_float64(place, inputs, (heads, n, D)), rtol=1e-4, atol=2e-5, bytes=moved, flops=4 * n * n * D * heads, cold=False,
        parameters={
            "n": n, "d": D, "heads": heads, "dtype": "float32",
            "unfused_workspace_bytes": workspace, "flash_workspace_bytes": 4 * heads * n,
        },
    )  # fmt: skip


def of_step(place: Place, step: Step, heads: int, n: int, *arrays: Any, **more: Any) -> Variant:
    """A step with arrays of its own for the results."""
    lse, out = place.empty(heads * n), place.empty(heads * n * D)
    (variant,) = ours((step,), (n, *arrays, place.given(lse), place.given(out)), lambda: out, **more)
    return variant


def in_float64(place: Place, inputs: tuple, shape: tuple[int, int, int]) -> Any:
    """The results, a head at a time: the scores of one are n x n."""
    out = place.xp.empty(shape, "float64")
    for head, (q, k, v) in enumerate(zip(*(a.reshape(shape) for a in inputs), strict=True)):
        out[head] = weighed(place.xp, q.astype("float64"), k.astype("float64"), v.astype("float64"))
    return out.reshape(-1)


def weighed(xp: Any, q: Any, k: Any, v: Any) -> Any:
    """Attention in an array library's words: several kernels, and the scores in memory between them."""
    s = xp.matmul(q, k.swapaxes(-1, -2))
    s *= 1 / math.sqrt(D)
    s -= s.max(axis=-1, keepdims=True)
    xp.exp(s, out=s)
    s /= s.sum(axis=-1, keepdims=True)
    return xp.matmul(s, v)


def by_cupy(place: Place, inputs: tuple, shape: tuple[int, int, int], moved: int) -> Variant:
    q, k, v = (a.reshape(shape) for a in inputs)
    return keeping("cupy unfused", "cupy", lambda: weighed(place.xp, q, k, v), bytes=moved, note="matmul, exp, matmul")


def by_torch(place: Place, inputs: tuple, shape: tuple[int, int, int, int]) -> Iterator[Variant]:
    """PyTorch's scaled_dot_product_attention, held to one way of doing it."""
    if place.torch is None:
        return
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    place.torch.set_float32_matmul_precision("highest")  # no TF32
    q, k, v = (place.tensor(a).view(shape) for a in inputs)

    def held_to(backend: SDPBackend) -> Any:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v)

    yield keeping("torch math", "torch", lambda: held_to(SDPBackend.MATH), note="matmul, softmax, matmul")
    yield keeping("torch efficient", "torch", lambda: held_to(SDPBackend.EFFICIENT_ATTENTION), note="CUTLASS, three TF32 products for one")
