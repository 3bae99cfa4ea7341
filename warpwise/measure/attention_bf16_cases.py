"""Flash attention in bfloat16 on tensor cores, beside what PyTorch has: a part of the suite of attention."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from warpwise.kernels import attention_bf16
from warpwise.kernels.bfloat16 import EPSILON, from_bfloat16, to_bfloat16
from warpwise.measure.case import Bar, Case, Variant, ours
from warpwise.measure.place import Place

WIDTH = attention_bf16.WIDTH
BARS = (Bar("flash attention in bfloat16", "attention bfloat16, 4096 keys", "flash_bf16_*", "torch flash", 0.15, 0.40),)


def bf16_cases(place: Place) -> Iterator[Case]:
    for heads, keys in place.pick(full=((64, 4096),), quick=((8, 2048),), rehearsal=((2, 256),)):
        yield attention(place, heads, keys)


def attention(place: Place, heads: int, keys: int) -> Case:
    """Scores are spread so that few keys matter to a row: results are then not small, and a wrong row shows."""
    shape = (heads, keys, WIDTH)
    q, k, v = (to_bfloat16(place.random(shape, seed=seed, low=-high, high=high)) for seed, high in ((1, 3), (2, 3), (3, 1)))
    variants = [step_of(place, step, keys, q, k, v) for step in attention_bf16.STEPS]
    if place.torch:
        variants += [by_torch(place, name, q, k, v) for name in ("flash", "cudnn")]
    return Case(
        f"attention bfloat16, {keys} keys", tuple(variants), want=lambda: wanted(place, q, k, v),
        # Results are rounded once; probabilities too, before they meet values of at most 1.
        rtol=EPSILON, atol=EPSILON,
        bytes=4 * 2 * q.size, flops=4 * heads * keys**2 * WIDTH, parameters={"n": keys, "heads": heads, "d": WIDTH, "dtype": "bfloat16"},
    )  # fmt: skip


def step_of(place: Place, step, keys: int, *arrays) -> Variant:
    """A step with an array of its own for the results."""
    out = place.empty(arrays[0].shape, "uint16")
    words = (place.given(array.view("uint32").ravel()) for array in (*arrays, out))
    (variant,) = ours((step,), (keys, *words), lambda: from_bfloat16(out))
    return variant


def by_torch(place: Place, name: str, *arrays) -> Variant:
    """One of the implementations behind scaled_dot_product_attention, and no other: it fails where that cannot run."""
    nn = import_module("torch.nn.attention")
    backend = {"flash": nn.SDPBackend.FLASH_ATTENTION, "cudnn": nn.SDPBackend.CUDNN_ATTENTION}[name]
    q, k, v = (place.tensor(array)[None] for array in arrays)
    made = []

    def run():
        with nn.sdpa_kernel(backend):
            made[:] = [place.torch.nn.functional.scaled_dot_product_attention(q, k, v)]

    return Variant(f"torch {name}", "torch", run, lambda: made[0][0], note=f"scaled_dot_product_attention, {backend.name}")


def wanted(place: Place, q, k, v):
    """Attention in float64, a head at a time."""
    xp, out = place.xp, place.xp.empty(q.shape, "float64")
    for head in range(q.shape[0]):
        rows, keys, values = (from_bfloat16(array[head]).astype("float64") for array in (q, k, v))
        scores = rows @ keys.T / WIDTH**0.5
        powers = xp.exp(scores - scores.max(axis=1, keepdims=True))
        out[head] = powers @ values / powers.sum(axis=1, keepdims=True)
    return out
