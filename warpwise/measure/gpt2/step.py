"""A training step of ``warpwise.gpt2`` to be measured, with products of three kinds of arithmetic.

The model lists its launches; here those of a product are exchanged for others over the same arrays.
So with "bf16" and "tf32" float32 stays in memory everywhere, and products alone are on tensor
cores. With "bf16 memory" the model keeps bfloat16, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from warpwise.gpt2 import kernels as k
from warpwise.gpt2.model import GPT2, AdamW, Launch
from warpwise.kernels import tensor_products
from warpwise.kernels.bfloat16 import NAN, from_bfloat16, to_bfloat16
from warpwise.measure.gpt2.reference import improved
from warpwise.measure.place import Place
from warpwise.simt import run_unwatched

#: llm.c's, but for the decay, which its tests leave out; the norm is clipped as there.
UPDATE = AdamW(rate=1e-4, beta1=0.9, beta2=0.95, decay=0.1, clip=1.0)
LOADS = {k.as_rows: False, k.as_columns: True}  # whether a matrix lies across
PLAIN = (k.plain, k.with_bias, k.with_bias_and_gelu)
ENDS = {(k.as_rows, k.as_rows): PLAIN, (k.as_rows, k.as_columns): (k.plain, k.with_slope_of_gelu)}
ENDS |= {(k.as_columns, k.as_columns): (k.plain,)}


@dataclass(frozen=True)
class Kind:
    """A kind of arithmetic in products. ``make``: its kernels, or None for the model's own.

    ``loss``: how far the loss may be off; ``gradient``: of each tensor's gradient, the norm of the
    error over the norm; ``product``: of a product, the largest error over the largest number.
    ``packed``: memory is bfloat16.
    """

    name: str
    make: Any
    loss: float
    gradient: float
    product: float
    note: str = ""
    packed: bool = False


KINDS = (
    Kind("fp32", None, 1e-4, 1e-4, 2e-5),
    Kind(
        "tf32",
        tensor_products.product_tf32,
        1e-3,
        1e-2,
        2e-3,
        "products in TF32, memory float32",
    ),
    Kind(
        "bf16",
        tensor_products.product_bf16,
        1e-2,
        5e-2,
        1e-2,
        "products in bfloat16, memory float32",
    ),
    Kind(
        "bf16 memory",
        partial(tensor_products.product_bf16, packed=True),
        2e-2,
        1e-1,
        1e-2,
        "products and memory in bfloat16, but for AdamW's arrays",
        packed=True,
    ),
)


# --- launches ---


def plugged(model: GPT2, kind: Kind) -> GPT2:
    """Exchange the launches of a model's products, and return it."""
    for launches in (model.forward, model.backward):
        launches[:] = [of_kind(one, model.patch, kind) for one in launches]
    return model


def of_kind(launch: Launch, patch: int, kind: Kind) -> Launch:
    """Return a product's launch in other arithmetic, and any other launch as it is."""
    found = products(patch).get(launch.kernel)
    if found is None or kind.make is None:
        return launch
    a, b, out, bias, before, depth = launch.args
    strides = np.uint32(a.shape[1]), np.uint32(b.shape[1])
    flat = (one.reshape(one.size) for one in (a, b))
    flat = (one.view(np.uint32) if kind.packed else one for one in flat)
    args = *flat, out, bias, before, *strides, np.uint32(depth)
    blocks = out.shape[1] // tensor_products.SIDE, out.shape[0] // tensor_products.SIDE
    kernel = kind.make(*found)
    return replace(launch, kernel=kernel, blocks=blocks, threads=tensor_products.THREADS, args=args)


def products(patch: int) -> dict[Any, tuple[bool, bool, Any]]:
    """Return the model's kernels of products: whether A and B lie across, and the end."""
    return {
        k.product(patch, a, b, end): (LOADS[a], LOADS[b], end)
        for (a, b), ends in ENDS.items()
        for end in ends
    }


