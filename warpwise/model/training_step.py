"""A step of training GPT-2, kernel by kernel: the bytes and FLOP of each, and its least time.

The kernels are those of llm.c (github.com/karpathy/llm.c, ``train_gpt2.cu``), and each of five
fusions can be taken back. A kernel moves each of its operands once, and nothing else; products and
attention run on tensor cores, all else on float32 lanes; each is bound by its bytes or by its FLOP,
at the peak of a data sheet. Left out: caches, tiles that do not fit, a power limit, the update of
token vectors' gradients, which depends on the text, and copies between CPU and GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warpwise.devices import Device
from warpwise.errors import LaunchError
from warpwise.model.arguments import one_of, whole
from warpwise.model.transformer import Transformer

FORWARD, BACKWARD, UPDATE = PARTS = "forward", "backward", "update"
BYTES, LANES, PRODUCTS = "bytes", "lanes", "products"  #: what binds a kernel
#: ``bias``, ``gelu``: done by the product before; ``residual``: by the LayerNorm after;
#: ``classifier``: one kernel, which writes the gradient over the logits; ``attention``: flash
FUSIONS = ("bias", "gelu", "residual", "classifier", "attention")
ITEMSIZES = {"bfloat16": 2, "TF32": 4}
RECOMPUTED = (0, 1, 2)  #: in the backward pass: nothing, GELU, and LayerNorm too
#: small launches that the profile of May 2024 has beside a kernel (llm.c, pull request 378)
HELPERS = {"bias gradient": 1, "attention": 1, "attention backward": 1, "fcproj dW": 1}


@dataclass(frozen=True)
class Kernel:
    """A kernel and its launches in a step; bytes and FLOP are those of one launch.

    ``kind``: what the launches of a profile are summed up by. ``helpers``: small launches beside
    each."""

    name: str
    kind: str
    part: str
    launches: int
    bytes_moved: int
    flops: int

    @property
    def tensor(self) -> bool:
        """Whether its FLOP are those of tensor cores."""
        return self.kind in ("product", "attention")

    @property
    def helpers(self) -> int:
        return HELPERS.get(self.name, 0)

    def seconds(self, device: Device, itemsize: int = 2) -> float:
        """Return the least time of one launch: that of its bytes, or of its FLOP."""
        return max(self._times(device, itemsize).values())

    def binds(self, device: Device, itemsize: int = 2) -> str:
        """Return what takes longest: BYTES, LANES or PRODUCTS."""
        times = self._times(device, itemsize)
        return max(times, key=lambda what: times[what])

    def _times(self, device: Device, itemsize: int) -> dict[str, float]:
        unit, rate = LANES, device.fp32_flops_per_s
        if self.tensor:
            unit, rate = PRODUCTS, device.tensor16_flops_per_s * 2 / itemsize
        return {BYTES: self.bytes_moved / device.dram_bytes_per_s, unit: self.flops / rate}


@dataclass(frozen=True)
class _Sizes:
    """What the formulas need: tokens, channels, bytes of an element, and the model."""

    of: Transformer
    n: int
    b: int

    def product(
        self, name: str, k: int, m: int, part: str = FORWARD, times: int = 1, more: int = 0
    ) -> Kernel:
        """A product of (n, k) and (k, m), in any order; ``more``: bytes of what is fused to it."""
        moved = self.b * (self.n * k + k * m + self.n * m)
        return Kernel(name, "product", part, times, moved + more, 2 * self.n * k * m)

    def rows(
        self, name: str, kind: str, part: str, times: int, passes: float, flops: float
    ) -> Kernel:
        """A kernel over rows of activations: so many reads and writes, and FLOP, of (n, c)."""
        count = self.n * self.of.channels
        return Kernel(name, kind, part, times, round(passes * count * self.b), round(flops * count))


def step(
    of: Transformer,
    batch: int,
    itemsize: int = 2,
    fused: Iterable[str] = FUSIONS,
    recomputed: int = 0,
    clip: bool = True,
) -> tuple[Kernel, ...]:
    """Return the kernels of a step on ``batch`` texts of all positions.

    ``itemsize``: bytes of an activation and of a weight, 2 or 4. ``fused``: some of FUSIONS.
    ``recomputed``: 0, 1 or 2, as llm.c's ``-r``. ``clip``: with the gradient's norm. Raises
    LaunchError for anything else."""
    have = frozenset(fused)
    if not have <= set(FUSIONS):
        raise LaunchError(f"fused has {sorted(have - set(FUSIONS))}; it can have {FUSIONS}")
    one_of("itemsize", itemsize, ITEMSIZES.values())
    one_of("recomputed", recomputed, RECOMPUTED)
    s = _Sizes(of, whole("batch", batch, 1) * of.positions, itemsize)
    return (
        *_forward(s, have),
        *_backward(s, have, recomputed),
        *_update(s, clip),
    )


def _forward(s: _Sizes, fused: frozenset[str]) -> Iterator[Kernel]:
    c, layers = s.of.channels, s.of.layers
    yield s.rows("encoder", "encoder", FORWARD, 1, 3, 1)
    yield from _norms(s, "residual" in fused)
    yield s.product("qkv", c, 3 * c, times=layers)
    yield _attention(s, "attention" in fused)
    yield s.product("attproj", c, c, times=layers)
    epilogue = "gelu" in fused  # writes what GELU is taken of as well
    yield s.product("fc", c, 4 * c, times=layers, more=4 * epilogue * s.n * c * s.b)
    if not epilogue:
        yield s.rows("GELU", "GELU", FORWARD, layers, 8, 4 * 10)
    yield s.product("fcproj", 4 * c, c, times=layers)
    if "bias" not in fused:  # of widths 3c, c, 4c and c
        yield s.rows("bias", "bias", FORWARD, 4 * layers, 2 * 9 / 4, 9 / 4)
    yield s.product("head", c, s.of.vocabulary)


def _norms(s: _Sizes, with_residual: bool) -> Iterator[Kernel]:
    """One LayerNorm before the first layer, and one after each of 2 additions in a layer."""
    times = 2 * s.of.layers
    apart = s.rows("LayerNorm", "LayerNorm", FORWARD, 1 if with_residual else times + 1, 2, 8)
    yield _with(apart, 8 * s.n)  # means and deviations
    if with_residual:
        yield _with(s.rows("residual + LayerNorm", "LayerNorm", FORWARD, times, 4, 9), 8 * s.n)
    else:
        yield s.rows("residual", "residual", FORWARD, times, 3, 1)


def _backward(s: _Sizes, fused: frozenset[str], recomputed: int) -> Iterator[Kernel]:
    c, layers, back = s.of.channels, s.of.layers, BACKWARD
    yield from _classifier(s, "classifier" in fused)
    yield from _both(s, "head", c, s.of.vocabulary, 1)
    yield s.rows("LayerNorm backward", "LayerNorm backward", back, 2 * layers + 1, 4, 15)
    if recomputed >= 1:
        yield s.rows("GELU again", "GELU", back, layers, 8, 4 * 10)
    if recomputed == 2:
        yield s.rows("LayerNorm again", "LayerNorm", back, 2 * layers, 2, 8)
    epilogue = "gelu" in fused  # reads what GELU was taken of
    yield from _both(s, "fcproj", 4 * c, c, layers, more=4 * epilogue * s.n * c * s.b)
    if not epilogue:
        yield s.rows("GELU backward", "GELU", back, layers, 12, 4 * 20)
    yield from _both(s, "fc", c, 4 * c, layers)
    yield from _both(s, "attproj", c, c, layers)
    yield _attention_backward(s, "attention" in fused)
    yield from _both(s, "qkv", c, 3 * c, layers)
    yield s.rows("bias gradient", "bias gradient", back, 4 * layers, 9 / 4, 9 / 4)
    one = s.rows("encoder backward", "encoder", back, 1, 1, 1)
    yield _with(one, s.of.positions * c * s.b)


def _update(s: _Sizes, clip: bool) -> Iterator[Kernel]:
    p = s.of.parameters
    if clip:
        yield Kernel("gradient's norm", "norm", UPDATE, 1, p * s.b, 2 * p)
    yield Kernel("AdamW", "AdamW", UPDATE, 1, 28 * p, 15 * p)


def _both(s: _Sizes, name: str, k: int, m: int, times: int, more: int = 0) -> tuple[Kernel, Kernel]:
    """The gradients of a product's operands; ``more``: bytes of what is fused to that of x."""
    of_x = s.product(f"{name} dX", k, m, BACKWARD, times, more)
    return of_x, s.product(f"{name} dW", k, m, BACKWARD, times)


