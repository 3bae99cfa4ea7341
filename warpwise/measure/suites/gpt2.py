"""GPT-2 124M: a whole training step of ``warpwise.gpt2`` beside PyTorch's, and its kernels alone.

A step is forward, backward and AdamW's update of one batch, four texts of 1,024 tokens as in the
tables of llm.c; the tokens are drawn at random, each as likely as any other. Our variants keep
float32 in memory, and "tf32" and "bf16" say in what the products are. "bf16 memory" keeps bfloat16
as llm.c does: activations, gradients and the parameters that products read, while AdamW has all in
float32. PyTorch's autocast, beside both, keeps some activations in bfloat16. The graph has all
launches of a step, those of the update with the rates of the first one.

None of this has run on a GPU yet: its kernels are compiled, and a rehearsal checks a small step.
There is no prediction beside it, so its charts show models alone.

The parameters are random, or those of a file of llm.c's that WARPWISE_GPT2 names, with its sizes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warpwise.gpt2.checkpoint import read_model
from warpwise.gpt2.config import Config, initial
from warpwise.gpt2.model import GPT2
from warpwise.measure.case import Bar, Case, Variant
from warpwise.measure.correctness import SHARE
from warpwise.measure.gpt2 import pieces, torch_peer
from warpwise.measure.gpt2.reference import loss_and_gradient
from warpwise.measure.gpt2.step import KINDS, Kind, Step, launch, plugged
from warpwise.measure.graphs import replayed
from warpwise.measure.place import Place
from warpwise.model.transformer import Transformer

TITLE = "GPT-2 124M: a training step beside PyTorch's, and its kernels"
FILE = "WARPWISE_GPT2"
LARGE = Config(1024, 50257, layers=12, heads=12, channels=768, padded=50304)
SMALL = Config(32, 250, layers=1, heads=2, channels=128, padded=256)
PEAK = ("peak bandwidth", 0.70, 0.85)
MEMORY_BOUND = {
    "encoder": "encoder",
    "ln2": "layernorm_forward",
    "classifier": "classifier",
    "fcproj db": "column_sums",
    "fc db": "column_sums",
    "ln2 dX": "layernorm_backward_rows",
    "norm": "norm",
    "adamw fcw": "adamw",
}
BARS = tuple(
    Bar(f"GPT-2, {name}", f"{name}, 4096 tokens", kernel, *PEAK)
    for name, kernel in MEMORY_BOUND.items()
)


def cases(place: Place) -> Iterator[Case]:
    config, parameters = start(place)
    texts = place.pick(full=4, quick=1, rehearsal=4)
    rng = np.random.default_rng(17)
    x, y = rng.integers(0, config.vocabulary, (2, texts, config.positions))
    for kind in KINDS:
        yield stepped(place, kind, config, parameters, x, y)
    for bf16 in (False, True):
        yield from alone(
            place, GPT2(config, parameters, texts, patch(place), bf16), parameters, x, y
        )


def alone(place: Place, model: GPT2, parameters: np.ndarray, x: Any, y: Any) -> Iterator[Case]:
    """Yield the case of each kernel by itself."""
    step = Step(place, model, parameters, x, y)

    @cache
    def ready() -> None:
        step.run()
        launch(place, model.forward)  # the classifier has put gradients in place of the logits

    yield from pieces.cases(place, model, step.launches, ready)


def start(place: Place) -> tuple[Config, np.ndarray]:
    """Return the sizes and the parameters to begin with."""
    if (named := os.environ.get(FILE)) and not place.rehearsal:
        return read_model(Path(named))
    config = place.pick(LARGE, LARGE, SMALL)
    return config, initial(config)


def patch(place: Place) -> int:
    """Return the results on a side of a thread's patch, in products of float32."""
    return place.pick(8, 8, 1)


def stepped(
    place: Place, kind: Kind, config: Config, parameters: np.ndarray, x: Any, y: Any
) -> Case:
    """Return the case of a step in one kind of arithmetic."""
    xp, rows = place.xp, x.size
    sizes = Transformer(
        config.layers, config.channels, config.heads, config.positions, config.padded
    )

    @cache
    def want() -> tuple[float, Any]:
        return loss_and_gradient(
            xp, config, xp.asarray(parameters, "float64"), *map(xp.asarray, (x, y))
        )

    model = GPT2(config, parameters, len(x), patch(place), kind.packed)
    step = Step(place, plugged(model, kind), parameters, x, y)
    ours = f"gpt2 {kind.name}"

    def result() -> np.ndarray:
        return step.share(kind, want())

    variants = [Variant(ours, "numba", step.run, result, note=kind.note)]
    if not place.rehearsal:
        replay, note = replayed(place, step.run, step.again), "all launches in one CUDA graph"
        variants.append(Variant(f"{ours}, graph", "numba", replay, result, note=note))
    return Case(
        f"step in {kind.name}, {rows} tokens",
        (*variants, *torch_peer.variants(place, config, parameters, x, y, kind, want)),
        lambda: xp.zeros(1),
        **SHARE,
        flops=sizes.step_flops(rows),
        parameters={"tokens": rows, "arithmetic": kind.name, "from a file": FILE in os.environ},
        cold=False,
        in_place=True,
    )
