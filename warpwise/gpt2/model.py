"""GPT-2 as lists of launches: forward, backward, update. Nothing runs until somebody runs them.

Everything lies on the device: parameters, gradients and AdamW's means in one array each, in
llm.c's order, and activations. The lists are made once, for one size of batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from warpwise import cuda
from warpwise.errors import LaunchError
from warpwise.gpt2 import kernels as k
from warpwise.gpt2.config import Config

Array: TypeAlias = Any  #: the device's: Numba's on a GPU, the simulator's elsewhere
NORM_BLOCKS = 64


@dataclass(frozen=True)
class Launch:
    """A kernel with its grid and arguments; ``name`` says what for, as in "qkv dW"."""

    name: str
    kernel: Any
    blocks: tuple[int, ...] | int
    threads: tuple[int, ...] | int
    args: tuple[Any, ...]

    def run(self) -> None:
        self.kernel[self.blocks, self.threads](*self.args)


@dataclass(frozen=True)
class AdamW:
    """What an update depends on. ``clip``: the largest norm of the gradient."""

    rate: float = 3e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0  #: of matrices alone, as in llm.c
    clip: float = math.inf


class GPT2:
    """A model in training: its arrays, and the launches over them.

    ``patch``: results on a side of a thread's patch in products of matrices. 1 suits the simulator,
    to which many lanes matter more than reuse; 8 suits a GPU. Raises LaunchError for sizes that tiles do not
    divide.
    """

    def __init__(self, config: Config, parameters: np.ndarray, batch: int = 4, patch: int = 1):
        self.config, self.batch, self.patch, self.steps = config, batch, patch, 0
        self.rows = n = batch * config.positions
        c, layers, width = config.channels, config.layers, config.padded
        side = k.SIDE * patch
        if any(size % side for size in (n, c, width)) or c % 32 or config.head_width % k.SIDE:
            what = f"{n} rows, {c} channels, {width} tokens, heads of {config.head_width}"
            raise LaunchError(f"tiles of {side} and heads of 16 do not divide {what}")
        self.flat = cuda.to_device(parameters.astype(np.float32))
        self.flat_gradient, self.flat_mean, self.flat_square = (
            cuda.to_device(np.zeros(config.parameters, np.float32)) for _ in range(3)
        )
        self.parameters, self.gradients = self._tensors(self.flat), self._tensors(self.flat_gradient)
        self.tokens, self.targets = (cuda.to_device(np.zeros(n, np.int32)) for _ in range(2))
        of_layer = {"qkv": 3 * c, "lse": config.heads, "fch": 4 * c, "gelu": 4 * c}
        of_layer |= dict.fromkeys(("ln1", "atty", "middle", "ln2", "end"), c)
        of_layer |= dict.fromkeys(("mean1", "rstd1", "mean2", "rstd2"), 1)
        self.kept = [{name: _rows(n, size) for name, size in of_layer.items()} for _ in range(layers)]
        sizes = dict.fromkeys(("encoded", "branch", "lnf", "dres", "dbranch", "datty"), c)
        sizes |= {"logits": width, "losses": 1, "dqkv": 3 * c, "dfch": 4 * c, "delta": config.heads}
        sizes |= {"meanf": 1, "rstdf": 1}
        self.acts = {name: _rows(n, size) for name, size in sizes.items()}
        self.norm_blocks = min(n // k.ROWS, 256)
        self.dweights, self.dbiases = (_rows(self.norm_blocks, c) for _ in range(2))
        self.partials, self.norm = _rows(NORM_BLOCKS, 1), _rows(1, 1)
        self.forward, self.backward = self._forward(), self._backward()

    def _tensors(self, flat: Array) -> dict[str, Array]:
        places, shapes = self.config.places(), self.config.shapes
        return {name: flat[at].reshape(*shapes[name]) for name, at in places.items()}

    def set_batch(self, tokens: np.ndarray, targets: np.ndarray) -> None:
        """Take tokens, (batch, positions), and what is to follow each."""
        self.tokens.copy_to_device(tokens.astype(np.int32).ravel())
        self.targets.copy_to_device(targets.astype(np.int32).ravel())
        order = np.argsort(tokens.ravel(), kind="stable").astype(np.int32)
        _, starts = np.unique(tokens.ravel()[order], return_index=True)
        ends = np.append(starts, self.rows).astype(np.int32)
        args = cuda.to_device(order), cuda.to_device(ends), self.tokens, self.acts["dres"]
        threads = min(self.config.channels, k.THREADS)
        self.backward[-1] = Launch(
            "wte", k.encoder_backward_tokens, len(starts), threads, (*args, self.gradients["wte"])
        )

    # --- forward ---

    def _forward(self) -> list[Launch]:
        p, a, n, c = self.parameters, self.acts, self.rows, self.config.channels
        blocks = -(-n * c // k.THREADS)
        first = self.tokens, p["wte"], p["wpe"], a["encoded"]
        found = [Launch("encoder", k.encoder, blocks, k.THREADS, first)]
        residual, branch = a["encoded"], None
        for i, to in enumerate(self.kept):
            into = residual if branch is None else self.kept[i - 1]["end"]
            found.append(self._norm("ln1", i, residual, branch, into, to["ln1"]))
            found += [
                self._product("qkv", to["ln1"], p["qkvw"][i], to["qkv"], p["qkvb"][i]),
                self._attention(to),
                self._product("attproj", to["atty"], p["attprojw"][i], a["branch"], p["attprojb"][i]),
                self._norm("ln2", i, into, a["branch"], to["middle"], to["ln2"]),
                self._product(
                    "fc", to["ln2"], p["fcw"][i], to["gelu"], p["fcb"][i], before=to["fch"]
                ),
                self._product("fcproj", to["gelu"], p["fcprojw"][i], a["branch"], p["fcprojb"][i]),
            ]
            residual, branch = to["middle"], a["branch"]
        found.append(self._norm("lnf", None, residual, branch, self.kept[-1]["end"], a["lnf"]))
        return [*found, self._product("head", a["lnf"], p["wte"], a["logits"])]

    def _norm(
        self, name: str, layer: int | None, x: Array, more: Array | None, total: Array, out: Array
    ) -> Launch:
        """LayerNorm of x + more, which ``total`` keeps; or of x alone."""
        weight, bias, mean, rstd = self._of_norm(name, layer)
        kernel = k.layernorm(self.config.channels, more is not None)
        args = x, x if more is None else more, weight, bias, total, out, mean, rstd
        return Launch(name, kernel, self.rows // k.ROWS, 32 * k.ROWS, args)

    def _of_norm(self, name: str, layer: int | None) -> tuple[Array, ...]:
        p, kept = self.parameters, self.acts if layer is None else self.kept[layer]
        weight, bias = p[f"{name}w"], p[f"{name}b"]
        if layer is not None:
            weight, bias = weight[layer], bias[layer]
        flat = (kept[f"{what}{name[-1]}"].reshape(self.rows) for what in ("mean", "rstd"))
        return weight, bias, *flat

    def _product(
        self,
        name: str,
        x: Array,
        weight: Array,
        out: Array,
        bias: Array | None = None,
        before: Array | None = None,
    ) -> Launch:
        """out = x weight^T + bias; with ``before``, which keeps that, out is its GELU."""
        finish = k.plain if bias is None else k.with_bias
        if before is not None:
            finish = k.with_bias_and_gelu
        kernel = k.product(self.patch, k.as_rows, k.as_rows, finish)
        return self._matmul(name, kernel, x, weight, out, bias, before, x.shape[1])

    def _matmul(
        self, name: str, kernel: Any, a: Array, b: Array, out: Array, bias: Any, before: Any, d: int
    ) -> Launch:
        side = k.SIDE * self.patch
        blocks = out.shape[1] // side, out.shape[0] // side
        bias, before = (out if one is None else one for one in (bias, before))
        return Launch(name, kernel, blocks, k.THREADS, (a, b, out, bias, before, d))

    def _attention(self, to: dict[str, Array]) -> Launch:
        kernel, args = k.attention(self.config.head_width), (to["qkv"], to["atty"], to["lse"])
        return Launch("attention", kernel, *self._tiles(), (*args, self.config.positions))

    def _tiles(self) -> tuple[tuple[int, int, int], tuple[int, int]]:
        c = self.config
        return (c.positions // k.SIDE, c.heads, self.batch), (k.SIDE, k.SIDE)

    # --- backward, after the forward pass and on its activations ---

    def _backward(self) -> list[Launch]:
        p, g, a, n = self.parameters, self.gradients, self.acts, self.rows
        losses = a["logits"], self.targets, a["losses"].reshape(n), self.config.vocabulary
        found = [Launch("classifier", k.classifier, n, k.THREADS, losses)]
        found += self._dx_dw("head", a["logits"], p["wte"], a["lnf"], a["dbranch"], g["wte"])
        found += self._norm_backward("lnf", None, self.kept[-1]["end"], adds=False)
        for i in reversed(range(self.config.layers)):
            kept = self.kept[i]
            found += self._linear("fcproj", i, a["dres"], kept["gelu"], a["dfch"], kept["fch"])
            found += self._linear("fc", i, a["dfch"], kept["ln2"], a["dbranch"])
            found += self._norm_backward("ln2", i, kept["middle"])
            found += self._linear("attproj", i, a["dres"], kept["atty"], a["datty"])
            found += self._attention_backward(kept)
            found += self._linear("qkv", i, a["dqkv"], kept["ln1"], a["dbranch"])
            x = self.kept[i - 1]["end"] if i else a["encoded"]
            found += self._norm_backward("ln1", i, x)
        blocks = -(-g["wpe"].size // k.THREADS)
        args = a["dres"], g["wpe"]
        found.append(Launch("wpe", k.encoder_backward_positions, blocks, k.THREADS, args))
        return [*found, found[-1]]  # the last is that of the batch's tokens: see ``set_batch``

    def _linear(
        self, name: str, i: int, dout: Array, x: Array, dx: Array, before: Array | None = None
    ) -> list[Launch]:
        """Return the gradients of bias, x (through GELU, of ``before``) and weight, in layer i."""
        p, g = self.parameters, self.gradients
        db = self._sums(f"{name} db", dout, g[f"{name}b"][i])
        return [db, *self._dx_dw(name, dout, p[f"{name}w"][i], x, dx, g[f"{name}w"][i], before)]

    def _dx_dw(
        self,
        name: str,
        dout: Array,
        weight: Array,
        x: Array,
        dx: Array,
        dw: Array,
        before: Array | None = None,
    ) -> list[Launch]:
        finish = k.plain if before is None else k.with_slope_of_gelu
        of_x = k.product(self.patch, k.as_rows, k.as_columns, finish)
        of_w = k.product(self.patch, k.as_columns, k.as_columns, k.plain)
        return [
            self._matmul(f"{name} dX", of_x, dout, weight, dx, None, before, dout.shape[1]),
            self._matmul(f"{name} dW", of_w, dout, x, dw, None, None, self.rows),
        ]

    def _sums(self, name: str, x: Array, to: Array) -> Launch:
        return Launch(name, k.column_sums, x.shape[1] // 32, k.THREADS, (x, to))

    def _norm_backward(
        self, name: str, layer: int | None, x: Array, adds: bool = True
    ) -> list[Launch]:
        weight, _, mean, rstd = self._of_norm(name, layer)
        kernel, to = k.layernorm_backward(self.config.channels, adds), self.acts["dres"]
        sums = self.dweights, self.dbiases
        args = self.acts["dbranch"], x, weight, mean, rstd, to, *sums
        dw, db = (self.gradients[f"{name}{what}"] for what in "wb")
        if layer is not None:
            dw, db = dw[layer], db[layer]
        return [
            Launch(f"{name} dX", kernel, self.norm_blocks, 32 * k.ROWS, args),
            self._sums(f"{name} dW", self.dweights, dw),
            self._sums(f"{name} db", self.dbiases, db),
        ]

    def _attention_backward(self, kept: dict[str, Array]) -> list[Launch]:
        a, width, (blocks, threads) = self.acts, self.config.head_width, self._tiles()
        dots = self.rows * self.config.heads // k.SIDE
        args = kept["qkv"], a["datty"], kept["lse"], a["delta"], a["dqkv"], self.config.positions
        of_dots = a["datty"], kept["atty"], a["delta"]
        return [
            Launch("attention delta", k.row_dots(width), dots, threads, of_dots),
            Launch("attention dK dV", k.attention_keys(width), blocks, threads, args),
            Launch("attention dQ", k.attention_queries(width), blocks, threads, args),
        ]

    # --- update ---

    def update(self, with_: AdamW) -> list[Launch]:
        """Return the launches of the next update; each call counts a step."""
        self.steps += 1
        partials, norm = self.partials.reshape(NORM_BLOCKS), self.norm.reshape(1)
        found = [
            Launch("norm", k.squares, NORM_BLOCKS, k.THREADS, (self.flat_gradient, partials)),
            Launch("norm", k.norm_of, 1, k.THREADS, (partials, norm)),
        ]
        rate = with_.rate / (1 - with_.beta1**self.steps)
        root = 1 / math.sqrt(1 - with_.beta2**self.steps)
        numbers = with_.clip, 1 - with_.beta1, 1 - with_.beta2, rate, root, with_.epsilon
        for name, at in self.config.places().items():
            decay = with_.decay if self.parameters[name].ndim - (name[:2] not in ("wt", "wp")) > 1 else 0
            flats = self.flat, self.flat_gradient, self.flat_mean, self.flat_square
            kept = 1 - with_.rate * decay
            args = *(one[at] for one in flats), norm, *map(np.float32, (*numbers, kept))
            blocks = -(-(at.stop - at.start) // k.THREADS)
            found.append(Launch(f"adamw {name}", k.adamw, blocks, k.THREADS, args))
        return found

    def loss(self) -> float:
        """Return the mean loss, which the backward pass has left."""
        return float(self.acts["losses"].copy_to_host().mean())


def _rows(rows: int, columns: int) -> Array:
    return cuda.to_device(np.zeros((rows, columns), np.float32))
