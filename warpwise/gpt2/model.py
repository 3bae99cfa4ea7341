"""GPT-2 as lists of launches: forward, backward, update. Nothing runs until somebody runs them.

Everything lies on the device: parameters, gradients and AdamW's means in one array each, in
llm.c's order, and activations. The lists are made once, for one size of batch. Activations and
gradients are float32, or, as in llm.c, bfloat16: then the parameters have a copy that all but the
update read, and sums, statistics and AdamW's arrays remain float32.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from warpwise import cuda
from warpwise.errors import LaunchError
from warpwise.gpt2 import kernels as k
from warpwise.gpt2.config import Config
from warpwise.kernels.bfloat16 import to_bfloat16

Array: TypeAlias = Any  #: the device's: Numba's on a GPU, the simulator's elsewhere
Layer: TypeAlias = int | None
PARTS, MOST_BLOCKS = 64, 256  # blocks of the gradient's norm, and of LayerNorm's backward pass
OF_LAYER = "ln1 1C  qkv 3C  atty 1C  middle 1C  ln2 1C  fch 4C  gelu 4C  end 1C"
OF_ALL = "encoded 1C  branch 1C  lnf 1C  dres 1C  dbranch 1C  datty 1C  dqkv 3C  dfch 4C"


@dataclass(frozen=True)
class Launch:
    """A kernel with its grid and arguments; ``name`` says what for, as in "qkv dW"."""

    name: str
    kernel: Any
    blocks: tuple[int, ...] | int
    threads: tuple[int, ...] | int
    args: tuple[Any, ...]


Launches: TypeAlias = list[Launch]


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
    to which many lanes matter more than reuse; 8 suits a GPU, and models whose sizes are multiples
    of 128. ``bf16``: of activations and gradients. Raises LaunchError for sizes that tiles do not
    divide, and for other parameters than those of ``config``."""

    def __init__(
        self, config: Config, parameters: Any, batch: int = 4, patch: int = 1, bf16: bool = False
    ):
        self.config, self.batch, self.patch, self.bf16, self.steps = config, batch, patch, bf16, 0
        self.rows = n = batch * config.positions
        c, heads, side = config.channels, config.heads, k.SIDE * patch
        self.tiles = config.positions // k.SIDE, heads, batch  # blocks of attention
        names = "batch * positions", "padded", "channels", "channels / heads", "positions"
        sizes = n, config.padded, c, config.head_width, config.positions
        tiles = side, side, math.lcm(side, 32), k.SIDE, k.SIDE
        for name, size, tile in zip(names, sizes, tiles, strict=True):
            if size % tile:
                raise LaunchError(f"{name} ({size}) must be a multiple of {tile} if patch={patch}")
        master, kind = config.checked(parameters), np.uint16 if bf16 else np.float32
        self.flat = cuda.to_device(master)
        self.flat_copy = cuda.to_device(to_bfloat16(master if bf16 else master[:0]))
        self.flat_mean, self.flat_square = (_zeros(config.parameters) for _ in range(2))
        self.flat_gradient = _zeros(config.parameters, kind=kind)
        self.parameters = config.tensors(self.flat_copy if bf16 else self.flat)
        self.gradients = config.tensors(self.flat_gradient)
        self.tokens, self.targets = (cuda.to_device(np.zeros(n, np.int32)) for _ in range(2))
        self.kept = [
            _rows(n, c, OF_LAYER, kind)
            | {"lse": _zeros(n, heads)}
            | {f"{what}{which}": _zeros(n) for what in ("mean", "rstd") for which in "12"}
            for _ in range(config.layers)
        ]
        self.acts = _rows(n, c, OF_ALL, kind) | {"logits": _zeros(n, config.padded, kind=kind)}
        self.acts |= {name: _zeros(n) for name in ("meanf", "rstdf", "losses")}
        self.acts["delta"] = _zeros(n, heads)
        self.sums = [_zeros(min(n // k.ROWS, MOST_BLOCKS), c) for _ in range(2)]
        self.norms, self.norm = _zeros(PARTS), _zeros(1)
        self.forward, self.backward = self._forward(), self._backward()

    def set_batch(self, tokens: np.ndarray, targets: np.ndarray) -> None:
        """Take tokens, (batch, positions), and what is to follow each. Raises LaunchError for a
        number that is no token."""
        self.config.check_tokens(np.stack([tokens, targets]))
        self.tokens.copy_to_device(tokens.astype(np.int32).ravel())
        self.targets.copy_to_device(targets.astype(np.int32).ravel())
        order = np.argsort(tokens.ravel(), kind="stable").astype(np.int32)
        _, starts = np.unique(tokens.ravel()[order], return_index=True)
        ends = np.append(starts, self.rows).astype(np.int32)
        arrays = self.tokens, self.acts["dres"], self.gradients["wte"]
        args = cuda.to_device(order), cuda.to_device(ends), *arrays
        threads = min(self.config.channels, k.THREADS)
        self.backward[-1] = Launch("wte", k.encoder_backward, len(starts), threads, args)

    # --- forward ---

    def _forward(self) -> Launches:
        p, a = self.parameters, self.acts
        blocks, args = -(-a["encoded"].size // k.THREADS), (self.tokens, p["wte"], p["wpe"])
        found = [Launch("encoder", k.encoder, blocks, k.THREADS, (*args, a["encoded"]))]
        x, more, end = a["encoded"], None, a["encoded"]
        for i, to in enumerate(self.kept):
            found += [
                self._norm("ln1", i, x, more, end, to["ln1"]),
                self._linear("qkv", i, to["ln1"], to["qkv"]),
                self._attention(to),
                self._linear("attproj", i, to["atty"], a["branch"]),
                self._norm("ln2", i, end, a["branch"], to["middle"], to["ln2"]),
                self._linear("fc", i, to["ln2"], to["gelu"], to["fch"]),
                self._linear("fcproj", i, to["gelu"], a["branch"]),
            ]
            x, more, end = to["middle"], a["branch"], to["end"]
        found.append(self._norm("lnf", None, x, more, end, a["lnf"]))
        kernel = k.product(self.patch, k.as_rows, k.as_rows, k.plain)
        return [*found, self._matmul("head", kernel, a["lnf"], p["wte"], a["logits"])]

    def _norm(self, name: str, i: Layer, x: Array, more: Array, total: Array, out: Array) -> Launch:
        """LayerNorm of x + more, which ``total`` keeps; or of x alone."""
        weight, bias, mean, rstd = self._of_norm(name, i, self.parameters)
        kernel = k.layernorm(self.config.channels, more is not None)
        args = x, x if more is None else more, weight, bias, total, out, mean, rstd
        return Launch(name, kernel, self.rows // k.ROWS, 32 * k.ROWS, args)

    def _of_norm(self, name: str, i: Layer, of: dict[str, Array]) -> tuple[Array, ...]:
        """Return weight and bias, of parameters or of gradients, and means and deviations."""
        kept = self.acts if i is None else self.kept[i]
        both = (of[name + one] if i is None else of[name + one][i] for one in "wb")
        return *both, kept[f"mean{name[-1]}"], kept[f"rstd{name[-1]}"]

    def _linear(self, name: str, i: int, x: Array, out: Array, before: Array = None) -> Launch:
        """out = x weight^T + bias, in layer i; with ``before``, which keeps that, its GELU."""
        finish = k.with_bias if before is None else k.with_bias_and_gelu
        kernel = k.product(self.patch, k.as_rows, k.as_rows, finish)
        weight, bias = self.parameters[f"{name}w"][i], self.parameters[f"{name}b"][i]
        return self._matmul(name, kernel, x, weight, out, bias, before)

    def _matmul(self, name: str, kernel: Any, a: Array, b: Array, out: Array, *more: Any) -> Launch:
        """``more``: a bias, what GELU was taken of (or None), and the depth if it is a's height."""
        side, (bias, before, depth) = k.SIDE * self.patch, (*more, None, None, None)[:3]
        blocks, both = (out.shape[1] // side, out.shape[0] // side), (bias, before)
        args = a, b, out, *(out if one is None else one for one in both), depth or a.shape[1]
        return Launch(name, kernel, blocks, k.THREADS, args)

    def _attention(self, to: dict[str, Array]) -> Launch:
        args = to["qkv"], to["atty"], to["lse"], self.config.positions
        kernel = k.attention(self.config.head_width)
        return Launch("attention", kernel, self.tiles, (k.SIDE, k.SIDE), args)

    # --- backward, on the activations of the forward pass ---

    def _backward(self) -> Launches:
        p, g, a = self.parameters, self.gradients, self.acts
        args = a["logits"], self.targets, a["losses"], self.config.vocabulary
        found = [Launch("classifier", k.classifier, self.rows, k.THREADS, args)]
        found += self._dx_dw("head", a["logits"], p["wte"], a["lnf"], a["dbranch"], g["wte"])
        found += self._norm_backward("lnf", None, self.kept[-1]["end"])
        for i in reversed(range(self.config.layers)):
            of = self.kept[i]
            found += self._linear_backward("fcproj", i, a["dres"], of["gelu"], a["dfch"], of["fch"])
            found += self._linear_backward("fc", i, a["dfch"], of["ln2"], a["dbranch"])
            found += self._norm_backward("ln2", i, of["middle"])
            found += self._linear_backward("attproj", i, a["dres"], of["atty"], a["datty"])
            found += self._attention_backward(of)
            found += self._linear_backward("qkv", i, a["dqkv"], of["ln1"], a["dbranch"])
            found += self._norm_backward("ln1", i, self.kept[i - 1]["end"] if i else a["encoded"])
        of_positions = a["dres"].reshape(self.batch, p["wpe"].size), g["wpe"].reshape(p["wpe"].size)
        found.append(self._sums("wpe", *of_positions))
        return [*found, found[-1]]  # the last is to be that of a batch's tokens: see ``set_batch``

    def _linear_backward(self, name: str, i: int, dout: Array, *arrays: Array) -> Launches:
        """Return the gradients of bias, x (and through GELU, of ``before``) and weight."""
        x, dx, before = (*arrays, None)[:3]
        db, dw = self.gradients[f"{name}b"][i], self.gradients[f"{name}w"][i]
        weight = self.parameters[f"{name}w"][i]
        both = self._dx_dw(name, dout, weight, x, dx, dw, before)
        return [self._sums(f"{name} db", dout, db), *both]

    def _dx_dw(self, name: str, dout: Array, weight: Array, *arrays: Array) -> Launches:
        x, dx, dw, before = (*arrays, None)[:4]
        finish = k.plain if before is None else k.with_slope_of_gelu
        of_x = k.product(self.patch, k.as_rows, k.as_columns, finish)
        of_w = k.product(self.patch, k.as_columns, k.as_columns, k.plain)
        return [
            self._matmul(f"{name} dX", of_x, dout, weight, dx, None, before),
            self._matmul(f"{name} dW", of_w, dout, x, dw, None, None, self.rows),
        ]

    def _sums(self, name: str, x: Array, to: Array) -> Launch:
        return Launch(name, k.column_sums, x.shape[1] // 32, k.THREADS, (x, to))

    def _norm_backward(self, name: str, i: Layer, x: Array) -> Launches:
        weight, _, mean, rstd = self._of_norm(name, i, self.parameters)
        dw, db, *_ = self._of_norm(name, i, self.gradients)
        kernel = k.layernorm_backward(self.config.channels, adds=i is not None)
        args = self.acts["dbranch"], x, weight, mean, rstd, self.acts["dres"], *self.sums
        return [
            Launch(f"{name} dX", kernel, self.sums[0].shape[0], 32 * k.ROWS, args),
            self._sums(f"{name} dW", self.sums[0], dw),
            self._sums(f"{name} db", self.sums[1], db),
        ]

    def _attention_backward(self, of: dict[str, Array]) -> Launches:
        a, width, threads = self.acts, self.config.head_width, (k.SIDE, k.SIDE)
        args = of["qkv"], a["datty"], of["lse"], a["delta"], a["dqkv"], self.config.positions
        of_delta, rows = (a["datty"], of["atty"], a["delta"]), a["delta"].size // k.SIDE
        return [
            Launch("attention delta", k.attention_backward_delta, rows, threads, of_delta),
            Launch("attention dK dV", k.attention_backward(width, True), self.tiles, threads, args),
            Launch("attention dQ", k.attention_backward(width, False), self.tiles, threads, args),
        ]

    # --- update ---

    def update(self, by: AdamW) -> Launches:
        """Return the launches of the next update; each call counts a step."""
        self.steps += 1
        found = [
            Launch("norm", k.norm, PARTS, k.THREADS, (self.flat_gradient, self.norms)),
            Launch("norm", k.norm, 1, k.THREADS, (self.norms, self.norm)),
        ]
        rate = by.rate / (1 - by.beta1**self.steps)
        root = 1 / math.sqrt(1 - by.beta2**self.steps)
        numbers = by.clip, 1 - by.beta1, 1 - by.beta2, rate, root, by.epsilon
        flats = self.flat, self.flat_gradient, self.flat_mean, self.flat_square
        for name, at in self.config.places().items():
            matrix = name in ("wte", "wpe") or (name[-1] == "w" and name[:2] != "ln")
            kept = 1 - by.rate * by.decay if matrix else 1.0
            copy = self.flat_copy[at] if self.bf16 else self.flat_copy  # empty
            arrays = *(one[at] for one in flats), copy, self.norm
            args = *arrays, *map(np.float32, (*numbers, kept))
            blocks = -(-(at.stop - at.start) // k.THREADS)
            found.append(Launch(f"adamw {name}", k.adamw, blocks, k.THREADS, args))
        return found

    def loss(self) -> float:
        """Return the mean loss, which the backward pass has left."""
        return float(self.acts["losses"].copy_to_host().mean())


def _zeros(*shape: int, kind: Any = np.float32) -> Array:
    return cuda.to_device(np.zeros(shape, kind))


def _rows(rows: int, channels: int, listed: str, kind: Any) -> dict[str, Array]:
    """Return arrays by name, of ``rows`` and as many times the channels as listed."""
    pairs = zip(*[iter(listed.split())] * 2, strict=True)
    return {name: _zeros(rows, int(times[0]) * channels, kind=kind) for name, times in pairs}