def _attention(s: _Sizes, flash: bool) -> Kernel:
    """Flash: reads Q, K, V, writes O and L, and leaves out what a causal mask hides.

    Else scores and weights are written and read as well."""
    of, rows = s.of, s.n * s.of.heads
    moved = 4 * s.n * of.channels * s.b + (4 * rows if flash else 4 * rows * of.positions * s.b)
    flops = (2 if flash else 4) * s.n * of.positions * of.channels
    return Kernel("attention", "attention", FORWARD, of.layers, moved, flops)


def _attention_backward(s: _Sizes, flash: bool) -> Kernel:
    """Flash: reads Q, K, V, O, dO and L, writes three gradients, and computes scores again.

    Else weights are read twice, their gradient and that of scores written, and read once and twice.
    """
    of, rows = s.of, s.n * s.of.heads
    moved = 8 * s.n * of.channels * s.b + (4 * rows if flash else 7 * rows * of.positions * s.b)
    flops = (5 if flash else 8) * s.n * of.positions * of.channels
    return Kernel("attention backward", "attention", BACKWARD, of.layers, moved, flops)


def _classifier(s: _Sizes, fused: bool) -> Iterator[Kernel]:
    """Logits are read, and their gradient written; apart, probabilities lie between."""
    logits = s.n * s.of.vocabulary
    if fused:
        yield Kernel("classifier", "classifier", BACKWARD, 1, 2 * logits * s.b, 5 * logits)
        return
    yield Kernel("softmax", "classifier", FORWARD, 1, 2 * logits * s.b, 3 * logits)
    yield Kernel("loss", "classifier", FORWARD, 1, 8 * s.n, s.n)
    yield Kernel("softmax backward", "classifier", BACKWARD, 1, 2 * logits * s.b, 2 * logits)


