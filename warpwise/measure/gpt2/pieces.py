"""Each kernel of a training step by itself: the bytes it has to move, and what is right.

A piece is a launch of the step under its name. What it has to leave is worked out in float64 from
the arrays that it is about to read, so it does not matter what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from warpwise.gpt2.config import Config
from warpwise.gpt2.model import GPT2, Launch
from warpwise.kernels.bfloat16 import EPSILON
from warpwise.measure.case import Case, Variant
from warpwise.measure.correctness import SHARE
from warpwise.measure.gpt2.reference import (
    attention,
    classified,
    dots,
    gelu,
    normalised,
    of_attention,
    of_normalised,
)
from warpwise.measure.gpt2.step import KINDS, Kind, launch, of_kind, seen, wipe
from warpwise.measure.place import Place

Arrays: TypeAlias = tuple[Any, ...]  # a launch's arguments: arrays in float64, and numbers
# the largest error of a piece without products, over the largest right number; if bfloat16 is kept
EXACT, ROUNDED = 2e-5, 1.1 * EPSILON


@dataclass(frozen=True)
class Piece:
    """How a launch is judged. ``reads``, ``writes``: the places of arrays among its arguments; an
    array that is changed is in both. ``right``: what each of ``writes`` has to hold. ``of``: what
    of that is compared. ``flops``: from the sizes, 0 where bytes are what counts. ``part``: the
    share of ``writes`` that is written. ``rows``: those of tables of words, read and written.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    right: Callable[[Any, Config, Arrays], Arrays]
    of: Callable[[Any], Any] = lambda array: array
    flops: Callable[[Config, Arrays], int] = lambda config, args: 0
    part: float = 1.0
    rows: Callable[[Arrays], int] = lambda args: 0


# --- what is right ---


