"""The sizes of a model, and where each of its tensors lies in the one array of parameters.

Order and names are those of llm.c (github.com/karpathy/llm.c, ``train_gpt2.c``): a name holds its
tensor for all layers together, and the last product shares ``wte`` with the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Config:
    """The sizes of a model: positions, tokens, layers, heads of a layer, channels.

    ``padded``: rows of ``wte``, as many as the tiles of a product want; those from ``vocabulary``
    on stand for no token.
    """

    positions: int
    vocabulary: int
    layers: int
    heads: int
    channels: int
    padded: int

    @property
    def head_width(self) -> int:
        return self.channels // self.heads

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor, in the order in which they lie."""
        n, c = self.layers, self.channels
        return {
            "wte": (self.padded, c),
            "wpe": (self.positions, c),
            "ln1w": (n, c),
            "ln1b": (n, c),
            "qkvw": (n, 3 * c, c),
            "qkvb": (n, 3 * c),
            "attprojw": (n, c, c),
            "attprojb": (n, c),
            "ln2w": (n, c),
            "ln2b": (n, c),
            "fcw": (n, 4 * c, c),
            "fcb": (n, 4 * c),
            "fcprojw": (n, c, 4 * c),
            "fcprojb": (n, c),
            "lnfw": (c,),
            "lnfb": (c,),
        }

    @property
    def parameters(self) -> int:
        return sum(map(math.prod, self.shapes.values()))

    def places(self) -> dict[str, slice]:
        """Return the elements of each tensor."""
        found, first = {}, 0
        for name, shape in self.shapes.items():
            found[name] = slice(first, first + math.prod(shape))
            first += math.prod(shape)
        return found

    def tensors(self, flat: np.ndarray) -> dict[str, np.ndarray]:
        """Return views of one array of parameters, or of gradients, each in its shape."""
        return {name: flat[at].reshape(self.shapes[name]) for name, at in self.places().items()}


MINIATURE = Config(positions=32, vocabulary=256, layers=2, heads=4, channels=64, padded=256)
GPT2 = Config(1024, 50257, layers=12, heads=12, channels=768, padded=50304)


def initial(config: Config, seed: int = 42, dtype: Any = np.float32) -> np.ndarray:
    """Return GPT-2's initial parameters: normal numbers, smaller where they add to the residual.

    Tokens without a name, and biases, are 0; LayerNorm's weights are 1.
    """
    rng, flat = np.random.default_rng(seed), np.zeros(config.parameters, dtype)
    tensors = config.tensors(flat)
    for name in ("wte", "wpe"):
        tensors[name][:] = rng.normal(0, 0.02, tensors[name].shape)
    tensors["wte"][config.vocabulary :] = 0
    for layer in range(config.layers):
        for name in ("qkvw", "attprojw", "fcw", "fcprojw"):
            small = math.sqrt(2 * config.layers) if "proj" in name else 1.0
            to = tensors[name][layer]
            to[:] = rng.normal(0, 0.02 / small, to.shape)
    for name in ("ln1w", "ln2w", "lnfw"):
        tensors[name][:] = 1
    return flat