def _with(one: Kernel, more: int) -> Kernel:
    """The same with more bytes."""
    return Kernel(one.name, one.kind, one.part, one.launches, one.bytes_moved + more, one.flops)


# --- all of a step ---


def seconds(kernels: Iterable[Kernel], device: Device, itemsize: int = 2) -> float:
    """Return the least time of a step, its kernels one after another."""
    return sum(one.launches * one.seconds(device, itemsize) for one in kernels)


def launches(kernels: Iterable[Kernel]) -> int:
    """Return the launches of a step, with helpers."""
    return sum(one.launches * (1 + one.helpers) for one in kernels)


@dataclass(frozen=True)
class Launching:
    """How a CPU hands kernels over: seconds before the first, and for each."""

    first_s: float
    each_s: float


#: a null kernel on an H100 (TaxBreak); a graph of CUDA 12.6 launched again (NVIDIA, 2024)
FROM_C, FROM_GRAPH = Launching(0, 4.7e-6), Launching(2.5e-6, 1e-9)
NUMBA = Launching(0, 200e-6)  #: as measured in 2018


def in_turn(kernels: Iterable[Kernel], device: Device, itemsize: int = 2) -> list[float]:
    """Return the least time of each launch, 0 for helpers.

    A kernel's launches are spread evenly over their pass."""
    places = []
    for one in kernels:
        for i in range(one.launches):
            place = PARTS.index(one.part), (i + 0.5) / one.launches
            places.append((place, one.seconds(device, itemsize)))
            places += [(place, 0.0)] * one.helpers
    return [time for _, time in sorted(places)]


def launched(times: Iterable[float], by: Launching, gap_s: float = 1e-6) -> float:
    """Return when the last kernel ends: a CPU hands them over while the GPU works.

    ``times``: seconds of each, in order. ``gap_s``: what starting takes on the GPU."""
    handed, end = by.first_s, 0.0
    for one in times:
        handed += by.each_s
        end = max(handed, end) + gap_s + one
    return end
