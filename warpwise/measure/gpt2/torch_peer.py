"""The same training step by PyTorch, to be measured beside ours and for nothing else.

It is written as one writes it there: functions of ``torch.nn.functional``, fused attention, and the
fused AdamW. Tensors lie apart layer by layer; of the padded words no logit counts, as in ours.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from warpwise.gpt2.config import Config
from warpwise.measure.case import Variant
from warpwise.measure.gpt2.step import UPDATE, Kind, tensor_errors
from warpwise.measure.place import Place

PRECISION = {"fp32": "highest"}  # of float32 products; else "high"


def loss_of(torch: Any, config: Config, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the mean loss of tokens (texts, positions); ``p``: parameters, by name and layer."""
    f, (texts, positions), width = torch.nn.functional, x.shape, (config.channels,)
    stream = f.embedding(x, p["wte"]) + p["wpe"][:positions]
    by_head = texts, positions, config.heads, config.head_width
    for i in range(config.layers):
        ln1 = f.layer_norm(stream, width, p[f"ln1w{i}"], p[f"ln1b{i}"])
        qkv = f.linear(ln1, p[f"qkvw{i}"], p[f"qkvb{i}"])
        q, k, v = (part.view(by_head).transpose(1, 2) for part in qkv.split(config.channels, 2))
        atty = f.scaled_dot_product_attention(q, k, v, is_causal=True)
        atty = atty.transpose(1, 2).reshape(texts, positions, config.channels)
        stream = stream + f.linear(atty, p[f"attprojw{i}"], p[f"attprojb{i}"])
        ln2 = f.layer_norm(stream, width, p[f"ln2w{i}"], p[f"ln2b{i}"])
        active = f.gelu(f.linear(ln2, p[f"fcw{i}"], p[f"fcb{i}"]), approximate="tanh")
        stream = stream + f.linear(active, p[f"fcprojw{i}"], p[f"fcprojb{i}"])
    last = f.layer_norm(stream, width, p["lnfw"], p["lnfb"])
    logits = f.linear(last, p["wte"])[..., : config.vocabulary].flatten(0, 1)
    return f.cross_entropy(logits.float(), y.flatten())


def by_layer(config: Config, flat: Any) -> dict[str, Any]:
    """Return views of one array's tensors, those of layers apart, in the order of the array."""
    found: dict[str, Any] = {}
    for name, tensor in config.tensors(flat).items():
        alone = name in ("wte", "wpe", "lnfw", "lnfb")
        found |= {name: tensor} if alone else {f"{name}{i}": one for i, one in enumerate(tensor)}
    return found


class Peer:
    """PyTorch's model with its optimizer, on one batch of integers (texts, positions)."""

    def __init__(
        self, place: Place, config: Config, flat: np.ndarray, x: Any, y: Any, kind: Kind, work: Any
    ):
        torch, self.place, self.config, self.kind = place.torch, place, config, kind
        self.work, self.torch = work, torch
        self.first: tuple[Any, Any, dict[str, Any]] | None = None
        tensors = {
            name: place.tensor(place.array(one)) for name, one in by_layer(config, flat).items()
        }
        self.p = {name: torch.nn.Parameter(one.clone()) for name, one in tensors.items()}
        self.batch = [place.tensor(place.array(one.astype("int64"))) for one in (x, y)]
        groups = [
            {
                "params": [one for one in self.p.values() if (one.ndim > 1) is matrix],
                "weight_decay": by,
            }
            for matrix, by in ((True, UPDATE.decay), (False, 0.0))
        ]
        betas = UPDATE.beta1, UPDATE.beta2
        rates = {"lr": UPDATE.rate, "betas": betas, "eps": UPDATE.epsilon}
        self.optimizer = torch.optim.AdamW(groups, fused=True, **rates)

    def run(self) -> None:
        """Do a step; keep the first one's loss and gradient."""
        torch, device = self.torch, self.batch[0].device.type
        torch.set_float32_matmul_precision(PRECISION.get(self.kind.name, "high"))
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled="bf16" in self.kind.name):
            loss = self.work(self.p, *self.batch)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.p.values(), UPDATE.clip)
        if self.first is None:
            self.first = (loss.detach(), norm, {n: one.grad.clone() for n, one in self.p.items()})
        self.optimizer.step()

    def share(self, want: tuple[float, Any]) -> np.ndarray:
        """Return the first step's error as a share of what is allowed, and forget that step.

        The gradient is the clipped one, from which its norm leads back."""
        assert self.first is not None
        loss, norm, gradients = self.first
        clipped = min(1.0, UPDATE.clip / float(norm))
        xp, found = self.place.xp, [abs(float(loss) - want[0]) / self.kind.loss]
        flat = xp.empty(want[1].shape, want[1].dtype)
        for name, view in by_layer(self.config, flat).items():
            view[:] = xp.asarray(gradients[name].detach()) / clipped
        allowed = self.kind.gradient
        found += tensor_errors(self.place, self.config, flat, want[1], allowed)
        self.first = loss, norm, {}
        return np.array([max(each if np.isfinite(each) else np.inf for each in found)])


def variants(
    place: Place, config: Config, flat: np.ndarray, x: Any, y: Any, kind: Kind, want: Any
) -> list[Variant]:
    """Return PyTorch's step, and that with a compiled forward and backward pass; none without it.

    ``want()``: loss and gradient."""
    if place.torch is None:
        return []
    made = []
    precision = "autocast" if "bf16" in kind.name else PRECISION.get(kind.name, "high")
    for name, how in (("torch", "eager"), ("torch compile", "compiled")):
        work = partial(loss_of, place.torch, config)
        if how == "compiled":
            work = place.torch.compile(_closed(work))
        peer = Peer(place, config, flat, x, y, kind, work)
        share = partial(_share, peer, want)
        made.append(Variant(name, "torch", peer.run, share, note=f"{how}, precision {precision}"))
    return made


def _closed(work: Any) -> Any:
    """Return a plain function, which PyTorch compiles more readily than a partial one."""

    def loss(p: dict[str, Any], x: Any, y: Any) -> Any:
        return work(p, x, y)

    return loss


def _share(peer: Peer, want: Any) -> np.ndarray:
    return peer.share(want())