def _encoder(xp: Any, config: Config, args: Arrays) -> Arrays:
    tokens, wte, wpe, out = args
    return (wte[tokens] + xp.tile(wpe, (len(out) // len(wpe), 1)),)


def _tokens(xp: Any, config: Config, args: Arrays) -> Arrays:
    *_, tokens, d_out, d_wte = args
    found = d_wte.copy()
    xp.add.at(found, tokens, d_out)
    return (found,)


def _norm_of_sum(xp: Any, config: Config, args: Arrays) -> Arrays:
    x, more, weight, bias = args[:4]
    return x + more, normalised(xp, x + more)[0] * weight + bias


def _of_norm(xp: Any, config: Config, args: Arrays) -> Arrays:
    d_out, x, weight, _, _, d_x = args[:6]
    return (d_x + of_normalised(*normalised(xp, x), d_out * weight),)


def _product(xp: Any, config: Config, args: Arrays) -> Arrays:
    return (args[0] @ args[1].T,)


def _with_bias(xp: Any, config: Config, args: Arrays) -> Arrays:
    return (args[0] @ args[1].T + args[3],)


def _with_gelu(xp: Any, config: Config, args: Arrays) -> Arrays:
    before = args[0] @ args[1].T + args[3]
    return before, gelu(xp, before)[0]


def _of_input(xp: Any, config: Config, args: Arrays) -> Arrays:
    return (args[0] @ args[1],)


def _through_gelu(xp: Any, config: Config, args: Arrays) -> Arrays:
    return (args[0] @ args[1] * gelu(xp, args[4])[1],)


def _of_weight(xp: Any, config: Config, args: Arrays) -> Arrays:
    return (args[0].T @ args[1],)


def _attention(xp: Any, config: Config, args: Arrays) -> Arrays:
    return attention(xp, args[0], len(args[0]) // config.positions, config.heads)


def _of_attention(xp: Any, config: Config, args: Arrays) -> Arrays:
    qkv, d_out, log_sums, deltas = args[:4]
    return (of_attention(xp, qkv, d_out, log_sums, deltas, len(qkv) // config.positions),)


def _classifier(xp: Any, config: Config, args: Arrays) -> Arrays:
    losses, gradient = classified(xp, args[0], args[1], args[3])
    return gradient, losses


def _adamw(xp: Any, config: Config, args: Arrays) -> Arrays:
    weight, g, mean, square, copy, norm, clip, new1, new2, rate, root, small, kept = args
    g = g * min(1.0, clip / float(norm[0]))
    mean, square = mean + new1 * (g - mean), square + new2 * (g * g - square)
    weight = kept * weight - rate * mean / (xp.sqrt(square) * root + small)
    return weight, mean, square, weight[: len(copy)]


def _deltas(xp: Any, config: Config, args: Arrays) -> Arrays:
    return (dots(args[0], args[1], config.heads),)


def _keys(d_qkv: Any) -> Any:
    return d_qkv[:, d_qkv.shape[1] // 3 :]


def _queries(d_qkv: Any) -> Any:
    return d_qkv[:, : d_qkv.shape[1] // 3]


def _norm(array: Any) -> Any:
    return (array**2).sum(keepdims=True) ** 0.5


# --- FLOPs ---


def _of_product(config: Config, args: Arrays) -> int:
    (rows, columns), depth = args[2].shape, args[5]
    return int(2 * rows * columns * depth)


def _of_pairs(products: int, config: Config, args: Arrays) -> int:
    """Count products over pairs of a query and a key, of which causality leaves half."""
    rows = len(args[0])
    return products * rows * config.positions * config.channels


PRODUCT = partial(Piece, (0, 1), (2,), flops=_of_product)
LINEAR = partial(Piece, (0, 1, 3), (2,), flops=_of_product)
SUMS = partial(Piece, (0,), (1,), lambda xp, config, args: (args[0].sum(axis=0),))
BACKWARD = partial(Piece, (0, 1, 2, 3), (4,), _of_attention)
#: By the name of a launch; of several with one name, the last of the step is taken.
PIECES = {
    "encoder": Piece((2,), (3,), _encoder, rows=lambda args: len(args[0])),
    "ln2": Piece((0, 1, 2, 3), (4, 5), _norm_of_sum),
    "qkv": LINEAR(_with_bias),
    "attention": Piece((0,), (1, 2), _attention, flops=partial(_of_pairs, 2)),
    "attproj": LINEAR(_with_bias),
    "fc": Piece((0, 1, 3), (4, 2), _with_gelu, flops=_of_product),
    "fcproj": LINEAR(_with_bias),
    "head": PRODUCT(_product),
    "classifier": Piece((0, 1), (0, 2), _classifier),
    "head dX": PRODUCT(_of_input),
    "head dW": PRODUCT(_of_weight),
    "fcproj db": SUMS(),
    "fcproj dX": Piece((0, 1, 4), (2,), _through_gelu, flops=_of_product),
    "fc db": SUMS(),
    "fc dX": PRODUCT(_of_input),
    "fc dW": PRODUCT(_of_weight),
    "ln2 dX": Piece((0, 1, 2, 5), (5,), _of_norm),
    "attention delta": Piece((0, 1), (2,), _deltas),
    "attention dK dV": BACKWARD(of=_keys, flops=partial(_of_pairs, 4), part=2 / 3),
    "attention dQ": BACKWARD(of=_queries, flops=partial(_of_pairs, 3), part=1 / 3),
    "wpe": SUMS(),
    "wte": Piece((3,), (4,), _tokens, part=0, rows=lambda args: 2 * (len(args[1]) - 1)),
    "norm": Piece((0,), (1,), lambda xp, config, args: args[:1], of=_norm),
    "adamw fcw": Piece((0, 1, 2, 3), (0, 2, 3, 4), _adamw),
}


# --- cases ---


def cases(
    place: Place, model: GPT2, launches: list[Launch], ready: Callable[[], None]
) -> Iterator[Case]:
    """Yield a case for each piece of a step. ``ready()``: fill the arrays, by a step and a pass."""
    named = {one.name: one for one in reversed(launches) if one.name == "norm"}
    named |= {one.name: one for one in launches if one.name != "norm"}  # its second adds a few
    for name, piece in PIECES.items():
        yield case(place, model, named[name], piece, ready)


def case(place: Place, model: GPT2, one: Launch, piece: Piece, ready: Callable[[], None]) -> Case:
    """Return the case of one launch; a product's has a variant for each kind of arithmetic."""
    kinds = [kind for kind in KINDS if kind.packed == model.bf16]
    product = of_kind(one, model.patch, kinds[-1]) is not one
    kinds = kinds if product else kinds[:1]
    exact, name = (ROUNDED, f"{one.name} in bf16") if model.bf16 else (EXACT, one.name)
    wanted: list[Any] = []

    def want() -> Any:
        ready()
        wanted[:] = [piece.of(a) for a in piece.right(place.xp, model.config, wide(place, one))]
        _wipe(place, one, piece)
        return place.xp.zeros(1)

    def variant(kind: Kind) -> Variant:
        mine = of_kind(one, model.patch, kind) if product else one
        run = partial(launch, place, [mine])

        def result() -> np.ndarray:
            left = wide(place, one, piece.writes)
            pairs = zip((piece.of(array) for array in left), wanted, strict=True)
            found = max(_error(place.xp, *pair) for pair in pairs)
            if kind is not kinds[-1]:  # what the last one leaves, others read
                _wipe(place, one, piece)
            return np.array([found / (kind.product if product else exact)])

        kernel = getattr(one.kernel, "name", "") or one.kernel.py_func.__name__
        label = f"{kernel} {kind.name}" if product else kernel
        return Variant(label, "numba", run, result, note=kind.note if product else "")

    return Case(
        f"{name}, {model.rows} tokens",
        tuple(map(variant, kinds)),
        want,
        **SHARE,
        bytes=moved(model.config, one, piece),
        flops=piece.flops(model.config, one.args),
        parameters={"tokens": model.rows, "piece": name},
        in_place=True,
    )


def moved(config: Config, one: Launch, piece: Piece) -> int:
    """Return the least bytes between chip and memory."""
    read, written = (
        sum(int(one.args[at].size) * one.args[at].dtype.itemsize for at in places)
        for places in (piece.reads, piece.writes)
    )
    row: int = config.channels * one.args[piece.writes[0]].dtype.itemsize
    found: int = round(read + piece.part * written + row * piece.rows(one.args))
    return found


def wide(place: Place, one: Launch, at: tuple[int, ...] | None = None) -> Arrays:
    """Return arguments, all or some, with arrays of float32 and bfloat16 as float64."""
    chosen = one.args if at is None else [one.args[each] for each in at]
    return tuple(_wide(place, each) if hasattr(each, "copy_to_host") else each for each in chosen)


def _wide(place: Place, array: Any) -> Any:
    found = seen(place, array)
    return found.astype("float64") if found.dtype == "float32" else found


def _wipe(place: Place, one: Launch, piece: Piece) -> None:
    """Wipe what a launch writes and does not read."""
    for at in piece.writes:
        if at not in piece.reads and piece.part:
            wipe(place, one.args[at])


def _error(xp: Any, got: Any, want: Any) -> float:
    """Return the largest error over the largest number; 0 where there is nothing to be right."""
    if not want.size:
        return 0.0
    found = float(xp.abs(got - want).max() / xp.abs(want).max())
    return found if np.isfinite(found) else np.inf
