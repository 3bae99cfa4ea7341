"""The sizes of a model, and where each of its tensors lies in the one array of parameters.

Order and names are those of llm.c (github.com/karpathy/llm.c, ``train_gpt2.c``): a name holds its
tensor for all layers together, and the last product shares ``wte`` with the first.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

TENSORS = """
wte V,C  wpe T,C  ln1w L,C  ln1b L,C  qkvw L,3C,C  qkvb L,3C  attprojw L,C,C  attprojb L,C
ln2w L,C  ln2b L,C  fcw L,4C,C  fcb L,4C  fcprojw L,C,4C  fcprojb L,C  lnfw C  lnfb C
"""


@dataclass(frozen=True)
class Config:
    """The sizes of a model, in the order of llm.c's files.

    ``padded``: rows of ``wte``, as many as tiles want; those from ``vocabulary`` on are no token.
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
        sizes = {"V": self.padded, "T": self.positions, "L": self.layers}
        sizes |= {f"{n or ''}C": (n or 1) * self.channels for n in (0, 3, 4)}
        pairs = zip(*[iter(TENSORS.split())] * 2, strict=True)
        return {name: tuple(sizes[one] for one in shape.split(",")) for name, shape in pairs}

    @property
    def parameters(self) -> int:
        """The number of all parameters."""
        return sum(map(math.prod, self.shapes.values()))

    def places(self) -> dict[str, slice]:
        """Return the elements of each tensor."""
        found, end = {}, 0
        for name, shape in self.shapes.items():
            end += math.prod(shape)
            found[name] = slice(end - math.prod(shape), end)
        return found

    def tensors(self, flat: Any) -> dict[str, Any]:
        """Return views of one array, of the host or the device, each in its shape."""
        return {name: flat[at].reshape(*self.shapes[name]) for name, at in self.places().items()}


MINIATURE = Config(positions=32, vocabulary=256, layers=2, heads=4, channels=64, padded=256)


def initial(config: Config, seed: int = 42, dtype: Any = np.float32) -> np.ndarray:
    """Return llm.c's initial parameters: normal numbers, smaller where they add to the residual."""
    rng, flat = np.random.default_rng(seed), np.zeros(config.parameters, dtype)
    tensors = config.tensors(flat)
    for name in ("wte", "wpe"):
        tensors[name][:] = rng.normal(0, 0.02, tensors[name].shape)
    tensors["wte"][config.vocabulary :] = 0
    for layer in range(config.layers):
        for name in ("qkvw", "attprojw", "fcw", "fcprojw"):
            small = math.sqrt(2 * config.layers) if "proj" in name else 1.0
            tensors[name][layer] = rng.normal(0, 0.02 / small, tensors[name].shape[1:])
    for name in ("ln1w", "ln2w", "lnfw"):
        tensors[name][:] = 1
    return flat
