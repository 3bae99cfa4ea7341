"""Memory-bound parts of a language model: layer normalisation, GELU and the AdamW update."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from warpwise.kernels import adamw, gelu, layernorm
from warpwise.kernels.step import Step
from warpwise.measure.case import Bar, Case, Variant, keeping, ours
from warpwise.measure.place import Place

TITLE = "LayerNorm, GELU and AdamW beside the memory's peak"
PEAK = ("peak bandwidth", 0.70, 0.85)
BARS = (
    Bar("LayerNorm, rows of 768", "layernorm 65536 x 768", "layernorm_*", *PEAK),
    Bar("LayerNorm, rows of 1600", "layernorm 32768 x 1600", "layernorm_*", *PEAK),
    Bar("GELU", "gelu 2^26", "gelu_*", *PEAK),
    Bar("AdamW", "adamw 2^25", "adamw_*", *PEAK),
)


def cases(place: Place) -> Iterator[Case]:
    yield normalised(place, place.pick(full=65536, quick=16384, rehearsal=6), 768)
    yield normalised(place, place.pick(full=32768, quick=8192, rehearsal=3), 1600)
    yield activated(place, place.pick(full=26, quick=24, rehearsal=12))
    yield improved(place, place.pick(full=25, quick=22, rehearsal=12))


def of_step(place: Place, step: Step, *arrays: Any) -> Variant:
    """Return a step with an array of its own for the results, of the first array's shape."""
    out = place.empty(arrays[0].shape)
    (variant,) = ours((step,), tuple(map(place.given, (*arrays, out))), lambda: out)
    return variant


# --- layer normalisation ---


def normalised(place: Place, rows: int, width: int) -> Case:
    x = place.random(rows * width, low=-2, high=3)
    weight, bias = place.random(width, seed=1), place.random(width, seed=2)
    return Case(
        f"layernorm {rows} x {width}",
        (
            *(of_step(place, step, x, weight, bias) for step in layernorm.STEPS),
            normalised_by_cupy(place, x, weight, bias),
            *normalised_by_torch(place, x, weight, bias),
        ),
        want=lambda: standardised(place.xp, x.astype("float64"), weight, bias).reshape(-1),
        rtol=1e-4,
        atol=2e-5,
        bytes=8 * rows * width + 8 * width,
        parameters={"rows": rows, "width": width, "topic": "layernorm"},
    )


