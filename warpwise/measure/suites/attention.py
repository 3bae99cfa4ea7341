"""Attention over sequence length: three kernels with all scores in memory, and on-chip tiles.

Queries are drawn large, so that weights differ: otherwise every result would be close to the mean
of all values. Attention in bfloat16 on tensor cores follows attention in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from warpwise.kernels import attention, attention_bf16, attention_tf32
from warpwise.kernels.bfloat16 import EPSILON, from_bfloat16, to_bfloat16
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, keeping, ours
from warpwise.measure.place import Place

TITLE = "Attention over length"
D = attention.D
AT, AT_BF16 = "attention 4096 float32", "attention bfloat16, 4096 keys"
# tensor cores truncate sums: with 8,192 keys, attention_6_tensor is off by some 2e-5 (computed, not
# measured)
TRUNCATED = 5e-5
FLASH, FLASH_BF16 = "flash attention, float32", "flash attention, bfloat16"
OURS, TORCH = "our attention in three kernels", "PyTorch's attention"
BARS = (
    Bar(FLASH, AT, "attention_[2-6]_*", "attention_1_unfused", 3.0, 5.0, OURS),
    Bar(FLASH, AT, "attention_[2-6]_*", "torch math", 0.0, 3.0, f"{TORCH}, three kernels"),
    Bar(FLASH, AT, "attention_[2-6]_*", "torch efficient", 0.0, 1.0, f"{TORCH}, tiles"),
    Bar(FLASH_BF16, AT_BF16, "flash_bf16_*", "torch flash", 0.15, 0.40, f"{TORCH}, bfloat16"),
)


def cases(place: Place) -> Iterator[Case]:
    full, quick = (512, 1024, 2048, 4096, 8192), (512, 1024, 2048)
    for n in place.pick(full=full, quick=quick, rehearsal=(128,)):
        yield attended(place, n, place.pick(full=16, quick=4, rehearsal=1))
    yield from bf16_cases(place)


# --- float32 ---


def attended(place: Place, n: int, heads: int) -> Case:
    inputs = tuple(
        place.random(heads * n * D, seed=seed, low=-high, high=high)
        for seed, high in enumerate((16, 1, 1))
    )
    given, scores = tuple(map(place.given, inputs)), place.given(place.empty(heads * n * n))
    moved, workspace = 4 * 4 * heads * n * D, 4 * heads * n * n
    unfused, shape = moved + 4 * workspace, (heads, n, D)
    variants = [
        *(of_step(place, s, heads, n, *given, scores, bytes=unfused) for s in attention.UNFUSED),
        *(of_step(place, s, heads, n, *given) for s in attention.FLASH),
        *(of_step(place, s, heads, n, *given, atol=TRUNCATED) for s in attention_tf32.STEPS),
        by_cupy(place, inputs, shape, unfused),
        *by_torch(place, inputs, (1, *shape)),
    ]
    return Case(
        f"attention {n} float32",
        tuple(variants),
        want=lambda: in_float64(place, inputs, shape),
        rtol=1e-4,
        atol=2e-5,
        bytes=moved,
        flops=4 * n * n * D * heads,
        cold=False,
        parameters={
            "n": n,
            "d": D,
            "heads": heads,
            "dtype": "float32",
            "unfused_workspace_bytes": workspace,
            "flash_workspace_bytes": 4 * heads * n,
        },
    )


def of_step(place: Place, step: Step, heads: int, n: int, *arrays: Any, **more: Any) -> Variant:
    """Return a step with arrays of its own for the results."""
    lse, out = place.empty(heads * n), place.empty(heads * n * D)
    results = (place.given(lse), place.given(out))
    (variant,) = ours((step,), (n, *arrays, *results), lambda: out, **more)
    return variant


def in_float64(place: Place, inputs: tuple[Any, ...], shape: tuple[int, int, int]) -> Any:
    """Return the results, computed a head at a time: the scores of one are n x n."""
    out = place.xp.empty(shape, "float64")
    for head, (q, k, v) in enumerate(zip(*(a.reshape(shape) for a in inputs), strict=True)):
        out[head] = weighed(place.xp, q.astype("float64"), k.astype("float64"), v.astype("float64"))
    return out.reshape(-1)


def weighed(xp: Any, q: Any, k: Any, v: Any) -> Any:
    """Return attention by an array library's functions, with scores in memory between kernels."""
    s = xp.matmul(q, k.swapaxes(-1, -2))
    s *= 1 / math.sqrt(D)
    s -= s.max(axis=-1, keepdims=True)
    xp.exp(s, out=s)
    s /= s.sum(axis=-1, keepdims=True)
    return xp.matmul(s, v)


