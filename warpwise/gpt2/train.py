"""The loop: a batch of text, forward, backward, update; and text that a model makes up."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from warpwise import trace
from warpwise.cuda import backend
from warpwise.errors import LaunchError
from warpwise.gpt2.model import GPT2, AdamW, Launch
from warpwise.kernels.bfloat16 import numbers
from warpwise.simt import run_unwatched
from warpwise.traces import Trace

#: The beginning of "Coriolanus" by William Shakespeare, who died in 1616: in the public domain.
TEXT = Path(__file__).parent / "coriolanus.txt"
Run = Callable[[Iterable[Launch]], None]


def run(launches: Iterable[Launch]) -> None:
    """Run launches for their results; in the simulator nothing is counted."""
    for one in launches:
        if backend() == "gpu":
            one.kernel[one.blocks, one.threads](*one.args)
        else:
            run_unwatched(one.kernel, one.blocks, one.threads, *one.args)


def tracing(into: list[Trace], recorded: bool = False, sanitize: bool = False) -> Run:
    """Return what runs launches in the simulator and keeps their traces.

    ``recorded``: with the first block's events, from which a time can be predicted. ``sanitize``:
    races are looked for."""
    record = (0,) if recorded else ()
    how: dict[str, Any] = {"record": record, "sanitize": sanitize, "progress": False}

    def traced(launches: Iterable[Launch]) -> None:
        for one in launches:
            into.append(trace(one.kernel, one.blocks, one.threads, *one.args, **how))

    return traced


def step(model: GPT2, tokens: Any, targets: Any, by: AdamW, run: Run = run) -> float:
    """Train on one batch, tokens of (batch, positions), and return its loss before the update.

    Raises LaunchError if that is no longer a number."""
    model.set_batch(tokens, targets)
    for launches in (model.forward, model.backward, model.update(by)):
        run(launches)
    return float(_finite(model.loss()))


def batches(text: bytes, model: GPT2, parts: int = 1) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return tokens and what follows each, for ever: in turn the first ``parts`` batches of a text.

    Raises LaunchError for a shorter text, or a byte that is no token."""
    size, shape = model.rows, (model.batch, model.config.positions)
    if len(text) < parts * size + 1:
        raise LaunchError(f"the text needs {parts * size + 1:,} bytes, and has {len(text):,}")
    read = np.frombuffer(text[: parts * size + 1], np.uint8)
    model.config.check_tokens(read)
    x, y = (one.reshape(-1, *shape) for one in (read[:-1], read[1:]))
    return itertools.cycle(zip(x, y, strict=True))


def written(model: GPT2, prompt: bytes, count: int, seed: int = 0, heat: float = 0.5) -> bytes:
    """Return ``count`` bytes that continue a prompt, each drawn from softmax(logits / ``heat``).

    As in ``batches``, each row of positions begins with the byte that ended the one before. With a
    heat of 0 the likeliest byte is taken. Raises LaunchError for one below 0."""
    if not heat >= 0:
        raise LaunchError(f"heat must be at least 0, and is {heat}")
    length, found, rng = model.config.positions, list(prompt), np.random.default_rng(seed)
    alone = GPT2(model.config, numbers(model.flat), 1, model.patch, model.bf16)
    for _ in range(count):
        seen = found[(len(found) - 1) // length * length :]
        window = np.zeros((1, length), np.int32)
        window[0, : len(seen)] = seen
        alone.set_batch(window, window)
        run(alone.forward)
        logits = numbers(alone.acts["logits"])[len(seen) - 1, : model.config.vocabulary]
        below = (_finite(logits) - logits.max()).astype(np.float64)
        weights = np.exp(below / heat) if heat else below == 0
        found.append(int(rng.choice(weights.size, p=weights / weights.sum())))
    return bytes(found[len(prompt) :])


def _finite(found: Any) -> Any:
    if not np.isfinite(found).all():
        raise LaunchError("the model's results are no longer numbers: try a smaller learning rate")
    return found
