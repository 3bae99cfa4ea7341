"""The sizes of a model, and where each of its tensors lies in the one array of parameters.

Order and names are those of llm.c (github.com/karpathy/llm.c, ``train_gpt2.c``): a name holds its
tensor for all layers together, and the last product shares ``wte`` with the first.
"""

import math
from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from warpwise.errors import LaunchError

TENSORS = """
wte V,C  wpe T,C  ln1w L,C  ln1b L,C  qkvw L,3C,C  qkvb L,3C  attprojw L,C,C  attprojb L,C
ln2w L,C  ln2b L,C  fcw L,4C,C  fcb L,4C  fcprojw L,C,4C  fcprojb L,C  lnfw C  lnfb C
"""


@dataclass(frozen=True)
class Config:
    """The sizes of a model, in the order of llm.c's files.

    ``padded``: rows of ``wte``, as many as tiles want; those from ``vocabulary`` on are no token.
    Raises LaunchError for sizes that no model has.
    """

    positions: int
    vocabulary: int
    layers: int
    heads: int
    channels: int
    padded: int

    def __post_init__(self) -> None:
        for wrong, what in (
            (min(astuple(self)) < 1, "each size must be at least 1"),
            (self.vocabulary > self.padded, "padded must be at least vocabulary"),
            (self.channels % (self.heads or 1), "channels must be a multiple of heads"),
        ):
            if wrong:
                raise LaunchError(f"{what}: {self}")

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

    def checked(self, flat: Any) -> Any:
        """Return all parameters, as float32. Raises LaunchError if there are more or fewer."""
        if flat.size != self.parameters:
            raise LaunchError(f"{flat.size:,} parameters, not the {self.parameters:,} of {self}")
        return flat.astype(np.float32)

    def check_tokens(self, tokens: np.ndarray) -> None:
        """Raise LaunchError for a number that is no token."""
        if (others := tokens[(tokens < 0) | (tokens >= self.vocabulary)]).size:
            raise LaunchError(f"{others[0]} is no token: the model's are below {self.vocabulary:,}")

    def places(self) -> dict[str, slice]:
        """Return the elements of each tensor."""
        ends = [0, *accumulate(map(math.prod, self.shapes.values()))]
        return {name: slice(*both) for name, both in zip(self.shapes, pairwise(ends), strict=True)}

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