def by_cupy(
    place: Place, inputs: tuple[Any, ...], shape: tuple[int, int, int], moved: int
) -> Variant:
    q, k, v = (a.reshape(shape) for a in inputs)
    note = "matmul, exp, matmul"
    return keeping(
        "cupy unfused", "cupy", lambda: weighed(place.xp, q, k, v), bytes=moved, note=note
    )


def by_torch(
    place: Place, inputs: tuple[Any, ...], shape: tuple[int, int, int, int]
) -> Iterator[Variant]:
    """Yield PyTorch's scaled_dot_product_attention, restricted to one implementation each."""
    if place.torch is None:
        return
    place.torch.set_float32_matmul_precision("highest")  # no TF32
    q, k, v = (place.tensor(a).view(shape) for a in inputs)
    notes = {"math": "matmul, softmax, matmul", "efficient": "CUTLASS, three TF32 products for one"}
    for name, note in notes.items():
        yield keeping(f"torch {name}", "torch", by_backend(place, name, q, k, v), note=note)


def by_backend(place: Place, name: str, q: Any, k: Any, v: Any) -> Callable[[], Any]:
    """Return a call of scaled_dot_product_attention that fails unless ``name`` can run it."""
    nn = import_module("torch.nn.attention")
    names = {"math": "MATH", "efficient": "EFFICIENT_ATTENTION"}
    names |= {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
    backend = getattr(nn.SDPBackend, names[name])

    def attend() -> Any:
        with nn.sdpa_kernel(backend):
            return place.torch.nn.functional.scaled_dot_product_attention(q, k, v)

    return attend


# --- bfloat16, on tensor cores ---

WIDTH = attention_bf16.WIDTH


def bf16_cases(place: Place) -> Iterator[Case]:
    for heads, keys in place.pick(full=((64, 4096),), quick=((8, 2048),), rehearsal=((2, 256),)):
        yield attended_bf16(place, heads, keys)


def attended_bf16(place: Place, heads: int, keys: int) -> Case:
    """Return the case of scores so spread that few keys matter to a row.

    Results are then not small, and a wrong row shows.
    """
    shape = (heads, keys, WIDTH)
    q, k, v = (
        to_bfloat16(place.random(shape, seed=seed, low=-high, high=high))
        for seed, high in ((1, 3), (2, 3), (3, 1))
    )
    variants = [of_bf16_step(place, step, keys, q, k, v) for step in attention_bf16.STEPS]
    if place.torch:
        variants += [bf16_by_torch(place, name, q, k, v) for name in ("flash", "cudnn")]
    return Case(
        f"attention bfloat16, {keys} keys",
        tuple(variants),
        want=lambda: bf16_in_float64(place, q, k, v),
        # Results are rounded once; probabilities too, before they meet values of at most 1.
        rtol=EPSILON,
        atol=EPSILON,
        bytes=4 * 2 * q.size,
        flops=4 * heads * keys**2 * WIDTH,
        parameters={"n": keys, "heads": heads, "d": WIDTH, "dtype": "bfloat16"},
    )


def of_bf16_step(place: Place, step: Step, keys: int, *arrays: Any) -> Variant:
    """Return a step with an array of its own for the results."""
    out = place.empty(arrays[0].shape, "uint16")
    words = (place.given(array.view("uint32").ravel()) for array in (*arrays, out))
    (variant,) = ours((step,), (keys, *words), lambda: from_bfloat16(out))
    return variant


def bf16_by_torch(place: Place, name: str, *arrays: Any) -> Variant:
    attend = by_backend(place, name, *(place.tensor(array)[None] for array in arrays))
    made: list[Any] = []

    def run() -> None:
        made[:] = [attend()]

    note = f"scaled_dot_product_attention, {name.upper()}_ATTENTION"
    return Variant(f"torch {name}", "torch", run, lambda: made[0][0], note=note)


def bf16_in_float64(place: Place, q: Any, k: Any, v: Any) -> Any:
    """Return the results, computed a head at a time."""
    xp, out = place.xp, place.xp.empty(q.shape, "float64")
    for head in range(q.shape[0]):
        rows, keys, values = (from_bfloat16(array[head]).astype("float64") for array in (q, k, v))
        scores = rows @ keys.T / WIDTH**0.5
        powers = xp.exp(scores - scores.max(axis=1, keepdims=True))
        out[head] = powers @ values / powers.sum(axis=1, keepdims=True)
    return out