def standardised(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Return layer normalisation by an array library's functions, in several kernels."""
    x = x.reshape(-1, weight.size)
    x = x - x.mean(axis=1, keepdims=True)
    x /= xp.sqrt((x * x).mean(axis=1, keepdims=True) + layernorm.EPSILON)
    x *= weight
    x += bias
    return x


def normalised_by_cupy(place: Place, x: Any, weight: Any, bias: Any) -> Variant:
    work = partial(standardised, place.xp, x, weight, bias)
    return keeping("cupy", "cupy", work, note="step by step")


def normalised_by_torch(place: Place, x: Any, weight: Any, bias: Any) -> Iterator[Variant]:
    if place.torch is None:
        return
    from torch.nn.functional import layer_norm

    rows, w, b = place.tensor(x).view(-1, weight.size), place.tensor(weight), place.tensor(bias)
    # NumPy's numbers would break torch.compile's graph
    width, epsilon = int(weight.size), float(layernorm.EPSILON)

    def normalise(rows: Any) -> Any:
        return layer_norm(rows, (width,), w, b, epsilon)

    yield keeping("torch", "torch", lambda: normalise(rows), note="layer_norm")
    compiled = place.torch.compile(normalise)
    yield keeping("torch compile", "torch", lambda: compiled(rows), note="torch.compile")


# --- GELU ---

GELU_IN_C = "y = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)))"


def activated(place: Place, power: int) -> Case:
    n = 2**power
    x = place.random(n, low=-6, high=6)
    return Case(
        f"gelu 2^{power}",
        (
            *(of_step(place, step, x) for step in gelu.STEPS),
            *activated_by_cupy(place, x),
            *activated_by_torch(place, x),
        ),
        want=lambda: activation(place.xp, x.astype("float64")),
        rtol=1e-5,
        atol=2e-6,
        bytes=8 * n,
        parameters={"n": n, "topic": "gelu"},
    )


def activation(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def activated_by_cupy(place: Place, x: Any) -> Iterator[Variant]:
    if not place.rehearsal:
        kernel = place.xp.ElementwiseKernel("float32 x", "float32 y", GELU_IN_C, "gelu")
        out = place.empty(x.shape)
        yield Variant("cupy", "cupy", lambda: kernel(x, out), lambda: out, note="ElementwiseKernel")


def activated_by_torch(place: Place, x: Any) -> Iterator[Variant]:
    if place.torch is not None:
        of, activate = place.tensor(x), place.torch.nn.functional.gelu
        yield keeping("torch", "torch", lambda: activate(of, approximate="tanh"), note="gelu")
        compiled = place.torch.compile(lambda numbers: activate(numbers, approximate="tanh"))
        yield keeping("torch compile", "torch", lambda: compiled(of), note="torch.compile")


# --- AdamW: each variant has arrays of its own, which its runs change in place ---

STEP = 10
ADAMW_IN_C = """
m += new1 * (g - m);
s += new2 * (g * g - s);
w = kept * w - rate * m / (sqrtf(s) * root + small);
"""


def improved(place: Place, power: int) -> Case:
    n = 2**power
    return Case(
        f"adamw 2^{power}",
        (
            *(variant for step in adamw.STEPS for variant in improved_by_us(place, n, step)),
            *improved_by_cupy(place, n),
            *improved_by_torch(place, n),
            *improved_by_a_compiler(place, n),
        ),
        want=lambda: improvement(place.xp, *(a.astype("float64") for a in state(place, n))),
        rtol=1e-5,
        atol=2e-6,
        bytes=28 * n,
        parameters={"n": n, "topic": "adamw"},
        in_place=True,
    )


def state(place: Place, n: int) -> tuple[Any, Any, Any, Any]:
    """Return the gradient, its running mean, that of its square, and the weights.

    The arrays are new and the numbers the same each time.
    """
    grad, mean, square, weight = (
        place.random(n, seed=seed, low=low) for seed, low in enumerate((-1.0, -1.0, 0.01, -1.0))
    )
    return grad, mean, square, weight


def improvement(xp: Any, grad: Any, mean: Any, square: Any, weight: Any) -> Any:
    """Return the new weights, by the formula of the AdamW paper."""
    mean = adamw.BETA1 * mean + (1 - adamw.BETA1) * grad
    square = adamw.BETA2 * square + (1 - adamw.BETA2) * grad * grad
    deviation = xp.sqrt(square / (1 - adamw.BETA2**STEP)) + adamw.EPSILON
    by = (mean / (1 - adamw.BETA1**STEP)) / deviation
    return weight - adamw.RATE * (by + adamw.DECAY * weight)


def improved_by_us(place: Place, n: int, step: Step) -> tuple[Variant, ...]:
    arrays = state(place, n)
    return ours((step,), (STEP, *map(place.given, arrays)), lambda: arrays[3])


def improved_by_cupy(place: Place, n: int) -> Iterator[Variant]:
    if place.rehearsal:
        return
    numbers = (*adamw.corrections(STEP), adamw.NEW1, adamw.NEW2, adamw.SMALL, adamw.KEPT)
    names = ("rate", "root", "new1", "new2", "small", "kept")
    inputs = ", ".join(["float32 g", *(f"float32 {name}" for name in names)])
    outputs = "float32 m, float32 s, float32 w"
    kernel = place.xp.ElementwiseKernel(inputs, outputs, ADAMW_IN_C, "adamw")
    grad, *changed = state(place, n)
    run = partial(kernel, grad, *numbers, *changed)
    yield Variant("cupy", "cupy", run, lambda: changed[2], note="ElementwiseKernel")


def improved_by_torch(place: Place, n: int) -> Iterator[Variant]:
    """Yield PyTorch's optimiser, with its state set to that of the other variants."""
    torch = place.torch
    if torch is None:
        return
    grad, mean, square, weight = map(place.tensor, state(place, n))
    weights = torch.nn.Parameter(weight)
    weights.grad = grad
    rates = {"lr": adamw.RATE, "eps": adamw.EPSILON, "weight_decay": adamw.DECAY}
    betas = (adamw.BETA1, adamw.BETA2)
    chosen = torch.optim.AdamW([weights], betas=betas, fused=True, **rates)
    taken = torch.tensor(float(STEP - 1), dtype=torch.float32, device="cuda")
    chosen.state[weights] = {"step": taken, "exp_avg": mean, "exp_avg_sq": square}
    yield Variant("torch", "torch", chosen.step, lambda: weights, note="AdamW, fused")


def improved_by_a_compiler(place: Place, n: int) -> Iterator[Variant]:
    if place.torch is None:
        return
    grad, mean, square, weight = map(place.tensor, state(place, n))
    rate, root = map(float, adamw.corrections(STEP))
    # NumPy's numbers would break torch.compile's graph
    new1, new2, kept, small = map(float, (adamw.NEW1, adamw.NEW2, adamw.KEPT, adamw.SMALL))

    def improve(grad: Any, mean: Any, square: Any, weight: Any) -> None:
        mean.lerp_(grad, new1)
        square.lerp_(grad * grad, new2)
        weight.mul_(kept).sub_(rate * mean / (square.sqrt() * root + small))

    run = partial(place.torch.compile(improve), grad, mean, square, weight)
    yield Variant("torch compile", "torch", run, lambda: weight, note="torch.compile")