def launch(place: Place, launches: Iterable[Launch], stream: Any = 0) -> None:
    """Launch in turn, on a stream; a rehearsal counts nothing and looks for no races."""
    for one in launches:
        if place.small:
            run_unwatched(one.kernel, one.blocks, one.threads, *one.args)
        else:
            one.kernel[one.blocks, one.threads, stream](*one.args)


# --- arrays ---


def seen(place: Place, array: Any) -> Any:
    """Return an array of the device as one of the place's library, bfloat16 as float32; a copy of
    the latter, and in a rehearsal of any."""
    found = place.xp.asarray(array)
    return from_bfloat16(found) if found.dtype == "uint16" else found


def wipe(place: Place, array: Any) -> None:
    """Fill an array of the device with NaN."""
    nan = NAN if array.dtype == "uint16" else float("nan")
    if place.rehearsal:
        array.copy_to_device(np.full(array.shape, nan, array.dtype))
    else:
        place.xp.asarray(array).fill(nan)


# --- the step ---


class Step:
    """A model, a batch and the launches of one step; each run is a further one, on that batch.

    The update's rates are always those of the first step: they are arguments of its launches, and a
    graph keeps them. ``tokens``, ``targets``: (texts, positions).
    """

    def __init__(
        self,
        place: Place,
        model: GPT2,
        parameters: np.ndarray,
        tokens: np.ndarray,
        targets: np.ndarray,
    ):
        self.place, self.model, self.parameters = place, model, parameters
        model.set_batch(tokens, targets)
        self.launches = [*model.forward, *model.backward, *model.update(UPDATE)]

    def run(self, stream: Any = 0) -> None:
        """Do a step."""
        launch(self.place, self.launches, stream)

    def again(self) -> None:
        """Go back to the beginning, and wipe what a step leaves."""
        model = self.model
        model.flat.copy_to_device(self.parameters)
        if model.bf16:
            model.flat_copy.copy_to_device(to_bfloat16(self.parameters))
        for array in (model.flat_mean, model.flat_square):
            array.copy_to_device(np.zeros(array.shape, np.float32))
        for array in (model.flat_gradient, model.acts["losses"], model.acts["logits"]):
            wipe(self.place, array)

    def share(self, kind: Kind, want: tuple[float, Any]) -> np.ndarray:
        """Return the first step's largest error as a share of what is allowed; then go back.

        ``want``: loss and gradient. The update is held against that of the gradient which the step
        found: else small gradients, whose signs rounding decides, would count as errors.
        """
        model, xp = self.model, self.place.xp
        loss = float(seen(self.place, model.acts["losses"]).astype("float64").mean())
        gradient = seen(self.place, model.flat_gradient).astype("float64")
        found = [
            abs(loss - want[0]) / kind.loss,
            *tensor_errors(self.place, model.config, gradient, want[1], kind.gradient),
        ]
        before = xp.asarray(self.parameters).astype("float64")
        wanted = improved(xp, before, gradient, self._decays(), UPDATE)
        off = xp.abs(seen(self.place, model.flat).astype("float64") - wanted)
        found.append(float((off / (1e-3 * UPDATE.rate + 1e-6 * xp.abs(wanted))).max()))
        if model.bf16:
            same = to_bfloat16(xp.asarray(model.flat)) == xp.asarray(model.flat_copy)
            found.append(0.0 if same.all() else np.inf)
        self.again()
        return np.array([max(each if np.isfinite(each) else np.inf for each in found)])

    def _decays(self) -> Any:
        """Return 1 for parameters of matrices, and 0 for others."""
        config = self.model.config
        decays = self.place.xp.zeros(config.parameters)
        for name, at in config.places().items():
            decays[at] = name in ("wte", "wpe") or (name[-1] == "w" and name[:2] != "ln")
        return decays


def tensor_errors(
    place: Place, config: Any, found: Any, want: Any, allowed: float
) -> Iterable[float]:
    """Yield the error of each tensor's gradient: its norm over the right one's, as a share."""
    norm = place.xp.linalg.norm
    for at in config.places().values():
        yield float(norm(found[at] - want[at]) / norm(want[at])) / allowed
