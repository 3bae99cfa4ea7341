"""The memory of training GPT-2, by formula: parameters, gradients, Adam's moments, activations.

Buffers are those of llm.c (github.com/karpathy/llm.c, ``train_gpt2.cu``): an activation that the
backward pass reads is kept for each layer, all else lies in one buffer for all layers. ``shared``
False is its first version, for the CPU, in which each result has an array of its own. Left out:
workspace of libraries, the batch itself, what an allocator wastes, and the CUDA context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpwise.model.arguments import one_of, whole
from warpwise.model.training_step import ITEMSIZES, RECOMPUTED
from warpwise.model.transformer import Transformer

GIB = 2**30
STATE, LAYERS, ONCE = "state", "layers", "once"


@dataclass(frozen=True)
class Buffer:
    """A part of the memory: what it is, where it belongs, and its bytes.

    ``place``: STATE, of the parameters; LAYERS, kept for every layer; ONCE, for all layers."""

    name: str
    place: str
    size_bytes: int


def memory(
    of: Transformer,
    batch: int,
    itemsize: int = 2,
    recomputed: int = 0,
    flash: bool = True,
    shared: bool = True,
) -> tuple[Buffer, ...]:
    """Return what a step on ``batch`` texts of all positions has to keep.

    ``itemsize``: bytes of a weight and an activation; with 2 there is a float32 master copy.
    ``recomputed``: 0, 1 (GELU) or 2 (LayerNorm too), as llm.c's ``-r``. ``flash``: no scores are
    kept. Raises LaunchError for anything else."""
    b = one_of("itemsize", itemsize, ITEMSIZES.values())
    one_of("recomputed", recomputed, RECOMPUTED)
    n = whole("batch", batch, 1) * of.positions
    per_token = (*_kept(of, b, recomputed, flash, shared), *_once(of, b, recomputed, shared))
    of_tokens = (Buffer(one.name, one.place, n * one.size_bytes) for one in per_token)
    return (*_state(of.parameters, b), *of_tokens)


def total(buffers: tuple[Buffer, ...], *places: str) -> int:
    """Return the bytes of all, or of some places."""
    return sum(one.size_bytes for one in buffers if not places or one.place in places)


def _state(parameters: int, b: int) -> Iterator[Buffer]:
    yield Buffer("parameters", STATE, b * parameters)
    yield Buffer("gradients", STATE, b * parameters)
    yield Buffer("Adam's moments", STATE, 8 * parameters)
    if b == 2:
        yield Buffer("float32 copy", STATE, 4 * parameters)


def _kept(of: Transformer, b: int, recomputed: int, flash: bool, shared: bool) -> Iterator[Buffer]:
    """Bytes for a token, in all layers."""
    wide = b * of.channels
    rows = of.heads * of.positions * b  # of scores
    yield _layers(of, "LayerNorm", 16 + (0 if recomputed == 2 else 2 * wide))
    yield _layers(of, "Q, K, V", 3 * wide)
    yield _layers(of, "attention", wide + (4 * of.heads if flash else rows))
    yield _layers(of, "residual", 2 * wide)
    yield _layers(of, "before GELU", 4 * wide)
    if recomputed == 0:
        yield _layers(of, "after GELU", 4 * wide)
    if not shared:
        yield _layers(of, "projections", 2 * wide)
        if not flash:
            yield _layers(of, "scores", rows)


def _once(of: Transformer, b: int, recomputed: int, shared: bool) -> Iterator[Buffer]:
    """Bytes for a token, once."""
    wide, logits = b * of.channels, b * of.vocabulary
    yield Buffer("first and last", ONCE, 2 * wide + 8)
    yield Buffer("logits", ONCE, logits + 4)
    if shared:
        yield Buffer("gradients of activations", ONCE, 5 * wide)
    else:
        yield Buffer("probabilities", ONCE, logits)
    if recomputed:
        yield Buffer("GELU, of one layer", ONCE, 4 * wide)


def _layers(of: Transformer, name: str, for_a_token: int) -> Buffer:
    return Buffer(name, LAYERS, of.layers * for_a_token)


def largest_batch(
    of: Transformer, gib: float, itemsize: int = 2, recomputed: int = 0, flash: bool = True
) -> int:
    """Return how many texts fit into ``gib`` GiB; 0 if not even one does."""
    one, two = (total(memory(of, n, itemsize, recomputed, flash)) for n in (1, 2))
    state = 2 * one - two
    return max(0, int((gib * GIB - state) // (two - one)))
